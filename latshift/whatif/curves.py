"""`whatif --curve`: gain against speed-up, and where more speed stops paying."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from latshift.critical_path import find
from latshift.errors import EditError
from latshift.measure import NAMES, gain, points_of
from latshift.results import Curve, CurvePoint, Doubt, Knee, Points, Spread
from latshift.selectors import Selection
from latshift.shares import describe, share_table
from latshift.shares.latency import NS_PER_MS
from latshift.skipped import input_doubts
from latshift.spans import Float64, Int64
from latshift.traceset import TraceSet
from latshift.whatif import trials
from latshift.whatif.model import ReplayModel, moved_forest

FACTORS = (1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 6.0, 10.0, math.inf)

STEPS = 20
"""Replays from the whole work down to none of it, that show where the gain flattens."""

FLAT = 0.2
"""The gain has flattened where a ms of work saved gains less than this fraction of what the first one gained."""

HALVINGS = 7
"""How often the place where the bottleneck moves is narrowed down."""


def curve(traces: TraceSet, selector: str, factors: Sequence[float] = FACTORS) -> Curve:
    """Say what speed-ups of one thing gain.

    Args:
        traces: The requests.
        selector: What gets faster, such as "llm" or "llm.decode".
        factors: Speed-ups, above 0; `math.inf` takes all of its time away.

    Raises:
        EditError: If the selector or a factor makes no sense.
    """
    if not all(factor > 0 for factor in factors):
        raise EditError("a speed-up must be above 0", "for example 2, or inf to take all of its time away")
    model = traces.model
    selection = trials.select(model, selector)
    target = _Target(traces, model, selector.strip(), selection, trials.work_of(model, selection))
    points = tuple(target.point(factor) for factor in sorted({1.0, *factors, math.inf}))
    return Curve(
        selector=target.label,
        baseline=describe(model.duration),
        points=points,
        knee=_knee(target, points),
        asymptote=points[-1].gain,
        assumptions=_assumptions(target),
        doubts=(*share_table(traces.attribution.time[model.requests], model.duration).doubts, *_doubts(traces)),
    )


@dataclass
class _Target:
    """What gets faster. work: int64 (nodes,), ns of it before each moment."""

    traces: TraceSet
    model: ReplayModel
    label: str
    selection: Selection
    work: Int64

    def moments(self, share: float) -> Int64:
        """Return when each moment comes if the work takes `share` of its time."""
        return trials.replay(self.model, self.work, trials.scaled(self.work, share))

    def point(self, factor: float) -> CurvePoint:
        """Return the latency at a speed-up, and whose it is."""
        share = 0.0 if math.isinf(factor) else 1 / factor
        moments = self.moments(share)
        after = np.asarray(moments[self.model.root_ends])
        mean, largest = self.shares(moments, share)
        label = "inf" if math.isinf(factor) else f"{factor:g}x"
        predicted = Spread(*(points_of(after) / NS_PER_MS).tolist())
        return CurvePoint(label, factor, predicted, gain(self.model.duration, after), mean, largest)

    def shares(self, moments: Int64, share: float) -> tuple[float, str]:
        """Return the mean share of what is selected, and what has the largest mean share.

        Args:
            moments: int64 (nodes,), a replay.
            share: What is left of the work in it.
        """
        model, traces = self.model, self.traces
        moved = moved_forest(model, model.graph, moments)
        own = find(moved, replace(traces.path_options, overflow="clamp")).own
        own = np.where(model.rows_of_requests, own, 0)
        mine = own * self._fraction(share)
        total = float(own.sum()) or 1.0
        column = traces.classified.component
        others = np.bincount(column.codes + 1, weights=own - mine, minlength=len(column.words) + 1)[1:]
        largest = int(np.argmax(others))
        selected = float(mine.sum())
        return selected / total, self.label if selected >= others[largest] else column.words[largest]

    def _fraction(self, share: float) -> Float64:
        """Return how much of each row's own work is selected when `share` of that is left, float64 (n,)."""
        rows = self.selection.rows
        if self.selection.phase is None:
            return rows.astype(np.float64)
        graph = self.model.graph
        work = np.bincount(graph.worker, weights=self.work, minlength=len(rows))
        whole = np.bincount(graph.worker, weights=graph.own, minlength=len(rows))
        left = whole - work + work * share
        return np.asarray(np.divide(work * share, left, out=np.zeros(len(rows)), where=left > 0))


def _knee(target: _Target, points: Sequence[CurvePoint]) -> Knee:
    moves_at, moves_to = _moves(target, points)
    flattens = _flattens(target)
    reasons = ((moves_at, "bottleneck moves"), (flattens.p95, "gain flattens"))
    factor, reason = min(((at, why) for at, why in reasons if not math.isnan(at)), default=(math.nan, ""))
    return Knee(factor, reason, moves_at, moves_to, flattens)


def _moves(target: _Target, points: Sequence[CurvePoint]) -> tuple[float, str]:
    """Return the speed-up beyond which something else has the largest mean share, and what that is."""
    faster = [point for point in points if point.factor >= 1]
    moved = next((at for at, point in enumerate(faster) if point.bottleneck != target.label), 0)
    if not moved or faster[0].bottleneck != target.label:
        return math.nan, ""
    high, low = (0.0 if math.isinf(point.factor) else 1 / point.factor for point in faster[moved - 1 : moved + 1])
    moved_to = faster[moved].bottleneck
    for _ in range(HALVINGS):
        middle = (high + low) / 2
        _, largest = target.shares(target.moments(middle), middle)
        if largest == target.label:
            high = middle
        else:
            low, moved_to = middle, largest
    return 1 / high, moved_to


def _flattens(target: _Target) -> Points:
    """Return the speed-ups beyond which a ms of work saved gains little, at each percentile."""
    shares = np.linspace(1, 0, STEPS + 1)
    latency = np.stack([points_of(target.moments(float(share))[target.model.root_ends]) for share in shares])
    slope = -np.diff(latency, axis=0)
    return Points(*(_flat_from(slope[:, NAMES.index(name)], shares) for name in ("p50", "p95", "p99")))


def _flat_from(slope: Float64, shares: Float64) -> float:
    """Return the speed-up from which all slopes are small against the first one; nan where the last one is not."""
    # Two steps together: single ones jump where requests change places.
    smooth = (slope[:-1] + slope[1:]) / 2
    if smooth[0] <= 0:
        return math.nan
    steep = np.flatnonzero(smooth >= FLAT * smooth[0])
    end = int(steep[-1]) + 1
    if end >= len(smooth):
        return math.nan
    return float(1 / shares[end])


def _assumptions(target: _Target) -> tuple[str, ...]:
    """Return what the curve takes for granted."""
    return (trials.FROZEN,) if trials.waits_in_queues(target.traces) else ()


def _doubts(traces: TraceSet) -> list[Doubt]:
    doubts = [*input_doubts(traces.input.skipped)]
    if not traces.only_incomplete:
        return doubts
    return [*doubts, Doubt("only-incomplete", "every request lost its root; the parts that are there are replayed")]
