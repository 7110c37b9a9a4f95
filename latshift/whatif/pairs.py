"""Which components run one after the other and could run side by side, and what that would gain.

Whether the second needs the first one's answer, traces cannot say: each pair comes with the dependencies it breaks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from latshift.errors import EditError
from latshift.results import Pair
from latshift.sorting import stable_order
from latshift.spans import Bool, Int64
from latshift.traceset import TraceSet
from latshift.whatif.forecast import forecast
from latshift.whatif.siblings import starts_of_runs

MOST_PAIRS = 6
"""Pairs that are replayed; each is a forecast of its own."""

MUCH = 0.01
"""Neighbours that could overlap for this fraction of the latency are worth a replay before any others."""


def best_pairs(traces: TraceSet, by: str) -> tuple[tuple[Pair, ...], int]:
    """Replay the most promising pairs of components side by side.

    Args:
        traces: The requests.
        by: "p50", "p95" or "p99": the percentile whose gain decides.

    Returns:
        The pairs that gain something, best first; how many candidates were not replayed.
    """
    candidates = sequential_pairs(traces)
    found: list[Pair] = []
    tried = 0
    for at, pair in enumerate(candidates):
        if tried == MOST_PAIRS:
            return _sorted(found, by), len(candidates) - at
        try:
            outcome = forecast(traces, [("parallelize", f"{pair.first},{pair.second}")])
        except EditError:
            # One of them contains the other somewhere: these cannot run side by side.
            continue
        tried += 1
        if max(outcome.gain.p50, outcome.gain.p95, outcome.gain.p99) > 0:
            names = pair.first, pair.second, pair.requests, pair.overtakes
            found.append(Pair(*names, outcome.gain, outcome.gain_interval, outcome.assumptions))
    return _sorted(found, by), 0


def _sorted(pairs: list[Pair], by: str) -> tuple[Pair, ...]:
    return tuple(sorted(pairs, key=lambda pair: (-getattr(pair.gain, by), pair.first, pair.second)))


@dataclass(frozen=True)
class Sequence:
    """Two components that run one after the other in so many requests; `overtakes` as in `Pair`."""

    first: str
    second: str
    requests: int
    overtakes: bool


def sequential_pairs(traces: TraceSet) -> list[Sequence]:
    """Return pairs of components whose calls under one caller run one after the other on the critical path.

    Args:
        traces: The requests.

    Returns:
        Neighbours in time with much time to overlap first, then those that overtake others, then the rest; each by
        the time they could overlap.
    """
    parent, component, start, end, time = _stretches(traces)
    words = traces.classified.component.words
    early, late = _ordered(parent, start, end)
    apart = _between(parent, start, end, early, late)
    request = traces.forest.request[parent[early]].astype(np.int64)
    pairs, which = np.unique(component[early] * len(words) + component[late], return_inverse=True)
    which = which.reshape(-1)
    overlap = np.bincount(which, weights=np.minimum(time[early], time[late]), minlength=len(pairs))
    overtaking = np.bincount(which, weights=apart, minlength=len(pairs)) * 2 > np.bincount(which)
    requests = [len(np.unique(request[which == at])) for at in range(len(pairs))]
    keys = [divmod(pair, len(words)) for pair in pairs.tolist()]
    much = MUCH * traces.model.duration.sum()
    amount = dict(zip(keys, overlap.tolist(), strict=True))
    ranked = sorted(
        # Where both orders occur, the one with more time stands for both.
        (at for at, (a, b) in enumerate(keys) if amount[a, b] > 0 and (amount[a, b], b) > (amount.get((b, a), 0.0), a)),
        key=lambda at: (1 if overtaking[at] else 0 if overlap[at] >= much else 2, -overlap[at], keys[at]),
    )
    return [Sequence(words[keys[at][0]], words[keys[at][1]], requests[at], bool(overtaking[at])) for at in ranked]


def _ordered(parent: Int64, start: Int64, end: Int64) -> tuple[Int64, Int64]:
    """Return all pairs of stretches under one caller of which the first had ended when the second began."""
    first, second = [], []
    early = np.arange(len(parent))
    lag = 1
    while len(early):
        early = early[early + lag < len(parent)]
        early = early[parent[early] == parent[early + lag]]
        ended = early[end[early] <= start[early + lag]]
        first.append(ended)
        second.append(ended + lag)
        lag += 1
    empty = np.empty(0, np.int64)
    return np.concatenate([empty, *first]), np.concatenate([empty, *second])


def _between(parent: Int64, start: Int64, end: Int64, early: Int64, late: Int64) -> Bool:
    """Return for every pair of stretches whether a third lies wholly between them."""
    found = np.zeros(len(early), bool)
    far = np.flatnonzero(late - early > 1)
    lag = 1
    while len(far):
        third = early[far] + lag
        found[far] |= (start[third] >= end[early[far]]) & (end[third] <= start[late[far]])
        lag += 1
        far = far[(early[far] + lag < late[far]) & ~found[far]]
    return found


def _stretches(traces: TraceSet) -> tuple[Int64, Int64, Int64, Int64, Int64]:
    """Return one stretch per caller and component of the calls on its critical path, by caller and start.

    Returns:
        Row of the caller; code of the component; start and end; ns that the calls took together.
    """
    model, codes = traces.model, traces.classified.component.codes.astype(np.int64)
    siblings = model.siblings
    own = codes[siblings.row] != codes[siblings.parent]
    member = np.flatnonzero(siblings.awaited & model.path.on_path[siblings.row] & own)
    parent, component = siblings.parent[member].astype(np.int64), codes[siblings.row[member]]
    order = stable_order(parent * (int(codes.max(initial=0)) + 1) + component)
    heads = np.flatnonzero(starts_of_runs(parent[order], component[order]))
    if not len(heads):
        return (np.empty(0, np.int64),) * 5
    member, parent, component = member[order], parent[order][heads], component[order][heads]
    start = np.minimum.reduceat(siblings.start[member], heads)
    end = np.maximum.reduceat(siblings.end[member], heads)
    time = np.add.reduceat(siblings.end[member] - siblings.start[member], heads)
    by_start = np.lexsort((end, start, parent))
    return parent[by_start], component[by_start], start[by_start], end[by_start], time[by_start]
