"""Jaeger JSON: typed structs that hold only what is kept, and how their spans become columns.

Times are microseconds. A span's parent is its first CHILD_OF reference within the same trace, whether that span is in
the file or not; without one, the old `parentSpanID`; without that, the first FOLLOWS_FROM reference within the same
trace. References to other traces are links, never parents. Search indexes hold single spans with their process inside.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from latshift.ingest.columns import NO_SPAN, Builder
from latshift.ingest.conventions import HOST_KEYS
from latshift.ingest.converters import flag, integer, text
from latshift.ingest.enumerations import IS_FIRST_TOKEN, KINDS
from latshift.ingest.ids import normal_trace_id

_NAMES = {
    "ref_type": "refType", "trace_id": "traceID", "span_id": "spanID", "parent_span_id": "parentSpanID",
    "service_name": "serviceName", "operation_name": "operationName", "start_time": "startTime",
    "process_id": "processID",
}  # fmt: skip

Scalar = str | int | float | bool | None

_SCOPE_KEYS = ("otel.scope.name", "otel.library.name")
_EVENT_KEYS = frozenset({"event", "message", "name"})
_STATUS = {"error": 2, "ok": 1}


class Tag(Struct, gc=False):
    """An attribute."""

    key: str = ""
    value: Scalar = None


class Log(Struct, gc=False):
    """Something that happened during the span."""

    timestamp: int = 0
    fields: list[Tag] | None = None


class Reference(Struct, gc=False, rename=_NAMES):
    """Another span that this one names."""

    ref_type: str = "CHILD_OF"
    trace_id: str = ""
    span_id: str = ""


class Process(Struct, gc=False, rename=_NAMES):
    """Who wrote the span."""

    service_name: str | None = None
    tags: list[Tag] | None = None


class Span(Struct, gc=False, rename=_NAMES):
    """A span."""

    trace_id: str = ""
    span_id: str = ""
    parent_span_id: str | None = None
    operation_name: str | None = None
    references: list[Reference] | None = None
    start_time: int = 0
    duration: int = 0
    tags: list[Tag] | None = None
    logs: list[Log] | None = None
    process_id: str | None = None
    process: Process | None = None


class Trace(Struct, gc=False, rename=_NAMES):
    """A trace."""

    trace_id: str = ""
    spans: list[Span] | None = None
    processes: dict[str, Process] | None = None


def add_traces(builder: Builder, traces: Iterable[Trace]) -> None:
    """Append all spans of some traces."""
    for trace in traces:
        if trace.spans:
            add_spans(builder, trace.spans, trace.processes or {}, trace.trace_id)


def add_spans(builder: Builder, spans: Sequence[Span], processes: Mapping[str, Process], trace_id: str = "") -> None:
    """Append spans.

    Args:
        builder: The columns.
        spans: The spans.
        processes: Who wrote them, by the id that the spans name.
        trace_id: The trace of spans that name none.
    """
    count, first = len(spans), builder.n
    builder.add_names([span.trace_id or trace_id for span in spans], [span.operation_name or "" for span in spans])
    parents, follows = _parents(spans, trace_id)
    builder.add_ids([span.span_id for span in spans], parents)
    builder.numbers["follows"].extend(follows)
    _add_processes(builder, spans, processes)

    kinds: list[Scalar] = [None] * count
    status = array("B", bytes(count))
    scopes = array("i", [-1]) * count
    get = builder.waiting.get
    for row, span in enumerate(spans):
        for tag in span.tags or ():
            key = tag.key
            waiting = get(key)
            if waiting is not None:
                rows, values = waiting
                rows.append(first + row)
                values.append(tag.value)
            elif key == "span.kind":
                kinds[row] = tag.value
            elif key == "error":
                status[row] = max(status[row], 2 * (flag(tag.value) or 0))
            elif key == "otel.status_code":
                status[row] = max(status[row], _STATUS.get(str(tag.value).lower(), 0))
            elif key in _SCOPE_KEYS and tag.value:
                scopes[row] = builder.scopes[str(tag.value)]
        if span.logs:
            _add_first_token(builder, first + row, span.logs)
    builder.numbers["kind"].extend(map(KINDS.__getitem__, kinds))
    builder.numbers["status"].extend(status)
    builder.codes["scope"].extend(scopes)
    starts = [span.start_time * 1_000 for span in spans]
    builder.add_times(starts, [start + span.duration * 1_000 for start, span in zip(starts, spans, strict=True)])
    builder.flush()


def _parents(spans: Sequence[Span], trace_id: str) -> tuple[list[str], bytes]:
    parents, follows = [NO_SPAN] * len(spans), bytearray(len(spans))
    for row, span in enumerate(spans):
        own = span.trace_id or trace_id
        references = span.references or ()
        if references and references[0].ref_type == "CHILD_OF" and references[0].trace_id == own:
            parents[row] = references[0].span_id or NO_SPAN
            continue
        same = [reference for reference in references if _same_trace(reference.trace_id, own)]
        parent = next((reference.span_id for reference in same if reference.ref_type.upper() != "FOLLOWS_FROM"), "")
        if not parent and span.parent_span_id and span.parent_span_id.strip("0"):
            parent = span.parent_span_id
        if not parent and same:
            parent, follows[row] = same[0].span_id, 1
        parents[row] = parent or NO_SPAN
    return parents, bytes(follows)


def _same_trace(one: str, other: str) -> bool:
    return one in ("", other) or normal_trace_id(one) == normal_trace_id(other)


def _add_processes(builder: Builder, spans: Sequence[Span], processes: Mapping[str, Process]) -> None:
    codes: dict[str | None, tuple[int, int]] = {key: _codes(builder, process) for key, process in processes.items()}
    pairs = [
        codes.get(span.process_id, (-1, -1)) if span.process is None else _codes(builder, span.process)
        for span in spans
    ]
    builder.codes["service"].extend([service for service, _ in pairs])
    builder.codes["host"].extend([host for _, host in pairs])
    tags: dict[str | None, dict[str, Scalar]] = {key: _tags(process) for key, process in processes.items()}
    for key, slot in builder.resource_slots.items():
        if all(span.process is None for span in spans) and not any(key in own for own in tags.values()):
            continue
        for row, span in enumerate(spans, builder.n):
            value = (tags.get(span.process_id, {}) if span.process is None else _tags(span.process)).get(key)
            if value is not None:
                slot.rows.append(row)
                slot.values.append(value)


def _codes(builder: Builder, process: Process) -> tuple[int, int]:
    tags = _tags(process)
    host = next((word for key in HOST_KEYS if (word := text(tags.get(key)))), None)
    service = process.service_name
    return builder.services[service] if service else -1, builder.hosts[host] if host else -1


def _tags(process: Process) -> dict[str, Scalar]:
    return {tag.key: tag.value for tag in process.tags or ()}


def _add_first_token(builder: Builder, row: int, logs: Sequence[Log]) -> None:
    times = [
        log.timestamp
        for log in logs
        if any(tag.key in _EVENT_KEYS and IS_FIRST_TOKEN[tag.value] for tag in log.fields or ())
    ]
    time = integer(min(times) * 1_000) if times else None
    if time is not None:
        builder.first_tokens.add_any([row], [time])
