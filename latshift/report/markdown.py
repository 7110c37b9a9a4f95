"""Results as Markdown, for pull requests and job summaries: tables only, every name escaped."""

from __future__ import annotations

from collections.abc import Sequence

from latshift.report import units
from latshift.report.check_view import change, headline, reference, value
from latshift.report.doubts import doubt_clauses
from latshift.report.escape import markdown
from latshift.results import Analysis, Check, CheckReport, Doubt, Forecast, Latency, Points, Spread

POINTS = ("p50", "p95", "p99")
FIGURES = (*POINTS, "mean")

FOOTNOTE = (
    "Shares at a percentile add up to 100%; percentiles of path time do not add up. The ceiling is the latency saved "
    "if the component took no time."
)


def analysis_markdown(analysis: Analysis) -> str:
    """Return an analysis as Markdown."""
    latency = analysis.latency
    blocks = [f"## Latency of {units.plural(latency.n, 'request')}", _latency_table(latency)]
    if analysis.components:
        classes = [[markdown(item.name), *three(item.share), *_times(item.path_ms)] for item in analysis.classes]
        heads = [f"share at {point}" for point in POINTS] + [f"path time {point}" for point in POINTS]
        blocks += [
            "### By class",
            tabulated(["class", *heads], classes),
            "### By component",
            _components(analysis, heads),
        ]
        blocks.append(FOOTNOTE)
    if len(analysis.groups) > 1:
        groups = [[markdown(group.root), units.count(group.n), *_figures(group.latency)] for group in analysis.groups]
        blocks += ["### Groups", tabulated(["root", "requests", *FIGURES], groups)]
    return joined(blocks + notes(doubt_clauses(analysis.doubts, analysis.input)))


def forecast_markdown(forecast: Forecast) -> str:
    """Return a forecast as Markdown."""
    blocks = ["## What if", "\n".join(f"- {markdown(edit, None)}" for edit in forecast.edits)]
    rows = []
    for name in FIGURES:
        before, after = (getattr(latency, f"{name}_ms") for latency in (forecast.baseline, forecast.predicted))
        ends = forecast.predicted.interval.get(f"{name}_ms")
        shifts = [units.signed_percent(-getattr(spread, name)) for spread in (forecast.gain, forecast.amdahl)]
        interval = units.duration_range(*ends) if ends else ""
        rows.append([name, units.duration(before), units.duration(after), interval, *shifts])
    blocks.append(tabulated(["", "before", "after", "95 % interval", "change", "Amdahl says"], rows))
    moved = forecast.bottleneck
    changed = f"{units.count(forecast.requests_changed)} of {units.plural(forecast.baseline.n, 'request')}"
    blocks.append(f"Bottleneck: {markdown(moved.before)} before, {markdown(moved.after)} after. {changed} change.")
    shares = [
        [markdown(item.name), *three(item.share_before), *three(item.share_after)] for item in forecast.components
    ]
    heads = [f"{point} {when}" for when in ("before", "after") for point in POINTS]
    blocks.append(tabulated(["share of", *heads], shares))
    if forecast.assumptions:
        assumed = "\n".join(f"- {markdown(assumption, 400)}" for assumption in forecast.assumptions)
        blocks += ["### Assumed", assumed]
    return joined(blocks + notes(_clauses(forecast.doubts)))


def check_markdown(report: CheckReport) -> str:
    """Return the gate's verdict as Markdown."""
    heads = ["", "metric", "reference", "now", "change", "95 % interval", "allowed", "requests"]
    blocks = [f"## {headline(report).capitalize()}", tabulated(heads, [_check_row(check) for check in report.checks])]
    reasons = [
        f"- **{markdown(check.metric)}**: {markdown(check.explanation, 600)}"
        for check in report.checks
        if check.explanation and check.verdict != "pass"
    ]
    blocks.append("\n".join(reasons))
    return joined(blocks + notes(_clauses(report.doubts)))


def _clauses(doubts: Sequence[Doubt]) -> list[str]:
    return doubt_clauses(doubts)


def notes(clauses: Sequence[str]) -> list[str]:
    """Return doubts as a quotation; no block where there are none."""
    return ["\n".join(f"> {markdown(clause, 600)}  " for clause in clauses)] if clauses else []


def joined(blocks: Sequence[str]) -> str:
    """Return blocks with a blank line between them."""
    return "\n\n".join(block for block in blocks if block) + "\n"


def tabulated(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table; its first column is text, the others are numbers. Cells are escaped already."""
    if not rows:
        return ""
    rule = ["---"] + ["--:"] * (len(heads) - 1)
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [heads, rule, *rows])


def three(points: Spread | Points | None) -> list[str]:
    """Return fractions at each percentile in percent."""
    return [units.percent(getattr(points, point)) for point in POINTS] if points else [""] * 3


def _times(path_ms: Spread) -> list[str]:
    return [units.duration(getattr(path_ms, point)) for point in POINTS]


def _figures(latency: Latency) -> list[str]:
    return [
        units.duration(getattr(latency, f"{name}_ms")) + (" (few)" if f"{name}_ms" in latency.thin else "")
        for name in FIGURES
    ]


def _latency_table(latency: Latency) -> str:
    rows = [["end-to-end latency", *_figures(latency)]]
    if latency.interval:
        ranges = [latency.interval.get(f"{name}_ms") for name in FIGURES]
        rows.append(["95 % interval", *(units.duration_range(*ends) if ends else "" for ends in ranges)])
    return tabulated(["", *FIGURES], rows)


def _components(analysis: Analysis, heads: Sequence[str]) -> str:
    rows = []
    for item in analysis.components:
        figures = [*three(item.share), *_times(item.path_ms)]
        rows.append(
            [markdown(item.name), markdown(item.klass), units.count(item.calls), *figures, *three(item.ceiling)]
        )
        for phase in item.phases:
            figures = [*three(phase.share), *_times(phase.path_ms)]
            rows.append([f"&emsp;{markdown(phase.name)}", "", "", *figures, "", "", ""])
    return tabulated(["component", "class", "calls", *heads, *(f"ceiling {point}" for point in POINTS)], rows)


def _check_row(check: Check) -> list[str]:
    low, high = check.interval
    name = f"{check.metric} in {check.group}" if check.group else check.metric
    figures = [reference(check), value(check, check.current), change(check, check.change)]
    interval = f"{change(check, low)} to {change(check, high)}"
    count = units.count(check.n) if check.n else ""
    verdict = "warning" if check.verdict == "regression" and check.level == "warn" else check.verdict
    return [verdict, markdown(name), *figures, interval, change(check, check.tolerance), count]
