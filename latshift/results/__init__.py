"""What latshift answers: frozen results that every view reads and `to_dict()` turns into the output contract.

The names of the fields are the names in the JSON, so these classes *are* the contract (semantics.md §7); where
Python forbids a name (`class`) the field says its JSON name in its metadata. Results hold numbers that are already
computed, as plain floats: milliseconds for durations, fractions 0..1 for shares, ceilings and gains.
A number that could not be computed is `nan` and becomes `null`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

_MODULES = {
    "analysis": "Analysis ClassShare Component ComponentListing Group ListedComponent PhaseShare RetryTime RuleHit"
    " TailExcess Unclassified",
    "base": "Doubt Interval Latency Points Result Spread plain",
    "check": "Check CheckReport Verdict",
    "curve": "Curve CurvePoint Knee",
    "dependencies": "ComponentLink DependencyGraph Operation Order",
    "forecast": "Bottleneck Forecast ShareShift",
    "path": "Paths RequestPath Segment WaterfallSpan",
    "ranking": "Candidate Pair Ranking",
    "scenarios": "ScenarioForecast Scenarios",
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names.split()}
"""Where each class is; a module is imported when first asked for, since making classes takes time."""

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


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'latshift.results' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(f"latshift.results.{_HOMES[name]}"), name)
