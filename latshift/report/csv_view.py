"""An analysis as CSV: one row for the latency and for each class, component, phase and group; safe in spreadsheets."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from io import StringIO

from latshift.report.escape import csv_cell
from latshift.results import Analysis, Latency, Points, Spread

POINTS = ("mean", "p50", "p95", "p99")

HEADER = (
    "kind", "name", "class", "requests", "spans", "calls",
    *(f"share_{point}" for point in POINTS),
    *(f"time_ms_{point}" for point in POINTS),
    *(f"ceiling_{point}" for point in POINTS[1:]),
)  # fmt: skip
"""`kind` is latency, class, component, phase or group; `time_ms` is end-to-end latency for latency and group, and
path time for the others."""

Cell = str | int | float


def csv_view(analysis: Analysis) -> str:
    """Return the analysis as CSV with a line of headings; a number that does not exist is an empty cell."""
    buffer = StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(HEADER)
    for row in _rows(analysis):
        writer.writerow([_cell(value) for value in row])
    return buffer.getvalue()


def _cell(value: Cell) -> Cell:
    if isinstance(value, str):
        return csv_cell(value)
    return value if math.isfinite(value) else ""


def _rows(analysis: Analysis) -> Iterator[list[Cell]]:
    yield ["latency", "", "", analysis.latency.n, "", "", *_four(None), *_latency(analysis.latency), *_three(None)]
    for item in analysis.classes:
        yield ["class", item.name, item.name, "", "", "", *_four(item.share), *_four(item.path_ms), *_three(None)]
    for part in analysis.components:
        counts = [part.requests, part.spans, part.calls]
        figures = [*_four(part.share), *_four(part.path_ms)]
        yield ["component", part.name, part.klass, *counts, *figures, *_three(part.ceiling)]
        for phase in part.phases:
            figures = [*_four(phase.share), *_four(phase.path_ms)]
            yield ["phase", phase.name, part.klass, "", "", "", *figures, *_three(None)]
    for group in analysis.groups:
        yield ["group", group.root, "", group.n, "", "", *_four(None), *_latency(group.latency), *_three(None)]


def _four(spread: Spread | None) -> list[Cell]:
    return [spread.mean, spread.p50, spread.p95, spread.p99] if spread else [""] * 4


def _three(points: Points | None) -> list[Cell]:
    return [points.p50, points.p95, points.p99] if points else [""] * 3


def _latency(latency: Latency) -> list[Cell]:
    return [latency.mean_ms, latency.p50_ms, latency.p95_ms, latency.p99_ms]
