"""Which components run one after the other and could run side by side, and what that would gain.

Whether the second needs the first one's answer, traces cannot say: each pair comes with the dependencies it breaks.
"""

from __future__ import annotations

import numpy as np

from latshift.errors import EditError
from latshift.results import Pair
from latshift.sorting import stable_order
from latshift.spans import Int64
from latshift.traceset import TraceSet
from latshift.whatif.forecast import forecast
from latshift.whatif.siblings import starts_of_runs

MOST_PAIRS = 6
"""Pairs that are replayed; each is a forecast of its own."""


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
    for at, (first, second, requests) in enumerate(candidates):
        if tried == MOST_PAIRS:
            return _sorted(found, by), len(candidates) - at
        try:
            outcome = forecast(traces, [("parallelize", f"{first},{second}")])
        except EditError:
            # One of them contains the other somewhere: these cannot run side by side.
            continue
        tried += 1
        if max(outcome.gain.p50, outcome.gain.p95, outcome.gain.p99) > 0:
            found.append(Pair(first, second, requests, outcome.gain, outcome.gain_interval, outcome.assumptions))
    return _sorted(found, by), 0


def _sorted(pairs: list[Pair], by: str) -> tuple[Pair, ...]:
    return tuple(sorted(pairs, key=lambda pair: (-getattr(pair.gain, by), pair.first, pair.second)))


def sequential_pairs(traces: TraceSet) -> list[tuple[str, str, int]]:
    """Return pairs of components whose calls under one caller run one after the other on the critical path.

    Args:
        traces: The requests.

    Returns:
        First and second component, and in how many requests; those with most time to overlap first.
    """
    parent, component, start, end, time = _stretches(traces)
    words = traces.classified.component.words
    overlap: dict[tuple[int, int], float] = {}
    requests: dict[tuple[int, int], list[Int64]] = {}
    early = np.arange(len(parent))
    for lag in range(1, len(words)):
        early = early[early + lag < len(parent)]
        early = early[parent[early] == parent[early + lag]]
        if not len(early):
            break
        a = early[end[early] <= start[early + lag]]
        b = a + lag
        pairs, which = np.unique(component[a] * len(words) + component[b], return_inverse=True)
        saved = np.bincount(which.reshape(-1), weights=np.minimum(time[a], time[b]), minlength=len(pairs))
        for at, pair in enumerate(pairs.tolist()):
            key = divmod(pair, len(words))
            overlap[key] = overlap.get(key, 0.0) + float(saved[at])
            requests.setdefault(key, []).append(traces.forest.request[parent[a[which.reshape(-1) == at]]])
    # Where both orders occur, the one with more time stands for both.
    ahead = [key for key in overlap if overlap[key] > 0 and _leads(key, overlap)]
    ranked = sorted(ahead, key=lambda key: (-overlap[key] - overlap.get(key[::-1], 0.0), words[key[0]], words[key[1]]))
    return [(words[a], words[b], len(np.unique(np.concatenate(requests[a, b])))) for a, b in ranked]


def _leads(key: tuple[int, int], overlap: dict[tuple[int, int], float]) -> bool:
    return (overlap[key], -key[0]) > (overlap.get(key[::-1], 0.0), -key[1])


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
