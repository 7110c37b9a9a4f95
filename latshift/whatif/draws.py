"""Edits applied and replayed: once, or as often as chance needs, with what the draws say together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from latshift.measure import NAMES, gain_intervals, points_of
from latshift.results import Latency, Spread
from latshift.results.base import Interval
from latshift.shares import describe
from latshift.shares.latency import NS_PER_MS
from latshift.spans import Float64, Int64
from latshift.whatif.graph import Graph
from latshift.whatif.model import ReplayModel
from latshift.whatif.plan import Edit, Plan
from latshift.whatif.pool_edits import pools_first
from latshift.whatif.pools import settle

MOST_DRAWS, FEWEST_DRAWS = 20, 4
ENOUGH = 100_000
"""Draws times requests beyond which more draws hardly make the figures steadier."""

KEPT = 5
"""Draws of which every moment is kept, for the shares of the components."""

_TWO_SIDED = 1.96


@dataclass
class Outcome:
    """What the edits lead to.

    Attributes:
        plan: As left by the first draw. replays: The graph and its moments, int64 (nodes,), of the first few draws.
        durations: int64 ns (draws, r).
    """

    plan: Plan
    replays: list[tuple[Graph, Int64]]
    durations: Int64

    @property
    def draws(self) -> int:
        """Number of draws; 1 where nothing is left to chance."""
        return len(self.durations)

    @property
    def pooled(self) -> Int64:
        """The durations of all draws, those of one request in a row; int64 ns (r · draws,)."""
        return self.durations.T.ravel()

    def changed(self, recorded: Int64) -> int:
        """Return how many requests take another time than recorded, on average over the draws."""
        return round(float(np.mean(np.sum(self.durations != recorded, axis=1))))

    @property
    def figures(self) -> Float64:
        """Mean, p50, p95 and p99 of each draw, float64 ns (draws, 4).

        Their averages over the draws are what is predicted. The percentiles of all draws taken together would be
        others: interpolation between the few slowest requests depends on how many requests there are.
        """
        return np.stack([points_of(draw) for draw in self.durations])

    def latency(self) -> Latency:
        """Return mean and percentiles of the latency; the intervals hold the spread of the draws."""
        found = describe(self.pooled, draws=self.draws)
        if self.draws == 1:
            return found
        figures = dict(zip(NAMES, self.figures.T / NS_PER_MS, strict=True))
        mean, p50, p95, p99 = (float(figures[name].mean()) for name in NAMES)
        averaged = replace(found, mean_ms=mean, p50_ms=p50, p95_ms=p95, p99_ms=p99)
        ends = {
            f"{name}_ms": _widen(found.interval[f"{name}_ms"], getattr(averaged, f"{name}_ms"), draws, least=0.0)
            for name, draws in figures.items()
            if f"{name}_ms" in found.interval
        }
        return replace(averaged, interval={name: ends[name] for name in found.interval})

    def gain(self, recorded: Int64) -> Spread:
        """Return the fraction of mean, p50, p95 and p99 of the recorded durations (r,) ns that is saved."""
        return Spread(*self._gains(recorded).mean(axis=0).tolist())

    def _gains(self, recorded: Int64) -> Float64:
        base = points_of(recorded)
        return np.divide(base - self.figures, base, out=np.zeros((self.draws, len(base))), where=base > 0)

    def gain_intervals(self, recorded: Int64) -> dict[str, Interval]:
        """Return the intervals of the gain over the recorded durations (r,) ns; they hold the spread of the draws."""
        found = gain_intervals(recorded, self.pooled, self.draws)
        if self.draws == 1:
            return found
        gains = dict(zip(NAMES, self._gains(recorded).T, strict=True))
        return {name: _widen(ends, float(gains[name].mean()), gains[name]) for name, ends in found.items()}


def _widen(ends: Interval, point: float, draws: Float64, least: float = -np.inf) -> Interval:
    """Return an interval with the spread of the draws in it: a real run is one draw, and its deviation comes on top."""
    by_chance = _TWO_SIDED * float(np.std(draws, ddof=1))
    # What is resampled is all draws taken together, of which a percentile may lie a little beside the average one.
    below, above = max(point - ends[0], 0.0), max(ends[1] - point, 0.0)
    low, high = point - np.hypot(below, by_chance), point + np.hypot(above, by_chance)
    return max(float(low), least), float(high)


def number_of_draws(requests: int) -> int:
    """Return how many draws random edits are averaged over."""
    return int(np.clip(ENOUGH // max(requests, 1), FEWEST_DRAWS, MOST_DRAWS))


def replay(model: ReplayModel, edits: Sequence[Edit]) -> Outcome:
    """Apply the edits in order and replay the result, as often as chance needs.

    Raises:
        EditError: If an edit selects nothing or makes no sense for these requests.
    """
    draws = number_of_draws(len(model.requests)) if any(edit.random for edit in edits) else 1
    plan, moments = _replay_once(model, edits, 0, draws)
    kept = [(plan.graph, moments)]
    durations = [_durations(model, plan.graph, moments)]
    for draw in range(1, draws):
        other, moments = _replay_once(model, edits, draw, draws)
        durations.append(_durations(model, other.graph, moments))
        if draw < KEPT:
            kept.append((other.graph, moments))
    return Outcome(plan, kept, np.stack(durations))


def _durations(model: ReplayModel, graph: Graph, moments: Int64) -> Int64:
    return moments[graph.end_of(model.forest.root[model.requests])]


def _replay_once(model: ReplayModel, edits: Sequence[Edit], draw: int, draws: int) -> tuple[Plan, Int64]:
    plan = Plan(model, model.graph, np.zeros(len(model.requests), np.int64), draw, draws)
    for number, edit in enumerate(pools_first(edits)):
        plan.edit = number
        edit.apply(plan)
    schedule = model.schedule_of(plan.graph)
    moments, notes = settle(model, plan.graph, schedule, plan.pools, plan.load, plan.slotless)
    plan.notes.extend(notes)
    return plan, moments
