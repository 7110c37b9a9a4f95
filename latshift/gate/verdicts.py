"""One check: measured on both sides, judged, explained.

A regression needs the lower end of the interval of the change above the tolerance, and enough requests for the
percentile. Above the tolerance but not surely is inconclusive. Checks that nobody asked for are milder: there, a rise
that may be no rise at all passes, because the tolerance was not chosen with this much noise in mind.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from latshift.gate import explain
from latshift.gate.budgets import PATH_TOLERANCE, Plan
from latshift.gate.compare import Pair, Side
from latshift.gate.figures import Figure, blocks_for, figure
from latshift.gate.metrics import Metric
from latshift.results.base import Interval
from latshift.results.check import Check, Verdict
from latshift.shares.intervals import interval

SEVERITY: tuple[Verdict, ...] = ("pass", "inconclusive", "regression")
"""The verdicts, from good to bad."""

UNKNOWN: Interval = (math.nan, math.nan)


class Change(NamedTuple):
    """How a figure changed: values in ms or fractions; relative change of a time, absolute change of a share."""

    before: float
    now: float
    change: float
    interval: Interval
    tolerance: float


def judge(plan: Plan, pair: Pair, level: float) -> Check:
    """Make one check.

    Args:
        plan: What to check.
        pair: The requests, in both runs.
        level: Coverage of the interval.
    """
    if not len(pair.whole.duration):
        return _undecided(plan, _no_requests(plan, "in this run"))
    if plan.limit is not None:
        return _against_limit(plan, pair, level)
    if pair.baseline is None:
        return _undecided(plan, "No baseline was given to compare with.")
    if not len(pair.baseline.duration) or not len(pair.current.duration):
        return _undecided(plan, _no_requests(plan, "in both the baseline and this run"))
    return _against_baseline(plan, pair, pair.baseline, level)


def decide(change: Change, enough: bool, lenient: bool = False) -> Verdict:
    """Return the verdict on a change (semantics.md §6).

    Args:
        change: The change, its interval and its tolerance.
        enough: Whether there are enough requests for the figure.
        lenient: Pass what may be no rise at all.
    """
    low = change.interval[0]
    if not enough or math.isnan(change.change):
        return "inconclusive"
    if low > change.tolerance:
        return "regression"
    above = change.change > change.tolerance
    return "inconclusive" if above and (low > 0 or not lenient) else "pass"


def _against_baseline(plan: Plan, pair: Pair, baseline: Side, level: float) -> Check:
    metric = plan.metric
    change = _change(plan, metric, pair, baseline, level)
    n = min(pair.current.n, baseline.n)
    verdict = decide(change, n >= plan.needed, plan.default)
    if metric.share:
        path = _change(plan, metric.path, pair, baseline, level)
        cause = _path_verdict(path)
        if n >= plan.needed and not plan.raw:
            verdict = min(verdict, cause, key=SEVERITY.index)
        why = explain.share(plan, pair, change.before, change.now, (path.before, path.now), cause != "pass")
    else:
        why = explain.change(plan, pair)
    return _check(plan, pair.current.n, change, verdict, f"{_reason(plan, verdict, n, change)}{why}")


def _against_limit(plan: Plan, pair: Pair, level: float) -> Check:
    assert plan.limit is not None
    metric, limit = plan.metric, plan.limit
    side = pair.whole.with_blocks(blocks_for([pair.whole], metric, pair.parts))
    now = figure(side, metric, pair.parts)
    scale = 1.0 if metric.share else limit or 1.0
    away = Figure((now.point - limit) / scale, (now.resampled - limit) / scale)
    measured = interval(away.resampled, away.point, side.resamples.blocks, level)
    baseline = pair.baseline if len(pair.current.duration) and pair.baseline else None
    before = figure(baseline, metric, pair.parts).point if baseline else math.nan
    change = Change(before, now.point, away.point, measured, 0.0)
    verdict = decide(change, side.n >= plan.needed)
    why = explain.level(plan, pair)
    if metric.share and not plan.raw and baseline and before <= limit < now.point:
        # The limit was crossed since the baseline: whether by getting slower, or by the others getting faster?
        path = _change(plan, metric.path, pair, baseline, level)
        cause = _path_verdict(path)
        if cause == "pass":
            verdict = "pass" if side.n >= plan.needed else verdict
            why = explain.share(plan, pair, before, now.point, (path.before, path.now), False)
    return _check(plan, side.n, change, verdict, f"{_reason(plan, verdict, side.n, change)}{why}")


def _change(plan: Plan, metric: Metric, pair: Pair, baseline: Side, level: float) -> Change:
    """Measure a change: current − baseline, relative to the baseline if it is a time."""
    length = blocks_for([pair.current, baseline], metric, pair.parts)
    sides = [side.with_blocks(length) for side in (pair.current, baseline)]
    now, before = (figure(side, metric, pair.parts) for side in sides)
    scale = 1.0 if metric.share else before.point or now.point or 1.0
    change = (now.point - before.point) / scale
    resampled = (now.resampled - before.resampled) / scale
    blocks = min(side.resamples.blocks for side in sides)
    tolerance = plan.tolerance if metric.share else max(plan.tolerance, plan.tolerance_ms / scale)
    return Change(before.point, now.point, change, interval(resampled, change, blocks, level), tolerance)


def _path_verdict(path: Change) -> Verdict:
    """Return whether a path time rose: no share fails unless it did, however much faster the others got."""
    return decide(path._replace(tolerance=PATH_TOLERANCE), enough=True, lenient=True)


def _reason(plan: Plan, verdict: Verdict, n: int, change: Change) -> str:
    if n < plan.needed:
        return explain.too_few(n, plan.needed, plan.metric) + " "
    if verdict == "inconclusive":
        return explain.unsure(change.interval[0], change.tolerance, plan.metric) + " "
    if change.change > change.tolerance and change.interval[0] <= 0:
        return explain.noise(change.interval, change.tolerance) + " "
    return ""


def _no_requests(plan: Plan, where: str) -> str:
    return f"There are no requests of '{plan.group}' {where}." if plan.group else f"No requests to compare {where}."


def _undecided(plan: Plan, why: str) -> Check:
    nothing = Change(math.nan, math.nan, math.nan, UNKNOWN, plan.tolerance)
    return _check(plan, 0, nothing, "inconclusive", why)


def _check(plan: Plan, n: int, change: Change, verdict: Verdict, explanation: str) -> Check:
    return Check(
        metric=plan.metric.text,
        baseline=change.before,
        current=change.now,
        change=change.change,
        interval=change.interval,
        tolerance=change.tolerance,
        verdict=verdict,
        explanation=explanation,
        unit=plan.metric.unit,
        group=plan.group or "",
        budget=plan.limit,
        n=n,
        level=plan.level,
    )
