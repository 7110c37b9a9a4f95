"""What all results share: how they become JSON, and the small values they are made of."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, ClassVar

Interval = tuple[float, float]
"""Lower and upper end of a 95 % interval."""

CLASS: dict[str, Any] = {"json": "class"}
HIDDEN: dict[str, Any] = {"json": None}
"""Metadata of fields that only the views need."""


def plain(value: Any) -> Any:
    """Turn a result into what JSON can hold: dataclasses to dicts, tuples to lists, nan and infinity to None."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if is_dataclass(value) and not isinstance(value, type):
        if not isinstance(value, Result) and hasattr(value, "to_dict"):
            return value.to_dict()
        named = {part.metadata.get("json", part.name): getattr(value, part.name) for part in fields(value)}
        return {name: plain(item) for name, item in named.items() if name is not None}
    return value


class Result:
    """Base of the results that a command prints.

    Attributes:
        schema: Name and version of the JSON's schema.
    """

    schema: ClassVar[str]

    def to_dict(self) -> dict[str, Any]:
        """Return the object of the output contract, ready for `json.dumps`."""
        return {"schema": self.schema, **plain(self)}


@dataclass(frozen=True)
class Points:
    """One number at each percentile of end-to-end latency."""

    p50: float
    p95: float
    p99: float


@dataclass(frozen=True)
class Spread:
    """One number on average and at each percentile."""

    mean: float
    p50: float
    p95: float
    p99: float


@dataclass(frozen=True)
class Latency:
    """End-to-end latency of a set of requests.

    Attributes:
        n: Requests it stands on. mean_ms, p50_ms, p95_ms, p99_ms: In ms; quantiles by linear interpolation (type 7).
        interval: Field name ("p50_ms") to its 95 % interval; empty when none was computed.
        thin: Field names of the figures that rest on too few requests.
    """

    n: int
    mean_ms: float
    p50_ms: float
    p95_ms: float
    p99_ms: float
    interval: Mapping[str, Interval] = field(default_factory=dict)
    thin: tuple[str, ...] = ()


@dataclass(frozen=True)
class Doubt:
    """Something that weakens a result.

    Attributes:
        code: Stable short name ("too-few-requests"). text: One clause, counted. hint: What the person can do, or "".
    """

    code: str
    text: str
    hint: str = ""
