"""Small exports for tests: builders for OTLP and Jaeger JSON, and a reader of the table that comes out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from latshift.ingest import read_spans
from latshift.spans import NULL, Coded, InputSummary, SpanTable

TRACE = "5b8efff798038103d269b633813fc60c"
ROOT, CHILD = "eee19b7ec3c1b173", "eee19b7ec3c1b174"
T0 = 1_795_997_510_000_000_000
REPOSITORY = Path(__file__).resolve().parents[2]
SHARED_TRACES = REPOSITORY.parent / "shared" / "traces"


def value(item: Any) -> dict[str, Any]:
    """Wrap a value as OTLP does."""
    if isinstance(item, bool):
        return {"boolValue": item}
    if isinstance(item, int):
        return {"intValue": str(item)}
    if isinstance(item, float):
        return {"doubleValue": item}
    if isinstance(item, list):
        return {"arrayValue": {"values": [value(one) for one in item]}}
    return {"stringValue": item}


def pairs(attributes: dict[str, Any]) -> list[dict[str, Any]]:
    """Return attributes as OTLP writes them."""
    return [{"key": key, "value": value(item)} for key, item in attributes.items()]


def span(attributes: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    """Return an OTLP span: 1 s long from T0 unless told otherwise."""
    made = {
        "traceId": TRACE, "spanId": ROOT, "name": "POST /chat", "kind": 2,
        "startTimeUnixNano": str(T0), "endTimeUnixNano": str(T0 + 1_000_000_000),
    }  # fmt: skip
    if attributes is not None:
        made["attributes"] = pairs(attributes)
    return made | fields


def otlp(*spans: dict[str, Any], resource: dict[str, Any] | None = None, scope: str = "scope") -> dict[str, Any]:
    """Return an OTLP document."""
    attributes = pairs({"service.name": "chat-api"} if resource is None else resource)
    scopes = [{"scope": {"name": scope}, "spans": list(spans)}]
    return {"resourceSpans": [{"resource": {"attributes": attributes}, "scopeSpans": scopes}]}


def many(count: int, spans: int = 4) -> list[dict[str, Any]]:
    """Return OTLP documents of one request each, with attributes that vary."""
    documents = []
    for number in range(count):
        trace = f"{number + 1:032x}"
        ids = [f"{number * spans + place + 1:016x}" for place in range(spans)]
        items = [
            span(
                {"gen_ai.request.model": f"model-{number % 3}", "gen_ai.usage.input_tokens": number, "thread.id": 7},
                traceId=trace, spanId=ids[place], parentSpanId=ids[0] if place else "",
                startTimeUnixNano=T0 + number * 1_000 + place, name=f"step {place}",
            )
            for place in range(spans)
        ]  # fmt: skip
        documents.append(otlp(*items))
    return documents


def jaeger_span(tags: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    """Return a Jaeger span: 1 s long unless told otherwise."""
    names = {bool: "bool", int: "int64", float: "float64", str: "string"}
    made: dict[str, Any] = {
        "traceID": TRACE, "spanID": ROOT, "operationName": "POST /chat", "references": [],
        "startTime": T0 // 1_000, "duration": 1_000_000, "logs": [], "processID": "p1", "warnings": None,
        "tags": [{"key": key, "type": names[type(item)], "value": item} for key, item in (tags or {}).items()],
    }  # fmt: skip
    return made | fields


def jaeger(*spans: dict[str, Any], host: str = "a") -> dict[str, Any]:
    """Return a Jaeger trace."""
    process = {"serviceName": "chat-api", "tags": [{"key": "host.name", "type": "string", "value": host}]}
    return {"traceID": TRACE, "spans": list(spans), "processes": {"p1": process}, "warnings": None}


def compact(document: Any) -> str:
    """Return JSON without spaces."""
    return json.dumps(document, separators=(",", ":"))


def write(path: Path, content: Any) -> Path:
    """Write text, bytes, or anything else as JSON."""
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content if isinstance(content, str) else compact(content), encoding="utf-8")
    return path


def read(path: Path | str, **options: Any) -> tuple[SpanTable, InputSummary]:
    """Read one path in this process."""
    return read_spans([path], workers=1, **options)


def rows(table: SpanTable) -> list[dict[str, Any]]:
    """Return the table as dicts, in its order; what is absent is left out, ids are texts."""
    texts = {name: column.texts() for name, column in table.columns.items() if isinstance(column, Coded)}
    found = []
    for row in range(table.n):
        item: dict[str, Any] = {name: words[row] for name, words in texts.items() if words[row] is not None}
        for name, column in table.columns.items():
            if isinstance(column, np.ndarray) and int(column[row]) != NULL:
                item[name] = int(column[row])
        item["span_id"] = table.span_id_text(row)
        parent = item.pop("parent_id")
        if parent:
            item["parent"] = table.id_text(parent)
        found.append(item)
    return found


def only(table: SpanTable) -> dict[str, Any]:
    """Return the only row."""
    (row,) = rows(table)
    return row
