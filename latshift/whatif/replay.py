"""The replay kernel: given the work before every moment, when does each moment come?

Moments are put into levels once; a replay is then one pass over the levels, in integers. Levels with many moments are
done by NumPy, long runs of narrow levels (a chain of 100,000 spans) by a plain loop.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from latshift.sorting import ranges, stable_order
from latshift.spans import Array, Bool, Int64

NARROW = 24
"""Levels with fewer moments than this are cheaper one by one."""


@dataclass(frozen=True)
class _Block:
    """Moments [begin, end) of the schedule; those from `joins` on wait for several others."""

    begin: int
    joins: int
    end: int
    narrow: bool


class Schedule:
    """An order in which moments can be computed, fixed by the edges alone.

    Args:
        nodes: Number of moments. source, target: int64 (e,), edges.

    Raises:
        ValueError: If the edges form a cycle.
    """

    def __init__(self, nodes: int, source: Int64, target: Int64) -> None:
        order, blocks = _levels(nodes, source, target)
        self.nodes = nodes
        self.order = order
        self.rank = np.empty(nodes, np.int64)
        self.rank[order] = np.arange(nodes)
        by_target = stable_order(self.rank[target])
        self.sources = self.rank[source[by_target]]
        counts = np.bincount(self.rank[target], minlength=nodes)
        self.first = np.concatenate([[0], np.cumsum(counts)])
        self.blocks = blocks

    def run(self, work: Int64) -> Int64:
        """Return when each moment comes.

        Args:
            work: int64 (nodes,), ns of work before each moment.

        Returns:
            int64 (nodes,), ns after the start of the request.
        """
        work = work[self.order]
        value = np.zeros(self.nodes, np.int64)
        for block in self.blocks:
            if block.narrow:
                self._run_narrow(block, work, value)
            else:
                self._run_wide(block, work, value)
        result = np.empty(self.nodes, np.int64)
        result[self.order] = value
        return result

    def _run_wide(self, block: _Block, work: Int64, value: Int64) -> None:
        """Compute one level at once: moments with one source first, then those that wait for several."""
        first, sources = self.first, self.sources
        begin, joins, end = block.begin, block.joins, block.end
        single = slice(first[begin], first[joins])
        if first[begin] == first[joins]:
            value[begin:joins] = work[begin:joins]
        else:
            value[begin:joins] = value[sources[single]] + work[begin:joins]
        if joins < end:
            arrivals = value[sources[first[joins] : first[end]]]
            value[joins:end] = np.maximum.reduceat(arrivals, first[joins:end] - first[joins]) + work[joins:end]

    def _run_narrow(self, block: _Block, work: Int64, value: Int64) -> None:
        """Compute a run of narrow levels moment by moment."""
        begin, end = block.begin, block.end
        first = self.first[begin : end + 1].tolist()
        sources = self.sources[first[0] : first[-1]].tolist()
        base = first[0]
        local: list[int] = []
        for index, amount in enumerate(work[begin:end].tolist()):
            latest = 0
            for source in sources[first[index] - base : first[index + 1] - base]:
                arrival = local[source - begin] if source >= begin else int(value[source])
                latest = max(latest, arrival)
            local.append(latest + amount)
        value[begin:end] = local


def _levels(nodes: int, source: Int64, target: Int64) -> tuple[Int64, list[_Block]]:
    """Sort the moments into levels (Kahn's algorithm, a level at a time).

    Returns:
        int64 (nodes,), the moments in order; the blocks of that order.
    """
    waiting = np.bincount(target, minlength=nodes)
    several = waiting > 1
    by_source = stable_order(source)
    follower = target[by_source]
    first = np.concatenate([[0], np.cumsum(np.bincount(source, minlength=nodes))])
    roots = np.flatnonzero(waiting == 0)
    # Only the first block has moments that wait for nothing.
    parts: list[Array] = [roots]
    blocks = [_Block(0, len(roots), len(roots), False)]
    done = len(roots)
    frontier = _advance(roots, waiting, several, follower, first)
    while len(frontier):
        if len(frontier) < NARROW:
            part, frontier = _narrow_levels(frontier, waiting, follower, first)
            blocks.append(_Block(done, done, done + len(part), True))
        else:
            part = np.concatenate([frontier[~several[frontier]], frontier[several[frontier]]])
            joins = done + int(np.sum(~several[frontier]))
            blocks.append(_Block(done, joins, done + len(part), False))
            frontier = _advance(frontier, waiting, several, follower, first)
        parts.append(part)
        done += len(part)
    if done != nodes:
        raise ValueError("the dependencies form a cycle")
    return np.concatenate(parts), blocks


def _advance(frontier: Int64, waiting: Int64, several: Bool, follower: Int64, first: Int64) -> Int64:
    """Mark the frontier as done and return the moments that now wait for nothing more."""
    reached = follower[ranges(first[frontier], first[frontier + 1])]
    join = several[reached]
    joins = reached[join]
    np.subtract.at(waiting, joins, 1)
    freed = joins[waiting[joins] == 0]
    return np.concatenate([reached[~join], np.unique(freed)])


def _narrow_levels(frontier: Int64, waiting: Int64, follower: Int64, first: Int64) -> tuple[Int64, Int64]:
    """Go on one moment at a time until the frontier is wide again; return the moments done and the new frontier."""
    ready = frontier.tolist()
    done: list[int] = []
    cursor = 0
    while cursor < len(ready) and len(ready) - cursor < 4 * NARROW:
        node = ready[cursor]
        cursor += 1
        done.append(node)
        for reached in follower[first[node] : first[node + 1]].tolist():
            waiting[reached] -= 1
            if waiting[reached] == 0:
                ready.append(reached)
    return np.asarray(done, np.int64), np.asarray(ready[cursor:], np.int64)
