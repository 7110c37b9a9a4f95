"""The terminal view of `latshift whatif --curve`: a chart of gain against speed-up, and where it bends."""

from __future__ import annotations

import math

from rich.text import Text

from latshift.report import units
from latshift.report.console import Screen, as_text
from latshift.report.doubts import doubt_lines
from latshift.report.escape import visible
from latshift.report.layout import Column, fit, table, wrapped
from latshift.results import Curve, CurvePoint

POINTS = ("p50", "p95", "p99")

CHART = "p95"
"""The percentile that is drawn."""

BAR = "cyan"
BEYOND = "blue"
"""How bars look up to the knee and beyond it."""

NARROWEST_BAR = 10


def curve_view(curve: Curve, screen: Screen) -> str:
    """Return the curve as text for a terminal or a pipe."""
    latency = curve.baseline
    facts = [units.plural(latency.n, "request")]
    facts += [f"{point} {units.duration(getattr(latency, f'{point}_ms'))}" for point in POINTS]
    head = Text("What if ", "bold").append(visible(curve.selector, 60), "cyan").append(" were faster", "bold")
    head.append(" · " + " · ".join(facts), "not bold")
    lines = [fit(head, screen.width) if screen.cut else head, Text()]
    lines += [*_chart(curve, screen), Text()]
    for sentence in verdict(curve):
        lines += wrapped(sentence, screen.width, style="bold")
    for assumption in curve.assumptions:
        lines += wrapped(f"- {visible(assumption, 400)}", screen.width, indent="  ")
    return as_text(lines + doubt_lines(curve.doubts, screen), screen)


def speed(factor: float) -> str:
    """Return a speed-up for people: "2.4x"."""
    return "inf" if math.isinf(factor) else f"{units.significant(factor, 2 if factor < 10 else 3)}x"


def verdict(curve: Curve) -> list[str]:
    """Return what the curve says, in sentences."""
    knee, name = curve.knee, visible(curve.selector, 60)
    ends = ", ".join(f"{units.percent(getattr(curve.asymptote, point))} of {point}" for point in POINTS)
    said = []
    if not math.isnan(knee.moves_at):
        said.append(f"Beyond {speed(knee.moves_at)} the bottleneck is {visible(knee.moves_to, 40)}, no longer {name}.")
    elif curve.points and curve.points[0].bottleneck != curve.selector:
        largest = visible(curve.points[0].bottleneck, 40)
        said.append(f"{name} is not the bottleneck: {largest} has the largest share.")
    else:
        said.append(f"{name} stays the bottleneck, however fast it gets.")
    flat = [
        f"{speed(at)} at {point}" for point in POINTS for at in [getattr(knee.flattens_at, point)] if not math.isnan(at)
    ]
    if flat:
        said.append(f"A ms saved gains less than a fifth of the first one beyond {', '.join(flat)}.")
    said.append(f"At most {ends} can be saved.")
    return [" ".join(said)]


def _chart(curve: Curve, screen: Screen) -> list[Text]:
    columns = [
        Column(("", "speed-up"),),
        *(Column((point,), group=("gain",)) for point in POINTS),
        Column(("latency", f"at {CHART}"), spare=3),
        Column(("its", "share"), spare=2),
        Column(("", f"gain at {CHART}"), right=False),
        Column(("", "bottleneck"), right=False, names=True),
    ]  # fmt: skip
    points = [point for point in curve.points if point.factor != 1]
    names = max((min(len(visible(point.bottleneck, 40)), 24) for point in points), default=10)
    width = max(NARROWEST_BAR, min(60, screen.width - 39 - (11 if screen.width > 90 else 0) - max(10, names)))
    most = max((getattr(point.gain, CHART) for point in points), default=0.0)
    rows = [_row(curve, point, most, width, screen) for point in points]
    return [*table(columns, rows, screen), *_key(curve, screen)]


def _key(curve: Curve, screen: Screen) -> list[Text]:
    """Return what the two looks of the bars mean."""
    if math.isnan(curve.knee.factor):
        return []
    key = Text()
    key.append(screen.glyphs.fills[0] * 2, BAR).append(f" up to the knee at {speed(curve.knee.factor)}  ", "dim")
    return [key.append(screen.glyphs.fills[1] * 2, BEYOND).append(f" beyond it: {curve.knee.reason}", "dim")]


def _row(curve: Curve, point: CurvePoint, most: float, width: int, screen: Screen) -> list[Text | str]:
    gain: float = getattr(point.gain, CHART)
    cells = round(width * gain / most) if most > 0 and gain > 0 else 0
    beyond = not math.isnan(curve.knee.factor) and point.factor > curve.knee.factor
    fill = screen.glyphs.fills[1] if beyond else screen.glyphs.fills[0]
    changed = point.bottleneck != curve.points[0].bottleneck
    return [
        Text(visible(point.speedup, 10), "bold"),
        *(Text(units.percent(getattr(point.gain, name)), "bold" if name == CHART else "") for name in POINTS),
        units.duration(getattr(point.predicted_ms, CHART)),
        units.percent(point.share),
        Text(fill * cells + " " * (width - cells), BEYOND if beyond else BAR),
        Text(visible(point.bottleneck, 40), "yellow" if changed else "dim"),
    ]
