"""Columns while they are being filled: typed arrays and vocabularies, without NumPy, so that workers start quickly.

A format module appends spans batch by batch; attributes wait in their `Slot` until `flush` turns them into codes and
numbers. Batches are kept small (about what fits the processor's cache): that alone makes reading twice as fast.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from latshift.ingest import converters as to
from latshift.ingest.conventions import ATTRIBUTE_COLUMNS, EVENT_RANK, RESOURCE_KEYS, SOURCES, allowed
from latshift.ingest.converters import Plain
from latshift.ingest.ids import packed_span_ids
from latshift.ingest.values import plain

BATCH = 256
"""Spans after which attributes are turned into columns."""

RESOURCE_RANK = 1_000
"""Place of resource attributes among the sources of a column: behind all span attributes."""

NO_SPAN = "0" * 16
"""The span id that stands for none."""

TIME_OUT_OF_RANGE = "span with a time outside 64 bits"

_FIRST_TOKEN = re.compile(r"first.?(token|chunk)", re.IGNORECASE)
_FIRST_TOKEN_EVENTS = frozenset(
    {"gen_ai.content.completion.chunk", "llm.content.completion.chunk", "mlflow.chunk.item.0", "new_token"}
)
_KINDS = {"unspecified": 0, "internal": 1, "server": 2, "client": 3, "producer": 4, "consumer": 5}
_STATUSES = {"unset": 0, "ok": 1, "error": 2}


class Words(dict[Any, int]):
    """A vocabulary: a word to its code, in the order of first use."""

    def __missing__(self, word: Any) -> int:
        code = self[word] = len(self)
        return code


class Enumeration(dict[Any, int]):
    """Numbers and names of an OTLP enumeration to its numbers; 0 for what it does not have."""

    def __init__(self, names: dict[str, int]) -> None:
        super().__init__(names)
        self._names = names

    def __missing__(self, value: Any) -> int:
        word = str(value).lower().rpartition(".")[2]
        for prefix in ("span_kind_", "status_code_"):
            word = word.removeprefix(prefix)
        number = self._names.get(word, int(word) if word.isdigit() and len(word) == 1 else 0)
        self[value] = number if number < len(self._names) else 0
        return self[value]


class FirstTokenNames(dict[Any, bool]):
    """Name of an event to whether it marks the first token or chunk of an answer."""

    def __missing__(self, name: Any) -> bool:
        self[name] = isinstance(name, str) and (name in _FIRST_TOKEN_EVENTS or bool(_FIRST_TOKEN.search(name)))
        return self[name]


KINDS = Enumeration(_KINDS)
STATUSES = Enumeration(_STATUSES)
IS_FIRST_TOKEN = FirstTokenNames()


class _Codes(dict[Any, int]):
    """Raw value to the code of its converted text, -1 where it converts to nothing."""

    def __init__(self, convert: Callable[[Any], Any]) -> None:
        super().__init__()
        self.convert = convert
        self.words = Words()

    def __missing__(self, value: Any) -> int:
        if value is None:
            raise TypeError
        word = self.convert(value)
        code = self[value] = -1 if word is None else self.words[word]
        return code


@dataclass
class Fragment:
    """What one attribute key contributes to one column.

    Attributes:
        column: Name of the column. rank: Place of the key among the column's sources; the lowest wins.
        rows: Rows that have it, ascending. values: Codes into `words` (text columns) or numbers.
        words: Vocabulary, None for columns of numbers.
    """

    column: str
    rank: int
    rows: array[int] = field(default_factory=lambda: array("i"))
    values: array[int] = field(default_factory=lambda: array("q"))
    words: list[str] | None = None


class TextFragment:
    """Fills a `Fragment` of texts."""

    def __init__(self, column: str, rank: int, convert: Callable[[Any], Any]) -> None:
        self.fragment = Fragment(column, rank, values=array("i"))
        self._codes = _Codes(convert)

    def add(self, rows: Sequence[int], values: Iterable[Any]) -> None:
        """Add the values of some rows.

        Raises:
            TypeError: If there is nothing or a list among them; nothing has been added then.
        """
        codes = list(map(self._codes.__getitem__, values))
        self.fragment.rows.extend(rows)
        self.fragment.values.extend(codes)

    def add_any(self, rows: Sequence[int], values: Sequence[Plain]) -> None:
        """Add the values of some rows, leaving out what is nothing."""
        texts = [to.text(value) if isinstance(value, list) else value for value in values]
        present = [place for place, value in enumerate(texts) if value is not None]
        self.add([rows[place] for place in present], [texts[place] for place in present])

    def finish(self) -> Fragment:
        """Return the fragment."""
        self.fragment.words = list(self._codes.words)
        return self.fragment


class NumberFragment:
    """Fills a `Fragment` of numbers."""

    def __init__(self, column: str, rank: int, convert: Callable[[Any], Any]) -> None:
        self.fragment = Fragment(column, rank)
        self._convert = convert

    def add(self, rows: Sequence[int], values: Sequence[Any]) -> None:
        """Add the values of some rows; those that cannot be converted are left out.

        Raises:
            TypeError, OverflowError: If there is something unexpected among them; nothing has been added then.
        """
        if self._convert is to.integer:
            numbers = array("q", values)
            self.fragment.rows.extend(rows)
            self.fragment.values.extend(numbers)
        elif None in values:
            raise TypeError
        else:
            self.add_any(rows, values)

    def add_any(self, rows: Sequence[int], values: Sequence[Plain]) -> None:
        """Add the values of some rows; those that cannot be converted are left out."""
        for row, value in zip(rows, values, strict=True):
            number = self._convert(value)
            if number is not None:
                self.fragment.rows.append(row)
                self.fragment.values.append(number)

    def finish(self) -> Fragment:
        """Return the fragment."""
        return self.fragment


_FIELDS = {to.integer: "int_value", to.seconds: "double_value", to.milliseconds: "double_value", to.flag: "bool_value"}


class Slot:
    """Where the values of one attribute key wait.

    Attributes:
        rows, values: Rows, and values as decoded (wrapped or plain).
        expected: Takes the plain value out of a wrapped one of the expected type; None or an error otherwise.
        targets: The fragments to fill.
    """

    __slots__ = ("expected", "rows", "targets", "values")

    def __init__(self, key: str, rank: int = 0) -> None:
        self.rows: list[int] = []
        self.values: list[Any] = []
        self.targets: list[TextFragment | NumberFragment] = []
        sources = [(ATTRIBUTE_COLUMNS[name], place) for name, place in SOURCES.get(key, ())]
        for column, place in sources:
            kind = TextFragment if column.storage == "text" else NumberFragment
            self.targets.append(kind(column.name, rank + place, column.sources[place].convert))
        first = sources[0][0].sources[sources[0][1]].convert if sources else to.text
        self.expected = attrgetter(_FIELDS.get(first, "string_value"))  # type: ignore[arg-type]

    def flush(self) -> None:
        """Turn what waits into columns."""
        try:
            values = list(map(self.expected, self.values))
            for target in self.targets:
                target.add(self.rows, values)
        except (AttributeError, TypeError, OverflowError):
            # Values are plain already, absent, or of another type than most.
            plains = [plain(value) for value in self.values]
            for target in self.targets:
                target.add_any(self.rows, plains)
        self.rows.clear()
        self.values.clear()


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
