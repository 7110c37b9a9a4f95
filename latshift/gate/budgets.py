"""What a run is held to: the budgets that people write, and the checks that are made where they wrote none."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from latshift.errors import ConfigError
from latshift.gate.metrics import LATENCY, NON_MODEL, Metric, parse_metric
from latshift.shares.quantiles import requests_needed

Level = Literal["fail", "warn"]

TOLERANCE = 0.05
"""Largest rise of a time that is accepted unless a budget says otherwise, as a fraction of the baseline."""

SHARE_TOLERANCE = 0.03
"""The same for a share: three percentage points."""

PATH_TOLERANCE = 0.03
"""The same for path time outside the model, where nothing is configured: from run to run of the same program it varies
by 1 %, where the p95 of the latency varies by 11 % (whatif.md §3)."""

NOTICEABLE_MS = 1.0
"""Without a budget, a rise of a time by less than this is accepted whatever it is in percent."""


@dataclass(frozen=True)
class Budget:
    """What a metric is held to.

    Attributes:
        metric: See `metrics`.
        group: Glob for the root, "service operation"; None for all requests.
        percentiles: In percent (95, 99.9); empty takes the metric's own, or p95.
        max_ms, max_share: Fixed limits for the time and for the share (a fraction).
        tolerance: Accepted rise over the baseline: a fraction of a time (0.05 is 5 %), or percentage points ÷ 100 of a
            share. tolerance_ms: Accepted rise of a time; the larger of the two holds.
        level: A broken budget fails the run or only warns.
        raw: Judge the rise of a share even where its path time did not rise.
        min_requests: Fewer give no verdict; None takes what the percentile needs.
    """

    metric: str
    group: str | None = None
    percentiles: tuple[float, ...] = ()
    max_ms: float | None = None
    max_share: float | None = None
    tolerance: float | None = None
    tolerance_ms: float | None = None
    level: Level = "fail"
    raw: bool = False
    min_requests: int | None = None

    @property
    def relative(self) -> bool:
        """Whether it needs a baseline: a tolerance is given, or no fixed limit is."""
        fixed = self.max_ms is not None or self.max_share is not None
        return not fixed or self.tolerance is not None or self.tolerance_ms is not None


@dataclass(frozen=True)
class Plan:
    """One check to make.

    Attributes:
        metric: What is looked at. group: Glob for the root, or None.
        limit: Fixed limit in ms or as a fraction; None compares with the baseline.
        tolerance: Accepted rise, as in `Budget`. tolerance_ms: Likewise.
        needed: Requests needed for a verdict.
        default: Nobody asked for it, so noise alone must not stop a build: see `verdicts`.
    """

    metric: Metric
    group: str | None
    limit: float | None
    tolerance: float
    tolerance_ms: float
    level: Level
    raw: bool
    needed: int
    default: bool = False


_DEFAULTS: tuple[tuple[str, Level], ...] = (
    (f"{LATENCY}.p50", "fail"),
    (f"{LATENCY}.p95", "fail"),
    (f"{LATENCY}.p99", "fail"),
    (f"{NON_MODEL}.mean", "fail"),
    (f"{NON_MODEL}.p95", "fail"),
    (f"{NON_MODEL}.share.p50", "fail"),
    (f"{NON_MODEL}.share.p95", "fail"),
)
"""The checks against a baseline that need no configuration."""


def default_plans(n: int, min_requests: int | None = None) -> list[Plan]:
    """Return the checks against a baseline where no budget is written.

    p99 only warns when there are too few requests for it: nobody asked for it, and most test runs are short.

    Args:
        n: Requests of the smaller run.
        min_requests: What the person said is enough; None takes what each percentile needs.
    """
    plans = []
    for text, level in _DEFAULTS:
        metric, _ = parse_metric(text)
        needed = requests_needed(metric.fraction) if min_requests is None else min_requests
        rare = metric.fraction is not None and metric.fraction > 0.95 and n < needed
        tolerance = SHARE_TOLERANCE if metric.share else TOLERANCE if metric.kind == LATENCY else PATH_TOLERANCE
        plans.append(
            Plan(metric, None, None, tolerance, NOTICEABLE_MS, "warn" if rare else level, False, needed, default=True)
        )
    return plans


def plans_of(budget: Budget, components: Collection[str], min_requests: int | None = None) -> list[Plan]:
    """Return the checks that a budget stands for: one for each percentile and limit.

    Args:
        budget: The budget.
        components: Components that occur in the runs.
        min_requests: Default for budgets that do not say.

    Raises:
        ConfigError: If the metric is unknown, or the limit does not fit it.
    """
    metric, stated = parse_metric(budget.metric, components)
    if budget.max_ms is not None and metric.share:
        raise ConfigError(f"budget for '{budget.metric}': max_ms for a share", "use max_share, a fraction 0 to 1")
    if budget.max_share is not None and metric.kind == LATENCY:
        raise ConfigError("budget for 'latency': max_share for the whole latency", "use max_ms, or another metric")
    plans: list[Plan] = []
    for fraction in _fractions(budget, metric, stated):
        least = budget.min_requests if budget.min_requests is not None else min_requests
        needed = requests_needed(fraction) if least is None else least
        tolerance, tolerance_ms = _tolerances(budget, metric)
        plan = Plan(
            replace(metric, fraction=fraction), budget.group, None, tolerance, tolerance_ms, budget.level, budget.raw,
            needed,
        )  # fmt: skip
        plans += _with_limits(plan, budget)
    return plans


def _fractions(budget: Budget, metric: Metric, stated: bool) -> Sequence[float | None]:
    if budget.percentiles:
        return [percentile / 100 for percentile in budget.percentiles]
    return [metric.fraction if stated else 0.95]


def _tolerances(budget: Budget, metric: Metric) -> tuple[float, float]:
    """Return relative and absolute tolerance: who gives only one of them means only that one."""
    if budget.tolerance is None and budget.tolerance_ms is not None and not metric.share:
        return 0.0, budget.tolerance_ms
    usual = SHARE_TOLERANCE if metric.share else TOLERANCE
    return (usual if budget.tolerance is None else budget.tolerance), budget.tolerance_ms or 0.0


def _with_limits(plan: Plan, budget: Budget) -> list[Plan]:
    plans = []
    if budget.max_ms is not None:
        plans.append(replace(plan, limit=budget.max_ms))
    if budget.max_share is not None:
        plans.append(replace(plan, metric=replace(plan.metric, share=True), limit=budget.max_share))
    if budget.relative:
        plans.append(plan)
    return plans
