"""What to improve first: figures checked by hand, and against forecasts of the same edits."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from latshift.errors import EditError
from latshift.forest import build
from latshift.results import Candidate, Ranking
from latshift.spans import InputSummary
from latshift.traceset import TraceSet
from latshift.whatif import pairs
from latshift.whatif.forecast import forecast
from latshift.whatif.pairs import sequential_pairs
from latshift.whatif.ranking import rank
from tests.tiny import spans

MS = 1_000_000

# R       |--------------------------------------------------|  0-110, its own from 100 on
# auth    |----|                                                 0-20
# cache   |---|                                                  0-15, never in the way
# vector       |--------|                                        20-50
# llm                   |------------|                           50-80, first token at 60
# sql x4                              ||||                       80-100
REQUEST = """
    r{q} 0-110 trace=t{q} name=POST server
    c{q}<r{q} 0-15 trace=t{q} name=GET db_system=redis client
    a{q}<r{q} 0-20 trace=t{q} name=auth.check client
    v{q}<r{q} 20-50 trace=t{q} name=search db_system=qdrant client
    l{q}<r{q} 50-80 trace=t{q} name=chat operation=chat client ttft=10000000
    d1{q}<r{q} 80-85 trace=t{q} name=SELECT db_system=postgresql client
    d2{q}<r{q} 85-90 trace=t{q} name=SELECT db_system=postgresql client
    d3{q}<r{q} 90-95 trace=t{q} name=SELECT db_system=postgresql client
    d4{q}<r{q} 95-100 trace=t{q} name=SELECT db_system=postgresql client
"""


def traces_of(request: str = REQUEST, count: int = 20) -> TraceSet:
    summary = InputSummary()
    text = "\n".join(request.format(q=q) for q in range(count))
    return TraceSet(build(spans(text, MS), summary), summary)


def by_name(ranking: Ranking) -> dict[str, Candidate]:
    return {item.name: item for item in ranking.candidates}


def test_gains_by_hand() -> None:
    found = by_name(rank(traces_of()))
    twice = {name: item.gain_2x.p95 * 110 for name, item in found.items()}
    assert twice == pytest.approx(
        {
            "llm": 15, "vector-db": 15, "database": 10, "auth": 5, "app": 5, "llm.first-token": 5, "llm.stream": 10,
        }
    )  # fmt: skip
    assert found["llm"].gain_inf.p50 * 110 == pytest.approx(30)
    # Without auth the cache lookup beside it is the limit.
    assert found["auth"].gain_inf.p50 * 110 == pytest.approx(5)


def test_ten_ms_off_each_call() -> None:
    found = by_name(rank(traces_of()))
    assert found["llm"].saved_per_10ms.p95 == pytest.approx(10)
    # Four calls of 5 ms each are gone.
    assert found["database"].saved_per_10ms.p95 == pytest.approx(20)
    assert found["auth"].saved_per_10ms.p95 == pytest.approx(5)
    assert found["database"].calls == 80
    assert found["database"].requests == 20


def test_the_order_follows_the_chosen_percentile() -> None:
    slow = REQUEST.replace("r{q} 0-110", "r{q} 0-410").replace("v{q}<r{q} 20-50", "v{q}<r{q} 20-350")
    for span in ("l{q}", "d1{q}", "d2{q}", "d3{q}", "d4{q}"):
        slow = "\n".join(_later(line, 300) if line.strip().startswith(span) else line for line in slow.splitlines())
    summary = InputSummary()
    text = "\n".join((slow if q % 10 == 0 else REQUEST.replace("50-80", "50-79")).format(q=q) for q in range(100))
    traces = TraceSet(build(spans(text, MS), summary), summary)
    assert rank(traces, "p99").candidates[0].name == "vector-db"
    assert rank(traces, "p50").candidates[0].name in ("vector-db", "llm")
    for by in ("p50", "p95", "p99"):
        gains = [getattr(item.gain_2x, by) for item in rank(traces, by).candidates]
        assert gains == sorted(gains, reverse=True)
    with pytest.raises(EditError, match="--by p42"):
        rank(traces, "p42")


def _later(line: str, ms: int) -> str:
    head, times, rest = line.strip().split(maxsplit=2)
    start, end = times.split("-")
    return f"{head} {int(start) + ms}-{int(end) + ms} {rest}"


def test_gains_are_those_of_the_forecast() -> None:
    traces = traces_of()
    for item in rank(traces).candidates:
        for factor, gain in (("2x", item.gain_2x), ("inf", item.gain_inf)):
            outcome = forecast(traces, [("speedup", f"{item.name}={factor}")])
            assert asdict(outcome.gain) == pytest.approx(asdict(gain), abs=1e-12)


def test_pairs_run_one_after_the_other() -> None:
    traces = traces_of()
    found = {(pair.first, pair.second): pair.overtakes for pair in sequential_pairs(traces)}
    assert found == {
        ("auth", "vector-db"): False,
        ("vector-db", "llm"): False,
        ("llm", "database"): False,
        ("auth", "llm"): True,
        ("auth", "database"): True,
        ("vector-db", "database"): True,
    }


def test_the_best_pair_and_what_it_breaks() -> None:
    ranking = rank(traces_of())
    gains = {(pair.first, pair.second): pair.gain.p95 * 110 for pair in ranking.pairs}
    assert gains["vector-db", "llm"] == pytest.approx(30)
    assert gains["auth", "vector-db"] == pytest.approx(20)
    pair = next(pair for pair in ranking.pairs if (pair.first, pair.second) == ("vector-db", "llm"))
    assert any("'chat' would no longer wait for 'search'" in sentence for sentence in pair.assumptions)
    assert pair.requests == 20
    assert ranking.pairs == tuple(sorted(ranking.pairs, key=lambda item: -item.gain.p95))


def test_the_number_of_replays_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "MOST_PAIRS", 2)
    ranking = rank(traces_of())
    assert len(ranking.pairs) == 2
    assert ranking.pairs_left == 4


def test_one_span_is_ranked_too() -> None:
    ranking = rank(traces_of("r{q} 0-10 trace=t{q} name=POST server", 1))
    assert [item.name for item in ranking.candidates] == ["app"]
    assert ranking.pairs == ()
