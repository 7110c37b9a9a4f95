"""The terminal view of `latshift dependencies`: who waits for whom, among components and under every caller."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from latshift.report import units
from latshift.report.console import Screen, as_text
from latshift.report.doubts import doubt_lines
from latshift.report.escape import visible
from latshift.report.layout import Column, fit, table, wrapped
from latshift.results import ComponentLink, DependencyGraph, Operation, Order

MOST_LINKS = 25
MOST_OPERATIONS = 12
MOST_ORDERS = 15

WORDS = {
    "waits": ("waits for", ""),
    "assumed": ("may wait for", "yellow"),
    "refuted": ("does not wait for", "dim"),
    "declared": ("waits for", "cyan"),
    "denied": ("does not wait for", "cyan"),
    "calls": ("is called by", ""),
}
"""A verdict in words, and how it looks."""

REMARKS = {"assumed": "assumed", "declared": "declared", "denied": "declared"}

FOOTNOTE = (
    "seen: requests in which the first began after the other had ended. against: how often it began before. One such "
    "case refutes a dependency; fewer than 10 make it only assumed. [[dependency]] in latshift.toml overrules both."
)


def dependencies_view(graph: DependencyGraph, screen: Screen) -> str:
    """Return the dependencies as text for a terminal or a pipe."""
    verdicts = [order.verdict for operation in graph.operations for order in operation.orders]
    waits = sum(verdict in ("waits", "assumed", "declared") for verdict in verdicts)
    facts = [
        units.plural(graph.requests, "request"),
        units.plural(waits, "dependency", "dependencies"),
        f"{verdicts.count('assumed')} assumed",
        f"{verdicts.count('refuted')} refuted",
    ]
    lines = [Text("Who waits for whom", "bold").append(" · " + " · ".join(facts), "not bold"), Text()]
    lines += _components(graph.components, screen)
    for operation in graph.operations[:MOST_OPERATIONS]:
        lines += [Text(), *_operation(operation, screen)]
    if len(graph.operations) > MOST_OPERATIONS:
        rest = units.plural(len(graph.operations) - MOST_OPERATIONS, "caller")
        lines += [Text(), Text(f"… and {rest} more (--format json)", "dim")]
    lines += [Text(), *wrapped(FOOTNOTE, screen.width, style="dim")]
    return as_text(lines + doubt_lines(graph.doubts, screen), screen)


def _columns(first: str) -> list[Column]:
    return [
        Column((first,), right=False, names=True),
        Column(("",), right=False, gap=1),
        Column(("",), right=False, names=True, gap=1),
        Column(("requests",)),
        Column(("seen",), spare=1),
        Column(("against",)),
        Column(("",), right=False),
    ]


def _components(links: Sequence[ComponentLink], screen: Screen) -> list[Text]:
    rows = [_row(link.target, link.source, link) for link in links[:MOST_LINKS]]
    if not rows:
        return [Text("No call waits for another.")]
    lines = table(_columns("Component"), rows, screen)
    if len(links) > MOST_LINKS:
        lines.append(Text(f"… and {len(links) - MOST_LINKS} more (--format json)", "dim"))
    return lines


def _operation(operation: Operation, screen: Screen) -> list[Text]:
    caller = " ".join(visible(part, 60) for part in (operation.service, operation.name) if part) or "(no name)"
    head = Text(f"Under {caller}", "bold").append(f"  {units.plural(operation.requests, 'request')}", "not bold dim")
    rows = [_row(order.target, order.source, order) for order in operation.orders[:MOST_ORDERS]]
    lines = [fit(head, screen.width) if screen.cut else head, *table(_columns("Call"), rows, screen)]
    if len(operation.orders) > MOST_ORDERS:
        lines.append(Text(f"… and {len(operation.orders) - MOST_ORDERS} more (--format json)", "dim"))
    return lines


def _row(later: str, earlier: str, link: ComponentLink | Order) -> list[Text | str]:
    words, style = WORDS[link.verdict]
    call = link.verdict == "calls"
    return [
        Text(visible(later, 60) or "(no name)", style or "bold"),
        Text(words, style or "dim"),
        Text(visible(earlier, 60) or "(no name)", style),
        units.count(link.requests),
        "" if call else units.count(link.support),
        "" if call else Text(units.count(link.counter_examples), "bold" if link.counter_examples else "dim"),
        Text(REMARKS.get(link.verdict, ""), style),
    ]
