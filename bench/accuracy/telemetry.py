"""The OpenTelemetry SDK with its own options set so that a run on a virtual clock can be repeated byte for byte."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

from opentelemetry import trace
from opentelemetry.exporter.otlp.json.file import FileSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SpanExporter
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.sdk.trace.sampling import ALWAYS_ON
from opentelemetry.trace import INVALID_SPAN, Span, SpanKind

Attributes = Mapping[str, str | int | float | bool]

EPOCH_NS = 1_790_000_000_000_000_000
"""What the wall clock shows when the loop's clock is 0."""

BATCH = 256


class Telemetry(Protocol):
    """What programs write their spans to."""

    def span(self, service: str, name: str, kind: SpanKind, attributes: Attributes) -> AbstractContextManager[Span]:
        """Trace a block as a child of the current span."""

    def close(self) -> None:
        """Export what is left."""


class Recorded:
    """Writes the spans to a file of OTLP JSON lines.

    Args:
        file: The file.
        now: Returns the time in ns since the epoch.
    """

    def __init__(self, file: Path, now: Callable[[], int]) -> None:
        self._stream = file.open("w")
        self._exporter = FileSpanExporter(stream=self._stream)
        self._now = now
        self._ids = _SeededIds()
        self._services: dict[str, tuple[trace.Tracer, _Batches]] = {}

    @contextmanager
    def span(self, service: str, name: str, kind: SpanKind, attributes: Attributes) -> Iterator[Span]:
        tracer = (self._services.get(service) or self._add(service))[0]
        opened = tracer.start_span(name, kind=kind, attributes=attributes, start_time=self._now())
        try:
            with trace.use_span(opened, record_exception=False, set_status_on_exception=False):
                yield opened
        finally:
            opened.end(self._now())

    def _add(self, service: str) -> tuple[trace.Tracer, _Batches]:
        resource = Resource({"service.name": service, "telemetry.sdk.language": "python"})
        provider = TracerProvider(sampler=ALWAYS_ON, resource=resource, id_generator=self._ids, shutdown_on_exit=False)
        batches = _Batches(self._exporter)
        provider.add_span_processor(batches)
        self._services[service] = provider.get_tracer("bench.accuracy"), batches
        return self._services[service]

    def close(self) -> None:
        for _, batches in self._services.values():
            batches.force_flush()
        self._stream.close()


class Silent:
    """Writes nothing: the changed runs are only timed."""

    @contextmanager
    def span(self, service: str, name: str, kind: SpanKind, attributes: Attributes) -> Iterator[Span]:
        yield INVALID_SPAN

    def close(self) -> None:
        pass


class _SeededIds(IdGenerator):
    def __init__(self) -> None:
        self._random = random.Random("ids")

    def generate_span_id(self) -> int:
        return self._random.getrandbits(64) or 1

    def generate_trace_id(self) -> int:
        return self._random.getrandbits(128) or 1


class _Batches(SpanProcessor):
    """Exports ended spans in batches of a fixed size, where the SDK's own processor also does so by wall time."""

    def __init__(self, exporter: SpanExporter) -> None:
        self._exporter = exporter
        self._waiting: list[ReadableSpan] = []

    def on_end(self, span: ReadableSpan) -> None:
        self._waiting.append(span)
        if len(self._waiting) >= BATCH:
            self.force_flush()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        if self._waiting:
            self._exporter.export(self._waiting)
            self._waiting = []
        return True
