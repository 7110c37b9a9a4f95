"""Ranking, curve and scenarios as Markdown; see `markdown`."""

from __future__ import annotations

from latshift.report import units
from latshift.report.curve_view import verdict
from latshift.report.doubts import doubt_clauses
from latshift.report.escape import markdown
from latshift.report.markdown import POINTS, joined, notes, tabulated, three
from latshift.report.rank_view import answer
from latshift.results import Curve, Ranking, Scenarios


def ranking_markdown(ranking: Ranking) -> str:
    """Return a ranking as Markdown."""
    blocks = [f"## What to improve for {ranking.by}", markdown(answer(ranking), None)]
    rows = []
    for item in ranking.candidates:
        saved = [units.duration(getattr(item.saved_per_10ms, point)) for point in POINTS]
        rows.append([markdown(item.name), markdown(item.klass), *three(item.gain_2x), *three(item.gain_inf), *saved])
    heads = [f"{what} {point}" for what in ("2x", "free", "10 ms off") for point in POINTS]
    blocks.append(tabulated(["improve", "class", *heads], rows))
    pairs = [
        [markdown(f"{pair.first} ‖ {pair.second}"), *three(pair.gain), markdown("; ".join(pair.assumptions), 600)]
        for pair in ranking.pairs
    ]
    blocks.append(tabulated(["start together", *POINTS, "what it takes for granted"], pairs))
    return joined(blocks + notes(doubt_clauses(ranking.doubts)))


def curve_markdown(curve: Curve) -> str:
    """Return a curve as Markdown."""
    rows = [
        [
            point.speedup,
            *three(point.gain),
            units.duration(point.predicted_ms.p95),
            units.percent(point.share),
            markdown(point.bottleneck),
        ]
        for point in curve.points
    ]
    blocks = [f"## What if {markdown(curve.selector)} were faster", *(markdown(said, None) for said in verdict(curve))]
    heads = ["speed-up", *(f"gain {point}" for point in POINTS), "p95", "its share", "bottleneck"]
    blocks.append(tabulated(heads, rows))
    blocks.append("\n".join(f"- {markdown(assumption, 400)}" for assumption in curve.assumptions))
    return joined(blocks + notes(doubt_clauses(curve.doubts)))


def scenarios_markdown(result: Scenarios) -> str:
    """Return scenarios side by side as Markdown."""
    base = [units.duration(getattr(result.baseline, f"{point}_ms")) for point in POINTS]
    rows = [["(as recorded)", *(cell for value in base for cell in (value, "")), ""]]
    for item in result.scenarios:
        row = [markdown(item.name)]
        for point in POINTS:
            row.append(units.duration(getattr(item.forecast.predicted, f"{point}_ms")))
            row.append(units.signed_percent(-getattr(item.forecast.gain, point)))
        rows.append([*row, markdown(item.forecast.bottleneck.after)])
    heads = [head for point in POINTS for head in (f"{point} after", "gain")]
    blocks = ["## What if", tabulated(["scenario", *heads, "bottleneck"], rows)]
    for item in result.scenarios:
        said = [*item.forecast.edits, *item.forecast.assumptions]
        blocks += [f"### {markdown(item.name)}", "\n".join(f"- {markdown(line, 400)}" for line in said)]
    return joined(blocks + notes(doubt_clauses(result.doubts)))
