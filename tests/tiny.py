"""Tiny requests for tests, written as text or as rows, and a reader for the case files.

    from tests.tiny import spans, forest_of, path_text

    table = spans("R 0-100; A<R 10-50 client; B<R 60-90 server service=db host=h2 input_tokens=12")
    forest = forest_of("R 0-100; A<R 10-50")
    path_text(forest)                                   # "R 0-10, A 10-50, R 50-100"

One span is `ID[<PARENT] START-END word…`; spans are separated by `;` or by lines. A word is a kind (`client`), a
status (`error`), `follows`, or `column=value`: `trace= name= service= host= scope=`, or any attribute column (digits
make an int column, anything else a text column). Ids are texts such as "R"; ties between them are alphabetical.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from latshift.spans import COLUMNS, NULL, Coded, Forest, InputSummary, SpanTable, id_digest

CASES = Path(__file__).resolve().parents[2] / "shared" / "cases"
KINDS = ("unspecified", "internal", "server", "client", "producer", "consumer")
STATUSES = ("unset", "ok", "error")
DTYPES: dict[str, Any] = {"int": np.int64, "span id": np.uint64, "small": np.uint8, "flag": np.bool_}

Row = Mapping[str, Any]


def table(rows: Sequence[Row]) -> SpanTable:
    """Build a table from rows such as {"id": "A", "parent": "R", "start": 10, "end": 50, "kind": "client"}.

    `id`, `start`, `end` are required; `id` and `parent` are texts; defaults: trace "t", name = id, service "svc",
    other texts absent. Keys that are no column of `COLUMNS` become attribute columns: int64 for ints, text otherwise.
    """
    full = [_complete(row) for row in rows]
    columns: dict[str, Any] = {}
    for column in COLUMNS:
        values = [row[column.name] for row in full]
        columns[column.name] = _coded(values) if column.storage == "text" else np.array(values, DTYPES[column.storage])
    known = {column.name for column in COLUMNS} | {"id", "parent"}
    for key in dict.fromkeys(key for row in full for key in row if key not in known):
        values = [row.get(key) for row in full]
        if all(value is None or isinstance(value, int) for value in values):
            columns[key] = np.array([NULL if value is None else value for value in values], np.int64)
        else:
            columns[key] = _coded(values)
    odd_ids = {id_digest(text): text for row in full for text in (row["id"], row.get("parent")) if text}
    return SpanTable(len(full), columns, odd_ids)


def spans(text: str, unit: int = 1, base: int = 0) -> SpanTable:
    """Build a table from the mini language; times are multiplied by `unit` (ns) and moved by `base` (ns)."""
    return table([_parse(line, unit, base) for line in re.split(r"[;\n]", text) if line.strip()])


def forest_of(text: str, unit: int = 1, base: int = 0) -> Forest:
    """Build the forest of a text in the mini language."""
    from latshift.forest import build

    return build(spans(text, unit, base), InputSummary())


def path_text(forest: Forest, options: Any = None, unit: int = 1) -> str:
    """Return the critical path as text, "R 0-10, A 10-50"; requests are separated by " | "."""
    from latshift.critical_path import PathOptions, find

    rows, starts, ends = find(forest, options or PathOptions()).segments()
    parts: list[list[str]] = [[] for _ in range(len(forest.root))]
    for row, start, end in zip(rows.tolist(), starts.tolist(), ends.tolist(), strict=True):
        parts[forest.request[row]].append(f"{forest.spans.span_id_text(row)} {start // unit}-{end // unit}")
    return " | ".join(", ".join(part) for part in parts)


def row_of(forest: Forest, span: str) -> int:
    """Return the first row with this span id text."""
    return next(row for row in range(forest.n) if forest.spans.span_id_text(row) == span)


def parents(forest: Forest) -> dict[str, str | None]:
    """Return span id -> parent's span id, None for roots."""
    ids = [forest.spans.span_id_text(row) for row in range(forest.n)]
    return {ids[row]: ids[up] if up >= 0 else None for row, up in enumerate(forest.parent.tolist())}


def read_case(path: Path) -> tuple[SpanTable, list[tuple[str, int, int]] | None]:
    """Read one Jaeger JSON case: its spans in ns, and its expected path [(span id, start µs, end µs)] in time order."""
    document = json.loads(path.read_text(encoding="utf-8"))
    rows = [_jaeger_row(span, trace["processes"]) for trace in document["data"] for span in trace["spans"]]
    sections = document.get("x-expected", {}).get("criticalPathSections")
    if sections is None:
        return table(rows), None
    expected = [(item["spanID"], item["sectionStart"], item["sectionEnd"]) for item in sections]
    return table(rows), sorted(expected, key=lambda item: item[1])


def _parse(line: str, unit: int, base: int) -> dict[str, Any]:
    head, times, *words = line.split()
    span, _, parent = head.partition("<")
    found = re.fullmatch(r"(-?\d+)-(-?\d+)", times)
    assert found, f"cannot read the times in {line!r}"
    row: dict[str, Any] = {"id": span, "parent": parent or None}
    row["start"], row["end"] = (int(number) * unit + base for number in found.groups())
    for word in words:
        key, is_pair, value = word.partition("=")
        if is_pair:
            row[key] = int(value) if re.fullmatch(r"-?\d+", value) else value
        elif word in KINDS:
            row["kind"] = word
        elif word in STATUSES:
            row["status"] = word
        else:
            assert word == "follows", f"unknown word {word!r} in {line!r}"
            row["follows"] = True
    return row


def _complete(row: Row) -> dict[str, Any]:
    full: dict[str, Any] = {
        "trace": "t",
        "name": row["id"],
        "service": "svc",
        "host": None,
        "scope": None,
        "follows": False,
    }
    full.update(row)
    full["span_id"] = id_digest(row["id"])
    full["parent_id"] = id_digest(row["parent"]) if row.get("parent") else 0
    full["kind"] = KINDS.index(row.get("kind", "unspecified"))
    full["status"] = STATUSES.index(row.get("status", "unset"))
    return full


def _coded(values: Sequence[Any]) -> Coded:
    words = list(dict.fromkeys(str(value) for value in values if value is not None))
    index = {word: code for code, word in enumerate(words)}
    return Coded(np.array([-1 if value is None else index[str(value)] for value in values], np.int32), words)


def _jaeger_row(span: Mapping[str, Any], processes: Mapping[str, Any]) -> dict[str, Any]:
    process = processes[span["processID"]]
    tags = {tag["key"]: tag["value"] for tag in span.get("tags") or []}
    resource = {tag["key"]: tag["value"] for tag in process.get("tags") or []}
    start = span["startTime"] * 1000
    row: dict[str, Any] = {"id": span["spanID"], "trace": span["traceID"], "name": span["operationName"]}
    row |= {"start": start, "end": start + span["duration"] * 1000, "service": process["serviceName"]}
    row |= {"host": resource.get("hostname"), "kind": tags.get("span.kind", "unspecified")}
    references = [item for item in span.get("references") or [] if item["traceID"] == span["traceID"]]
    for kind in ("CHILD_OF", "FOLLOWS_FROM"):
        same = [item["spanID"] for item in references if item["refType"] == kind]
        if same and "parent" not in row:
            row |= {"parent": same[0], "follows": kind == "FOLLOWS_FROM"}
    return row
