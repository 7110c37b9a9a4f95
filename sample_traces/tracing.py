"""The OpenTelemetry SDK, set up so that a run can be repeated byte for byte.

Nothing of the SDK is replaced: its own options take the ids from a seeded generator and the times from the virtual
clock, and a span processor exports in batches by count, where the SDK's own one also does so by wall time.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime

from opentelemetry import context, trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SpanExporter
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.sdk.trace.sampling import ALWAYS_ON
from opentelemetry.trace import Span, SpanKind
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from virtual_time import VirtualTimeLoop

Attributes = Mapping[str, str | int | float | bool]
Headers = dict[str, str]

_PROPAGATOR = TraceContextTextMapPropagator()


class Clock:
    """Wall-clock times that follow an event loop, in whole microseconds.

    Args:
        start: What the wall clock shows when the loop's clock is 0.
        loop: The event loop.
        seed: Decides how much time code takes between two looks at the clock.
    """

    def __init__(self, start: datetime, loop: VirtualTimeLoop, seed: str) -> None:
        self._start = int(start.timestamp()) * 1_000_000
        self._loop = loop
        self._random = random.Random(seed)

    def now(self) -> int:
        """Return the time in ns since the epoch."""
        # Code takes time too: without this, each step would start in the very microsecond in which the last one ended.
        self._loop.jump(self._random.uniform(10e-6, 90e-6))
        return (self._start + round(self._loop.time() * 1_000_000)) * 1_000


class SeededIds(IdGenerator):
    """Trace and span ids that are the same in every run."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)

    def generate_span_id(self) -> int:
        return self._random.getrandbits(64) or 1

    def generate_trace_id(self) -> int:
        return self._random.getrandbits(128) or 1


class CountedBatches(SpanProcessor):
    """Exports ended spans in batches of a fixed size, in the order in which they ended."""

    def __init__(self, exporter: SpanExporter, size: int) -> None:
        self._exporter = exporter
        self._size = size
        self._waiting: list[ReadableSpan] = []

    def on_end(self, span: ReadableSpan) -> None:
        self._waiting.append(span)
        if len(self._waiting) >= self._size:
            self.force_flush()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        if self._waiting:
            self._exporter.export(self._waiting)
            self._waiting = []
        return True


class Service:
    """One service of the pipeline, with a tracer of its own.

    Args:
        name: Its `service.name`.
        host: The host it runs on.
        clock: Where its times come from.
        ids: Where its ids come from.
        exporter: Where its spans go.
        rename: Attribute names of the stable conventions, to the names this service writes instead.
    """

    def __init__(
        self,
        name: str,
        host: str,
        *,
        clock: Clock,
        ids: IdGenerator,
        exporter: SpanExporter,
        rename: Mapping[str, str],
    ) -> None:
        resource = Resource({"service.name": name, "host.name": host, "telemetry.sdk.language": "python"})
        provider = TracerProvider(sampler=ALWAYS_ON, resource=resource, id_generator=ids, shutdown_on_exit=False)
        self._batches = CountedBatches(exporter, size=64)
        provider.add_span_processor(self._batches)
        self._tracer = provider.get_tracer("sample_traces.pipeline")
        self._clock = clock
        self._rename = rename

    @contextmanager
    def span(
        self, name: str, kind: SpanKind = SpanKind.INTERNAL, attributes: Attributes | None = None
    ) -> Iterator[Span]:
        """Trace what happens inside the block as a child of the current span."""
        opened = self._tracer.start_span(
            name, kind=kind, attributes=self.renamed(attributes or {}), start_time=self._clock.now()
        )
        try:
            with trace.use_span(opened):
                yield opened
        finally:
            opened.end(self._clock.now())

    def renamed(self, attributes: Attributes) -> Attributes:
        """Return the attributes under the names that this service writes."""
        return {self._rename.get(key, key): value for key, value in attributes.items()}

    def add_event(self, span: Span, name: str) -> None:
        """Add an event that happens now."""
        span.add_event(name, timestamp=self._clock.now())

    def flush(self) -> None:
        """Export the spans that still wait for their batch to fill."""
        self._batches.force_flush()


def outgoing_headers() -> Headers:
    """Return the headers that carry the current span to another service."""
    headers: Headers = {}
    _PROPAGATOR.inject(headers)
    return headers


@contextmanager
def incoming(headers: Headers) -> Iterator[None]:
    """Continue the trace of whoever sent the headers."""
    token = context.attach(_PROPAGATOR.extract(headers, context.Context()))
    try:
        yield
    finally:
        context.detach(token)
