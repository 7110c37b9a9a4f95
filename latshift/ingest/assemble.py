"""Raw columns of all chunks to one `SpanTable`: joined vocabularies, normal ids, one source for each attribute."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import numpy as np

from latshift.ingest.columns import RawColumns
from latshift.ingest.conventions import ATTRIBUTE_COLUMNS, EVENT_RANK
from latshift.ingest.ids import normal_trace_ids
from latshift.ingest.slots import Fragment
from latshift.spans import NULL, Array, Bool, Coded, InputSummary, Int64, SpanTable, UInt64

EPOCH = 10**15
"""Times later than this (12 days) are taken to count from 1970, in ns."""

AT_THE_END = 1_000_000
"""A first-token event within this many ns of the span's end was written when the span ended (trap T2)."""

_DTYPES = {"start": np.int64, "end": np.int64, "kind": np.uint8, "status": np.uint8, "follows": np.bool_}


def assemble(chunks: Sequence[RawColumns], summary: InputSummary) -> tuple[SpanTable, dict[str, Int64]]:
    """Join chunks.

    Args:
        chunks: In the order of the input.
        summary: Gets a warning for first-token events that are none.

    Returns:
        The table with all spans, also unusable ones; and for each reason the rows, ascending, that must be left out.
    """
    n = sum(chunk.n for chunk in chunks)
    columns: dict[str, Array | Coded] = {}
    for name in ("trace", "name", "service", "host", "scope"):
        columns[name] = _joined([(chunk.codes[name], chunk.words[name]) for chunk in chunks], name == "trace")
    for name, dtype in _DTYPES.items():
        columns[name] = _concatenated([chunk.numbers[name] for chunk in chunks], dtype)
    columns["span_id"] = _ids([chunk.span_ids for chunk in chunks])
    columns["parent_id"] = _ids([chunk.parent_ids for chunk in chunks])
    table = SpanTable(n, columns, _labels(chunks))
    _add_attributes(table, chunks)
    _drop_late_first_tokens(table, chunks, summary)
    return table, _faults(table, chunks)


def _concatenated(parts: Sequence[array[int]], dtype: type) -> Array:
    arrays = [np.frombuffer(part, part.typecode) for part in parts if part]
    return np.concatenate(arrays).astype(dtype, copy=False) if arrays else np.empty(0, dtype)


def _joined(parts: Sequence[tuple[array[int], list[str]]], traces: bool = False) -> Coded:
    """Join text columns under one vocabulary; trace ids are normalised, and empty words are absent."""
    index: dict[str, int] = {}
    codes = [np.empty(0, np.int32)]
    for part, words in parts:
        recode = np.full(len(words) + 1, -1, np.int32)
        for code, word in enumerate(normal_trace_ids(words) if traces else words):
            if word:
                recode[code] = index.setdefault(word, len(index))
        codes.append(recode[np.frombuffer(part, np.int32)])
    return Coded(np.concatenate(codes), list(index))


def _ids(parts: Sequence[bytes]) -> UInt64:
    return np.frombuffer(b"".join(parts), ">u8").astype(np.uint64)


def _labels(chunks: Sequence[RawColumns]) -> dict[int, str]:
    """Return the span ids to show as they stand: odd ones, and beside odd ones also short hex ones ("A" beside "R")."""
    odd: dict[int, str] = {}
    for chunk in chunks:
        odd.update(chunk.odd)
    if odd:
        for chunk in chunks:
            odd = {**chunk.short, **odd}
    return odd


def _add_attributes(table: SpanTable, chunks: Sequence[RawColumns]) -> None:
    offsets = np.cumsum([0, *(chunk.n for chunk in chunks)]).tolist()
    sources: dict[str, dict[int, list[tuple[int, Fragment]]]] = {}
    for offset, chunk in zip(offsets, chunks, strict=False):
        for fragment in chunk.fragments:
            sources.setdefault(fragment.column, {}).setdefault(fragment.rank, []).append((offset, fragment))
    for name in [*ATTRIBUTE_COLUMNS, *sorted(sources.keys() - ATTRIBUTE_COLUMNS.keys())]:
        if name in sources:
            ranked = [fragments for _, fragments in sorted(sources[name].items())]
            column = _chosen(table.n, ranked)
            if column is not None:
                table.columns[name] = column


def _chosen(n: int, ranked: Sequence[Sequence[tuple[int, Fragment]]]) -> Array | Coded | None:
    """Fill a column from its sources, the best first; None if no row gets a value."""
    texts = ranked[0][0][1].words is not None
    missing = -1 if texts else NULL
    column = np.full(n, missing, np.int32 if texts else np.int64)
    index: dict[str, int] = {}
    # The best source is written last, so that it stays.
    for fragments in reversed(ranked):
        for offset, fragment in fragments:
            rows = np.frombuffer(fragment.rows, np.int32).astype(np.int64) + offset
            values = np.frombuffer(fragment.values, fragment.values.typecode)
            if fragment.words is not None:
                recode = [index.setdefault(word, len(index)) for word in fragment.words]
                values = np.asarray([*recode, -1], np.int32)[values]
            present = values != missing
            column[rows[present]] = values[present]
    if not (column != missing).any():
        return None
    return Coded(column.astype(np.int32, copy=False), list(index)) if texts else column


def _drop_late_first_tokens(table: SpanTable, chunks: Sequence[RawColumns], summary: InputSummary) -> None:
    """Drop first-token times that come from events written at the end of a span with several tokens (trap T2)."""
    if "first_token_at" not in table.columns:
        return
    column = table.array("first_token_at")
    event = np.zeros(table.n, np.bool_)
    offset = 0
    for chunk in chunks:
        for fragment in sorted(chunk.fragments, key=lambda one: -one.rank):
            if fragment.column == "first_token_at":
                event[np.frombuffer(fragment.rows, np.int32) + offset] = fragment.rank == EVENT_RANK
        offset += chunk.n
    tokens = table.array("output_tokens")
    late = event & (tokens > 1) & (column != NULL) & (column > table.array("end") - AT_THE_END)
    count = int(late.sum())
    if count:
        table.columns["first_token_at"] = np.where(late, NULL, column)
        verb = "event stands" if count == 1 else "events stand"
        summary.warnings.append(f"{count:,} first-token {verb} at the end of the answer; not used")


def _faults(table: SpanTable, chunks: Sequence[RawColumns]) -> dict[str, Int64]:
    faults: dict[str, list[Array]] = {}
    offset = 0
    for chunk in chunks:
        for reason, rows in chunk.faults.items():
            faults.setdefault(reason, []).append(np.asarray(rows, np.int64) + offset)
        offset += chunk.n
    start, end = table.array("start"), table.array("end")
    masks: dict[str, Bool] = {
        "span without a trace id": table.text("trace").codes < 0,
        "span without a span id": table.array("span_id") == 0,
        "span without a start time": (start == 0) & (end > EPOCH),
        "span without an end time": (end == 0) & (start > EPOCH),
    }
    taken = np.zeros(table.n, np.bool_)
    found = {reason: np.concatenate(parts) for reason, parts in faults.items()}
    for rows_found in found.values():
        taken[rows_found] = True
    for reason, mask in masks.items():
        rows_found = np.flatnonzero(mask & ~taken)
        if rows_found.shape[0]:
            found[reason] = rows_found
            taken[rows_found] = True
    return found
