"""The terminal view of `latshift components`: what was put where, by which rule, and what only fell to `app`."""

from __future__ import annotations

from rich.cells import cell_len
from rich.text import Text

from latshift.report import units
from latshift.report.console import Screen, as_text
from latshift.report.doubts import doubt_lines
from latshift.report.escape import LONGEST, visible
from latshift.report.layout import Column, fit, table
from latshift.results import ComponentListing

MOST_RULES = 6

FIGURES = 32
"""Columns of class, spans and share, and the blanks between all columns."""

SHORTEST_EXAMPLE = 16
"""Columns that an example may always take."""


def components_view(listing: ComponentListing, screen: Screen) -> str:
    """Return the listing as text for a terminal or a pipe."""
    lines = _components(listing, screen)
    lines += _unclassified(listing, screen)
    return as_text(lines + doubt_lines(listing.doubts, screen, listing.input), screen)


def _components(listing: ComponentListing, screen: Screen) -> list[Text]:
    columns = [
        Column(("Component",), right=False, names=True),
        Column(("class",), right=False),
        Column(("spans",)),
        Column(("share",)),
        Column(("put there by",), right=False, names=True),
        Column(("for example",), right=False),
    ]
    room = _room_for_examples(listing, screen)
    rows: list[list[Text | str]] = []
    for component in listing.components:
        share = units.percent(component.path_share)
        name = Text(visible(component.name, 60), "bold")
        rows.append([name, visible(component.klass, 20), units.count(component.spans), share, "", ""])
        for hit in component.rules[:MOST_RULES]:
            spans, example = Text(units.count(hit.spans), "dim"), Text(_shortened(hit.example, room), "dim")
            rows.append(["", "", spans, "", visible(hit.rule), example])
        if len(component.rules) > MOST_RULES:
            rows.append(["", "", "", "", f"… {len(component.rules) - MOST_RULES} more", ""])
    return table(columns, rows, screen)


def _room_for_examples(listing: ComponentListing, screen: Screen) -> int:
    """Return how many columns examples may take: what the others leave on a terminal, but never too few to be read."""
    if not screen.cut:
        return LONGEST
    name = max([len("Component"), *(len(visible(item.name, 60)) for item in listing.components)])
    rule = max((len(visible(hit.rule)) for item in listing.components for hit in item.rules[:MOST_RULES]), default=0)
    return max(SHORTEST_EXAMPLE, screen.width - FIGURES - name - rule)


def _shortened(text: str, room: int) -> str:
    """Return the text within so many columns, cut between words where it has any."""
    shown = visible(text)
    if cell_len(shown) <= room:
        return shown
    cut = fit(Text(shown), room).plain.removesuffix("…")
    whole = cut if shown[len(cut)] == " " else cut.rpartition(" ")[0].rstrip()
    return f"{whole or cut}…"


def _unclassified(listing: ComponentListing, screen: Screen) -> list[Text]:
    if not listing.unclassified:
        return []
    columns = [
        Column(("Only fell to app",), right=False, names=True),
        Column(("service",), right=False, names=True),
        Column(("spans",)),
        Column(("share",)),
    ]
    rows: list[list[Text | str]] = [
        [visible(item.name), visible(item.service), units.count(item.spans), units.percent(item.path_share)]
        for item in listing.unclassified
    ]
    lines = [
        Text(),
        *table(columns, rows, screen),
        Text(),
        Text("Rules for them, to paste into latshift.toml:", "bold"),
    ]
    for item in listing.unclassified:
        lines += [Text(), *(Text(visible(line, None)) for line in item.suggestion.splitlines())]
    return lines
