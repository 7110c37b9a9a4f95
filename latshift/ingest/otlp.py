"""OTLP JSON: typed structs that hold only what is kept, and how their spans become columns.

Numbers may be written as numbers or texts, enumerations as numbers or names; `instrumentationLibrarySpans` is the old
name of `scopeSpans`. What these structs cannot read (snake_case, wrong types) raises `UnsureError` or a validation
error; `latshift.ingest.lenient` reads such documents.
"""

from __future__ import annotations

from array import array

from msgspec import Struct

from latshift.ingest.columns import NO_SPAN, Builder
from latshift.ingest.conventions import HOST_KEYS
from latshift.ingest.converters import text
from latshift.ingest.enumerations import IS_FIRST_TOKEN, KINDS, STATUSES
from latshift.ingest.values import AnyValue, plain


class UnsureError(Exception):
    """A document looks like OTLP, but its fields are not where the structs expect them."""


class KeyValue(Struct, gc=False):
    """An attribute."""

    key: str = ""
    value: AnyValue | None = None


class Resource(Struct, gc=False):
    """Who wrote the spans."""

    attributes: list[KeyValue] | None = None


class Scope(Struct, gc=False):
    """Which instrumentation wrote the spans."""

    name: str | None = None


class Status(Struct, gc=False):
    """How the span went."""

    code: int | str | None = None


class Event(Struct, gc=False, rename="camel"):
    """Something that happened during the span; its attributes are not read."""

    time_unix_nano: int = 0
    name: str | None = None


class Span(Struct, gc=False, rename="camel"):
    """A span."""

    trace_id: str = ""
    span_id: str = ""
    parent_span_id: str | None = None
    name: str | None = None
    kind: int | str | None = None
    start_time_unix_nano: int = 0
    end_time_unix_nano: int = 0
    attributes: list[KeyValue] | None = None
    status: Status | None = None
    events: list[Event] | None = None


class ScopeSpans(Struct, gc=False, rename="camel"):
    """The spans of one instrumentation."""

    scope: Scope | None = None
    spans: list[Span] | None = None
    instrumentation_library: Scope | None = None


class ResourceSpans(Struct, gc=False, rename="camel"):
    """The spans of one process."""

    resource: Resource | None = None
    scope_spans: list[ScopeSpans] | None = None
    instrumentation_library_spans: list[ScopeSpans] | None = None


def add(builder: Builder, resources: list[ResourceSpans], sure: bool = False) -> None:
    """Append all spans of a document.

    Args:
        builder: The columns.
        resources: The document.
        sure: Do not check whether the fields are where they should be.

    Raises:
        UnsureError: Before anything is appended.
    """
    if not sure:
        for resource in resources:
            _check(resource)
    for resource in resources:
        attributes = (resource.resource and resource.resource.attributes) or ()
        first = builder.n
        named = {pair.key: pair.value for pair in attributes if pair.key == "service.name" or pair.key in HOST_KEYS}
        service = text(plain(named.pop("service.name", None)))
        host = next((word for key in HOST_KEYS if (word := text(plain(named.get(key))))), None)
        for scope in (*(resource.scope_spans or ()), *(resource.instrumentation_library_spans or ())):
            if scope.spans:
                library = scope.scope or scope.instrumentation_library
                _add_scope(builder, scope.spans, service, host, library.name if library else None)
        for pair in attributes:
            slot = builder.resource_slots.get(pair.key)
            if slot is not None:
                slot.rows.extend(range(first, builder.n))
                slot.values.extend([pair.value] * (builder.n - first))
        builder.flush()


def _check(resource: ResourceSpans) -> None:
    if resource.scope_spans is None and resource.instrumentation_library_spans is None:
        raise UnsureError
    for scope in (*(resource.scope_spans or ()), *(resource.instrumentation_library_spans or ())):
        # A writer spells all its spans alike, so the first one tells.
        span = scope.spans[0] if scope.spans else None
        if span is not None and (not span.trace_id or (span.attributes and plain(span.attributes[0].value) is None)):
            raise UnsureError


def _add_scope(builder: Builder, spans: list[Span], service: str | None, host: str | None, scope: str | None) -> None:
    count, first = len(spans), builder.n
    builder.add_names([span.trace_id for span in spans], [span.name or "" for span in spans])
    builder.add_ids([span.span_id for span in spans], [span.parent_span_id or NO_SPAN for span in spans])
    numbers, codes = builder.numbers, builder.codes
    numbers["kind"].extend(map(KINDS.__getitem__, [span.kind for span in spans]))
    status = array("B", bytes(count))
    numbers["follows"].frombytes(bytes(count))
    for column, vocabulary, word in (
        ("service", builder.services, service),
        ("host", builder.hosts, host),
        ("scope", builder.scopes, scope),
    ):
        codes[column].extend(array("i", [vocabulary[word] if word else -1]) * count)
    get = builder.waiting.get
    for row, span in enumerate(spans, first):
        for pair in span.attributes or ():
            waiting = get(pair.key)
            if waiting is not None:
                rows, values = waiting
                rows.append(row)
                values.append(pair.value)
        if span.status is not None and span.status.code:
            status[row - first] = STATUSES[span.status.code]
        if span.events:
            times = [event.time_unix_nano for event in span.events if IS_FIRST_TOKEN[event.name]]
            if times:
                builder.first_tokens.add_any([row], [min(times)])
    numbers["status"].extend(status)
    builder.add_times([span.start_time_unix_nano for span in spans], [span.end_time_unix_nano for span in spans])
    builder.flush()
