"""The terminal view of `latshift analyze`: what bounds p50 and p99, at once, in 80 columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from rich.text import Text

from latshift.report import units
from latshift.report.component_table import component_table
from latshift.report.console import Screen, as_text
from latshift.report.doubts import doubt_lines
from latshift.report.escape import visible
from latshift.report.layout import Column, Part, fit, legend, stacked_bar, table, wrapped
from latshift.results import Analysis, Component, Latency

Point = Literal["p50", "p95", "p99"]
POINTS: tuple[Point, ...] = ("p50", "p95", "p99")

CLASS_STYLES = {"model": "black on magenta", "queue": "black on yellow", "non-model": "black on cyan"}
"""How the classes look, everywhere."""

PALETTE = ("black on cyan", "black on green", "white on blue", "black on yellow", "black on magenta", "white on red",
           "black on bright_cyan")  # fmt: skip

MOST_PARTS = 7
"""More components than this in one bar cannot be told apart; the rest is drawn as one."""

MOST_GROUPS = 8


def analysis_view(analysis: Analysis, screen: Screen) -> str:
    """Return the analysis as text for a terminal or a pipe."""
    lines = [*_header(analysis, screen), Text()]
    if analysis.latency.n:
        lines += [*latency_lines(analysis.latency, screen), Text(), *_verdict(analysis, screen), Text()]
        lines += [*_bars(analysis, screen), Text(), *component_table(analysis.components, analysis.latency.n, screen)]
        lines += [*_tail(analysis, screen), *_groups(analysis, screen)]
    lines += doubt_lines(analysis.doubts, screen, analysis.input)
    return as_text(lines, screen)


def _header(analysis: Analysis, screen: Screen) -> list[Text]:
    source = analysis.input
    facts = [
        units.plural(analysis.latency.n, "request"),
        units.plural(source.spans, "span"),
        f"{units.plural(source.files, 'file')}, {units.size(source.bytes)}",
    ]
    line = Text("latshift", "bold")
    line.append(" · " + " · ".join(facts), "not bold")
    return [fit(line, screen.width) if screen.cut else line]


def latency_lines(latency: Latency, screen: Screen) -> list[Text]:
    """Return the table of end-to-end latency with its intervals; figures on too few requests carry a "?"."""
    names = ("p50_ms", "p95_ms", "p99_ms", "mean_ms")
    columns = [Column(("",), right=False), *(Column((name.removesuffix("_ms"),), gap=3) for name in names)]
    values = [
        Text(units.duration(getattr(latency, name)) + ("?" if name in latency.thin else ""), "bold") for name in names
    ]
    rows: list[list[Text | str]] = [[Text("end-to-end latency", "bold"), *values]]
    if latency.interval:
        ranges = [latency.interval.get(name) for name in names]
        shown = [Text(units.duration_range(*ends) if ends else "", "dim") for ends in ranges]
        rows.append([Text("95% interval", "dim"), *shown])
    return table(columns, rows, screen)


def _largest(components: Sequence[Component], point: Point) -> Component:
    return max(components, key=lambda component: getattr(component.share, point))


def _verdict(analysis: Analysis, screen: Screen) -> list[Text]:
    """Return the finding in a sentence: what bounds p50, what bounds p99, and what could be gained at most."""
    if not analysis.components:
        return []
    middle, tail = _largest(analysis.components, "p50"), _largest(analysis.components, "p99")

    def named(component: Component, point: Point) -> str:
        share = units.percent(getattr(component.share, point))
        return f"{visible(component.name, 40)} ({visible(component.klass, 20)}, {share})"

    if middle is tail:
        share = units.percent(tail.share.p99)
        text = f"{named(middle, 'p50')} bounds p50, and p99 too ({share})."
    else:
        text = f"p50 is bound by {named(middle, 'p50')}, p99 by {named(tail, 'p99')}."
    text += _most_to_gain(analysis)
    return wrapped(text, screen.width, style="bold")


def _most_to_gain(analysis: Analysis) -> str:
    known = [(component.ceiling, component.name) for component in analysis.components if component.ceiling]
    if not known:
        return ""
    ceiling, name = max(known, key=lambda pair: (pair[0].p50, pair[1]))
    tail, tail_name = max(known, key=lambda pair: (pair[0].p99, pair[1]))
    text = f" Most to gain: {visible(name, 40)}, at most {units.percent(ceiling.p50)} of p50"
    other = "" if tail_name == name else f"{visible(tail_name, 40)}, "
    return f"{text}; {other}{units.percent(tail.p99)} of p99."


def _bars(analysis: Analysis, screen: Screen) -> list[Text]:
    lines = [Text("Where the time goes", "bold").append("  each bar is 100% of the latency there", "not bold dim")]
    fills = screen.glyphs.fills
    classes = [
        (item.name, item.share, CLASS_STYLES.get(item.name, "white on blue"), fills[index % len(fills)])
        for index, item in enumerate(analysis.classes)
    ]
    lines += _bar_block("by class", classes, analysis.latency, screen)
    shown = sorted(analysis.components, key=lambda c: -max(c.share.p50, c.share.p95, c.share.p99))[:MOST_PARTS]
    parts = [
        (item.name, item.share, PALETTE[index % len(PALETTE)], fills[index % (len(fills) - 1)])
        for index, item in enumerate(shown)
    ]
    others = len(shown) < len(analysis.components)
    return lines + _bar_block("by component", parts, analysis.latency, screen, others)


def _bar_block(
    title: str, items: Sequence[tuple[str, object, str, str]], latency: Latency, screen: Screen, others: bool = False
) -> list[Text]:
    lines = []
    unlabelled: set[str] = set()
    parts: list[Part] = []
    for point in POINTS:
        shares = [getattr(share, point) for _, share, _, _ in items]
        parts = [
            Part(visible(name, 40), share, style, fill, units.percent(share))
            for (name, _, style, fill), share in zip(items, shares, strict=True)
        ]
        if others:
            rest = max(0.0, 1 - sum(shares))
            parts.append(Part("other", rest, "black on white", screen.glyphs.fills[-1], units.percent(rest)))
        head = f"  {point} {units.duration(getattr(latency, f'{point}_ms')):>8}  "
        bar, missing = stacked_bar(parts, screen.width - len(head), screen)
        unlabelled |= missing
        lines.append(Text(head).append_text(bar))
    return [*legend(f"  {title}", parts if unlabelled else (), screen), *lines]


def _tail(analysis: Analysis, screen: Screen) -> list[Text]:
    excess = analysis.tail_excess
    if excess is None or not excess.total_ms > 0:
        return []
    largest = sorted(excess.parts_ms.items(), key=lambda item: -item[1])[:4]
    parts = [
        f"{visible(name, 40)} {units.duration(ms)} ({units.percent(ms / excess.total_ms)})"
        for name, ms in largest
        if ms > 0
    ]
    text = f"The slowest 5% take {units.duration(excess.total_ms)} more than the mean request: {', '.join(parts)}."
    return [Text(), *wrapped(text, screen.width)]


def _groups(analysis: Analysis, screen: Screen) -> list[Text]:
    groups = analysis.groups
    if len(groups) < 2:
        return []
    columns = [
        Column(("Group",), right=False, names=True),
        Column(("requests",)),
        *(Column((point,)) for point in POINTS),
        Column(("model", "at p50"), spare=1),
        Column(("model", "at p99"), spare=2),
    ]
    rows: list[list[Text | str]] = []
    for group in groups[:MOST_GROUPS]:
        model = next((item.share for item in group.classes if item.name == "model"), None)
        shares = [units.percent(model.p50), units.percent(model.p99)] if model else ["", ""]
        figures = [units.duration(getattr(group.latency, f"{point}_ms")) for point in POINTS]
        rows.append([visible(group.root), units.count(group.n), *figures, *shares])
    lines = [Text(), *table(columns, rows, screen)]
    if len(groups) > MOST_GROUPS:
        lines.append(Text(f"… and {units.plural(len(groups) - MOST_GROUPS, 'group')} more (--format json)", "dim"))
    return lines
