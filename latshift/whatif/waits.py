"""Where the calls of a pool wait for their slot, as recorded: in a span of their own, in a phase, or nowhere."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from latshift.components.inherit import nearest
from latshift.components.tables import PHASES, QUEUE
from latshift.selectors import Selection
from latshift.spans import NULL, Bool, Int64
from latshift.whatif.graph import Graph
from latshift.whatif.model import ReplayModel
from latshift.whatif.picking import top_calls
from latshift.whatif.rewire import add_moments
from latshift.whatif.siblings import starts_of_runs

CLOSE_NS = 1_000_000
"""A queue span that nobody named belongs to the next call if that starts within this time ..."""

CLOSE_SHARE = 0.02
"""... or within this share of the call's duration."""


@dataclass
class Waits:
    """Calls that hold a slot; arrays have shape (k,), times are ns since the epoch.

    Attributes:
        row: int64, span that holds the slot. first: int64, the queue span in front of it, else the same.
        grant, release: int64, the moments at which it gets the slot and gives it back.
        arrived, granted, released: int64, when it asked for a slot, got it and gave it back, as recorded.
        shown: bool, the traces show where it waits (for no time, perhaps).
    """

    row: Int64
    first: Int64
    grant: Int64
    release: Int64
    arrived: Int64
    granted: Int64
    released: Int64
    shown: Bool

    def take(self, chosen: Int64 | Bool) -> Waits:
        """Return some of the calls, in the order given."""
        return Waits(**{name: values[chosen] for name, values in vars(self).items()})


def join(parts: list[Waits]) -> Waits:
    """Join calls found in different ways."""
    return Waits(**{name: np.concatenate([vars(part)[name] for part in parts]) for name in vars(parts[0])})


def find_waits(model: ReplayModel, graph: Graph, rows: Bool, queue: Selection | None) -> tuple[Graph, Waits]:
    """Find where the selected calls wait, and take the waiting out of the graph's work.

    Phases come before queue spans, and those beneath a call before those in front of it.

    Args:
        model: The requests as recorded.
        graph: Their graph; it is not modified.
        rows: bool (n,), what holds a slot while it runs.
        queue: What is waiting, or None to look for it: the phase "queue" of the calls, or spans of class queue.

    Returns:
        The graph, in which a phase's end is a moment of its own; the calls in the order in which they got their slots.
    """
    forest = model.forest
    rows = rows & (graph.place >= 0)
    calls = top_calls(forest, rows)
    open_ = calls.copy()
    parts = []
    if queue is None or queue.phase is not None:
        graph, found = _in_phases(model, graph, rows, open_)
        parts.append(found)
    if queue is None or queue.phase is None:
        spans = _queue_spans(model) if queue is None else queue.rows
        spans = top_calls(forest, spans & (graph.place >= 0) & ~calls)
        graph, found = _in_spans(model, graph, spans, open_, near=queue is None)
        parts.append(found)
    parts.append(_nowhere(model, graph, np.flatnonzero(open_)))
    waits = join(parts)
    return graph, waits.take(np.lexsort((waits.arrived, waits.granted)))


def _queue_spans(model: ReplayModel) -> Bool:
    """Return the spans that are waiting: those of class queue, and pieces of model calls drawn as spans."""
    component, phases = model.classified.component, model.classified.phases
    waiting = [model.classified.klass[word] == QUEUE for word in component.words]
    piece = np.asarray([*(name.rpartition(".")[2] == PHASES[0] for name in phases.names), False])
    whole = np.append(piece[phases.kinds].all(axis=1), False)[phases.row]
    return np.asarray(component.lookup(waiting, False) | whole, bool)


def _in_phases(model: ReplayModel, graph: Graph, rows: Bool, open_: Bool) -> tuple[Graph, Waits]:
    """Find the calls that know how long they were queued; they are taken out of `open_`."""
    owner, begins, ends = _queued(model, rows)
    owner, node, begins, ends = _containing(model, graph, owner, begins, ends)
    graph, node = _split(graph, node, begins, ends)
    above = nearest(model.forest.parent, open_)[owner]
    open_[above[above >= 0]] = False
    release = graph.end_of(owner)
    shown = np.ones(len(owner), bool)
    return graph, Waits(owner, owner, node, release, begins, ends, model.path.end[owner], shown)


def _queued(model: ReplayModel, rows: Bool) -> tuple[Int64, Int64, Int64]:
    """Return the selected spans with a queue phase or a queue time, and from when to when they waited."""
    forest, path, phases = model.forest, model.path, model.classified.phases
    place, parent = phases.row, forest.parent
    top = rows & ((parent < 0) | (place[parent] != place))
    waiting = np.asarray([name.rpartition(".")[2] == PHASES[0] for name in phases.names])
    inside = waiting[phases.kinds] if len(waiting) else np.zeros(phases.kinds.shape, bool)
    partly = inside.any(axis=1) & ~inside.all(axis=1)
    divided = np.flatnonzero(top & np.append(partly, False)[place])
    at = inside[place[divided]].argmax(axis=1)
    bounds = phases.bounds[place[divided]]
    index = np.arange(len(divided))
    # A queue time alone does not divide a call into phases, but it says when the slot was there.
    queued = forest.spans.array("queue_time")
    start, end = path.start, path.end
    bare = rows & (queued != NULL) & (queued >= 0) & (queued <= end - start) & ~np.append(partly, False)[place]
    alone = np.flatnonzero(bare)
    owner = np.concatenate([divided, alone])
    begins = np.concatenate([bounds[index, at], start[alone]])
    ends = np.concatenate([bounds[index, at + 1], start[alone] + queued[alone]])
    return owner, np.clip(begins, start[owner], end[owner]), np.clip(ends, start[owner], end[owner])


def _containing(
    model: ReplayModel, graph: Graph, owner: Int64, begins: Int64, ends: Int64
) -> tuple[Int64, Int64, Int64, Int64]:
    """Return the calls for which a moment with the waiting before it exists, that moment, and the waiting's times.

    The waiting may be drawn in the transport span beneath, which the call's own work leaves free; it is moved to where
    that begins.
    """
    number = np.full(model.forest.n + 1, -1, np.int64)
    number[owner] = np.arange(len(owner))
    which = number[nearest(model.forest.parent, number[:-1] >= 0)[graph.worker]]
    node = np.flatnonzero(which >= 0)
    which = which[node]
    low, high = graph.began[node], graph.began[node] + graph.own[node] + graph.beside[node]
    overlap = np.minimum(high, ends[which]) - np.maximum(low, begins[which])
    at_once = (begins[which] == ends[which]) & (overlap == 0)
    fits = np.flatnonzero((overlap > 0) | at_once)
    best = fits[np.lexsort((node[fits], -overlap[fits], which[fits]))]
    best = best[starts_of_runs(which[best])]
    node, low, high, which = node[best], low[best], high[best], which[best]
    moved = np.maximum(0, low - begins[which])
    return owner[which], node, begins[which] + moved, np.minimum(ends[which] + moved, high)


def _split(graph: Graph, node: Int64, begins: Int64, ends: Int64) -> tuple[Graph, Int64]:
    """Cut the work before each moment at the wait, which is left out; return the moments where waiting ends."""
    count = len(node)
    if not count:
        return graph, node
    length = graph.own[node] + graph.beside[node]
    share = np.divide(graph.own[node], length, out=np.ones(count), where=length > 0)
    lead = np.clip(begins - graph.began[node], 0, length)
    rest = length - np.clip(ends - graph.began[node], lead, length)
    lead_own, rest_own = (np.rint(part * share).astype(np.int64) for part in (lead, rest))
    granted = graph.nodes + np.arange(count)
    into = np.arange(graph.nodes)
    into[node] = granted
    wider = add_moments(
        graph, graph.leads[node], graph.worker[node], graph.began[node], lead_own, lead - lead_own, graph.phase[node]
    )
    wider.own[node], wider.beside[node] = rest_own, rest - rest_own
    wider.began[node] = graph.began[node] + length - rest
    source, target = np.append(graph.source, granted), np.append(into[graph.target], node)
    return replace(wider, source=source, target=target), granted


def _in_spans(model: ReplayModel, graph: Graph, spans: Bool, open_: Bool, near: bool) -> tuple[Graph, Waits]:
    """Find the calls whose waiting is a span; they are taken out of `open_`."""
    queue, call, release, released = _beneath(model, graph, spans, open_)
    open_[call] = False
    left = spans.copy()
    left[queue] = False
    before, after = _in_front(model, np.flatnonzero(left), np.flatnonzero(open_), near)
    open_[after] = False
    queue, call = np.concatenate([queue, before]), np.concatenate([call, after])
    release = np.concatenate([release, graph.end_of(after)])
    released = np.concatenate([released, model.path.end[after]])
    node = graph.end_of(queue)
    graph, waited = _without_work(graph, node)
    graph = _follow(model, graph, before, after)
    granted = model.path.end[queue]
    first = np.concatenate([call[: len(call) - len(after)], before])
    return graph, Waits(call, first, node, release, granted - waited, granted, released, np.ones(len(call), bool))


def _without_work(graph: Graph, node: Int64) -> tuple[Graph, Int64]:
    """Take away the work before moments, that in pieces included; return how much it was."""
    number = np.full(graph.nodes, -1, np.int64)
    number[node] = np.arange(len(node))
    pieces = np.flatnonzero(number[graph.leads] >= 0)
    own, beside = graph.own.copy(), graph.beside.copy()
    taken = np.zeros(len(node), np.int64)
    np.add.at(taken, number[graph.leads[pieces]], own[pieces] + beside[pieces])
    own[pieces], beside[pieces] = 0, 0
    return replace(graph, own=own, beside=beside), taken


def _follow(model: ReplayModel, graph: Graph, queue: Int64, call: Int64) -> Graph:
    """Make each call wait for its queue span, where inference did not find that it does.

    A wait of no duration begins and ends when the call begins, and so does not show which of them comes first.
    """
    source, target = graph.end_of(queue), graph.start_of(call)
    wanted = np.full(graph.nodes, -1, np.int64)
    wanted[target] = source
    found = np.zeros(graph.nodes, bool)
    found[graph.target[wanted[graph.target] == graph.source]] = True
    missing = ~found[target]
    if not missing.any():
        return graph
    source, target = source[missing], target[missing]
    own, beside, began = graph.own.copy(), graph.beside.copy(), graph.began.copy()
    # The caller's work before the call begins after the waiting, not beside it.
    start = model.path.start[call[missing]]
    began[target] = np.maximum(np.minimum(began[target], start), model.path.end[queue[missing]])
    length = np.minimum(own[target] + beside[target], np.maximum(start - began[target], 0))
    own[target] = np.minimum(own[target], length)
    beside[target] = length - own[target]
    source, target = np.append(graph.source, source), np.append(graph.target, target)
    return replace(graph, own=own, beside=beside, began=began, source=source, target=target)


def _beneath(model: ReplayModel, graph: Graph, spans: Bool, calls: Bool) -> tuple[Int64, Int64, Int64, Int64]:
    """Return queue spans beneath calls, the calls, and where and when each slot is given back.

    Where a call waits several times in a row, as with attempts, each wait gives back the slot before.
    """
    path = model.path
    queue = np.flatnonzero(spans)
    call = nearest(model.forest.parent, calls)[queue].astype(np.int64)
    queue, call = queue[call >= 0], call[call >= 0]
    order = np.lexsort((path.start[queue], call))
    queue, call = queue[order], call[order]
    release, released = graph.end_of(call), path.end[call].copy()
    again = np.flatnonzero(call[1:] == call[:-1]) if len(call) else np.empty(0, np.int64)
    again = again[path.start[queue[again + 1]] >= path.end[queue[again]]]
    release[again], released[again] = graph.start_of(queue[again + 1]), path.start[queue[again + 1]]
    return queue, call, release, released


def _in_front(model: ReplayModel, queue: Int64, call: Int64, near: bool) -> tuple[Int64, Int64]:
    """Pair queue spans with the calls that start after them: under the same parent first, else in the same request."""
    parent, request = model.forest.parent.astype(np.int64), model.forest.request.astype(np.int64)
    before, after = _pair(model, queue, call, parent, near)
    queue, call = np.setdiff1d(queue, before), np.setdiff1d(call, after)
    wider = _pair(model, queue, call, request, near)
    return np.concatenate([before, wider[0]]), np.concatenate([after, wider[1]])


def _pair(model: ReplayModel, queue: Int64, call: Int64, place: Int64, near: bool) -> tuple[Int64, Int64]:
    """Pair queue spans with later calls in the same place: in order where there are as many, else the latest one."""
    start, end = model.path.start, model.path.end
    row = np.concatenate([queue, call])
    is_call = np.arange(len(row)) >= len(queue)
    order = np.lexsort((row, is_call, np.where(is_call, start[row], end[row]), place[row]))
    row, is_call = row[order], is_call[order]
    balance: dict[int, int] = {}
    for key, sign in zip(place[row].tolist(), is_call.tolist(), strict=True):
        balance[key] = balance.get(key, 0) + (1 if sign else -1)
    waiting: dict[int, list[int]] = {}
    before, after = [], []
    for key, this, sign in zip(place[row].tolist(), row.tolist(), is_call.tolist(), strict=True):
        line = waiting.setdefault(key, [])
        if not sign:
            line.append(this)
        elif line:
            before.append(line.pop(0 if balance[key] == 0 else -1))
            after.append(this)
    first, second = np.asarray(before, np.int64), np.asarray(after, np.int64)
    if near:
        close = np.maximum(CLOSE_NS, CLOSE_SHARE * (end[second] - start[second]))
        keep = start[second] - end[first] <= close
        first, second = first[keep], second[keep]
    return first, second


def _nowhere(model: ReplayModel, graph: Graph, call: Int64) -> Waits:
    """Return the calls that show no waiting: they ask for a slot, and get it, when they start."""
    start = model.path.start[call]
    shown = np.zeros(len(call), bool)
    return Waits(call, call, graph.start_of(call), graph.end_of(call), start, start, model.path.end[call], shown)
