"""The terminal view of `latshift path`: a waterfall of one request with its critical path marked."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from latshift.report import units
from latshift.report.console import Screen, as_text
from latshift.report.doubts import doubt_lines
from latshift.report.escape import visible
from latshift.report.layout import fit, wrapped
from latshift.report.waterfall import Row, most_telling, painted, rows_of
from latshift.results import Paths, RequestPath

DEEPEST = 10
"""Deeper rows are not indented further; their depth is written instead."""

LONGEST_NAME = 100
"""Columns of a name where nothing else limits it."""

FIGURE = 8
"""Columns of a duration."""

OWN, WAIT, OFF = "bold red", "red", "dim"


def path_view(paths: Paths, screen: Screen) -> str:
    """Return every request's waterfall as text."""
    lines: list[Text] = []
    for request in paths.requests:
        lines += [*([Text()] if lines else []), *_request(request, screen)]
    return as_text(lines + doubt_lines(paths.doubts, screen), screen)


def _request(request: RequestPath, screen: Screen) -> list[Text]:
    root = request.spans[0] if request.spans else None
    title = Text(f"Trace {visible(request.trace_id)}", "bold")
    facts = [f"{visible(root.name)} ({visible(root.service)})"] if root else []
    facts += [units.duration(request.duration_ms), units.plural(len(request.spans), "span")]
    if not request.complete:
        facts.append("incomplete: its root is missing")
    lines = [title, Text(" · ".join(facts)), *_by_component(request, screen), Text()]
    return lines + (_waterfall(request, screen) if root else [])


def _by_component(request: RequestPath, screen: Screen) -> list[Text]:
    """Return the sum of the path's segments by component, largest first."""
    sums: dict[str, int] = {}
    for segment in request.segments:
        sums[segment.component] = sums.get(segment.component, 0) + segment.end_ns - segment.start_ns
    total = sum(sums.values()) or 1
    largest = sorted(sums.items(), key=lambda item: (-item[1], item[0]))
    parts = [
        f"{visible(name, 40)} {units.duration(ns / 1e6)} ({units.percent(ns / total)})" for name, ns in largest[:6]
    ]
    if len(largest) > 6:
        parts.append(f"{len(largest) - 6} more")
    return wrapped("Critical path: " + ", ".join(parts), screen.width, indent="  ")


def _waterfall(request: RequestPath, screen: Screen) -> list[Text]:
    every = rows_of(request)
    rows = most_telling(every)
    labels = [_label(row) for row in rows]
    components = [Text(visible(row.spans[0].component, 20), "dim") for row in rows]
    beside = max(9, *(component.cell_len for component in components)) + 2 if screen.width >= 100 else 0
    room = int((screen.width - 2 * FIGURE - beside) * 0.45)
    names = min(max(label.cell_len for label in labels), room if screen.cut else LONGEST_NAME)
    width = max(20, screen.width - 2 * FIGURE - 4 - beside - min(names, room))
    begin, end = _extent(request, rows)
    lines = [_axis(request, names, beside, width)]
    for row, label, component in zip(rows, labels, components, strict=True):
        line = fit(label, names)
        line.append(" " * (names - line.cell_len))
        if beside:
            line.append("  ").append_text(component).append(" " * (beside - 2 - component.cell_len))
        line.append(f" {units.duration(row.duration_ns / 1e6):>{FIGURE}}")
        own = units.duration(row.own_ns / 1e6) if row.own_ns else ""
        line.append(f" {own:>{FIGURE}}  ", "bold")
        lines.append(line.append_text(_bar(row, begin, end, width, screen)))
    hidden = len(request.spans) - sum(len(row.spans) for row in rows)
    if hidden:
        lines.append(Text(f"… {units.plural(hidden, 'span')} with less time on the path not shown", "dim"))
    return [*lines, Text(), _key(screen)]


def _extent(request: RequestPath, rows: Sequence[Row]) -> tuple[int, int]:
    if request.segments:
        return request.segments[0].start_ns, request.segments[-1].end_ns
    return rows[0].spans[0].start_ns, rows[0].spans[0].end_ns


def _label(row: Row) -> Text:
    span = row.spans[0]
    on_path = any(member.on_path for member in row.spans)
    label = Text("  " * min(row.depth, DEEPEST))
    if row.depth > DEEPEST:
        label.append(f"({row.depth}) ", "dim")
    if len(row.spans) > 1:
        label.append(f"×{units.count(len(row.spans))} ", "bold" if on_path else "")
    label.append(visible(span.name) or "(no name)", "bold" if on_path else "dim")
    if any(member.error for member in row.spans):
        label.append(" ✗", "bold red")
    return label


def _axis(request: RequestPath, names: int, beside: int, width: int) -> Text:
    end = units.duration(request.duration_ms)
    head = " " * names + ("  component".ljust(beside) if beside else "")
    line = Text(f"{head} {'duration':>{FIGURE}} {'on path':>{FIGURE}}  ", "dim")
    return line.append("0" + " " * max(1, width - 1 - len(end)) + end, "dim")


def _bar(row: Row, begin: int, end: int, width: int, screen: Screen) -> Text:
    glyphs = screen.glyphs
    styles = {glyphs.own: OWN, glyphs.wait: WAIT, glyphs.other: OFF}
    bar = Text(painted(row, begin, end, width, glyphs.own + glyphs.wait + glyphs.other))
    for mark, style in styles.items():
        bar.highlight_words([mark], style)
    return bar


def _key(screen: Screen) -> Text:
    glyphs = screen.glyphs
    key = Text()
    for mark, style, meaning in (
        (glyphs.own, OWN, "on the critical path"),
        (glyphs.wait, WAIT, "waits for what is below"),
        (glyphs.other, OFF, "off the path"),
    ):
        key.append("  " if key.plain else "").append(mark * 2, style).append(f" {meaning}", "dim")
    return key
