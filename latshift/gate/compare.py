"""Two runs made comparable: the same groups in the same mix, request by request where the trace ids match."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from latshift.components.globs import compiled
from latshift.critical_path.attribution import Part
from latshift.gate.sample import Sample
from latshift.results.base import Doubt
from latshift.shares.ranked import Ranked
from latshift.shares.resamples import Resamples, as_recorded, block_length, draw
from latshift.spans import Float64, Int64

PAIRED_FROM = 0.8
"""Requests are paired if this share of the larger run's trace ids is in both."""

NOTABLE_MIX_CHANGE = 0.05
"""A change of the request mix by this share of the requests is reported."""


@dataclass
class Side:
    """One of the two runs, ready to be measured.

    Attributes:
        duration: int64 (r,), ns, in order of time.
        time: int64 (r, parts), ns.
        weights: float64 (r,), how much each request counts, r in total; None counts all alike.
        stream: Random stream of its resamples; sides that are resampled together share it.
        length: Requests in a block of its resamples.
    """

    duration: Int64
    time: Int64
    weights: Float64 | None
    stream: int
    length: int
    _lengths: dict[int, Side] = field(default_factory=dict, repr=False)

    def with_blocks(self, length: int) -> Side:
        """Return the same side, resampled in blocks of another length."""
        if length not in self._lengths:
            self._lengths[length] = Side(self.duration, self.time, self.weights, self.stream, length)
        return self._lengths[length]

    @cached_property
    def resamples(self) -> Resamples:
        """Resamples of these requests."""
        return draw(len(self.duration), self.stream, self.length)

    @cached_property
    def recorded(self) -> Resamples:
        """The run itself as its only resample."""
        return as_recorded(self.resamples)

    @cached_property
    def n(self) -> int:
        """How many requests the figures stand on: fewer than there are if some count more (Kish's formula)."""
        if self.weights is None or not len(self.weights):
            return len(self.duration)
        # Rounded first: weights that are all alike must not lose a request to rounding.
        return int(round(float(self.weights.sum() ** 2 / (self.weights**2).sum()), 6))

    @cached_property
    def by_duration(self) -> tuple[Ranked, Ranked]:
        """The requests ranked by duration, in the run and in its resamples."""
        return self.ranked(self.duration)

    def ranked(self, values: Int64) -> tuple[Ranked, Ranked]:
        """Rank the requests by values (r,), in the run and in its resamples."""
        return Ranked(values, self.recorded, self.weights), Ranked(values, self.resamples, self.weights)

    def weighted(self, values: Int64) -> Float64:
        """Return values (r,) times the weights."""
        return values.astype(np.float64) if self.weights is None else values * self.weights

    @cached_property
    def total(self) -> tuple[Float64, Float64]:
        """Weight of the run and of its resamples, float64 (1,) and (resamples,)."""
        weights = self.weighted(np.ones(len(self.duration), np.int64))
        return self.recorded.sums(weights), self.resamples.sums(weights)


@dataclass
class Pair:
    """The requests of one check in both runs.

    Attributes:
        parts: What the columns of `time` are, on both sides.
        whole: All requests of the run that is judged; what a fixed limit looks at.
        current: Those of them that have their like in the baseline, in its mix; the same as `whole` without one.
        baseline: What it is compared with, if anything.
        doubts: What weakens the comparison. paired: Whether the requests are the same on both sides, in one order.
    """

    parts: list[Part]
    whole: Side
    current: Side
    baseline: Side | None
    doubts: list[Doubt] = field(default_factory=list)
    paired: bool = False


def pair_up(current: Sample, baseline: Sample | None, group: str | None = None) -> Pair:
    """Choose the requests of a group in both runs and make them comparable.

    Args:
        current: The run that is judged.
        baseline: What it is compared with, or None.
        group: Glob for the root, or None for all.
    """
    current = _chosen(current, group)
    if baseline is None:
        alone = _side(current, current.parts, None, 1)
        return Pair(current.parts, alone, alone, None)
    baseline = _chosen(baseline, group)
    parts = sorted({*current.parts, *baseline.parts}, key=lambda part: (part.name, part.klass))
    whole = _side(current, parts, None, 1)
    doubts: list[Doubt] = []
    rows = _matches(current, baseline)
    if rows is not None:
        current, baseline = current.take(rows[0]), baseline.take(rows[1])
        sides = [_side(run, parts, None, 0) for run in (current, baseline)]
        return Pair(parts, whole, sides[0], sides[1], doubts, paired=True)
    current, baseline = _common(current, baseline, doubts)
    weights = _mix_weights(current, baseline, doubts)
    return Pair(parts, whole, _side(current, parts, weights, 1), _side(baseline, parts, None, 2), doubts)


def _chosen(sample: Sample, group: str | None) -> Sample:
    if group is None:
        return sample
    pattern = compiled(group)
    fits = [pattern.match(word) is not None or word == group for word in sample.group.words]
    return sample.take(np.flatnonzero(sample.group.lookup(fits, False).astype(bool)))


def _side(sample: Sample, parts: Sequence[Part], weights: Float64 | None, stream: int) -> Side:
    time = np.zeros((sample.n, len(parts)), np.int64)
    for column, part in enumerate(sample.parts):
        time[:, parts.index(part)] += sample.time[:, column]
    return Side(sample.duration, time, weights, stream, block_length(sample.n))


def _matches(current: Sample, baseline: Sample) -> tuple[Int64, Int64] | None:
    """Return the rows of the same requests in both runs, in the baseline's order; None if too few are the same."""
    here = {key: row for row, key in enumerate(_keys(current))}
    there = [(row, here[key]) for row, key in enumerate(_keys(baseline)) if key in here]
    if not there or len(there) < PAIRED_FROM * max(current.n, baseline.n):
        return None
    rows = np.asarray(there, np.int64)
    return rows[:, 1], rows[:, 0]


def _keys(sample: Sample) -> list[tuple[str, str | None, int]]:
    """Return what makes a request the same in another run: trace id, group, and which one of them in the trace."""
    seen: dict[tuple[str, str | None], int] = {}
    keys = []
    for trace_id, group in zip(sample.trace_ids, sample.group.texts(), strict=True):
        number = seen[trace_id, group] = seen.get((trace_id, group), 0) + 1
        keys.append((trace_id, group, number))
    return keys


def _common(current: Sample, baseline: Sample, doubts: list[Doubt]) -> tuple[Sample, Sample]:
    """Keep the groups that are in both runs."""
    names, before = set(current.group_names()), set(baseline.group_names())
    for only, where in ((names - before, "are new"), (before - names, "are only in the baseline")):
        if only:
            listed = ", ".join(sorted(only)[:3]) + (", …" if len(only) > 3 else "")
            doubts.append(Doubt("groups-differ", f"requests of {listed} {where} and are not compared"))
    if names == before:
        return current, baseline
    both = names & before
    kept = []
    for run in (current, baseline):
        fits = run.group.lookup([word in both for word in run.group.words], "" in both)
        kept.append(run.take(np.flatnonzero(fits.astype(bool))))
    return kept[0], kept[1]


def _mix_weights(current: Sample, baseline: Sample, doubts: list[Doubt]) -> Float64 | None:
    """Return the weights that give the current run the baseline's mix of groups; None if it has it already."""
    names = baseline.group_names()
    if len(names) < 2 or current.n == 0:
        return None
    now, before = (_mix(run, names) for run in (current, baseline))
    if np.allclose(now, before):
        return None
    if np.abs(now - before).sum() / 2 > NOTABLE_MIX_CHANGE:
        most = int(np.abs(now - before).argmax())
        text = (
            f"the request mix changed ({names[most] or '(no name)'}: {before[most]:.0%} → {now[most]:.0%} of requests)"
        )
        doubts.append(Doubt("mix-changed", f"{text}; compared at the baseline's mix"))
    ratio = dict(zip(names, (before / now).tolist(), strict=True))
    return current.group.lookup([ratio.get(word, 0.0) for word in current.group.words], ratio.get("", 0.0)).astype(
        float
    )


def _mix(sample: Sample, names: Sequence[str]) -> Float64:
    count = Counter(text or "" for text in sample.group.texts())
    return np.asarray([count[name] for name in names], np.float64) / sample.n
