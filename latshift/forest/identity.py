"""Which span is which: finding spans by (trace, span id), dropping copies, and telling apart spans that share an id."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from latshift.forest.sorting import Key, order_by
from latshift.spans import CONSUMER, SERVER, Array, Bool, Coded, Int64, SpanTable, UInt64

RECEIVERS = (SERVER, CONSUMER)
"""Kinds of the half that received the call, where two halves share one span id (Zipkin)."""


class SpanIndex:
    """A hash table from (trace code, span id) to a row; open addressing, filled and asked for all rows at once.

    Attributes:
        owner: int64 (n,), the row that stands for the row's id: itself unless the id occurs more than once.
    """

    def __init__(self, traces: Array, ids: UInt64) -> None:
        self._traces, self._ids = traces, ids
        n = ids.shape[0]
        self._bits = max(4, (2 * n).bit_length())
        self._table = np.full(1 << self._bits, -1, np.int64)
        self.owner = np.arange(n, dtype=np.int64)
        pending = np.arange(n, dtype=np.int64)
        slot = self._slots(traces, ids)
        while pending.shape[0]:
            free = self._table[slot] < 0
            self._table[slot[free]] = pending[free]
            holder = self._table[slot]
            mine = (ids[holder] == ids[pending]) & (traces[holder] == traces[pending])
            self.owner[pending[mine]] = holder[mine]
            pending, slot = pending[~mine], self._next(slot[~mine])

    def find(self, traces: Array, ids: UInt64) -> Int64:
        """Return the owner row of each (trace, id), -1 where no span has that id."""
        found = np.full(ids.shape[0], -1, np.int64)
        pending = np.arange(ids.shape[0], dtype=np.int64)
        slot = self._slots(traces, ids)
        while pending.shape[0]:
            holder = self._table[slot]
            taken = holder >= 0
            pending, slot, holder = pending[taken], slot[taken], holder[taken]
            hit = (self._ids[holder] == ids[pending]) & (self._traces[holder] == traces[pending])
            found[pending[hit]] = holder[hit]
            pending, slot = pending[~hit], self._next(slot[~hit])
        return found

    def repeated(self) -> Int64:
        """Return the rows whose id occurs more than once, in row order."""
        others = np.flatnonzero(self.owner != np.arange(self.owner.shape[0]))
        if not others.shape[0]:
            return others
        marked = np.zeros(self.owner.shape[0], np.bool_)
        marked[self.owner[others]] = True
        return np.flatnonzero(marked[self.owner])

    def _slots(self, traces: Array, ids: UInt64) -> Int64:
        # SplitMix64-style mixing: ids may be counters, and traces are small codes.
        mixed = ids ^ ((traces.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15))
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return np.asarray(mixed >> np.uint64(64 - self._bits), np.int64)

    def _next(self, slot: Int64) -> Int64:
        return np.asarray((slot + 1) & ((1 << self._bits) - 1), np.int64)


@dataclass(frozen=True)
class Copies:
    """What `find_copies` found: rows to keep, and how many of each kind of copy there were."""

    keep: Bool
    duplicates: int
    updates: int


def find_copies(table: SpanTable, index: SpanIndex) -> Copies:
    """Find spans that were exported more than once.

    Identical copies (same trace, span id, start, end, name) count once. Same name, service, kind and start but another
    end is an update of a span exported before it ended: the latest end stays. Which of several identical copies stays
    is settled by their remaining columns, never by the order of the input.
    """
    rows = index.repeated()
    keep = np.ones(table.n, np.bool_)
    if not rows.shape[0]:
        return Copies(keep, 0, 0)
    rest = [column_key(table, name) for name in sorted(table.columns)]
    group, rows = _sorted_by(index.owner, rows, _keys(table, "start", "name", "end") + rest)
    same = (group[1:] == group[:-1]) & _equal_to_previous(table, rows, "start", "name", "end")
    keep[rows[1:][same]] = False

    rows = rows[keep[rows]]
    group, rows = _sorted_by(index.owner, rows, _keys(table, "start", "name", "service", "kind", "-end"))
    update = (group[1:] == group[:-1]) & _equal_to_previous(table, rows, "start", "name", "service", "kind")
    keep[rows[1:][update]] = False
    return Copies(keep, int(same.sum()), int(update.sum()))


@dataclass(frozen=True)
class SharedIds:
    """Different spans with one id.

    Attributes:
        first: int64 (n,), for an owner row: the span that children of the id hang under (the sender, if there is one).
        receiver: int64 (n,), for an owner row: the half that received the call, -1 if there is none.
        sender: int64 (n,), for a receiving half: the half that sent the call, its parent; -1 otherwise.
        unexplained: Number of ids whose spans are not two halves of one call.
    """

    first: Int64
    receiver: Int64
    sender: Int64
    unexplained: int


def find_shared(table: SpanTable, index: SpanIndex) -> SharedIds | None:
    """Find ids that several spans share; None if there are none. Copies must have been dropped before."""
    rows = index.repeated()
    if not rows.shape[0]:
        return None
    group, rows = _sorted_by(index.owner, rows, _keys(table, "start", "-end", "kind", "service", "name"))
    receives = np.isin(table.array("kind")[rows], RECEIVERS)
    first, receiver, sender = np.arange(table.n), np.full(table.n, -1), np.full(table.n, -1)
    # Assigned backwards, so that the earliest span of each id is the one that stays.
    first[group[::-1]] = rows[::-1]
    sends_group, sends_rows = group[~receives][::-1], rows[~receives][::-1]
    sending = np.full(table.n, -1)
    sending[sends_group] = sends_rows
    has_sender = sending[group] >= 0
    half = receives & has_sender
    receiver[group[half][::-1]] = rows[half][::-1]
    sender[rows[half]] = sending[group[half]]
    paired = receiver[group] >= 0
    first[group[paired]] = sending[group[paired]]
    unexplained = np.unique(group[~paired]).shape[0]
    return SharedIds(first, receiver, sender, unexplained)


def column_key(table: SpanTable, name: str) -> Key:
    """Return the sort key of a column: numbers by value, texts alphabetically; "-name" sorts downwards."""
    column = table.columns[name.removeprefix("-")]

    def key(rows: Array) -> Int64:
        values = column.ranks()[rows] if isinstance(column, Coded) else column[rows].astype(np.int64)
        return ~values if name.startswith("-") else values

    return key


def _keys(table: SpanTable, *names: str) -> list[Key]:
    return [column_key(table, name) for name in names]


def _sorted_by(owner: Int64, rows: Int64, keys: list[Key]) -> tuple[Int64, Int64]:
    """Return (owner, row) of the rows, sorted by owner and then by the keys."""
    order = order_by(owner[rows], [lambda at, key=key: key(rows[at]) for key in keys])  # type: ignore[misc]
    rows = rows[order]
    return owner[rows], rows


def _equal_to_previous(table: SpanTable, rows: Int64, *names: str) -> Bool:
    same = np.ones(max(rows.shape[0] - 1, 0), np.bool_)
    for name in names:
        column = table.columns[name]
        values = column.codes[rows] if isinstance(column, Coded) else column[rows]
        same &= values[1:] == values[:-1]
    return same
