"""Requests as a graph of moments: every span has a start and an end, and each waits for others plus some work.

A start waits for the ends it depends on (or for the parent's start), an end for the awaited children (or for the own
start). The work between is the parent's or the span's own: the part that no awaited child covers can be scaled,
the part that ran beside a child is kept as it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from latshift.critical_path import CriticalPath
from latshift.spans import Bool, Forest, Int32, Int64
from latshift.whatif.dependencies import Dependencies
from latshift.whatif.siblings import Siblings, starts_of_runs


@dataclass
class Graph:
    """Moments and what they wait for; node arrays have shape (nodes,).

    Node 2i is the start and node 2i + 1 the end of the i-th replayed span; barriers and call places follow.

    Attributes:
        rows: int32, span rows replayed, in forest order. place: int64 (n,), their index, -1 for rows left out.
        worker: int32, row of the span whose work precedes the moment.
        began: int64, ns since the epoch at which that work began (its end is began + own + beside).
        own: int64, ns of it that no awaited child covers. beside: int64, ns that ran beside a child.
        source, target: int64 (e,), edges: `target` waits for `source`.
    """

    rows: Int32
    place: Int64
    worker: Int32
    began: Int64
    own: Int64
    beside: Int64
    source: Int64
    target: Int64

    @property
    def nodes(self) -> int:
        """Number of moments."""
        return len(self.worker)

    def start_of(self, rows: Int64 | Int32) -> Int64:
        """Return the node at which each span starts."""
        return 2 * self.place[rows]

    def end_of(self, rows: Int64 | Int32) -> Int64:
        """Return the node at which each span ends."""
        return 2 * self.place[rows] + 1


def replayable(path: CriticalPath, wanted: Bool) -> Bool:
    """Return the rows that a replay can place: those of the wanted rows that lie inside their parent."""
    return wanted & path.blocking & (path.end >= path.start)


def build(
    forest: Forest, path: CriticalPath, rows: Bool, siblings: Siblings, dependencies: Dependencies, assumed: bool = True
) -> Graph:
    """Build the graph of the given rows.

    Args:
        forest: The spans. path: Their times cut to the parents. rows: bool (n,), see `replayable`.
        siblings, dependencies: Of exactly these rows.
        assumed: Keep the dependencies with little support (False gives the optimistic replay).
    """
    replayed = np.flatnonzero(rows).astype(np.int32)
    place = np.full(forest.n, -1, np.int64)
    place[replayed] = np.arange(len(replayed))
    keep = np.ones(len(dependencies.source), bool) if assumed else ~dependencies.assumed
    source, target = dependencies.source[keep], dependencies.target[keep]
    span_start, span_end = path.start[replayed], path.end[replayed]
    barriers = _Barriers(siblings, dependencies.wide, 2 * len(replayed))

    # When everything a start or an end waits for was done, and how much awaited members had covered by then.
    ready, ready_covered = path.start[siblings.parent].copy(), np.zeros(siblings.m, np.int64)
    latest = np.full(siblings.m, -1, np.int64)
    order = np.lexsort((siblings.end[source], target))
    latest[target[order]] = source[order]
    latest = np.where(dependencies.wide, barriers.latest, latest)
    has = latest >= 0
    ready[has] = siblings.end[latest[has]]
    ready_covered[has] = siblings.covered_at_end[latest[has]]
    start_own = (siblings.start - siblings.covered_at_start) - (ready - ready_covered)

    last = _last_awaited(siblings)
    parents = siblings.parent[last]
    done, done_covered = span_start.copy(), np.zeros(len(replayed), np.int64)
    total = np.zeros(len(replayed), np.int64)
    at = place[parents]
    done[at], done_covered[at] = siblings.end[last], siblings.covered_at_end[last]
    total[at] = siblings.covered_total[last]
    end_own = (span_end - total) - (done - done_covered)

    nodes = 2 * len(replayed) + barriers.count
    worker, began = np.zeros(nodes, np.int32), np.zeros(nodes, np.int64)
    own, beside = np.zeros(nodes, np.int64), np.zeros(nodes, np.int64)
    starts = 2 * place[siblings.row]
    worker[starts], began[starts], own[starts] = siblings.parent, ready, start_own
    beside[starts] = (siblings.start - ready) - start_own
    roots = 2 * np.flatnonzero(forest.parent[replayed] < 0)
    worker[roots] = replayed[roots // 2]
    ends = 2 * np.arange(len(replayed)) + 1
    worker[ends], began[ends], own[ends] = replayed, done, end_own
    beside[ends] = (span_end - done) - end_own

    free = ~has
    edge_source = [2 * place[siblings.parent[free]], 2 * place[siblings.row[source]] + 1, barriers.source(place)]
    edge_target = [starts[free], starts[target], barriers.target(place)]
    tails = _tails(siblings, source, target, barriers)
    edge_source.append(2 * place[siblings.row[tails]] + 1)
    edge_target.append(2 * place[siblings.parent[tails]] + 1)
    waiting = np.zeros(len(replayed), bool)
    waiting[at] = True
    alone = np.flatnonzero(~waiting)
    edge_source.append(2 * alone)
    edge_target.append(2 * alone + 1)
    return Graph(
        replayed, place, worker, began, own, beside, np.concatenate(edge_source), np.concatenate(edge_target)
    )


class _Barriers:
    """For wide spans: one moment for each set of ended members that some start waits for.

    The set is a prefix of the members by order of end; of it only those matter that end after the latest start among
    them, since the others ended before a member of the set began.
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
        self.lo = _first_after(siblings, first, self.ends, latest_start[self.ends])

    def source(self, place: Int64) -> Int64:
        """Return the edge sources: the ends before each barrier, then the barriers before the starts."""
        if not self.count:
            return np.empty(0, np.int64)
        member = self.siblings.by_end[_ranges(self.lo, self.ends + 1)]
        return np.concatenate([2 * place[self.siblings.row[member]] + 1, self.base + self.barrier])

    def target(self, place: Int64) -> Int64:
        """Return the edge targets, in the order of `source`."""
        if not self.count:
            return np.empty(0, np.int64)
        barrier = np.repeat(np.arange(self.count), self.ends + 1 - self.lo)
        return np.concatenate([self.base + barrier, 2 * place[self.siblings.row[self.member]]])


def _ranges(lo: Int64, hi: Int64) -> Int64:
    """Return the concatenation of arange(lo, hi) for every pair."""
    length = hi - lo
    offset = np.repeat(np.cumsum(length) - length, length)
    return np.arange(int(length.sum())) - offset + np.repeat(lo, length)


def _running_latest(siblings: Siblings) -> Int64:
    """Return, along `by_end`, the latest start so far under the same parent."""
    from latshift.whatif.siblings import running_maximum

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


def _last_awaited(siblings: Siblings) -> Int64:
    """Return, per parent that awaits a member, the one that ends last."""
    awaited = siblings.by_end[siblings.awaited[siblings.by_end]]
    if not len(awaited):
        return awaited
    parent = siblings.parent[awaited]
    return awaited[np.append(parent[1:] != parent[:-1], True)]


def _tails(siblings: Siblings, source: Int64, target: Int64, barriers: _Barriers) -> Int64:
    """Return the awaited members that no awaited member waits for: those the parent's end has to wait for."""
    covered = np.zeros(siblings.m, bool)
    covered[source[siblings.awaited[target]]] = True
    for_barrier = np.zeros(siblings.m, bool)
    if barriers.count:
        # Under a wide span a member is followed by any awaited one that starts after its end.
        latest_start = np.full(siblings.m, np.iinfo(np.int64).min)
        awaited = np.flatnonzero(siblings.awaited)
        np.maximum.at(latest_start, siblings.first[awaited], siblings.start[awaited])
        wide = barriers.latest >= 0
        wide_parents = np.zeros(siblings.m, bool)
        wide_parents[siblings.first[wide]] = True
        for_barrier = wide_parents[siblings.first] & (siblings.end <= latest_start[siblings.first])
    return np.flatnonzero(siblings.awaited & ~covered & ~for_barrier)


def move_beside(graph: Graph, anchors: Int64, moved: Int64) -> Graph:
    """Return the graph with each moved span starting together with its anchor.

    The caller of a moved span still reaches the place where it used to call it, and waits there for its end.

    Args:
        graph: The graph to change; it is not modified.
        anchors, moved: Rows, pair by pair; the anchor starts first.
    """
    count = len(moved)
    calls = graph.nodes + 2 * np.arange(count)
    joins = calls + 1
    start, end = graph.start_of(moved), graph.end_of(moved)
    redirect = np.arange(graph.nodes)
    redirect[end] = joins
    into = np.arange(graph.nodes)
    into[start] = calls
    source, target = redirect[graph.source], into[graph.target]
    worker = np.concatenate([graph.worker, np.repeat(graph.worker[start], 2)])
    own, beside = np.append(graph.own, np.zeros(2 * count, np.int64)), np.append(graph.beside, np.zeros(2 * count, np.int64))
    began = np.append(graph.began, np.repeat(graph.began[start], 2))
    own[calls], beside[calls] = graph.own[start], graph.beside[start]
    own[start], beside[start] = 0, 0
    source = np.concatenate([source, graph.start_of(anchors), calls, end])
    target = np.concatenate([target, start, joins, joins])
    return replace(graph, worker=worker, began=began, own=own, beside=beside, source=source, target=target)
