"""Clocks that disagree: counting what sticks out of its parent, and moving it back on request (`--fix-skew`)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from latshift.spans import CLIENT, CONSUMER, NULL, PRODUCER, Array, Bool, Int64, SpanTable

ABSOLUTE_TIMES = ("start", "end", "first_token_at")
"""Columns that hold points in time, which move with their span."""


@dataclass(frozen=True)
class Overhang:
    """How many spans lie partly or wholly outside their parent, and how many ns of them that is."""

    spans: int
    cut_ns: int


def overhang(table: SpanTable, parent: Int64) -> Overhang:
    """Measure what sticks out of its parent; consumers under a producer are meant to, and do not count."""
    child, above = _edges(parent)
    start, end, kind = table.array("start"), table.array("end"), table.array("kind")
    outside = (start[child] < start[above]) | (end[child] > end[above])
    outside &= ~((kind[child] == CONSUMER) & (kind[above] == PRODUCER))
    child, above = child[outside], above[outside]
    low, high = np.maximum(start[child], start[above]), np.minimum(end[child], end[above])
    cut = (end[child] - start[child]) - np.maximum(high - low, 0)
    return Overhang(int((cut > 0).sum()), int(cut.sum()))


@dataclass(frozen=True)
class SkewFix:
    """What `fix_skew` did: spans found outside and moved (with the largest move), and those beyond the bound."""

    moved: int
    largest_ns: int
    beyond: int


def fix_skew(table: SpanTable, parent: Int64, bound_ns: int) -> SkewFix:
    """Move children of another host into their CLIENT parent, in place, splitting the network time evenly.

    delta = parent.start + (parent duration - child duration) / 2 - child.start, or parent.start - child.start for a
    child that is longer than its parent and starts before it (Jaeger's clock skew adjuster, critical_path.md §2.4).
    The parent's own move counts. What is below a moved span on the same host moves along. Where hosts are not
    known, services stand for them. Never moved: consumers, children that start after their parent ended, and whatever
    would move by more than the bound.

    Args:
        table: The spans; its time columns are changed.
        parent: int64 (n,), row of the parent, -1 for roots.
        bound_ns: The largest move allowed, in ns.
    """
    start, end, kind = table.array("start"), table.array("end"), table.array("kind")
    child, above = _edges(parent)
    same = _same_clock(table, child, above)
    crosses = np.zeros(table.n, np.bool_)
    crosses[child] = ~same & (kind[above] == CLIENT) & (kind[child] != CONSUMER)
    drifts = np.zeros(table.n, np.bool_)  # moves as its parent does
    drifts[child] = same
    head = _heads(parent, drifts)
    delta = np.zeros(table.n, np.int64)
    moved = beyond = largest = 0
    for rows in _levels(parent, head, crosses):
        up = parent[rows]
        shift = _shift(start, end, rows, up, delta[head[up]])
        small = np.abs(shift) <= bound_ns
        delta[rows[small]] = shift[small]
        moved += int((shift[small] != 0).sum())
        beyond += int((~small).sum())
        largest = max(largest, int(np.abs(shift[small]).max(initial=0)))
    _move(table, delta[head])
    return SkewFix(moved, largest, beyond)


def _shift(start: Int64, end: Int64, rows: Int64, up: Int64, up_delta: Int64) -> Int64:
    """Return by how much each child has to move, 0 where it lies inside its (already moved) parent."""
    up_start, up_end = start[up] + up_delta, end[up] + up_delta
    spare = (up_end - up_start) - (end[rows] - start[rows])
    inside = (start[rows] >= up_start) & (end[rows] <= up_end)
    centred = up_start + spare // 2 - start[rows]
    shift = np.where(spare >= 0, centred, np.maximum(up_start - start[rows], 0))
    return np.where(inside | (start[rows] > up_end), 0, shift)


def _heads(parent: Int64, drifts: Bool) -> Int64:
    """Return, for every span, the span whose move it shares: the topmost one reached over drifting edges."""
    head = np.where(drifts, parent, np.arange(parent.shape[0]))
    while True:
        further = head[head]
        if np.array_equal(further, head):
            return head
        head = further


def _levels(parent: Int64, head: Int64, crosses: Bool) -> list[Int64]:
    """Return the crossing spans in batches, each batch only below earlier ones (one per change of clock)."""
    heads = np.flatnonzero((head == np.arange(head.shape[0])) & (parent >= 0))
    depth = np.zeros(parent.shape[0], np.int64)
    above = np.full(parent.shape[0], -1, np.int64)
    above[heads] = head[parent[heads]]
    ahead = above.copy()
    depth[heads] = 1
    active = heads
    while active.shape[0]:
        depth[active] += depth[ahead[active]]
        ahead[active] = ahead[ahead[active]]
        active = active[ahead[active] >= 0]
    rows = np.flatnonzero(crosses)
    rows = rows[np.argsort(depth[rows], kind="stable")]
    return np.split(rows, np.flatnonzero(np.diff(depth[rows])) + 1) if rows.shape[0] else []


def _move(table: SpanTable, delta: Int64) -> None:
    if not delta.any():
        return
    for name in ABSOLUTE_TIMES:
        column = table.columns.get(name)
        if isinstance(column, np.ndarray):
            table.columns[name] = np.where(column == NULL, column, column + delta)


def _edges(parent: Int64) -> tuple[Int64, Int64]:
    child = np.flatnonzero(parent >= 0)
    return child, parent[child]


def _same_clock(table: SpanTable, left: Array, right: Array) -> Bool:
    """Return which pairs of spans ran on one host; where a host is not known, which are of one service."""
    host, service = table.text("host").codes, table.text("service").codes
    known = (host[left] >= 0) & (host[right] >= 0)
    return np.asarray(np.where(known, host[left] == host[right], service[left] == service[right]), np.bool_)
