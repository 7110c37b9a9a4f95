"""Building blocks of the terminal views: text cut to a width, tables, stacked bars. All give back `rich.text.Text`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from latshift.report.console import Screen

NARROWEST = 12
"""A column of names is never cut below this."""


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes:
        header: Its lines of heading, top to bottom. right: Aligned to the right. names: Holds names; is cut first.
        spare: Left out on a narrow terminal, highest number first; 0 is never left out. gap: Blanks before it.
        group: Headings that neighbours share, longest first; the longest one that fits is written over them.
    """

    header: tuple[str, ...]
    right: bool = True
    names: bool = False
    spare: int = 0
    gap: int = 2
    group: tuple[str, ...] = ()


@dataclass(frozen=True)
class Part:
    """A part of a stacked bar: its label, its fraction of the whole, how it looks with colour and without."""

    label: str
    fraction: float
    style: str
    fill: str
    figure: str


def fit(text: Text, width: int) -> Text:
    """Return the text cut to so many columns, with an ellipsis where something is missing."""
    if text.cell_len <= width:
        return text
    kept = set_cell_size(text.plain, max(0, width - 1)).rstrip()
    cut = text[: len(kept)]
    return cut.append("…")


def wrapped(text: str, width: int, indent: str = "", style: str = "") -> list[Text]:
    """Return running text as lines of at most so many columns; a longer word stays whole."""
    lines: list[str] = []
    line = ""
    for word in text.split():
        if line and cell_len(line) + 1 + cell_len(word) > width:
            lines.append(line)
            line = indent + word
        else:
            line = f"{line} {word}" if line else word
    return [Text(part, style) for part in [*lines, line] if part]


def table(columns: Sequence[Column], rows: Sequence[Sequence[Text | str]], screen: Screen) -> list[Text]:
    """Return a table as lines, headings first; names are cut, and spare columns left out, on a terminal only."""
    cells = [[cell if isinstance(cell, Text) else Text(cell) for cell in row] for row in rows]
    widths = [
        max([cell_len(line) for line in column.header] + [row[index].cell_len for row in cells])
        for index, column in enumerate(columns)
    ]
    kept = _chosen(columns, widths, screen)
    heads = max(len(column.header) for column in columns)
    lines = []
    for level in range(heads):
        head = [(("",) * (heads - len(column.header)) + column.header)[level] for column in columns]
        line = _row(columns, [Text(text, "dim") for text in head], widths, kept)
        lines.append(_with_groups(line, columns, widths, kept) if level == heads - 2 else line)
    return lines + [_row(columns, row, widths, kept) for row in cells]


def _chosen(columns: Sequence[Column], widths: list[int], screen: Screen) -> list[int]:
    """Return the indices of the columns that fit, having narrowed the columns of names in `widths`."""
    kept = list(range(len(columns)))
    if not screen.cut:
        return kept

    def excess(narrow: bool) -> int:
        total = sum(widths[i] + columns[i].gap for i in kept) - columns[kept[0]].gap
        if narrow:
            total -= sum(max(0, widths[i] - NARROWEST) for i in kept if columns[i].names)
        return total - screen.width

    while excess(narrow=True) > 0 and any(columns[i].spare for i in kept):
        kept.remove(max(kept, key=lambda i: columns[i].spare))
    for index in sorted((i for i in kept if columns[i].names), key=lambda i: -widths[i]):
        widths[index] -= min(max(0, excess(narrow=False)), max(0, widths[index] - NARROWEST))
    return kept


def _row(columns: Sequence[Column], cells: Sequence[Text], widths: Sequence[int], kept: Sequence[int]) -> Text:
    line = Text()
    for position, index in enumerate(kept):
        column, cell = columns[index], fit(cells[index], widths[index])
        blanks = " " * (widths[index] - cell.cell_len)
        line.append(" " * (column.gap if position else 0) + (blanks if column.right else ""))
        line.append_text(cell)
        if not column.right:
            line.append(blanks)
    return line


def _with_groups(line: Text, columns: Sequence[Column], widths: Sequence[int], kept: Sequence[int]) -> Text:
    """Return a line of headings with those added that several columns share, ruled over their columns."""
    text = line.plain
    start = end = 0
    for position, index in enumerate(kept):
        column = columns[index]
        before = end + (column.gap if position else 0)
        end = before + widths[index]
        if position == 0 or columns[kept[position - 1]].group != column.group:
            start = before
        following = columns[kept[position + 1]].group if position + 1 < len(kept) else ()
        if column.group and following != column.group:
            room = end - start
            heading = next((name for name in column.group if len(name) <= room), "")
            ruled = f" {heading} ".center(room, "─") if len(heading) + 2 <= room else heading.center(room)
            text = text[:start] + ruled + text[end:]
    return Text(text, "dim")


def spread_cells(fractions: Sequence[float], width: int) -> list[int]:
    """Share out so many cells in proportion (largest remainder); they add up to `width` unless all are nought."""
    usable = [fraction if math.isfinite(fraction) and fraction > 0 else 0.0 for fraction in fractions]
    total = sum(usable)
    if total <= 0:
        return [0] * len(usable)
    exact = [width * fraction / total for fraction in usable]
    cells = [math.floor(value) for value in exact]
    by_remainder = sorted(range(len(exact)), key=lambda i: (cells[i] - exact[i], i))
    for index in by_remainder[: width - sum(cells)]:
        cells[index] += 1
    return cells


def stacked_bar(parts: Sequence[Part], width: int, screen: Screen) -> tuple[Text, set[str]]:
    """Return a bar of the given width whose parts carry their labels, and the labels for which there was no room."""
    bar = Text()
    unlabelled = set()
    for part, cells in zip(parts, spread_cells([part.fraction for part in parts], width), strict=True):
        label = _label(part, cells - (0 if screen.colour else 2))
        if part.label not in label and cells:
            unlabelled.add(part.label)
        bar.append_text(_segment(label, cells, part, screen))
    return bar, unlabelled


def _label(part: Part, room: int) -> str:
    for text in (f" {part.label} {part.figure} ", f" {part.figure} ", part.figure):
        if cell_len(text) <= room:
            return text
    return ""


def _segment(label: str, cells: int, part: Part, screen: Screen) -> Text:
    if screen.colour:
        return Text(label + " " * (cells - cell_len(label)), part.style)
    if not label:
        return Text(part.fill * cells)
    padded = label if label.startswith(" ") else f" {label} "
    rest = cells - cell_len(padded)
    left = min(2, rest)
    return Text(part.fill * left + padded + part.fill * (rest - left))


def legend(heading: str, parts: Iterable[Part], screen: Screen) -> list[Text]:
    """Return which colour or character stands for which part, after a heading, on as many lines as it takes."""
    lines = [Text().append(heading, "dim")]
    for part in parts:
        sample = Text("  ", part.style) if screen.colour else Text(part.fill * 2)
        entry = Text("  ").append_text(sample).append(f" {part.label}")
        if lines[-1].cell_len + entry.cell_len > screen.width:
            lines.append(Text(" " * len(heading)))
        lines[-1].append_text(entry)
    return lines
