"""The chain of each parent: the children its critical path goes through, found for all parents at once.

From the parent's end backwards: the child that ends last, then the one that ended last before that child began, and so
on (Jaeger UI's walk, critical_path.md §2.1, with `<=` instead of `<`). Whether a parent is itself on the path does not
matter here: the chain of its children is the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from latshift.forest.sorting import order_by
from latshift.spans import Array, Bool, Int64


@dataclass(frozen=True)
class Chain:
    """The chains of all parents.

    Attributes:
        rows: int64 (m,), spans that are in their parent's chain, by parent, then in time order.
        limit: int64 (m,), ns, where the span gives way to the next of its chain: that one's start if it overlaps
            within the tolerance, its own end otherwise.
        tolerated: How many overlaps were tolerated.
    """

    rows: Int64
    limit: Int64
    tolerated: int


def find_chains(parent: Array, start: Int64, end: Int64, raw_start: Int64, rank: Int64, tolerance: Int64) -> Chain:
    """Find the chain of every parent.

    Children are taken by latest end, then earliest start, then smallest id; the start that breaks ties is the
    recorded one, as in Jaeger UI, so that of two children cut at the parent's start the earlier one wins.

    Args:
        parent: int (n,), row of the parent, -1 for roots.
        start: int64 (n,), ns, cut to the parent.
        end: int64 (n,), ns, likewise; a span with end <= start takes no part.
        raw_start: int64 (n,), ns, as recorded.
        rank: int64 (n,), order of the span ids' texts.
        tolerance: int64 (n,), ns by which a child of this parent may overlap the next one and still come before it.

    Returns:
        The chains.
    """
    rows = np.flatnonzero((end > start) & (parent >= 0))
    if not rows.shape[0]:
        return Chain(rows, rows.copy(), 0)
    begins, ends, exact = _on_one_line(parent, rows, start, end)
    order = order_by(
        np.zeros(rows.shape[0], np.int64),
        [lambda at: ends[at], lambda at: ~raw_start[rows[at]], lambda at: ~rank[rows[at]], lambda at: -at],
    )
    rows, begins, ends = rows[order], begins[order], ends[order]
    above = parent[rows]
    opens = np.concatenate(([True], above[1:] != above[:-1]))
    first = np.flatnonzero(opens)[np.cumsum(opens) - 1]  # place of the first child of the same parent

    before = np.searchsorted(ends, begins, side="right") - 1
    if exact:
        _tolerate(begins, ends, np.maximum(before, first - 1), before, tolerance[above])
    before[before < first] = -1
    marked = np.flatnonzero(_reachable(before, np.concatenate((opens[1:], [True]))))
    return _give_way(rows, before, marked, start, end)


def _on_one_line(parent: Array, rows: Int64, start: Int64, end: Int64) -> tuple[Int64, Int64, bool]:
    """Give every parent a stretch of one line, so that (parent, time) is a single int64 that sorts and searches fast.

    Returns:
        int64 (m,) starts and int64 (m,) ends of the rows on the line, and whether distances on it are ns. If the
        stretches are too long for int64 (hundreds of years of spans) times are replaced by their ranks.
    """
    length = np.maximum(end - start, 0)
    exact = float(length.sum(dtype=np.float64)) + length.shape[0] < 2.0**62
    if not exact:
        dense = np.unique(np.concatenate((start, end)), return_inverse=True)[1].astype(np.int64)
        start, end = dense[: start.shape[0]], dense[start.shape[0] :]
        length = np.maximum(end - start, 0)
    shift = np.cumsum(length + 1) - (length + 1) - start
    moved = shift[parent[rows]]
    return start[rows] + moved, end[rows] + moved, exact


def _tolerate(begins: Int64, ends: Int64, strict: Int64, before: Int64, tolerance: Int64) -> None:
    """Let a child that ends just after the next one began come before it; changes `before` in place.

    Taken only if it began first, so that every step goes back in time.
    """
    place = np.arange(begins.shape[0])
    candidate = np.minimum(strict + 1, place)
    near = np.flatnonzero((candidate < place) & (ends[candidate] - begins <= tolerance))
    latest = np.minimum(np.searchsorted(ends, begins[near] + tolerance[near], side="right") - 1, near - 1)
    earlier = begins[latest] < begins[near]
    before[near[earlier]] = latest[earlier]


def _reachable(before: Int64, head: Bool) -> Bool:
    """Return which places are reached from a head by following `before` (int64 (m,), -1 ends), by pointer doubling."""
    marked = head.copy()
    jump = before.copy()
    while True:
        sources = np.flatnonzero(marked)
        targets = jump[sources]
        targets = targets[targets >= 0]
        if not targets.shape[0]:
            return marked
        marked[targets] = True
        active = np.flatnonzero(jump >= 0)
        jump[active] = jump[jump[active]]


def _give_way(rows: Int64, before: Int64, marked: Int64, start: Int64, end: Int64) -> Chain:
    """Return the chains, with the time at which each span gives way to the next one."""
    limit = end[rows]
    later = marked[before[marked] >= 0]
    limit[before[later]] = np.minimum(limit[before[later]], start[rows[later]])
    limit, chosen = limit[marked], rows[marked]
    return Chain(chosen, limit, int((limit < end[chosen]).sum()))
