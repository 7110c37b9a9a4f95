"""The verdict of the gate."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from latshift.results.base import HIDDEN, Doubt, Interval, Result

Verdict = Literal["pass", "regression", "inconclusive"]


@dataclass(frozen=True)
class Check:
    """One metric held against its baseline or budget.

    Attributes:
        metric: "latency.p95", "non-model.path.p95", "llm.share.p50" ... group: Root of the requests; "" for all.
        unit: Of `baseline` and `current`: "ms" or "fraction".
        baseline: Value of the baseline; nan when there is only a budget. current: Value now.
        budget: The fixed limit; None when a baseline is used.
        change: Relative (current / reference − 1) for ms, absolute (current − reference) for fractions.
        interval: 95 % interval of `change`. tolerance: Largest `change` that is still accepted.
        n: Requests of the current run it stands on. level: "warn" never changes the exit code.
    """

    metric: str
    baseline: float
    current: float
    change: float
    interval: Interval
    tolerance: float
    verdict: Verdict
    explanation: str = ""
    unit: Literal["ms", "fraction"] = "ms"
    group: str = ""
    budget: float | None = None
    n: int = 0
    level: Literal["fail", "warn"] = "fail"


@dataclass(frozen=True)
class CheckReport(Result):
    """The gate's verdict (`latshift check`).

    Attributes:
        inconclusive_passes: Whether the person asked an inconclusive result to let the build go on.
    """

    schema: ClassVar[str] = "latshift/check/1"
    verdict: Verdict
    checks: tuple[Check, ...]
    doubts: tuple[Doubt, ...] = ()
    inconclusive_passes: bool = field(default=False, metadata=HIDDEN)

    @property
    def exit_code(self) -> int:
        """0 pass, 1 regression, 3 inconclusive (0 where the person asked for it)."""
        if self.verdict == "inconclusive":
            return 0 if self.inconclusive_passes else 3
        return 1 if self.verdict == "regression" else 0
