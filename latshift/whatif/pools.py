"""Pools of slots that calls of all requests share: waiting is simulated again after every other edit is done.

What a pool explains of the recorded waiting is simulated; what it does not (time to hand over a slot, other users of
it) stays with the call as a lag, so that without any change every wait comes out as it was recorded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from latshift.errors import EditError
from latshift.report.units import duration, percent
from latshift.selectors import Selection
from latshift.sorting import dense_codes
from latshift.spans import Bool, Int64
from latshift.whatif import fifo
from latshift.whatif.graph import Graph
from latshift.whatif.model import ReplayModel
from latshift.whatif.pool_evidence import check_size, observed_cap, peak, understanding
from latshift.whatif.replay import Schedule
from latshift.whatif.siblings import starts_of_runs
from latshift.whatif.waits import Waits, find_waits

NEARLY_FULL = 0.9
"""Use of a pool from which waits grow so fast that they cannot be told well."""


@dataclass
class Pooled:
    """A pool and the calls that use it.

    Attributes:
        name: The selector of its calls. size: Slots as recorded. new_size: Slots from now on.
        waits: Its calls, in the order in which they got their slots. lag: int64 ns (k,), see `fifo.recorded_lags`.
        notes: Sentences on how well the recorded waiting is understood.
    """

    name: str
    size: int
    new_size: int
    waits: Waits
    lag: Int64
    notes: list[str]


def declare(
    model: ReplayModel, graph: Graph, selection: Selection, queue: Selection | None, name: str, size: int | None
) -> tuple[Graph, Pooled]:
    """Make a pool of the selected calls, and take their waiting out of the graph.

    Args:
        model: The requests as recorded.
        graph: Their graph; it is not modified.
        selection: What holds a slot while it runs.
        queue: What is waiting, or None to look for it.
        name: What to call the pool.
        size: Slots as recorded, or None for the cap that the calls show.

    Raises:
        EditError: If the calls show no cap, or more of them run at once than the size allows.
    """
    graph, waits = find_waits(model, graph, selection.rows, queue)
    if not len(waits.row):
        raise EditError(f"--pool {name}: no call of it is part of the replayed requests")
    notes = []
    if size is None:
        size = observed_cap(waits)
        if size is None:
            raise EditError(
                f"--pool {name}: the size is not given, and the calls (up to {peak(waits)} at once) show no cap",
                f"give the present size, for example --pool {name}={peak(waits)}",
            )
        notes.append(f"pool {name}: {size} slots are assumed, as no more than {size} calls run at once")
    else:
        notes += check_size(waits, name, size)
    if not waits.shown.any():
        graph, waits, inferred = _infer(model, graph, waits, size)
        notes.append(
            f"pool {name}: the traces show no waiting; the gap before {inferred:,} calls that found it full is taken "
            "for it"
            if inferred
            else f"pool {name}: the traces show no waiting, so it is not what limits now (queue=SEL names the waiting)"
        )
    explained, lag = fifo.recorded_lags(waits.arrived, waits.granted, waits.released, size)
    notes += understanding(waits, explained, name, size)
    return graph, Pooled(name, size, size, waits, lag, notes)


def _infer(model: ReplayModel, graph: Graph, waits: Waits, size: int) -> tuple[Graph, Waits, int]:
    """Take gaps before calls that found the pool full for waiting, as far as the pool explains it.

    A call is taken to have asked for its slot as long after what it depends on as calls do that found one free; and,
    since they are served in turn, not before those that were served earlier.
    """
    ready = np.minimum(graph.began[waits.grant], waits.granted)
    gap = np.minimum(waits.granted - ready, (graph.own + graph.beside)[waits.grant])
    explained, _ = fifo.recorded_lags(ready, waits.granted, waits.released, size)
    full = explained > 0
    usual = _usual(model, waits.row, gap, ~full)
    arrived = waits.granted - np.where(full, np.clip(explained - usual, 0, gap), 0)
    in_turn = (np.maximum.accumulate(arrived) + np.minimum.accumulate(arrived[::-1])[::-1]) // 2
    waited = np.where(full, np.clip(waits.granted - in_turn, 0, gap), 0)
    own, beside = graph.own.copy(), graph.beside.copy()
    from_own = np.minimum(own[waits.grant], waited)
    own[waits.grant] -= from_own
    beside[waits.grant] -= waited - from_own
    return (
        replace(graph, own=own, beside=beside),
        replace(waits, arrived=waits.granted - waited),
        int(np.sum(waited > 0)),
    )


def _usual(model: ReplayModel, row: Int64, gap: Int64, free: Bool) -> Int64:
    """Return the median gap of the calls that found a free slot, of calls in the same place of a request; (k,) ns."""
    siblings = model.siblings
    place = np.zeros(model.forest.n, np.int64)
    turn = siblings.kind * (int(siblings.group.max(initial=0)) + 1) + siblings.group
    place[siblings.row] = dense_codes(turn * (int(siblings.position.max(initial=0)) + 1) + siblings.position)[0]
    usual = np.full(len(row), int(np.median(gap[free])) if free.any() else 0)
    code = place[row]
    order = np.flatnonzero(free)[np.lexsort((gap[free], code[free]))]
    heads = np.flatnonzero(starts_of_runs(code[order]))
    middle = heads + np.diff(np.append(heads, len(order))) // 2
    known = np.full(int(code.max(initial=0)) + 1, -1, np.int64)
    known[code[order[heads]]] = gap[order[middle]]
    return np.where(known[code] >= 0, known[code], usual)


def settle(
    model: ReplayModel,
    graph: Graph,
    schedule: Schedule,
    pools: Sequence[Pooled],
    load: float = 1.0,
    slotless: Bool | None = None,
) -> tuple[Int64, list[str]]:
    """Replay the requests with the waiting in all pools simulated.

    Args:
        model: The requests as recorded.
        graph: As edited, its schedule.
        schedule: Likewise.
        pools: Declared on this graph.
        load: Factor on the rate at which requests arrive.
        slotless: bool (n,), calls that need no slot any more.

    Returns:
        int64 ns (nodes,), when each moment comes; sentences on each pool.

    Raises:
        EditError: If calls wait for each other's slots for ever, or more load is asked for than a pool can bear.
    """
    work = graph.own + graph.beside
    if not pools:
        return schedule.run(work), []
    unhindered = schedule.run(work)
    asks = [_asks(pool.waits, unhindered, slotless) for pool in pools]
    used = [pool.waits.take(chosen) for pool, chosen in zip(pools, asks, strict=True)]
    lags = [pool.lag[chosen] for pool, chosen in zip(pools, asks, strict=True)]
    index = np.repeat(np.arange(len(pools)), [len(waits.row) for waits in used])
    grant, release, arrived, lag = (
        np.concatenate(parts)
        for parts in (
            [waits.grant for waits in used],
            [waits.release for waits in used],
            [waits.arrived for waits in used],
            lags,
        )
    )
    if len(np.unique(grant)) < len(grant):
        raise EditError("two pools share calls", "select each call for one pool only")
    # Calls that ask at one instant are served in the order recorded, in which they stand.
    order = np.argsort(arrived, kind="stable")
    calls = fifo.Calls(index[order], [pool.new_size for pool in pools], grant[order], release[order], lag[order])
    origin = _origin(model, load)[model.forest.request[graph.worker]]
    try:
        waits = fifo.waits(schedule, graph.source, graph.target, work, origin, calls)
    except ValueError as error:
        raise EditError(
            "calls wait for each other's slots for ever", "a call that holds a slot needs another one: enlarge the pool"
        ) from error
    work[calls.grant] += waits
    moments = schedule.run(work)
    waited = np.empty_like(waits)
    waited[order] = waits
    notes = []
    for number, (pool, now) in enumerate(zip(pools, used, strict=True)):
        notes += _report(pool, now, moments + origin, waited[index == number], load)
    return moments, notes


def _asks(waits: Waits, moments: Int64, slotless: Bool | None) -> Bool:
    """Return the calls that still need a slot: not those whose work the edits took away."""
    asks = (moments[waits.release] > moments[waits.grant]) | (waits.released == waits.granted)
    return np.asarray(asks if slotless is None else asks & ~slotless[waits.row])


def _origin(model: ReplayModel, load: float) -> Int64:
    """Return when each request of the forest starts, ns after the first, if they arrive `load` times as fast."""
    start = model.path.start[model.forest.root]
    since = start - start[model.requests].min()
    return np.asarray(since if load == 1 else np.rint(since / load), np.int64)


def _busy(arrived: Int64, held: Int64, size: int) -> float:
    """Return the use of a pool: arrival rate times time held, for each slot."""
    window = int(arrived.max() - arrived.min()) if len(arrived) > 1 else 0
    if not window:
        return 0.0
    return float(held.mean()) * (len(arrived) - 1) / (window * size)


def _report(pool: Pooled, now: Waits, moments: Int64, waited: Int64, load: float) -> list[str]:
    """Say how a pool fares, before and after."""
    before = pool.waits
    was = _busy(before.arrived, before.released - before.granted, pool.size)
    arrived = moments[now.grant] - waited
    use = _busy(arrived, moments[now.release] - moments[now.grant], pool.new_size) if len(now.row) else 0.0
    if load != 1 and use >= 1:
        raise EditError(
            f"--load {load:g}x: pool {pool.name} would need {percent(use)} of its {pool.new_size} slots: "
            "the queue would grow without end",
            f"stay below {load / use:.2f}x, or enlarge the pool as well, for example "
            f"--pool '{pool.name}={pool.size}->{int(pool.new_size * use / NEARLY_FULL) + 1}'",
        )
    slots = f"{pool.size}" if pool.size == pool.new_size else f"{pool.size} -> {pool.new_size}"
    mean = duration(float(waited.mean()) / 1e6) if len(waited) else "0 ms"
    notes = [
        *pool.notes,
        f"pool {pool.name} ({slots} slots): {percent(was)} in use, then {percent(use)}; mean wait "
        f"{duration(float((before.granted - before.arrived).mean()) / 1e6)}, then {mean}",
    ]
    if use >= 1:
        notes.append(
            f"pool {pool.name} would be overloaded: its queue grows for as long as the traffic lasts, "
            "so the waits predicted hold for traffic of the recorded length only"
        )
    elif use > NEARLY_FULL:
        notes.append(
            f"pool {pool.name} is nearly full: waits there depend so much on the traffic that the prediction is "
            "far less sure than its interval says"
        )
    return notes
