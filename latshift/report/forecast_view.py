"""The terminal view of `latshift whatif`: before and after, what Amdahl would have said, how the bottleneck moves."""

from __future__ import annotations

from rich.text import Text

from latshift.report import units
from latshift.report.console import Screen, as_text
from latshift.report.doubts import doubt_lines
from latshift.report.escape import visible
from latshift.report.layout import Column, table, wrapped
from latshift.results import Forecast, Latency

FIGURES = ("p50", "p95", "p99", "mean")

MOST_COMPONENTS = 12


def forecast_view(forecast: Forecast, screen: Screen) -> str:
    """Return the forecast as text for a terminal or a pipe."""
    heads = ["What if  ", *[" " * 9] * len(forecast.edits)]
    lines = [
        Text().append(head, "bold").append(visible(edit, None), "cyan")
        for head, edit in zip(heads, forecast.edits, strict=False)
    ]
    changed = f"{units.count(forecast.requests_changed)} of {units.plural(forecast.baseline.n, 'request')}"
    lines += [Text(f"{changed} would change.", "dim"), Text()]
    lines += [*_latencies(forecast, screen), Text(), *_bottleneck(forecast, screen), *_shifts(forecast, screen)]
    lines += _assumptions(forecast, screen)
    return as_text(lines + doubt_lines(forecast.doubts, screen), screen)


def _latencies(forecast: Forecast, screen: Screen) -> list[Text]:
    columns = [
        Column(("",), right=False),
        Column(("before",)),
        Column(("",), gap=1),
        Column(("after",), gap=1),
        Column(("95% interval",), right=False),
        Column(("gain",)),
        Column(("95% interval",), right=False, spare=1),
        Column(("Amdahl says",)),
    ]
    differ = forecast.optimistic is not None and forecast.pessimistic is not None
    if differ:
        columns.append(Column(("if assumptions differ",), right=False, spare=2))
    rows = []
    for name in FIGURES:
        row = _latency_row(forecast, name)
        rows.append([*row, _range(forecast, name)] if differ else row)
    return table(columns, rows, screen)


def _value(latency: Latency, name: str) -> float:
    number: float = getattr(latency, f"{name}_ms")
    return number


def _latency_row(forecast: Forecast, name: str) -> list[Text | str]:
    gain = getattr(forecast.gain, name)
    ends = forecast.predicted.interval.get(f"{name}_ms")
    gain_ends = forecast.gain_interval.get(name)
    thin = "?" if f"{name}_ms" in forecast.baseline.thin else ""
    return [
        Text(name, "bold"),
        units.duration(_value(forecast.baseline, name)) + thin,
        "→",
        Text(units.duration(_value(forecast.predicted, name)) + thin, "bold"),
        Text(units.duration_range(*ends) if ends else "", "dim"),
        Text(units.signed_percent(-gain), "bold green" if gain > 0 else "bold red" if gain < 0 else ""),
        Text(
            f"{units.signed_percent(-gain_ends[1])} to {units.signed_percent(-gain_ends[0])}" if gain_ends else "",
            "dim",
        ),
        Text(units.signed_percent(-getattr(forecast.amdahl, name)), "dim"),
    ]


def _range(forecast: Forecast, name: str) -> Text:
    """Return the replay without and with the assumed dependencies."""
    if forecast.optimistic is None or forecast.pessimistic is None:
        return Text()
    low, high = _value(forecast.optimistic, name), _value(forecast.pessimistic, name)
    same = units.duration(low) == units.duration(high)
    return Text("–") if same else Text(units.duration_range(low, high), "yellow")


def _bottleneck(forecast: Forecast, screen: Screen) -> list[Text]:
    before, after = visible(forecast.bottleneck.before, 40), visible(forecast.bottleneck.after, 40)
    if before == after:
        return wrapped(f"The bottleneck stays {before}.", screen.width, style="bold")
    return wrapped(f"The bottleneck moves from {before} to {after}.", screen.width, style="bold")


def _shifts(forecast: Forecast, screen: Screen) -> list[Text]:
    if not forecast.components:
        return []
    columns = [Column(("", "Share of the latency"), right=False, names=True)]
    for name in ("p50", "p95", "p99"):
        columns += [
            Column(("before",), group=(name,)),
            Column(("",), gap=1, group=(name,)),
            Column(("after",), gap=1, group=(name,)),
        ]
    rows: list[list[Text | str]] = []
    for shift in forecast.components[:MOST_COMPONENTS]:
        row: list[Text | str] = [visible(shift.name, 60)]
        for name in ("p50", "p95", "p99"):
            row += [units.percent(getattr(shift.share_before, name)), "→"]
            row.append(Text(units.percent(getattr(shift.share_after, name)), "bold"))
        rows.append(row)
    return table(columns, rows, screen)


def _assumptions(forecast: Forecast, screen: Screen) -> list[Text]:
    if not forecast.assumptions:
        return []
    lines = [Text(), Text("Assumed", "bold")]
    for assumption in forecast.assumptions:
        lines += wrapped(f"- {visible(assumption, 400)}", screen.width, indent="  ")
    return lines
