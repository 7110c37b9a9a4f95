"""The slow, tolerant way to read a document that the typed structs cannot: snake_case, wrong types, single bad spans.

A document is walked as plain Python objects; whatever is well formed becomes the same structs that the quick way
yields, whatever is not is left out and reported. Only documents with something unusual in them come here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

import msgspec

from latshift.ingest import jaeger, otlp
from latshift.ingest.converters import integer
from latshift.ingest.values import AnyValue, ArrayValue

BAD_SPAN = "span that is not well formed"

Report = Callable[[str, str], None]
"""Called with the reason and the place within the document of each span that is left out."""

Item = TypeVar("Item")

_CAMEL = re.compile(r"(?!^)([A-Z])")


class BadError(Exception):
    """A span cannot be used; the message says why."""


def parse(raw: bytes | memoryview) -> Any:
    """Parse JSON, also with NaN, lone surrogates or bytes that are not UTF-8 in it.

    Raises:
        msgspec.DecodeError, ValueError, RecursionError: If it is not JSON, cut off, or nested too deeply.
    """
    try:
        return msgspec.json.decode(raw)
    except msgspec.DecodeError as error:
        if "truncated" in str(error) and len(raw) > 1 << 20:
            raise
    return json.loads(bytes(raw).decode("utf-8", "replace"))


def otlp_resources(items: Any, report: Report) -> list[otlp.ResourceSpans]:
    """Turn parsed resourceSpans into structs; spans that cannot be used are reported and left out."""
    resources = []
    for index, item in _dicts(items):
        place = f"resourceSpans[{index}]"
        resource = _get(item, "resource")
        scopes = [
            _otlp_scope(scope, f"{place}.scopeSpans[{number}]", report)
            for key in ("scopeSpans", "instrumentationLibrarySpans")
            for number, scope in _dicts(_get(item, key))
        ]
        attributes = _pairs(_get(resource, "attributes")) if isinstance(resource, dict) else None
        resources.append(otlp.ResourceSpans(otlp.Resource(attributes), scopes))
    return resources


def jaeger_trace(item: Mapping[str, Any], report: Report) -> jaeger.Trace:
    """Turn a parsed Jaeger trace into a struct; spans that cannot be used are reported and left out."""
    trace = jaeger.Trace(_text(item.get("traceID")) or "")
    processes = item.get("processes")
    if isinstance(processes, dict):
        trace.processes = {key: _process(value) for key, value in processes.items() if isinstance(value, dict)}
    trace.spans = jaeger_spans(item.get("spans"), report)
    return trace


def jaeger_spans(items: Any, report: Report) -> list[jaeger.Span]:
    """Turn parsed Jaeger spans into structs; those that cannot be used are reported and left out."""
    return _usable(items, "spans", _jaeger_span, report)


def _usable(items: Any, place: str, make: Callable[[Any], Item], report: Report) -> list[Item]:
    made = []
    for index, item in enumerate(items if isinstance(items, list) else ()):
        try:
            made.append(make(item))
        except BadError as error:
            report(BAD_SPAN, f"{place}[{index}]: {error}")
    return made


def _otlp_scope(item: Mapping[str, Any], place: str, report: Report) -> otlp.ScopeSpans:
    scope = _get(item, "scope") or _get(item, "instrumentationLibrary")
    name = _text(scope.get("name")) if isinstance(scope, dict) else None
    return otlp.ScopeSpans(otlp.Scope(name), _usable(_get(item, "spans"), f"{place}.spans", _otlp_span, report))


def _otlp_span(item: Any) -> otlp.Span:
    if not isinstance(item, dict):
        raise BadError("not an object")
    status = _get(item, "status")
    code = _get(status, "code") if isinstance(status, dict) else None
    kind = _get(item, "kind")
    return otlp.Span(
        _id(item, "traceId"),
        _id(item, "spanId"),
        _id(item, "parentSpanId"),
        _text(item.get("name")),
        kind if isinstance(kind, int | str) else None,
        _time(item, "startTimeUnixNano"),
        _time(item, "endTimeUnixNano"),
        _pairs(_get(item, "attributes")),
        otlp.Status(code if isinstance(code, int | str) else None),
        [
            otlp.Event(integer(_scalar(_get(event, "timeUnixNano"))) or 0, _text(event.get("name")))
            for _, event in _dicts(_get(item, "events"))
        ],
    )


def _pairs(items: Any) -> list[otlp.KeyValue]:
    if isinstance(items, dict):
        items = [{"key": key, "value": value} for key, value in items.items()]
    return [
        otlp.KeyValue(item["key"], _any_value(item.get("value")))
        for _, item in _dicts(items)
        if isinstance(item.get("key"), str)
    ]


def _any_value(item: Any) -> AnyValue | None:
    if not isinstance(item, dict):
        return _from_scalar(item)
    array = _get(item, "arrayValue")
    if isinstance(array, dict):
        values = [_any_value(value) or AnyValue() for _, value in _dicts(array.get("values"))]
        return AnyValue(array_value=ArrayValue(values))
    number = integer(_scalar(_get(item, "intValue")))
    if number is not None:
        return AnyValue(int_value=number)
    double = _get(item, "doubleValue")
    try:
        if double is not None:
            return AnyValue(double_value=float(double))
    except (TypeError, ValueError):
        return None
    text = _get(item, "stringValue")
    return _from_scalar(_get(item, "boolValue") if text is None else text)


def _from_scalar(value: Any) -> AnyValue | None:
    if isinstance(value, bool):
        return AnyValue(bool_value=value)
    if isinstance(value, str):
        return AnyValue(string_value=_text(value))
    if isinstance(value, int):
        return AnyValue(int_value=value)
    return AnyValue(double_value=value) if isinstance(value, float) else None


def _jaeger_span(item: Any) -> jaeger.Span:
    if not isinstance(item, dict):
        raise BadError("not an object")
    process = item.get("process")
    return jaeger.Span(
        _id(item, "traceID"),
        _id(item, "spanID"),
        _id(item, "parentSpanID"),
        _text(item.get("operationName")),
        [
            jaeger.Reference(_text(one.get("refType")) or "CHILD_OF", _id(one, "traceID"), _id(one, "spanID"))
            for _, one in _dicts(item.get("references"))
        ],
        _time(item, "startTime"),
        _time(item, "duration"),
        _tags(item.get("tags")),
        [
            jaeger.Log(integer(_scalar(log.get("timestamp"))) or 0, _tags(log.get("fields")))
            for _, log in _dicts(item.get("logs"))
        ],
        _text(item.get("processID")),
        _process(process) if isinstance(process, dict) else None,
    )


def _process(item: Mapping[str, Any]) -> jaeger.Process:
    return jaeger.Process(_text(item.get("serviceName")), _tags(item.get("tags")))


def _tags(items: Any) -> list[jaeger.Tag]:
    return [
        jaeger.Tag(_text(item["key"]) or "", _scalar(item.get("value")))
        for _, item in _dicts(items)
        if isinstance(item.get("key"), str)
    ]


def _get(item: Any, name: str) -> Any:
    """Return a field by its camelCase name, or by its snake_case twin."""
    if not isinstance(item, dict):
        return None
    value = item.get(name)
    return value if value is not None else item.get(_CAMEL.sub(r"_\1", name).lower())


def _dicts(items: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    listed = items if isinstance(items, list) else ()
    return ((index, item) for index, item in enumerate(listed) if isinstance(item, dict))


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, dict | list):
        return None
    return str(value).encode("utf-8", "replace").decode()


def _scalar(value: Any) -> str | int | float | bool | None:
    return _text(value) if isinstance(value, str) else value if isinstance(value, int | float) else None


def _id(item: Mapping[str, Any], name: str) -> str:
    value = _get(item, name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise BadError(f"{name} is not a text")
    return _text(value) or ""


def _time(item: Mapping[str, Any], name: str) -> int:
    value = _get(item, name)
    if value is None or value == "":
        return 0
    number = None if isinstance(value, bool) else integer(_scalar(value))
    if number is None:
        raise BadError(f"{name} is not a 64-bit number")
    return number
