"""Requests as a graph of moments: every span has a start and an end, and each waits for others plus some work.

A start waits for the ends it depends on (or for the parent's start), an end for the awaited children (or for the own
start). The work between is the parent's or the span's own: the part that no awaited child covers can be scaled,
the part that ran beside a child is kept as it is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from latshift.critical_path import CriticalPath
from latshift.spans import Bool, Forest, Int32, Int64
from latshift.whatif.barriers import Barriers
from latshift.whatif.dependencies import Dependencies
from latshift.whatif.siblings import Siblings


@dataclass
class Graph:
    """Moments and what they wait for; node arrays have shape (nodes,).

    Node 2i is the start and node 2i + 1 the end of the i-th replayed span; barriers, pieces of phases and call places
    follow.

    Attributes:
        rows: int32, span rows replayed, in forest order. place: int64 (n,), their index, -1 for rows left out.
        worker: int32, row of the span whose work precedes the moment.
        began: int64, ns since the epoch at which that work began (its end is began + own + beside).
        own: int64, ns of it that no awaited child covers. beside: int64, ns that ran beside a child.
        source, target: int64 (e,), edges: `target` waits for `source`.
        phase: int32, index into the names of `Phases`: the phase of the worker that the work is; -1 where undivided.
        leads: int64, the moment whose work this is a part of: its own index, or the one that it leads to.
    """

    rows: Int32
    place: Int64
    worker: Int32
    began: Int64
    own: Int64
    beside: Int64
    source: Int64
    target: Int64
    phase: Int32
    leads: Int64

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
        forest: The spans.
        path: Their times cut to the parents.
        rows: bool (n,), see `replayable`.
        siblings: Of exactly these rows.
        dependencies: Likewise.
        assumed: Keep the dependencies with little support (False gives the optimistic replay).
    """
    replayed = np.flatnonzero(rows).astype(np.int32)
    place = np.full(forest.n, -1, np.int64)
    place[replayed] = np.arange(len(replayed))
    keep = np.ones(len(dependencies.source), bool) if assumed else ~dependencies.assumed
    source, target = dependencies.source[keep], dependencies.target[keep]
    barriers = Barriers(siblings, dependencies.wide, 2 * len(replayed))
    nodes = 2 * len(replayed) + barriers.count
    empty = np.zeros(nodes, np.int64)
    phase = np.full(nodes, -1, np.int32)
    graph = Graph(
        replayed, place, np.zeros(nodes, np.int32), empty, empty.copy(), empty.copy(), source, target,
        phase, np.arange(nodes),
    )  # fmt: skip
    waits = _work_before_starts(graph, path, siblings, source, target, barriers)
    _work_before_ends(graph, path, siblings)
    graph.source, graph.target = _edges(graph, siblings, source, target, barriers, waits)
    return graph


def _work_before_starts(
    graph: Graph, path: CriticalPath, siblings: Siblings, source: Int64, target: Int64, barriers: Barriers
) -> Bool:
    """Fill in the parents' work before each member starts; return which members wait for others."""
    latest = barriers.latest.copy()
    order = np.lexsort((siblings.end[source], target))
    latest[target[order]] = source[order]
    waits = latest >= 0
    ready = np.where(waits, siblings.end[latest], path.start[siblings.parent])
    covered = np.where(waits, siblings.covered_at_end[latest], 0)
    node = graph.start_of(siblings.row)
    graph.worker[node], graph.began[node] = siblings.parent, ready
    graph.own[node] = (siblings.start - siblings.covered_at_start) - (ready - covered)
    graph.beside[node] = (siblings.start - ready) - graph.own[node]
    return np.asarray(waits)


def _work_before_ends(graph: Graph, path: CriticalPath, siblings: Siblings) -> None:
    """Fill in the spans' own work after the last member they wait for; where there is none, all of it."""
    start, end = path.start[graph.rows], path.end[graph.rows]
    done, covered, total = start.copy(), np.zeros_like(start), np.zeros_like(start)
    last = _last_awaited(siblings)
    at = graph.place[siblings.parent[last]]
    done[at], covered[at], total[at] = siblings.end[last], siblings.covered_at_end[last], siblings.covered_total[last]
    node = graph.end_of(graph.rows)
    graph.worker[node], graph.began[node] = graph.rows, done
    graph.own[node] = (end - total) - (done - covered)
    graph.beside[node] = (end - done) - graph.own[node]


def _edges(
    graph: Graph, siblings: Siblings, source: Int64, target: Int64, barriers: Barriers, waits: Bool
) -> tuple[Int64, Int64]:
    """Return the edges between moments."""
    starts, ends = graph.start_of(siblings.row), graph.end_of(siblings.row)
    free = ~waits
    tails = _tails(siblings, source, target, barriers)
    alone = np.ones(len(graph.rows), bool)
    alone[graph.place[siblings.parent[tails]]] = False
    bare = graph.rows[alone]
    pairs = (
        (graph.start_of(siblings.parent[free]), starts[free]),
        (ends[source], starts[target]),
        barriers.edges(graph.place),
        (ends[tails], graph.end_of(siblings.parent[tails])),
        (graph.start_of(bare), graph.end_of(bare)),
    )
    return np.concatenate([pair[0] for pair in pairs]), np.concatenate([pair[1] for pair in pairs])


def _last_awaited(siblings: Siblings) -> Int64:
    """Return, per parent that awaits a member, the one that ends last."""
    awaited = siblings.by_end[siblings.awaited[siblings.by_end]]
    if not len(awaited):
        return awaited
    parent = siblings.parent[awaited]
    return np.asarray(awaited[np.append(parent[1:] != parent[:-1], True)])


def _tails(siblings: Siblings, source: Int64, target: Int64, barriers: Barriers) -> Int64:
    """Return the awaited members that no awaited member waits for: those the parent's end has to wait for."""
    covered = np.zeros(siblings.m, bool)
    covered[source[siblings.awaited[target]]] = True
    if barriers.count:
        covered |= barriers.followed()
    return np.flatnonzero(siblings.awaited & ~covered)
