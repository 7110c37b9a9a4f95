"""The terminal view of `latshift check`: the verdict first, then every metric, then why."""

from __future__ import annotations

from dataclasses import replace

from rich.text import Text

from latshift.report import units
from latshift.report.console import Screen, as_text
from latshift.report.doubts import doubt_lines
from latshift.report.escape import visible
from latshift.report.layout import Column, table, wrapped
from latshift.results import Check, CheckReport

MARKS = {"pass": ("✓", "green"), "regression": ("✗", "bold red"), "inconclusive": ("?", "yellow")}
"""How a verdict looks."""

COLUMNS = (
    Column(("",), right=False),
    Column(("metric",), right=False, gap=1),
    Column(("reference",)),
    Column(("now",)),
    Column(("change",)),
    Column(("95% interval",), right=False, spare=1),
    Column(("allowed",)),
    Column(("requests",), spare=2),
)

FIGURES = 47
"""Columns that the figures take at most beside the name when what is spare is left out."""

SHORTEST_GROUP = 8
"""So many characters of a group are always shown."""


def check_view(report: CheckReport, screen: Screen) -> str:
    """Return the verdict as text for a terminal or a pipe."""
    lines = [_headline(report), Text()]
    if report.checks:
        lines += table(COLUMNS, [_row(check, _room(check, screen)) for check in report.checks], screen)
    for check in report.checks:
        if check.explanation and check.verdict != "pass":
            mark, style = _mark(check)
            text = f"{mark} {visible(_name(check))}: {visible(check.explanation, 600)}"
            lines += [Text(), *wrapped(text, screen.width, indent="  ", style=style)]
    return as_text(lines + doubt_lines(report.doubts, screen), screen)


def headline(report: CheckReport) -> str:
    """Return the verdict in a sentence: "regression: 1 of 5 checks failed"."""
    worse = [check.level for check in report.checks if check.verdict == "regression"]
    failed, warned = worse.count("fail"), worse.count("warn")
    undecided = sum(check.verdict == "inconclusive" for check in report.checks)
    total = units.plural(len(report.checks), "check")
    if report.verdict == "regression":
        return f"regression: {failed} of {total} failed" + (f", {warned} only warned" if warned else "")
    if report.verdict == "inconclusive":
        passed = " (counted as pass)" if report.inconclusive_passes else ""
        return f"inconclusive: {undecided} of {total} could not be decided{passed}"
    remarks = [(undecided, "could not be decided"), (warned, "only warned")]
    return f"pass: {total}" + "".join(f", {number} {remark}" for number, remark in remarks if number)


def _headline(report: CheckReport) -> Text:
    mark, style = MARKS[report.verdict]
    return Text(f"{mark} {headline(report)}", f"bold {style}")


def _mark(check: Check) -> tuple[str, str]:
    """Return the sign of a check's verdict and its style; a warning does not look like a failure."""
    return ("!", "yellow") if check.verdict == "regression" and check.level == "warn" else MARKS[check.verdict]


def _name(check: Check) -> str:
    return f"{check.metric} [{check.group}]" if check.group else check.metric


def value(check: Check, number: float) -> str:
    """Return a value of a check in its unit."""
    return units.percent(number) if check.unit == "fraction" else units.duration(number)


def change(check: Check, number: float) -> str:
    """Return a change: in percent for durations, in percentage points for fractions."""
    return units.signed_percent(number, " pp" if check.unit == "fraction" else "%")


def reference(check: Check) -> str:
    """Return what a check compares with: the baseline, or the budget."""
    return value(check, check.baseline) if check.budget is None else f"≤ {value(check, check.budget)}"


def _room(check: Check, screen: Screen) -> int | None:
    """Return how many characters of the group fit beside the metric, which is always whole; None if all do."""
    return max(SHORTEST_GROUP, screen.width - FIGURES - len(check.metric)) if screen.cut else None


def _row(check: Check, room: int | None) -> list[Text | str]:
    mark, style = _mark(check)
    low, high = check.interval
    return [
        Text(mark, style),
        _name(replace(check, group=visible(check.group, room))) if check.group else visible(check.metric),
        reference(check),
        Text(value(check, check.current), "bold"),
        Text(change(check, check.change), style if check.verdict != "pass" else ""),
        Text(f"{change(check, low)} to {change(check, high)}", "dim"),
        change(check, check.tolerance),
        units.count(check.n) if check.n else "",
    ]
