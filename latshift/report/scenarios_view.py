"""The terminal view of `latshift whatif --scenario`: sets of edits side by side, then what each of them is."""

from __future__ import annotations

from rich.text import Text

from latshift.report import units
from latshift.report.console import Screen, as_text
from latshift.report.doubts import doubt_lines
from latshift.report.escape import visible
from latshift.report.layout import Column, table, wrapped
from latshift.results import ScenarioForecast, Scenarios

POINTS = ("p50", "p95", "p99")


def scenarios_view(result: Scenarios, screen: Screen) -> str:
    """Return the comparison as text for a terminal or a pipe."""
    title = (
        f"What if · {units.plural(len(result.scenarios), 'scenario')} · {units.plural(result.baseline.n, 'request')}"
    )
    lines = [Text(title, "bold"), Text(), *_table(result, screen)]
    for item in result.scenarios:
        lines += [Text(), Text(visible(item.name), "bold")]
        lines += [Text("  ").append(visible(edit, None), "cyan") for edit in item.forecast.edits]
        for assumption in item.forecast.assumptions:
            said = wrapped(f"- {visible(assumption, 400)}", screen.width - 2, indent="  ")
            lines += [Text("  ").append_text(line) for line in said]
    return as_text(lines + doubt_lines(result.doubts, screen), screen)


def _table(result: Scenarios, screen: Screen) -> list[Text]:
    columns = [Column(("", "Scenario"), right=False, names=True)]
    for point in POINTS:
        columns += [
            Column(("after",), group=(point,)),
            Column(("gain",), gap=1, group=(point,)),
            Column(("95% interval",), gap=1, right=False, spare=2, group=(point,)),
        ]
    columns.append(Column(("", "bottleneck"), right=False, names=True, spare=1))
    bottleneck = result.scenarios[0].forecast.bottleneck.before if result.scenarios else ""
    before: list[Text | str] = [Text("(as recorded)", "dim")]
    for point in POINTS:
        thin = "?" if f"{point}_ms" in result.baseline.thin else ""
        before += [units.duration(getattr(result.baseline, f"{point}_ms")) + thin, "", ""]
    rows = [[*before, visible(bottleneck, 40)], *(_row(result, item) for item in result.scenarios)]
    return table(columns, rows, screen)


def _row(result: Scenarios, item: ScenarioForecast) -> list[Text | str]:
    forecast = item.forecast
    row: list[Text | str] = [Text(visible(item.name, 60), "bold")]
    for point in POINTS:
        gain = getattr(forecast.gain, point)
        best = gain > 0 and gain >= max(getattr(other.forecast.gain, point) for other in result.scenarios)
        ends = forecast.gain_interval.get(point)
        row += [
            units.duration(getattr(forecast.predicted, f"{point}_ms")),
            Text(units.signed_percent(-gain), "bold green" if best else "bold red" if gain < 0 else ""),
            Text(f"{units.signed_percent(-ends[1])} to {units.signed_percent(-ends[0])}" if ends else "", "dim"),
        ]
    return [*row, visible(forecast.bottleneck.after, 40)]
