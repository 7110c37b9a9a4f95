"""`path`: single requests and what they waited for."""

from __future__ import annotations

from difflib import get_close_matches

import numpy as np

from latshift.errors import InputError
from latshift.results import Paths, RequestPath, Segment, WaterfallSpan
from latshift.skipped import input_doubts
from latshift.spans import ERROR, Int64
from latshift.traceset import TraceSet

MOST_SPANS = 20_000
"""A waterfall of more spans than this is not drawn; the segments are always there."""


def find_paths(traces: TraceSet, trace_id: str | None = None, slowest: int | None = None) -> Paths:
    """Return the critical path of the requests of a trace, or of the slowest requests.

    Args:
        traces: The requests.
        trace_id: Any usual spelling of a trace id.
        slowest: How many of the slowest.

    Raises:
        InputError: If there is no such trace.
    """
    if trace_id is not None:
        requests = _requests_of(traces, trace_id)
    else:
        duration = traces.attribution.duration[traces.chosen]
        requests = traces.chosen[np.argsort(-duration, kind="stable")[: slowest or 1]]
    shown = tuple(_request_path(traces, int(request)) for request in requests.tolist())
    return Paths(shown, input_doubts(traces.input.skipped))


def _requests_of(traces: TraceSet, trace_id: str) -> Int64:
    from latshift.ingest.ids import normal_trace_id

    traces_column = traces.forest.spans.text("trace")
    words = traces_column.words
    for wanted in (normal_trace_id(trace_id), trace_id):
        if wanted in words:
            code = words.index(wanted)
            return np.flatnonzero(traces_column.codes[traces.forest.root] == code)
    longer = [word for word in words if word.startswith(trace_id.strip().lower())] if len(trace_id) >= 4 else []
    if len(longer) == 1:
        return np.flatnonzero(traces_column.codes[traces.forest.root] == words.index(longer[0]))
    near = longer[:3] or get_close_matches(trace_id, words[:100_000], n=3, cutoff=0.5)
    hint = f"did you mean {', '.join(near)}?" if near else "--slowest 5 shows the slowest requests and their ids"
    raise InputError(f"there is no trace {trace_id}", hint)


def _request_path(traces: TraceSet, request: int) -> RequestPath:
    forest, path = traces.forest, traces.path
    spans = forest.spans
    rows = np.flatnonzero(forest.request == request)
    services, names = spans.text("service").texts(rows), spans.text("name").texts(rows)
    components = traces.classified.component.texts(rows)
    ids = [spans.span_id_text(row) for row in rows.tolist()]
    place = {row: index for index, row in enumerate(rows.tolist())}
    segments = tuple(
        Segment(ids[index], services[index] or "", names[index] or "", components[index] or "", start, end, None, index)
        for row, start, end in _segments_of(traces, request)
        for index in [place[row]]
    )
    drawn: tuple[WaterfallSpan, ...] = ()
    if len(rows) <= MOST_SPANS:
        start, end = spans.array("start")[rows].tolist(), spans.array("end")[rows].tolist()
        parent = [place.get(row, -1) for row in forest.parent[rows].tolist()]
        depth = _depths(parent)
        on_path, status = path.on_path[rows].tolist(), spans.array("status")[rows].tolist()
        drawn = tuple(
            WaterfallSpan(
                ids[i], parent[i], depth[i], names[i] or "", services[i] or "", components[i] or "",
                start[i], end[i], on_path[i], status[i] == ERROR,
            )
            for i in range(len(rows))
        )  # fmt: skip
    root = int(forest.root[request])
    duration = int(spans.array("end")[root] - spans.array("start")[root]) / 1e6
    trace = spans.text("trace").texts(np.asarray([root]))[0] or ""
    return RequestPath(trace, spans.span_id_text(root), duration, bool(forest.complete[request]), segments, drawn)


def _depths(parent: list[int]) -> list[int]:
    """Return the depth of each span of a request, whatever the order of the spans."""
    depth = [-1] * len(parent)
    for index in range(len(parent)):
        chain = []
        current = index
        while current >= 0 and depth[current] < 0:
            chain.append(current)
            current = parent[current]
        level = depth[current] if current >= 0 else -1
        for member in reversed(chain):
            level += 1
            depth[member] = level
    return depth


def _segments_of(traces: TraceSet, request: int) -> list[tuple[int, int, int]]:
    """Return (row, start, end) of the request's segments in time order."""
    rows, starts, ends = traces.segments
    inside = np.flatnonzero(traces.forest.request[rows] == request)
    return list(zip(rows[inside].tolist(), starts[inside].tolist(), ends[inside].tolist(), strict=True))
