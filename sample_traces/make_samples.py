"""Writes the sample traces: `python sample_traces/make_samples.py [FOLDER]` (needs `pip install latshift[test]`).

Runs the pipeline of this folder, traced by the OpenTelemetry SDK, and writes what the SDK's own exporter writes.
Every run writes the same bytes.
"""

from __future__ import annotations

import gzip
import io
import json
import sys
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import virtual_time
from opentelemetry.exporter.otlp.json.file import FileSpanExporter
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.trace import StatusCode
from pipeline import Pipeline
from shapes import YEAR_2024, YEAR_2026, Shape

JAEGER_TRACES = 40
"""How many of the requests are written in Jaeger's format as well."""

JAEGER_TYPES = {bool: "bool", int: "int64", float: "float64", str: "string"}


class Tee(SpanExporter):
    """Hands spans on to an exporter, and keeps them too."""

    def __init__(self, exporter: SpanExporter) -> None:
        self._exporter = exporter
        self.spans: list[ReadableSpan] = []

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        self.spans.extend(spans)
        return self._exporter.export(spans)


def trace_requests(shape: Shape, requests: int) -> tuple[str, list[ReadableSpan]]:
    """Run the pipeline; return the OTLP JSON lines that the SDK wrote, and the spans."""
    lines = io.StringIO()
    exporter = Tee(FileSpanExporter(stream=lines))

    virtual_time.run(lambda loop: Pipeline(shape, exporter, loop).serve(requests))
    return lines.getvalue(), exporter.spans


def jaeger_tags(attributes: Any) -> list[dict[str, Any]]:
    """Return attributes as Jaeger's tags."""
    return [{"key": key, "type": JAEGER_TYPES[type(value)], "value": value} for key, value in attributes.items()]


def jaeger_span(span: ReadableSpan, process: str) -> dict[str, Any]:
    """Return a span as Jaeger's query service shows it; times are in µs."""
    trace_id = f"{span.context.trace_id:032x}"
    parents = [] if span.parent is None else [f"{span.parent.span_id:016x}"]
    tags = [*jaeger_tags(span.attributes), *jaeger_tags({"span.kind": span.kind.name.lower()})]
    if span.status.status_code is StatusCode.ERROR:
        tags += jaeger_tags({"error": True, "otel.status_code": "ERROR"})
    return {
        "traceID": trace_id,
        "spanID": f"{span.context.span_id:016x}",
        "operationName": span.name,
        "references": [{"refType": "CHILD_OF", "traceID": trace_id, "spanID": parent} for parent in parents],
        "startTime": span.start_time // 1_000,
        "duration": (span.end_time - span.start_time) // 1_000,
        "tags": tags,
        "logs": [
            {"timestamp": event.timestamp // 1_000, "fields": jaeger_tags({"event": event.name})}
            for event in span.events
        ],
        "processID": process,
        "warnings": None,
    }


def jaeger_trace(spans: Sequence[ReadableSpan]) -> dict[str, Any]:
    """Return one trace as Jaeger's query service shows it."""
    ordered = sorted(spans, key=lambda span: (span.start_time, -span.end_time, span.context.span_id))
    resources = list(dict.fromkeys(span.resource for span in ordered))
    names = {resource: f"p{number}" for number, resource in enumerate(resources, 1)}
    processes = {}
    for resource, name in names.items():
        tags = {key: value for key, value in resource.attributes.items() if key != "service.name"}
        processes[name] = {"serviceName": resource.attributes["service.name"], "tags": jaeger_tags(tags)}
    return {
        "traceID": f"{ordered[0].context.trace_id:032x}",
        "spans": [jaeger_span(span, names[span.resource]) for span in ordered],
        "processes": processes,
        "warnings": None,
    }


def jaeger_document(spans: Sequence[ReadableSpan], traces: int) -> str:
    """Return the first traces as Jaeger's UI downloads them, with one trace a line."""
    by_trace = sorted(spans, key=lambda span: span.context.trace_id)
    groups = [list(group) for _, group in groupby(by_trace, key=lambda span: span.context.trace_id)]
    groups.sort(key=lambda group: min(span.start_time for span in group))
    lines = [json.dumps(jaeger_trace(group), separators=(",", ":")) for group in groups[:traces]]
    return '{"data":[\n' + ",\n".join(lines) + "\n]}\n"


def gzipped(content: bytes) -> bytes:
    """Return gzip bytes that hold neither the time nor the name of the system they were made on."""
    packed = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=packed, mtime=0) as file:
        file.write(content)
    return packed.getvalue()


def write_samples(folder: Path) -> None:
    """Write all sample files into a folder."""
    lines, _ = trace_requests(YEAR_2024, 60)
    (folder / "2024.otlp.jsonl").write_bytes(lines.encode())
    lines, spans = trace_requests(YEAR_2026, 320)
    (folder / "2026.otlp.jsonl.gz").write_bytes(gzipped(lines.encode()))
    (folder / "2026.jaeger.json").write_bytes(jaeger_document(spans, JAEGER_TRACES).encode())


if __name__ == "__main__":
    write_samples(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
