"""Waiting under spans with very many children: one moment for all that a start waits for, instead of an edge each."""

from __future__ import annotations

import numpy as np

from latshift.sorting import ranges
from latshift.spans import Bool, Int64
from latshift.whatif.siblings import Siblings, running_maximum, starts_of_runs


class Barriers:
    """For wide spans: one moment for each set of ended members that some start waits for.

    The set is a prefix of the members by order of end; of it only those matter that end after the latest start among
    them, since the others ended before a member of the set began.

    Args:
        siblings: All members.
        wide: bool (m,), members of wide spans.
        base: Number of the first barrier's moment.
    """

    def __init__(self, siblings: Siblings, wide: Bool, base: int) -> None:
        self.siblings = siblings
        self.base = base
        self.latest = np.full(siblings.m, -1, np.int64)
        member = np.flatnonzero(wide & (siblings.ended > 0))
        self.member = member
        if not len(member):
            self.count = 0
            return
        key = siblings.first[member] + siblings.ended[member] - 1
        self.latest[member] = siblings.by_end[key]
        self.ends, self.barrier = np.unique(key, return_inverse=True)
        self.barrier = self.barrier.reshape(-1)
        self.count = len(self.ends)
        first = siblings.first[siblings.by_end[self.ends]]
        latest_start = _running_latest(siblings)
        # Ends are sorted inside a parent, so the sources of a barrier are a range of `by_end`.
        # The last of them may take no time: then it ends at its start, not after.
        latest = latest_start[self.ends]
        instant = siblings.end[siblings.by_end[self.ends]] == latest
        self.lo = _first_after(siblings, first, self.ends, latest - instant)

    def edges(self, place: Int64) -> tuple[Int64, Int64]:
        """Return the edges from the ends before each barrier, and from the barriers to the starts after them.

        Args:
            place: int64 (n,), index of each replayed row.
        """
        if not self.count:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        before = self.siblings.by_end[ranges(self.lo, self.ends + 1)]
        barrier = np.repeat(np.arange(self.count), self.ends + 1 - self.lo)
        source = np.concatenate([2 * place[self.siblings.row[before]] + 1, self.base + self.barrier])
        return source, np.concatenate([self.base + barrier, 2 * place[self.siblings.row[self.member]]])

    def followed(self) -> Bool:
        """Return which members of wide spans some awaited member waits for, bool (m,)."""
        siblings = self.siblings
        most = np.zeros(siblings.m, np.int64)
        after = self.member[siblings.awaited[self.member]]
        np.maximum.at(most, siblings.first[after], siblings.ended[after])
        ordinal = np.empty(siblings.m, np.int64)
        ordinal[siblings.by_end] = np.arange(siblings.m) - siblings.first[siblings.by_end]
        return np.asarray(ordinal < most[siblings.first])


def _running_latest(siblings: Siblings) -> Int64:
    """Return, along `by_end`, the latest start so far under the same parent."""
    parent = siblings.parent[siblings.by_end]
    origin = siblings.start[siblings.first[siblings.by_end]]
    return running_maximum(siblings.start[siblings.by_end] - origin, starts_of_runs(parent)) + origin


def _first_after(siblings: Siblings, first: Int64, last: Int64, moment: Int64) -> Int64:
    """Return the first place of `by_end` in [first, last] whose end is after the moment (binary search)."""
    lo, hi = first.copy(), last.copy()
    end = siblings.end[siblings.by_end]
    while np.any(lo < hi):
        middle = (lo + hi) // 2
        after = end[middle] > moment
        hi = np.where(after, middle, hi)
        lo = np.where(after, lo, np.minimum(middle + 1, hi))
    return lo
