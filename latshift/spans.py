"""The data that flows through latshift: columns of spans, and the requests they form.

`SpanTable` is a store of NumPy columns, filled by `latshift.ingest` and passed from stage to stage.
`TraceSet` is what people hold: spans and requests as Polars frames, saved and loaded as Parquet.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Int64 = npt.NDArray[np.int64]
Int32 = npt.NDArray[np.int32]
UInt64 = npt.NDArray[np.uint64]
Bool = npt.NDArray[np.bool_]
Float64 = npt.NDArray[np.float64]
Array = npt.NDArray[Any]

NULL = int(np.iinfo(np.int64).min)
"""What stands for "absent" in an int64 attribute column."""

UNSPECIFIED, INTERNAL, SERVER, CLIENT, PRODUCER, CONSUMER = range(6)
"""Span kinds, numbered as in OTLP."""

UNSET, OK, ERROR = range(3)
"""Span status codes, numbered as in OTLP."""


@dataclass(frozen=True)
class Column:
    """One canonical span column: its name, how it is stored, its unit, and what it means."""

    name: str
    storage: Literal["text", "int", "span id", "small", "flag"]
    unit: str
    meaning: str


COLUMNS: tuple[Column, ...] = (
    Column(
        "trace",
        "text",
        "",
        "trace id, 32 lower-case hex digits, or the text as it stood if it was neither hex nor base64",
    ),
    Column(
        "span_id", "span id", "", "span id as an unsigned 64-bit number; see SpanTable.odd_ids for ids that are not hex"
    ),
    Column("parent_id", "span id", "", "span id of the parent; 0 when the span has none"),
    Column("name", "text", "", "operation name"),
    Column("service", "text", "", "service.name of the resource"),
    Column("host", "text", "", "host.id, host.name or host address of the resource"),
    Column("scope", "text", "", "instrumentation scope name"),
    Column("kind", "small", "", "OTLP span kind, 0 to 5"),
    Column("status", "small", "", "OTLP status code: 0 unset, 1 ok, 2 error"),
    Column("start", "int", "ns since the epoch", "start time"),
    Column("end", "int", "ns since the epoch", "end time"),
    Column("follows", "flag", "", "the parent is given by a FOLLOWS_FROM reference only"),
)
"""The columns that every span has. Attribute columns are listed in `latshift.ingest.conventions`."""


@dataclass
class Coded:
    """A text column: codes into a vocabulary, -1 where the text is absent.

    Attributes:
        codes: int32, shape (n,).
        words: The vocabulary; every code is an index into it.
    """

    codes: Int32
    words: list[str]

    def take(self, rows: Array) -> Coded:
        """Return the column at the given rows (indices or mask)."""
        return Coded(self.codes[rows], self.words)

    def texts(self, rows: Array | None = None) -> list[str | None]:
        """Return the texts themselves, at all rows or at the given ones."""
        words = self.words
        codes = self.codes if rows is None else self.codes[rows]
        return [words[code] if code >= 0 else None for code in codes.tolist()]

    def ranks(self) -> Int64:
        """Return the alphabetical rank of every row's text, int64 of shape (n,); -1 where absent."""
        order = sorted(range(len(self.words)), key=self.words.__getitem__)
        rank = np.empty(len(order) + 1, np.int64)
        rank[order] = np.arange(len(order))
        rank[-1] = -1
        return rank[self.codes]

    def lookup(self, values: Sequence[Any], missing: Any) -> Array:
        """Map every row through one value per vocabulary word; `missing` where the text is absent."""
        return np.asarray([*values, missing])[self.codes]


def join_coded(parts: Sequence[Coded]) -> Coded:
    """Join text columns end to end under one vocabulary."""
    index: dict[str, int] = {}
    codes = []
    for part in parts:
        recode = np.empty(len(part.words) + 1, np.int32)
        for code, word in enumerate(part.words):
            recode[code] = index.setdefault(word, len(index))
        recode[-1] = -1
        codes.append(recode[part.codes])
    return Coded(np.concatenate(codes) if codes else np.empty(0, np.int32), list(index))


@dataclass
class SpanTable:
    """Spans as columns, in no particular order.

    Attributes:
        n: Number of spans.
        columns: Column name to NumPy array or `Coded`, each of length n. All of `COLUMNS` are there;
            attribute columns only where some span has the attribute.
        odd_ids: Text of the span ids that are not hex (their number in `span_id` is a digest of the text).
    """

    n: int
    columns: dict[str, Array | Coded]
    odd_ids: dict[int, str] = field(default_factory=dict)

    def array(self, name: str) -> Array:
        """Return a numeric column; one full of NULL (int64) where the table does not have it."""
        column = self.columns.get(name)
        if column is None:
            return np.full(self.n, NULL, np.int64)
        assert isinstance(column, np.ndarray), name
        return column

    def text(self, name: str) -> Coded:
        """Return a text column; an empty one where the table does not have it."""
        column = self.columns.get(name)
        if column is None:
            return Coded(np.full(self.n, -1, np.int32), [])
        assert isinstance(column, Coded), name
        return column

    def take(self, rows: Array) -> SpanTable:
        """Return the table at the given rows (indices or mask)."""
        columns: dict[str, Array | Coded] = {
            name: column.take(rows) if isinstance(column, Coded) else column[rows]
            for name, column in self.columns.items()
        }
        return SpanTable(int(self.array("start")[rows].shape[0]), columns, self.odd_ids)

    def span_id_text(self, row: int) -> str:
        """Return a span's id as people see it: 16 hex digits, or its own text if it is not hex."""
        return self.id_text(int(self.array("span_id")[row]))

    def id_text(self, number: int) -> str:
        """Return a span id number as people see it."""
        return self.odd_ids.get(number) or f"{number:016x}"


def join_tables(tables: Sequence[SpanTable]) -> SpanTable:
    """Join tables end to end; an attribute column absent from one of them is filled with "absent" there."""
    names: dict[str, None] = {}
    for table in tables:
        names.update(dict.fromkeys(table.columns))
    columns: dict[str, Array | Coded] = {}
    for name in names:
        example = next(table.columns[name] for table in tables if name in table.columns)
        if isinstance(example, Coded):
            columns[name] = join_coded([table.text(name) for table in tables])
        else:
            columns[name] = np.concatenate([table.array(name).astype(example.dtype, copy=False) for table in tables])
    odd_ids: dict[int, str] = {}
    for table in tables:
        odd_ids.update(table.odd_ids)
    return SpanTable(sum(table.n for table in tables), columns, odd_ids)


def id_digest(text: str) -> int:
    """Return the number that stands for a span id that is not hex: 64 bits of BLAKE2b, never 0."""
    from hashlib import blake2b

    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big") or 1


@dataclass
class InputSummary:
    """What was read, and what of it could not be used.

    Attributes:
        files: Files read. bytes: Their size as stored. spans: Spans kept. traces, requests, incomplete: Counts.
        skipped: Reason to count of things left out (spans, lines or files; the reason says which).
        warnings: One sentence for each kind of doubt, already counted ("12 spans end after their parent, 3.1 ms cut").
    """

    files: int = 0
    bytes: int = 0
    spans: int = 0
    traces: int = 0
    requests: int = 0
    incomplete: int = 0
    skipped: dict[str, int] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    def skip(self, reason: str, count: int = 1) -> None:
        """Count something left out, by reason."""
        if count:
            self.skipped[reason] = self.skipped.get(reason, 0) + count

    def to_dict(self) -> dict[str, Any]:
        """Return the `input` object of the output contract."""
        return {
            "files": self.files,
            "bytes": self.bytes,
            "spans": self.spans,
            "traces": self.traces,
            "requests": self.requests,
            "incomplete": self.incomplete,
            "skipped": dict(sorted(self.skipped.items())),
            "warnings": list(self.warnings),
        }


@dataclass
class Forest:
    """Spans hung under their parents, one tree a request.

    Rows are in canonical order: by request, then start, then end descending, then span id; so nothing that
    follows depends on the order of the input. Requests are ordered by start, then trace id, then span id.

    Attributes:
        spans: The table in canonical order (times repaired: no negative durations).
        parent: int32 (n,), row of the parent, -1 for roots.
        request: int32 (n,), index of the request the span belongs to.
        root: int32 (r,), row of each request's root.
        complete: bool (r,), False where the root's parent is missing from the input.
        placeholder: bool (n,), True for a stand-in for a lost root (not a span of the input).
        rank: int64 (n,), rank of the span id's text, for ties.
    """

    spans: SpanTable
    parent: Int32
    request: Int32
    root: Int32
    complete: Bool
    placeholder: Bool
    rank: Int64

    @property
    def n(self) -> int:
        """Number of spans."""
        return self.spans.n


def ordered_unique(words: Iterable[str]) -> list[str]:
    """Return the words without repeats, in first-seen order."""
    return list(dict.fromkeys(words))
