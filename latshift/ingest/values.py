"""Values of attributes: wrapped as in OTLP, or plain as in Jaeger."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from latshift.ingest.converters import Plain


class AnyValue(Struct, gc=False, rename="camel"):
    """A value of an attribute; exactly one field is set. Objects and bytes are not read."""

    string_value: str | None = None
    int_value: int | None = None
    double_value: float | None = None
    bool_value: bool | None = None
    array_value: ArrayValue | None = None


class ArrayValue(Struct, gc=False):
    """A list of values."""

    values: list[AnyValue] | None = None


def plain(value: Any) -> Plain:
    """Return a value without its wrapping, if it has one; None for objects, bytes and nothing."""
    if type(value) is not AnyValue:
        return value  # type: ignore[no-any-return]
    for field in (value.string_value, value.bool_value, value.int_value, value.double_value):
        if field is not None:
            return field
    if value.array_value is not None:
        return [plain(item) for item in value.array_value.values or ()]
    return None
