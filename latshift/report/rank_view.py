"""The terminal view of `latshift rank`: the answer in a sentence, then all that could be improved, best first."""

from __future__ import annotations

from rich.text import Text

from latshift.report import units
from latshift.report.console import Screen, as_text
from latshift.report.doubts import doubt_lines
from latshift.report.escape import visible
from latshift.report.layout import Column, fit, table, wrapped
from latshift.results import Candidate, Pair, Points, Ranking, Spread

POINTS = ("p50", "p95", "p99")

MOST_ROWS = 25

FOOTNOTE = (
    "Every gain is a replay of all requests. 10 ms off each call: the latency saved if every call took 10 ms less, or "
    "nothing if it took less than that."
)

SMALL = 0.0005
"""A gain below this is shown as next to nothing, and nobody is told to go for it."""

OVERTAKES = "overtakes others that now run between the two"


def rank_view(ranking: Ranking, screen: Screen) -> str:
    """Return the ranking as text for a terminal or a pipe."""
    head = _header(ranking)
    lines = [fit(head, screen.width) if screen.cut else head, Text(), *_answer(ranking, screen), Text()]
    lines += [*_candidates(ranking, screen), *wrapped(FOOTNOTE, screen.width, style="dim"), *_pairs(ranking, screen)]
    return as_text(lines + doubt_lines(ranking.doubts, screen), screen)


def _header(ranking: Ranking) -> Text:
    latency = ranking.baseline
    facts = [units.plural(latency.n, "request")]
    facts += [f"{point} {units.duration(getattr(latency, f'{point}_ms'))}" for point in POINTS]
    return Text(f"What to improve for {ranking.by}", "bold").append(" · " + " · ".join(facts), "not bold")


def answer(ranking: Ranking) -> str:
    """Return what to improve first, in one or two sentences."""
    by = ranking.by
    components = [item for item in ranking.candidates if item.kind == "component"]
    best = [item for item in components if getattr(item.gain_2x, by) >= SMALL]
    if not best:
        return f"No component's speed changes {by} by itself: others always take over."
    before: float = getattr(ranking.baseline, f"{by}_ms")
    gain: float = getattr(best[0].gain_2x, by)
    figures = f"{units.duration(before)} → {units.duration(before * (1 - gain))}"
    text = f"To improve {by}, make {visible(best[0].name, 40)} faster: twice as fast saves {units.percent(gain)}"
    text += f" ({figures})"
    others = [f"{visible(item.name, 40)} {units.percent(getattr(item.gain_2x, by))}" for item in best[1:3]]
    text += f"; next come {' and '.join(others)}." if others else "; nothing else comes near."
    return text + _side_by_side(ranking)


def _side_by_side(ranking: Ranking) -> str:
    """Return the best neighbours to run side by side, in a sentence."""
    gains = [
        f"{visible(pair.first, 40)} and {visible(pair.second, 40)} save {units.percent(getattr(pair.gain, ranking.by))}"
        for pair in ranking.pairs
        if not pair.overtakes and getattr(pair.gain, ranking.by) >= SMALL
    ]
    if not gains:
        return ""
    return f" Side by side, {', '.join(gains[:2])}, where the second does not need the answer of the first."


def _answer(ranking: Ranking, screen: Screen) -> list[Text]:
    return wrapped(answer(ranking), screen.width, style="bold")


def _candidates(ranking: Ranking, screen: Screen) -> list[Text]:
    heads = ("twice as fast", "2x"), ("if free", "free"), ("10 ms off each call", "10 ms off")
    columns = [
        Column(("", "Improve"), right=False, names=True),
        Column(("class",), right=False, spare=3),
        Column((f"share at {ranking.by}",), spare=4),
    ]
    for at, group in enumerate(heads):
        columns += [Column((point,), gap=2 if point == "p50" else 1, group=group) for point in POINTS]
        if at == 0:
            columns.append(Column(("95% interval", f"of {ranking.by}"), right=False, spare=5))
    columns.append(Column(("calls", "/req."), spare=2))
    rows = [_row(item, ranking) for item in ranking.candidates[:MOST_ROWS]]
    lines = table(columns, rows, screen)
    if len(ranking.candidates) > MOST_ROWS:
        lines.append(Text(f"… and {len(ranking.candidates) - MOST_ROWS} more (--format json)", "dim"))
    return lines


def _row(item: Candidate, ranking: Ranking) -> list[Text | str]:
    ends = item.interval_2x.get(ranking.by)
    interval = f"{units.percent(ends[0])} to {units.percent(ends[1])}" if ends else ""
    n = ranking.baseline.n
    return [
        Text(visible(item.name, 60), "bold" if item.kind == "component" else ""),
        visible(item.klass, 20),
        units.percent(getattr(item.share, ranking.by)),
        *_gains(item.gain_2x, ranking.by),
        Text(interval, "dim"),
        *_gains(item.gain_inf, ranking.by),
        *_saved(item.saved_per_10ms, ranking.by),
        units.significant(item.calls / n, 2) if n and item.kind == "component" else "",
    ]


def _gains(gain: Spread, by: str) -> list[Text]:
    return [Text(units.percent(getattr(gain, point)), _style(getattr(gain, point), point == by)) for point in POINTS]


def _saved(saved: Points, by: str) -> list[Text]:
    values = [(point, getattr(saved, point)) for point in POINTS]
    return [Text(units.duration(value) if abs(value) >= 0.05 else "~0", _style(value, point == by))
            for point, value in values]  # fmt: skip


def _style(value: float, chosen: bool) -> str:
    if abs(value) < SMALL:
        return "dim"
    return "bold green" if chosen and value > 0 else "bold red" if value < 0 else ""


def _pairs(ranking: Ranking, screen: Screen) -> list[Text]:
    if not ranking.pairs:
        return []
    columns = [
        Column(("Start together",), right=False, names=True),
        *(Column((point,)) for point in POINTS),
        Column(("requests",)),
        Column((f"95% interval of {ranking.by}",), right=False, spare=1),
    ]
    rows = [_pair_row(pair, ranking.by) for pair in ranking.pairs]
    lines = [Text()]
    heading, *body = table(columns, rows, screen)
    lines.append(heading)
    for line, pair in zip(body, ranking.pairs, strict=True):
        lines.append(line)
        overtakes = [OVERTAKES] if pair.overtakes else []
        for sentence in [*overtakes, *pair.assumptions]:
            said = wrapped(f"- {visible(sentence, 300)}", screen.width - 2, indent="  ", style="dim")
            lines += [Text("  ").append_text(part) for part in said]
    if ranking.pairs_left:
        lines.append(Text(f"… {units.plural(ranking.pairs_left, 'more pair')} not tried", "dim"))
    return lines


def _pair_row(pair: Pair, by: str) -> list[Text | str]:
    ends = pair.interval.get(by)
    return [
        Text(f"{visible(pair.first, 40)} ‖ {visible(pair.second, 40)}", "bold"),
        *_gains(pair.gain, by),
        units.count(pair.requests),
        Text(f"{units.percent(ends[0])} to {units.percent(ends[1])}" if ends else "", "dim"),
    ]
