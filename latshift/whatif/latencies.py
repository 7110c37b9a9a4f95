"""Latencies measured elsewhere, read from a file: numbers in ms, as lines, as a JSON list or as a column of a CSV."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path

import numpy as np

from latshift.errors import EditError
from latshift.spans import Int64

NS_PER_MS = 1_000_000
COLUMNS = ("latency_ms", "duration_ms", "ms", "latency", "duration")
"""Names by which the column of a CSV is known when several hold numbers."""

FORMS = "expected one number in ms per line, a JSON list of them, or a CSV with a column of them"


def read_latencies(file: str, where: str) -> Int64:
    """Read latencies.

    Args:
        file: Path of the file.
        where: The option and its value, for the message.

    Returns:
        int64 ns (k,), k > 0.

    Raises:
        EditError: If the file cannot be read, holds no numbers, or holds negative ones.
    """
    try:
        text = Path(file).read_text(encoding="utf-8-sig").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise EditError(f"{where}: cannot read {file}: {reason}", FORMS) from error
    if not text:
        raise EditError(f"{where}: {file} is empty", FORMS)
    values = _from_json(text, file, where) if text[0] in "[{" else _from_lines(text, file, where)
    wrong = next((value for value in values if not 0 <= value < math.inf), None)
    if wrong is not None:
        raise EditError(f"{where}: {file} holds {wrong:g}", "latencies are numbers of ms, 0 or more")
    return np.rint(np.asarray(values, np.float64) * NS_PER_MS).astype(np.int64)


def _from_json(text: str, file: str, where: str) -> list[float]:
    try:
        values = json.loads(text)
    except ValueError as error:
        raise EditError(f"{where}: {file} is not valid JSON: {error}", FORMS) from error
    numeric = isinstance(values, list) and all(
        isinstance(value, (int, float)) and not isinstance(value, bool) for value in values
    )
    if not numeric or not values:
        raise EditError(f"{where}: {file} is not a list of numbers", FORMS)
    return [float(value) for value in values]


def _from_lines(text: str, file: str, where: str) -> list[float]:
    rows = [row for row in csv.reader(text.splitlines()) if any(cell.strip() for cell in row)]
    head = [cell.strip() for cell in rows[0]]
    first = 0 if all(_number(cell) is not None for cell in head) else 1
    columns = [_column(rows[first:], index) for index in range(len(head))]
    numeric = [index for index, column in enumerate(columns) if column]
    if len(numeric) > 1:
        named = [index for name in COLUMNS for index in numeric if head[index].lower() == name]
        numeric = named[:1] or numeric
    if len(numeric) > 1:
        hint = f"name one of them {COLUMNS[0]}"
        raise EditError(f"{where}: {file} has {len(numeric)} columns of numbers", hint)
    if not numeric:
        line = next((number for number, row in enumerate(rows[first:], first + 1) if _number(row[0]) is None), 1)
        raise EditError(f"{where}: {file} holds no column of numbers (see line {line})", FORMS)
    return columns[numeric[0]]


def _column(rows: list[list[str]], index: int) -> list[float]:
    """Return the numbers of a column; none if one of its cells is no number."""
    values = [_number(row[index]) if index < len(row) else None for row in rows]
    numbers = [value for value in values if value is not None]
    return numbers if len(numbers) == len(values) else []


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None
