"""What a JSON document is, from its keys: never from the file's name."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

READABLE = (
    "latshift reads OTLP JSON (Collector file exporter, SDK exporters, Tempo, Jaeger v3) and Jaeger JSON, "
    "each also compressed with gzip or Zstandard"
)
"""Which formats there are, as a sentence for people."""

METRICS, LOGS, PROFILES = "line of metrics", "line of logs", "line of profiles"
OTHER = "document of another format"
SIGNALS = {
    "resourceMetrics": METRICS, "resource_metrics": METRICS, "resourceLogs": LOGS, "resource_logs": LOGS,
    "resourceProfiles": PROFILES, "resource_profiles": PROFILES,
}  # fmt: skip
"""Top-level keys of the Collector's other signals to the reason for which such a line is skipped."""

OTLP_KEYS = ("resourceSpans", "resource_spans", "batches")
"""Top-level keys that hold OTLP spans; the last is Tempo's."""

WRAPPERS = ("result", "trace")
"""Top-level keys whose value may be an OTLP document: of Jaeger's v3 API, of Tempo's v2 API."""


@dataclass(frozen=True)
class Shape:
    """How another tool's documents can be told: they have all of these keys, and none of those."""

    name: str
    keys: frozenset[str]
    absent: frozenset[str] = frozenset()


def _shape(name: str, keys: str, absent: str = "") -> Shape:
    return Shape(name, frozenset(keys.split()), frozenset(absent.split()))


SHAPES = (
    _shape("an export of Langfuse", "trace observations"),
    _shape("an export of Langfuse", "trace_id parent_observation_id"),
    _shape("an answer of Langfuse's API", "data meta"),
    _shape("spans of Python's ConsoleSpanExporter", "context parent_id"),
    _shape("spans of Phoenix", "context span_kind"),
    _shape("Zipkin v2", "traceId id", "spanId"),
    _shape("Zipkin v1", "traceId binaryAnnotations"),
    _shape("runs of LangSmith", "run_type trace_id"),
    _shape("a trace of MLflow", "info data"),
    _shape("an old answer of MLflow", "request spans"),
    _shape("a search result of Tempo (fetch the traces by id)", "traces", "resourceSpans"),
    _shape("rows of ClickHouse", "TraceId SpanId"),
    _shape("rows of SigNoz", "trace_id duration_nano"),
    _shape("Jaeger's internal span model", "spans", "traceID processes"),
    _shape("a Chrome trace", "traceEvents"),
    _shape("Triton's own trace", "id timestamps"),
    _shape("an answer of AWS X-Ray", "Traces"),
    _shape("an answer of Elasticsearch", "hits took"),
    _shape("a trace of Google Cloud", "projectId traceId"),
    _shape("an error message", "error"),
    _shape("an error message", "errors", "data"),
)
"""Formats that are known by name but not read."""


@dataclass(frozen=True)
class Guess:
    """What a document without readable spans seems to be.

    Attributes:
        reason: Why it is skipped, as counted. text: What was found, for the message.
    """

    reason: str
    text: str


def guess(keys: Collection[str], kind: str = "object") -> Guess:
    """Return what a document with these top-level keys seems to be.

    Args:
        keys: The keys; of a list, those of its first item.
        kind: "object", "list", or the name of another JSON type.
    """
    for key in keys:
        if key in SIGNALS:
            return Guess(SIGNALS[key], f"a {SIGNALS[key]}, no traces")
    found = set(keys)
    names = f"keys: {', '.join(_short(key) for key in list(keys)[:6])}{', …' if len(keys) > 6 else ''}"
    for shape in SHAPES:
        if shape.keys <= found and not shape.absent & found:
            return Guess(OTHER, f"{shape.name} ({names}), which latshift does not read")
    if kind not in ("object", "list"):
        return Guess(OTHER, f"JSON, but only a {kind}")
    if not keys:
        return Guess(OTHER, f"an empty JSON {kind}")
    return Guess(OTHER, f"JSON that holds no traces known to latshift ({names})")


def _short(key: str) -> str:
    return repr(key)[1:-1][:40]


def keys_of(document: Any) -> tuple[list[str], str]:
    """Return the top-level keys of a parsed document, or of its first item, and the kind of the document."""
    if isinstance(document, list):
        return (list(document[0]) if document and isinstance(document[0], dict) else []), "list"
    if isinstance(document, dict):
        return list(document), "object"
    return [], {str: "text", bool: "truth value", type(None): "null"}.get(type(document), "number")
