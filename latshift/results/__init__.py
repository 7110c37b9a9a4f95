"""What latshift answers: frozen results that every view reads and `to_dict()` turns into the output contract.

The names of the fields are the names in the JSON, so these classes *are* the contract (semantics.md §7); where
Python forbids a name (`class`) the field says its JSON name in its metadata. Results hold numbers that are already
computed, as plain floats: milliseconds for durations, fractions 0..1 for shares, ceilings and gains.
A number that could not be computed is `nan` and becomes `null`.
"""

from __future__ import annotations

from latshift.results.analysis import (
    Analysis,
    ClassShare,
    Component,
    ComponentListing,
    Group,
    ListedComponent,
    PhaseShare,
    RetryTime,
    RuleHit,
    TailExcess,
    Unclassified,
)
from latshift.results.base import Doubt, Interval, Latency, Points, Result, Spread, plain
from latshift.results.check import Check, CheckReport, Verdict
from latshift.results.curve import Curve, CurvePoint, Knee
from latshift.results.dependencies import ComponentLink, DependencyGraph, Operation, Order
from latshift.results.forecast import Bottleneck, Forecast, ShareShift
from latshift.results.path import Paths, RequestPath, Segment, WaterfallSpan
from latshift.results.ranking import Candidate, Pair, Ranking
from latshift.results.scenarios import ScenarioForecast, Scenarios

__all__ = [
    "Analysis",
    "Bottleneck",
    "Candidate",
    "Check",
    "CheckReport",
    "ClassShare",
    "Component",
    "ComponentLink",
    "ComponentListing",
    "Curve",
    "CurvePoint",
    "DependencyGraph",
    "Doubt",
    "Forecast",
    "Group",
    "Interval",
    "Knee",
    "Latency",
    "ListedComponent",
    "Operation",
    "Order",
    "Pair",
    "Paths",
    "PhaseShare",
    "Points",
    "Ranking",
    "RequestPath",
    "Result",
    "RetryTime",
    "RuleHit",
    "ScenarioForecast",
    "Scenarios",
    "Segment",
    "ShareShift",
    "Spread",
    "TailExcess",
    "Unclassified",
    "Verdict",
    "WaterfallSpan",
    "plain",
]
