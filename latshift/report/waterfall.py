"""The rows of a waterfall: the tree of a request's spans in reading order, repeats folded, and what each row draws.

Works on any depth and width: nothing here recurses, and a request too large for a screen keeps the rows that
matter most for its critical path.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from latshift.results import RequestPath, WaterfallSpan

FOLD_FROM = 3
"""So many equal neighbours are drawn as one row."""

CROWD = 40
"""Above so many siblings equal ones are drawn as one row even when others stand between them."""

MOST_ROWS = 60

Stretch = tuple[int, int]
"""Start and end, ns since the epoch."""


@dataclass(frozen=True)
class Row:
    """One row.

    Attributes:
        spans: What it stands for; more than one where repeats are folded. depth: 0 for the root.
        parent: Index of the row above it in the tree, -1 for the root.
        own: Stretches in which the critical path is these spans' own work.
    """

    spans: tuple[WaterfallSpan, ...]
    depth: int
    parent: int
    own: tuple[Stretch, ...]

    @property
    def own_ns(self) -> int:
        """Length of the critical path that is these spans' own."""
        return sum(end - start for start, end in self.own)

    @property
    def duration_ns(self) -> int:
        """Duration of the span; of folded ones, their durations added up."""
        return sum(span.end_ns - span.start_ns for span in self.spans)


def rows_of(request: RequestPath) -> list[Row]:
    """Return all rows of a request, parents before children, siblings by start."""
    spans = request.spans
    children: list[list[int]] = [[] for _ in spans]
    roots: list[int] = []
    for index, span in enumerate(spans):
        (children[span.parent] if span.parent >= 0 else roots).append(index)
    own = _own_stretches(request)
    rows: list[Row] = []
    stack = [(members, 0, -1) for members in reversed(_folded(spans, roots, False))]
    while stack:
        members, depth, parent = stack.pop()
        stretches = sorted(stretch for member in members for stretch in own.get(member, ()))
        rows.append(Row(tuple(spans[member] for member in members), depth, parent, tuple(stretches)))
        below = [child for member in members for child in children[member]]
        here = len(rows) - 1
        stack += [(group, depth + 1, here) for group in reversed(_folded(spans, below, len(members) > 1))]
    return rows


def _own_stretches(request: RequestPath) -> dict[int, list[Stretch]]:
    by_id = {span.span_id: index for index, span in enumerate(request.spans)}
    own: dict[int, list[Stretch]] = {}
    for segment in request.segments:
        index = segment.span if segment.span >= 0 else by_id.get(segment.span_id, -1)
        own.setdefault(index, []).append((segment.start_ns, segment.end_ns))
    return own


def _folded(spans: Sequence[WaterfallSpan], siblings: list[int], pooled: bool) -> list[list[int]]:
    """Return siblings by start, equal ones together where there are many.

    `pooled` says that they are the children of folded spans: equal ones always go together then.
    """

    def key(index: int) -> tuple[str, str, str]:
        return spans[index].name, spans[index].service, spans[index].component

    ordered = sorted(siblings, key=lambda index: (spans[index].start_ns, index))
    if pooled or len(ordered) > CROWD:
        groups: dict[tuple[str, str, str], list[int]] = {}
        for index in ordered:
            groups.setdefault(key(index), []).append(index)
        return list(groups.values())
    runs: list[list[int]] = []
    for index in ordered:
        if runs and key(runs[-1][0]) == key(index):
            runs[-1].append(index)
        else:
            runs.append([index])
    return [part for run in runs for part in ([run] if len(run) >= FOLD_FROM else [[index] for index in run])]


def most_telling(rows: Sequence[Row], most: int = MOST_ROWS) -> list[Row]:
    """Return at most so many rows, in order: those with most time on the critical path, and the rows above them."""
    if len(rows) <= most:
        return list(rows)
    kept = {0}
    for index in sorted(range(len(rows)), key=lambda i: (-rows[i].own_ns, -rows[i].duration_ns, i)):
        while index >= 0 and index not in kept and len(kept) < most:
            kept.add(index)
            index = rows[index].parent
        if len(kept) >= most:
            break
    return [rows[index] for index in sorted(kept)]


def painted(row: Row, begin: int, end: int, width: int, marks: str) -> str:
    """Return the bar of a row over [begin, end] ns.

    Args:
        row: What is drawn.
        begin: Time at the left edge, ns since the epoch.
        end: Time at the right edge, likewise.
        width: Characters in between.
        marks: Three characters: own work on the critical path; on it, waiting for what is below; off the path.
    """
    own, wait, other = tuple(marks)
    scale = width / max(1, end - begin)
    cells = [" "] * width

    def paint(start: int, stop: int, mark: str, least: int) -> None:
        low = min(width - 1, max(0, round((start - begin) * scale)))
        high = min(width, max(low + least, round((stop - begin) * scale)))
        cells[low:high] = mark * (high - low)

    for span in sorted(row.spans, key=lambda span: span.on_path):
        paint(span.start_ns, span.end_ns, wait if span.on_path else other, 1)
    # Own work shorter than a cell is only drawn where it is what the span mostly does.
    least = 1 if 2 * row.own_ns >= row.duration_ns else 0
    for start, stop in row.own:
        if stop > start:
            paint(start, stop, own, least)
    return "".join(cells)
