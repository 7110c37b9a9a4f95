"""Globs over text columns: each distinct word is tried once, whatever the number of spans."""

from __future__ import annotations

import fnmatch
import re
from functools import lru_cache

import numpy as np

from latshift.spans import NULL, Array, Bool, Coded, Int64, SpanTable


@lru_cache(maxsize=1024)
def compiled(glob: str) -> re.Pattern[str]:
    """Return the pattern of a case-sensitive shell glob (`*`, `?`, `[...]`) that must cover the whole text."""
    return re.compile(fnmatch.translate(glob))


def words_in_use(column: Coded, rows: Array | None = None) -> list[int]:
    """Return the codes of the words that occur (at the given rows), ascending."""
    seen = np.zeros(len(column.words) + 1, np.bool_)
    seen[column.codes if rows is None else column.codes[rows]] = True
    return np.flatnonzero(seen[:-1]).tolist()


def in_use(column: Coded) -> Coded:
    """Return the column with only those words in its vocabulary that occur."""
    used = words_in_use(column)
    place = np.full(len(column.words) + 1, -1, np.int32)
    place[used] = np.arange(len(used))
    return Coded(place[column.codes], [column.words[code] for code in used])


def matching(column: Coded, glob: str) -> Bool:
    """Return which rows hold a text that the glob covers, bool (n,); absent texts never match."""
    pattern = compiled(glob)
    hits = np.zeros(len(column.words) + 1, np.bool_)
    for code in words_in_use(column):
        hits[code] = pattern.match(column.words[code]) is not None
    return np.asarray(hits[column.codes])


def matching_numbers(column: Int64, glob: str) -> Bool:
    """Return which rows hold a number whose decimal text the glob covers, bool (n,); NULL never matches."""
    pattern = compiled(glob)
    numbers, place = np.unique(column, return_inverse=True)
    hits = [number != NULL and pattern.match(str(number)) is not None for number in numbers.tolist()]
    return np.asarray(hits, np.bool_)[place.reshape(-1)]


def attribute_column(table: SpanTable, key: str) -> str | None:
    """Return the name of the column that holds an attribute, or None where the table does not have it.

    Args:
        table: The spans.
        key: An attribute key as exporters write it ("gen_ai.request.model"), or a canonical column ("model").
    """
    from latshift.ingest.conventions import ATTRIBUTE_COLUMNS, SOURCES
    from latshift.ingest.converters import integer, text

    # Only columns that hold the attribute as it was written: not kinds, routes or times in other units.
    written = (
        name for name, rank in SOURCES.get(key, ()) if ATTRIBUTE_COLUMNS[name].sources[rank].convert in (text, integer)
    )
    return next((name for name in (f"attr:{key}", key, *written) if name in table.columns), None)


def matching_attribute(table: SpanTable, key: str, glob: str) -> Bool | None:
    """Return which spans have an attribute that the glob covers, bool (n,); None where the table does not have it."""
    name = attribute_column(table, key)
    if name is None:
        return None
    column = table.columns[name]
    return matching(column, glob) if isinstance(column, Coded) else matching_numbers(column, glob)
