"""Changes to the graph of moments: more moments, other waits. Each returns a new graph and leaves the given one be."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from latshift.components.phases import Phases
from latshift.spans import Array, Bool, Int32, Int64
from latshift.whatif.graph import Graph


def add_moments(
    graph: Graph, leads: Int64, worker: Int32, began: Int64, own: Int64, beside: Int64, phase: Int32 | None = None
) -> Graph:
    """Return the graph with more moments at the end, which nothing waits for yet; see `Graph` for the arrays."""
    if phase is None:
        phase = np.full(len(worker), -1, np.int32)

    def join(old: Array, new: Array) -> Array:
        return np.concatenate([old, new.astype(old.dtype)])

    return replace(
        graph,
        worker=join(graph.worker, worker),
        began=join(graph.began, began),
        own=join(graph.own, own),
        beside=join(graph.beside, beside),
        phase=join(graph.phase, phase),
        leads=join(graph.leads, leads),
    )


def move_beside(graph: Graph, anchors: Int64, moved: Int64, last: Int64 | None = None) -> Graph:
    """Return the graph with each moved span starting together with its anchor.

    The caller of a moved span still reaches the place where it used to call it, and waits there for its end.

    Args:
        graph: The graph to change; it is not modified.
        anchors: Rows, pair by pair; the anchor starts first.
        moved: Likewise.
        last: Likewise, the span whose end is awaited, where that is another one that follows the moved one.
    """
    count = len(moved)
    calls = graph.nodes + 2 * np.arange(count)
    joins = calls + 1
    start, end = graph.start_of(moved), graph.end_of(moved if last is None else last)
    redirect, into = np.arange(graph.nodes), np.arange(graph.nodes)
    redirect[end], into[start] = joins, calls
    source, target = redirect[graph.source], into[graph.target]
    nothing = np.zeros(count, np.int64)
    wider = add_moments(
        graph,
        np.stack([start, joins], axis=1).ravel(),
        np.repeat(graph.worker[start], 2),
        np.repeat(graph.began[start], 2),
        np.stack([graph.own[start], nothing], axis=1).ravel(),
        np.stack([graph.beside[start], nothing], axis=1).ravel(),
        np.repeat(graph.phase[start], 2),
    )
    wider.own[start], wider.beside[start] = 0, 0
    source = np.concatenate([source, graph.start_of(anchors), calls, end])
    target = np.concatenate([target, start, joins, joins])
    return replace(wider, source=source, target=target)


def insert_before(graph: Graph, rows: Int64, duration: int, worker: Int32) -> Graph:
    """Return the graph with a fixed time between the moment a span would have started and its start.

    Args:
        graph: The graph to change; it is not modified.
        rows: The spans; one that starts its request gets the time right after its start instead.
        duration: ns.
        worker: int32, whose time it is, for each of the rows.
    """
    start = graph.start_of(rows)
    waits = np.isin(start, graph.target)
    fresh = graph.nodes + np.arange(len(rows))
    wider = add_moments(
        graph, start, worker, graph.began[start], np.zeros(len(rows), np.int64), np.full(len(rows), duration)
    )
    into, out = np.arange(graph.nodes), np.arange(graph.nodes)
    # The span's own start comes after the fixed time; the work of its caller before that moves to the new moment.
    into[start[waits]] = fresh[waits]
    for work in (wider.own, wider.beside):
        work[fresh[waits]] += work[start[waits]]
        work[start[waits]] = 0
    out[start[~waits]] = fresh[~waits]
    source = np.concatenate([out[graph.source], np.where(waits, fresh, start)])
    return replace(wider, source=source, target=np.concatenate([into[graph.target], np.where(waits, start, fresh)]))


def insert_after(graph: Graph, rows: Int64, duration: int, worker: Int32) -> Graph:
    """Return the graph with a fixed time between the end of a span and everything that waits for it.

    Args:
        graph: The graph to change; it is not modified.
        rows: The spans; one whose end nothing waits for (the request itself) ends later instead.
        duration: ns.
        worker: int32, whose time it is, for each of the rows.
    """
    end = graph.end_of(rows)
    followed = np.isin(end, graph.source)
    end = end[followed]
    fresh = graph.nodes + np.arange(len(end))
    wider = add_moments(
        graph, fresh, worker[followed], graph.began[end], np.zeros(len(end), np.int64), np.full(len(end), duration)
    )
    wider.beside[graph.end_of(rows[~followed])] += duration
    out = np.arange(graph.nodes)
    out[end] = fresh
    return replace(wider, source=np.concatenate([out[graph.source], end]), target=np.append(graph.target, fresh))


def replace_calls(graph: Graph, inside: Bool, rows: Int64, durations: Int64) -> Graph:
    """Return the graph with calls that take a fixed time, and nothing happening inside them.

    Args:
        graph: The graph to change; it is not modified.
        inside: bool (n,), the calls and everything beneath them.
        rows: The calls.
        durations: int64 ns, for each of them.
    """
    taken = inside[graph.worker]
    own, beside = np.where(taken, 0, graph.own), np.where(taken, 0, graph.beside)
    own[graph.end_of(rows)] = durations
    return replace(graph, own=own, beside=beside)


def split_phases(graph: Graph, phases: Phases) -> Graph:
    """Return the graph with the work of model calls cut where their phases change.

    The pieces are moments of their own, one after the other; the moment they lead to keeps no work. A cut does not
    change any time.

    Args:
        graph: The graph as recorded; it is not modified.
        phases: Where the calls are cut.
    """
    length = graph.own + graph.beside
    node = np.flatnonzero((phases.row[graph.worker] >= 0) & (length > 0))
    if not len(node):
        return graph
    cut = phases.row[graph.worker[node]]
    low, high = graph.began[node, None], (graph.began + length)[node, None]
    bounds = np.clip(phases.bounds[cut], low, high)
    # Before the first bound and after the last one is the rest.
    edges = np.concatenate([low, bounds, high], axis=1)
    rest = phases.rest[cut, None]
    phase = np.concatenate([rest, phases.kinds[cut], rest], axis=1)
    # Rounding the running sum keeps the sum, and no piece gets more own work than it is long.
    upto = np.floor((edges - low) * (graph.own[node] / length[node])[:, None] + 0.5).astype(np.int64)
    own, size = np.diff(upto, axis=1), np.diff(edges, axis=1)
    at, column = np.nonzero(size > 0)
    fresh = graph.nodes + np.arange(len(at))
    first = np.append(True, at[1:] != at[:-1])
    last = np.append(at[1:] != at[:-1], True)
    pieces = (at, column)
    wider = add_moments(
        graph, node[at], graph.worker[node[at]], edges[pieces], own[pieces], (size - own)[pieces], phase[pieces]
    )
    wider.own[node], wider.beside[node] = 0, 0
    wider.began[node] = high[:, 0]
    into = np.arange(graph.nodes)
    into[node] = fresh[first]
    source = np.concatenate([graph.source, fresh])
    target = np.concatenate([into[graph.target], np.where(last, node[at], fresh + 1)])
    return replace(wider, source=source, target=target)
