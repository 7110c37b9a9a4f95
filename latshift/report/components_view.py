"""The terminal view of `latshift components`: what was put where, by which rule, and what only fell to `app`."""

from __future__ import annotations

from rich.text import Text

from latshift.report import units
from latshift.report.console import Screen, as_text
from latshift.report.doubts import doubt_lines
from latshift.report.escape import visible
from latshift.report.layout import Column, table
from latshift.results import ComponentListing

MOST_RULES = 6


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
        Column(("for example",), right=False, names=True, spare=1),
    ]
    rows: list[list[Text | str]] = []
    for component in listing.components:
        share = units.percent(component.path_share)
        name = Text(visible(component.name, 60), "bold")
        rows.append([name, visible(component.klass, 20), units.count(component.spans), share, "", ""])
        for hit in component.rules[:MOST_RULES]:
            rows.append(
                ["", "", Text(units.count(hit.spans), "dim"), "", visible(hit.rule), Text(visible(hit.example), "dim")]
            )
        if len(component.rules) > MOST_RULES:
            rows.append(["", "", "", "", f"… {len(component.rules) - MOST_RULES} more", ""])
    return table(columns, rows, screen)


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
