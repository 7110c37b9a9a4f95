"""Named sets of edits side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from latshift.results.base import Doubt, Latency, Result
from latshift.results.forecast import Forecast


@dataclass(frozen=True)
class ScenarioForecast:
    """One set of edits by name, and what it would do."""

    name: str
    forecast: Forecast


@dataclass(frozen=True)
class Scenarios(Result):
    """Sets of edits compared (`latshift whatif --scenario FILE`); in the order of the file."""

    schema: ClassVar[str] = "latshift/scenarios/1"
    baseline: Latency
    scenarios: tuple[ScenarioForecast, ...]
    doubts: tuple[Doubt, ...] = ()
