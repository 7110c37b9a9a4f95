"""Single requests and their critical paths."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from latshift.results.base import HIDDEN, Doubt, Result


@dataclass(frozen=True)
class Segment:
    """A stretch of a request's critical path: one span's own work, ns since the epoch.

    Attributes:
        span: Index of the span in `RequestPath.spans`; -1 if the spans are not listed.
    """

    span_id: str
    service: str
    name: str
    component: str
    start_ns: int
    end_ns: int
    phase: str | None = None
    span: int = field(default=-1, metadata=HIDDEN)


@dataclass(frozen=True)
class WaterfallSpan:
    """A span as the waterfall draws it.

    Attributes:
        parent: Index of the parent in `RequestPath.spans`, -1 for the root. depth: 0 for the root.
        start_ns, end_ns: As recorded. on_path: Whether the critical path passes through it. error: Its status.
    """

    span_id: str
    parent: int
    depth: int
    name: str
    service: str
    component: str
    start_ns: int
    end_ns: int
    on_path: bool
    error: bool = False


@dataclass(frozen=True)
class RequestPath:
    """One request and its critical path; the segments are in time order and partition the root's duration."""

    trace_id: str
    root: str
    duration_ms: float
    complete: bool
    segments: tuple[Segment, ...]
    spans: tuple[WaterfallSpan, ...] = field(default=(), metadata=HIDDEN)


@dataclass(frozen=True)
class Paths(Result):
    """Critical paths of single requests (`latshift path`)."""

    schema: ClassVar[str] = "latshift/path/1"
    requests: tuple[RequestPath, ...]
    doubts: tuple[Doubt, ...] = ()
