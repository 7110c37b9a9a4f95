"""Pools of slots, first come, first served: when does each call get its slot, across all requests?

The moments of a request between a grant and what it leads to (the slot's release, the next call's arrival) are a fixed
distance apart unless they wait for several others. So the graph is first contracted to grants, releases and such joins,
in vectors; what is left is an exact simulation of events in the order of time.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

import numpy as np

from latshift.sorting import stable_order
from latshift.spans import Array, Bool, Int64
from latshift.whatif.replay import Schedule

_RELEASE, _ARRIVAL = 0, 1


@dataclass(frozen=True)
class Calls:
    """Calls that take slots; arrays have shape (k,), and calls that arrive at one instant are served in this order.

    Attributes:
        pool: int64, index of the pool. size: Slots of each pool.
        grant: int64, the moment at which the call gets its slot: its work, without waiting, ends when it asks for one.
        release: int64, the moment at which it gives it back.
        lag: int64 ns, between a free slot and the grant, as recorded; the slot is taken meanwhile.
    """

    pool: Int64
    size: list[int]
    grant: Int64
    release: Int64
    lag: Int64


def waits(schedule: Schedule, source: Int64, target: Int64, work: Int64, origin: Int64, calls: Calls) -> Int64:
    """Return how long each call waits for its slot.

    Args:
        schedule: Of the graph with these edges.
        source: int64 (e,), edges.
        target: Likewise.
        work: int64 ns (nodes,), without any waiting.
        origin: int64 ns (nodes,), start of the moment's request on a clock common to all requests.
        calls: Who takes slots.

    Returns:
        int64 ns (k,).

    Raises:
        ValueError: If calls wait for each other's slots for ever.
    """
    return _Simulation(_contract(schedule, source, target, work, calls), origin, calls).run()


@dataclass(frozen=True)
class _Contracted:
    """What the simulation walks: grants first (k of them), then joins; releases come after those as targets.

    Attributes:
        node: int64 (m,), moment of each. work: int64 (m,). floor: int64 (m,), earliest by what never changes.
        first, target, offset: followers of each as ranges; targets from m on are releases.
        pending: int64 (m,), how many the moment waits for.
        release: int64 (k,), when the release comes if no grant precedes it.
        bound: bool (k,), a grant precedes the release.
    """

    node: Int64
    work: Int64
    floor: Int64
    first: Int64
    target: Int64
    offset: Int64
    pending: Int64
    release: Int64
    bound: Bool


def _contract(schedule: Schedule, source: Int64, target: Int64, work: Int64, calls: Calls) -> _Contracted:
    nodes = schedule.nodes
    granting = np.zeros(nodes, bool)
    granting[calls.grant] = True
    moving = schedule.run(granting.astype(np.int64)) > 0
    # A replay without waiting is the earliest that every moment can come.
    earliest = schedule.run(work)
    still = ~moving[source] & moving[target]
    edge = moving[source] & moving[target]
    source_moving, target_moving = source[edge], target[edge]
    floor = np.zeros(nodes, np.int64)
    np.maximum.at(floor, target[still], earliest[source[still]])
    reached = np.full(nodes, -1, np.int64)
    np.maximum.at(reached, target_moving, earliest[source_moving])
    floor[floor <= reached] = 0
    alone = moving & ~granting & (floor == 0) & (np.bincount(target_moving, minlength=nodes) == 1)
    head, offset = _chains(nodes, source_moving, target_moving, alone, work)
    wanted = _wanted(head, source_moving, target_moving, alone, calls, moving)
    used = wanted[target_moving]
    joins = np.flatnonzero(wanted & ~granting)
    node = np.concatenate([calls.grant, joins])
    number = np.full(nodes, -1, np.int64)
    number[node] = np.arange(len(node))
    bound = moving[calls.release]
    ends = np.flatnonzero(bound)
    tail, into = source_moving[used], calls.release[ends]
    follower = np.concatenate([number[head[tail]], number[head[into]]])
    order = stable_order(follower)
    return _Contracted(
        node=node,
        work=work[node],
        floor=floor[node],
        first=np.concatenate([[0], np.cumsum(np.bincount(follower, minlength=len(node)))]),
        target=np.concatenate([number[target_moving[used]], len(node) + ends])[order],
        offset=np.concatenate([offset[tail], offset[into]])[order],
        pending=np.bincount(number[target_moving[used]], minlength=len(node)),
        release=earliest[calls.release],
        bound=bound,
    )


def _chains(nodes: int, source: Int64, target: Int64, alone: Bool, work: Int64) -> tuple[Int64, Int64]:
    """Return, for moments that follow a single other one, the head of their chain and the distance to it."""
    head, offset = np.arange(nodes), np.zeros(nodes, np.int64)
    linked = alone[target]
    head[target[linked]] = source[linked]
    offset[alone] = work[alone]
    open_ = np.flatnonzero(alone)
    while len(open_):
        above = head[open_]
        offset[open_] += offset[above]
        head[open_] = head[above]
        open_ = open_[alone[head[open_]]]
    return head, offset


def _wanted(head: Int64, source: Int64, target: Int64, alone: Bool, calls: Calls, moving: Bool) -> Bool:
    """Return the grants and joins that lead to a release or to another grant."""
    wanted = np.zeros(len(head), bool)
    wanted[calls.grant] = True
    wanted[head[calls.release[moving[calls.release]]]] = True
    inner = ~alone[target]
    source, target = head[source[inner]], target[inner]
    while True:
        more = source[wanted[target] & ~wanted[source]]
        if not len(more):
            return wanted
        wanted[more] = True


class _Simulation:
    """Events in the order of time."""

    def __init__(self, graph: _Contracted, origin: Int64, calls: Calls) -> None:
        start = origin[graph.node]
        count = len(calls.grant)
        self.count, self.size = count, len(graph.node)
        self.pool, self.lag = calls.pool.tolist(), calls.lag.tolist()
        self.free = list(calls.size)
        self.lines: list[deque[int]] = [deque() for _ in calls.size]
        # Joins come at `reached` + work; floors count from the request's start.
        self.reached = (graph.floor + start).tolist()
        self.work, self.pending = graph.work.tolist(), graph.pending.tolist()
        self.first, self.target, self.offset = graph.first.tolist(), graph.target.tolist(), graph.offset.tolist()
        self.arrived = [0] * count
        self.granted: list[int | None] = [None] * count
        self.left_early = [False] * count
        ready = np.flatnonzero(graph.pending[:count] == 0)
        events = [
            (when, _ARRIVAL, call)
            for call, when in zip(ready.tolist(), (graph.floor + start + graph.work)[ready].tolist(), strict=True)
        ]
        fixed = np.flatnonzero(~graph.bound)
        ends = (graph.release + start[:count])[fixed]
        events += [(when, _RELEASE, call) for call, when in zip(fixed.tolist(), ends.tolist(), strict=True)]
        heapify(events)
        self.events = events

    def run(self) -> Int64:
        """Let all calls come and go; return their waits."""
        events, pool, free, lines = self.events, self.pool, self.free, self.lines
        while events:
            now, kind, call = heappop(events)
            place = pool[call]
            if kind == _ARRIVAL:
                self.arrived[call] = now
                if not free[place]:
                    lines[place].append(call)
                    continue
                free[place] -= 1
            else:
                if self.granted[call] is None:
                    # Its release does not depend on its slot, and came first.
                    self.left_early[call] = True
                    continue
                if not lines[place]:
                    free[place] += 1
                    continue
                call = lines[place].popleft()
            self._grant(call, now)
        granted = [when for when in self.granted if when is not None]
        if len(granted) < self.count:
            raise ValueError("calls wait for each other's slots")
        return np.asarray(granted, np.int64) - np.asarray(self.arrived, np.int64)

    def _grant(self, call: int, now: int) -> None:
        """Give a slot to a call and work out what follows from it."""
        arrived = self.arrived[call]
        when = max(arrived, max(now, arrived) + self.lag[call])
        self.granted[call] = when
        if self.left_early[call]:
            heappush(self.events, (when, _RELEASE, call))
        open_ = [(call, when)]
        while open_:
            moment, when = open_.pop()
            for edge in range(self.first[moment], self.first[moment + 1]):
                follower, then = self.target[edge], when + self.offset[edge]
                if follower >= self.size:
                    heappush(self.events, (then, _RELEASE, follower - self.size))
                    continue
                self.reached[follower] = max(self.reached[follower], then)
                self.pending[follower] -= 1
                if not self.pending[follower]:
                    ends = self.reached[follower] + self.work[follower]
                    if follower < self.count:
                        heappush(self.events, (ends, _ARRIVAL, follower))
                    else:
                        open_.append((follower, ends))


def recorded_lags(arrived: Int64, granted: Int64, released: Int64, size: int) -> tuple[Int64, Int64]:
    """Return what a pool of this size explains of each call's waiting, and what it does not.

    Calls stand in the order in which they got their slots. The i-th of them cannot get one before all but `size` - 1
    of those ahead have given theirs back, which is the (i - size)-th release of all.

    Args:
        arrived: int64 ns (k,), sorted by `granted`.
        granted: Likewise.
        released: Likewise.
        size: Slots.

    Returns:
        int64 ns (k,), waiting explained; int64 ns (k,), the lag from then to the grant (negative: the pool was full).
    """
    free = arrived.copy()
    free[size:] = np.maximum(arrived[size:], np.sort(released)[: max(0, len(arrived) - size)])
    return free - arrived, granted - free


def concurrency(granted: Array, released: Array) -> Int64:
    """Return how many slots are taken just after each grant, the call itself included; int64 (k,).

    A slot given back at the very instant counts as free.
    """
    started = np.searchsorted(np.sort(granted), granted, side="right")
    gone = np.searchsorted(np.sort(released), granted, side="right")
    return np.asarray(started - gone, np.int64)
