"""One JSON document to columns, whatever format it is in.

One struct covers the top of all formats, so a document is decoded once, without looking at it before. What the structs
cannot read goes to `lenient`; what that cannot read either is reported and left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Raw, Struct

from latshift.ingest import jaeger, lenient, otlp
from latshift.ingest.columns import Builder
from latshift.ingest.sniff import OTLP_KEYS, WRAPPERS, guess, keys_of

NOT_JSON, CUT_OFF, TOO_DEEP = "text that is not JSON", "JSON that ends in the middle", "JSON nested too deeply"


class Wrapped(Struct, gc=False, rename="camel"):
    """What APIs put around OTLP."""

    resource_spans: list[otlp.ResourceSpans] | None = None


class Document(Struct, gc=False, rename={"resource_spans": "resourceSpans", "trace_id": "traceID"}):
    """The top of every format that is read."""

    resource_spans: list[otlp.ResourceSpans] | None = None
    batches: list[otlp.ResourceSpans] | None = None
    result: Wrapped | None = None
    trace: Wrapped | None = None
    data: list[jaeger.Trace] | None = None
    trace_id: str | None = None
    spans: list[jaeger.Span] | None = None
    processes: dict[str, jaeger.Process] | None = None

    def resources(self) -> list[otlp.ResourceSpans] | None:
        """Return the OTLP part, None if there is none."""
        if self.resource_spans is not None:
            return self.resource_spans
        if self.batches is not None:
            return self.batches
        wrapped = self.result or self.trace
        return wrapped.resource_spans if wrapped else None

    def traces(self) -> Sequence[jaeger.Trace] | None:
        """Return the Jaeger part, None if there is none."""
        if self.data is not None and (not self.data or any(trace.spans is not None for trace in self.data)):
            return self.data
        if self.spans is not None and (self.trace_id or self.processes is not None):
            return [jaeger.Trace(self.trace_id or "", self.spans, self.processes)]
        return None


# Not strict: numbers may be written as texts, and msgspec then reads them as fast as numbers.
_DOCUMENT = msgspec.json.Decoder(Document, strict=False)
_SPAN = msgspec.json.Decoder(jaeger.Span, strict=False)
_ITEMS = msgspec.json.Decoder(list[Raw])
_PARSE = msgspec.json.Decoder()
_FIELDS = msgspec.json.Decoder(dict[str, Raw])


class Documents:
    """Appends the spans of documents to columns.

    Attributes:
        count: Documents that were recognised. found: (reason, offset, detail) of everything that was left out.
        file: Number of the file at hand. offset: Where the document at hand begins.
    """

    def __init__(self, builder: Builder, file: int) -> None:
        self.count = 0
        self.file = file
        self.offset = 0
        self.found: list[tuple[str, int, str]] = []
        self._builder = builder

    def read(self, raw: bytes | memoryview | Raw) -> None:
        """Read a document, the tolerant way if need be; what cannot be read is reported."""
        try:
            self.read_quickly(raw)
            return
        except (msgspec.DecodeError, RecursionError) as error:
            problem = problem_of(error)
        try:
            parsed = lenient.parse(raw)
        except (ValueError, RecursionError):
            self.report(*problem)
        else:
            self.read_parsed(parsed)

    def read_quickly(self, raw: bytes | memoryview | Raw) -> None:
        """Read a document.

        Raises:
            msgspec.DecodeError, RecursionError: If it is not JSON; nothing has been appended then.
        """
        try:
            document = _DOCUMENT.decode(raw)
        except msgspec.ValidationError:
            self._read_unusual(raw)
            return
        resources = document.resources()
        if resources is not None:
            self._builder.mark(self.file, self.offset)
            try:
                otlp.add(self._builder, resources)
            except otlp.UnsureError:
                self.read_parsed(_PARSE.decode(raw))
            else:
                self.count += 1
            return
        traces = document.traces()
        if traces is not None:
            self._builder.mark(self.file, self.offset)
            jaeger.add_traces(self._builder, traces)
            self.count += 1
        elif document.trace_id:
            self._read_span(raw)
        else:
            self._read_unknown(raw)

    def report(self, reason: str, detail: str) -> None:
        """Note that something at the document at hand is left out."""
        self.found.append((reason, self.offset, detail))

    def _read_span(self, raw: bytes | memoryview | Raw) -> None:
        """Read one span of Jaeger's search index, which has its process inside."""
        span = _SPAN.decode(raw)
        if not span.span_id:
            self._read_unknown(raw)
            return
        self._builder.mark(self.file, self.offset)
        jaeger.add_spans(self._builder, [span], {})
        self.count += 1

    def _read_unusual(self, raw: bytes | memoryview | Raw) -> None:
        """Read a list of documents, or one with values of unexpected types."""
        try:
            items = _ITEMS.decode(raw)
        except msgspec.ValidationError:
            self.read_parsed(_PARSE.decode(raw))
            return
        for item in items:
            self.read(item)
        if not items:
            self.read_parsed([])

    def _read_unknown(self, raw: bytes | memoryview | Raw) -> None:
        """Read a document without the usual keys: in snake_case, without content, or of another format."""
        fields = _FIELDS.decode(raw)
        if any(key in fields for key in (*OTLP_KEYS, *WRAPPERS)):
            self.read_parsed(_PARSE.decode(raw))
        else:
            self._reject(list(fields), "object")

    def read_parsed(self, document: Any) -> None:
        """Read a document that has been parsed to Python objects; what cannot be read is reported."""
        self._builder.mark(self.file, self.offset)
        if isinstance(document, list) and document:
            for item in document:
                self.read_parsed(item)
            return
        holders = [document, *(document.get(key) for key in WRAPPERS)] if isinstance(document, dict) else []
        for holder in holders:
            if not isinstance(holder, dict):
                continue
            key = next((key for key in OTLP_KEYS if key in holder), None)
            if key is not None:
                otlp.add(self._builder, lenient.otlp_resources(holder[key], self.report), sure=True)
                self.count += 1
                return
        if not (isinstance(document, dict) and self._read_parsed_jaeger(document)):
            self._reject(*keys_of(document))

    def _read_parsed_jaeger(self, document: dict[str, Any]) -> bool:
        data = document.get("data")
        traces = [item for item in data if isinstance(item, dict)] if isinstance(data, list) else [document]
        traces = [trace for trace in traces if isinstance(trace.get("spans"), list)]
        traces = [trace for trace in traces if "traceID" in trace or "processes" in trace]
        if traces:
            jaeger.add_traces(self._builder, [lenient.jaeger_trace(trace, self.report) for trace in traces])
        elif "traceID" in document and "spanID" in document:
            jaeger.add_spans(self._builder, lenient.jaeger_spans([document], self.report), {})
        else:
            return False
        self.count += 1
        return True

    def _reject(self, keys: list[str], kind: str) -> None:
        guessed = guess(keys, kind)
        self.report(guessed.reason, guessed.text)


def problem_of(error: Exception) -> tuple[str, str]:
    """Return (reason, what was found) for text that cannot be parsed."""
    if isinstance(error, RecursionError):
        return TOO_DEEP, "JSON that is nested too deeply"
    if "truncated" in str(error):
        return CUT_OFF, "JSON that ends in the middle of a value"
    return NOT_JSON, f"no JSON ({str(error).removeprefix('JSON is malformed: ')})"
