"""The table of components: shares, path times, calls, and what could be gained at most."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from latshift.report import units
from latshift.report.console import Screen
from latshift.report.escape import visible
from latshift.report.layout import Column, table, wrapped
from latshift.results import Component, PhaseShare, Points, RetryTime, Spread

_SHARE = ("share at", "share")
_PATH = ("path time of requests", "path time")
_GAIN = ("gain if free", "if free")

COLUMNS = (
    Column(("", "Component"), right=False, names=True),
    Column(("class",), right=False, spare=4),
    *(Column((point,), gap=gap, group=_SHARE) for point, gap in (("p50", 2), ("p95", 1), ("p99", 1))),
    *(Column((point,), gap=gap, group=_PATH) for point, gap in (("p50", 2), ("p95", 1), ("p99", 1))),
    Column(("calls", "/req."), spare=3),
    Column(("calls",), spare=5),
    *(Column((point,), gap=gap, group=_GAIN) for point, gap in (("p50", 2), ("p95", 1), ("p99", 1))),
)
"""Its columns. "gain if free" is the ceiling: the gain at infinite speed-up, by replay."""

FOOTNOTE = (
    "share: of the latency at that percentile, adds up to 100%. path time: percentiles over all requests, do not add "
    "up. gain if free: latency saved if it took no time."
)

MOST_ROWS = 25


def component_table(components: Sequence[Component], requests: int, screen: Screen) -> list[Text]:
    """Return the table of components, phases indented below theirs."""
    rows: list[list[Text | str]] = []
    for component in components[:MOST_ROWS]:
        rows.append(_component_row(component, requests))
        rows += [_phase_row(component, phase) for phase in component.phases]
        if component.retries:
            rows.append(_retry_row(component.retries, requests))
    lines = table(COLUMNS, rows, screen)
    if len(components) > MOST_ROWS:
        rest = len(components) - MOST_ROWS
        lines.append(Text(f"… and {units.plural(rest, 'component')} more (--format json)", "dim"))
    return [*lines, *wrapped(FOOTNOTE, screen.width, style="dim")]


def _shares(share: Spread | Points | None) -> list[str]:
    return [units.percent(value) for value in (share.p50, share.p95, share.p99)] if share else ["", "", ""]


def _durations(path_ms: Spread) -> list[str]:
    return [units.duration(value) for value in (path_ms.p50, path_ms.p95, path_ms.p99)]


def _per_request(calls: int, requests: int) -> str:
    return units.significant(calls / requests, 2 if calls < 100 * requests else 3) if requests else ""


def _component_row(component: Component, requests: int) -> list[Text | str]:
    return [
        Text(visible(component.name, 60), "bold"),
        visible(component.klass, 20),
        *_shares(component.share),
        *_durations(component.path_ms),
        _per_request(component.calls, requests),
        units.short_count(component.calls),
        *_shares(component.ceiling),
    ]


def _phase_row(component: Component, phase: PhaseShare) -> list[Text | str]:
    name = visible(phase.name.removeprefix(f"{component.name}."), 60)
    return [f"  {name}", "", *_shares(phase.share), *_durations(phase.path_ms), *[""] * 5]


def _retry_row(retries: RetryTime, requests: int) -> list[Text | str]:
    name = "  retries" + ("" if retries.evidence == "direct" else " est.")
    calls = [_per_request(retries.attempts, requests), units.short_count(retries.attempts)]
    return [Text(name, "yellow"), "", "", "", "", *_durations(retries.path_ms), *calls, "", "", ""]
