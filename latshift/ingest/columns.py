"""Columns while they are being filled: typed arrays and vocabularies, without NumPy, so that workers start quickly.

A format module appends spans batch by batch; attributes wait in their `Slot` until `flush` turns them into codes and
numbers. Batches are kept small (about what fits the processor's cache): that alone makes reading twice as fast.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from latshift.ingest import converters as to
from latshift.ingest.conventions import EVENT_RANK, RESOURCE_KEYS, SOURCES, allowed
from latshift.ingest.ids import packed_span_ids
from latshift.ingest.slots import Fragment, NumberFragment, Slot, TextFragment, Words

BATCH = 256
"""Spans after which attributes are turned into columns."""

RESOURCE_RANK = 1_000
"""Place of resource attributes among the sources of a column: behind all span attributes."""

NO_SPAN = "0" * 16
"""The span id that stands for none."""

TIME_OUT_OF_RANGE = "span with a time outside 64 bits"


@dataclass
class RawColumns:
    """Spans as they leave a worker: every column as an array or bytes, texts as codes with their vocabularies.

    Attributes:
        n: Number of spans. codes, words: Text columns. numbers: Number columns. fragments: Attributes.
        span_ids, parent_ids: 8 bytes each, big-endian. odd, short: See `ids.packed_span_ids`.
        faults: Reason to rows that cannot be used.
        mark_rows, mark_files, mark_offsets: First row, file and byte offset of each document that has spans.
    """

    n: int
    codes: dict[str, array[int]]
    words: dict[str, list[str]]
    numbers: dict[str, array[int]]
    fragments: list[Fragment]
    span_ids: bytes
    parent_ids: bytes
    odd: dict[int, str]
    short: dict[int, str]
    faults: dict[str, list[int]]
    mark_rows: array[int]
    mark_files: array[int]
    mark_offsets: array[int]


class Builder:
    """Columns being filled with the spans of one chunk.

    Attributes:
        n: Spans so far. slots, resource_slots: Attribute key to its slot, for attributes of spans and of resources.
        waiting: Attribute key to the rows and values of its slot, for attributes of spans.
        traces, names, services, hosts, scopes: Vocabularies.
    """

    def __init__(self, keep: Collection[str] = ()) -> None:
        self.n = 0
        kept = allowed(keep)
        self.slots = {key: Slot(key) for key in (*SOURCES, *kept)}
        self.resource_slots = {key: Slot(key, RESOURCE_RANK) for key in (*RESOURCE_KEYS, *kept)}
        for key in kept:
            self.slots[key].targets.append(TextFragment(f"attr:{key}", 0, to.text))
            self.resource_slots[key].targets = [TextFragment(f"attr:{key}", RESOURCE_RANK, to.text)]
        self.waiting = {key: (slot.rows, slot.values) for key, slot in self.slots.items()}
        self.first_tokens = NumberFragment("first_token_at", EVENT_RANK, to.integer)
        self.traces, self.names, self.services, self.hosts, self.scopes = (Words() for _ in range(5))
        self.codes = {name: array("i") for name in ("trace", "name", "service", "host", "scope")}
        self.numbers = {"kind": array("B"), "status": array("B"), "follows": array("B"), "start": array("q")}
        self.numbers["end"] = array("q")
        self.span_ids, self.parent_ids = bytearray(), bytearray()
        self.odd: dict[int, str] = {}
        self.short: dict[int, str] = {}
        self.faults: dict[str, list[int]] = {}
        self.mark_rows, self.mark_files, self.mark_offsets = array("q"), array("i"), array("q")
        self._flushed = 0

    def mark(self, file: int, offset: int) -> None:
        """Note that the spans to come stand in a file, in the document at an offset."""
        if self.mark_rows and self.mark_rows[-1] == self.n:
            self.mark_files[-1], self.mark_offsets[-1] = file, offset
            return
        self.mark_rows.append(self.n)
        self.mark_files.append(file)
        self.mark_offsets.append(offset)

    def add_names(self, traces: list[str], names: list[Any]) -> None:
        """Append the trace ids and names of a batch of spans."""
        self.codes["trace"].extend(map(self.traces.__getitem__, traces))
        self.codes["name"].extend(map(self.names.__getitem__, names))

    def add_ids(self, own: list[str], parents: list[str]) -> None:
        """Append the span ids of a batch, and those of their parents; `NO_SPAN` for none."""
        self.span_ids += packed_span_ids(own, self.odd, self.short)
        self.parent_ids += packed_span_ids(parents, self.odd, self.short)

    def add_times(self, starts: list[int], ends: list[int]) -> None:
        """Append the times of a batch, ns, and count its spans."""
        try:
            start, end = array("q", starts), array("q", ends)
        except OverflowError:
            fits = [abs(a) < to.INT64 and abs(b) < to.INT64 for a, b in zip(starts, ends, strict=True)]
            bad = [self.n + place for place, fit in enumerate(fits) if not fit]
            self.faults.setdefault(TIME_OUT_OF_RANGE, []).extend(bad)
            start = array("q", [time if fit else 0 for time, fit in zip(starts, fits, strict=True)])
            end = array("q", [time if fit else 0 for time, fit in zip(ends, fits, strict=True)])
        self.numbers["start"].extend(start)
        self.numbers["end"].extend(end)
        self.n += len(starts)

    def flush(self, force: bool = False) -> None:
        """Turn waiting attributes into columns, once enough spans wait or at once."""
        if self.n - self._flushed < BATCH and not force:
            return
        self._flushed = self.n
        for slot in (*self.slots.values(), *self.resource_slots.values()):
            if slot.rows:
                slot.flush()

    def finish(self) -> RawColumns:
        """Return the columns; everything must have been flushed."""
        slots = (*self.slots.values(), *self.resource_slots.values())
        targets = [target for slot in slots for target in slot.targets]
        fragments = [target.finish() for target in (*targets, self.first_tokens)]
        vocabularies = (self.traces, self.names, self.services, self.hosts, self.scopes)
        return RawColumns(
            self.n,
            self.codes,
            {name: list(words) for name, words in zip(self.codes, vocabularies, strict=True)},
            self.numbers,
            [fragment for fragment in fragments if fragment.rows],
            bytes(self.span_ids),
            bytes(self.parent_ids),
            self.odd,
            self.short,
            self.faults,
            self.mark_rows,
            self.mark_files,
            self.mark_offsets,
        )
