"""Gain against speed-up: the knee by hand, and every point against the forecast of the same edit."""

from __future__ import annotations

import math
from dataclasses import asdict

import pytest

from latshift.errors import EditError
from latshift.forest import build
from latshift.spans import InputSummary
from latshift.traceset import TraceSet
from latshift.whatif.curves import curve
from latshift.whatif.forecast import forecast
from tests.tiny import spans

MS = 1_000_000


def traces_of(request: str, count: int = 20) -> TraceSet:
    summary = InputSummary()
    text = ";".join(request.replace("@", str(q)) for q in range(count))
    return TraceSet(build(spans(text, MS), summary), summary)


# vector |----------------|                          0-40
# llm                     |------------------------|  40-100
SEQUENCE = (
    "r@ 0-100 trace=t@ name=POST server;v@<r@ 0-40 trace=t@ name=search db_system=qdrant client;"
    "l@<r@ 40-100 trace=t@ name=chat operation=chat client ttft=20000000"
)

# llm    |--------------------------------|   0-80
# sql    |----------------|                   0-40
BESIDE = (
    "r@ 0-80 trace=t@ name=POST server;l@<r@ 0-80 trace=t@ name=chat operation=chat client;"
    "d@<r@ 0-40 trace=t@ name=SELECT db_system=postgresql client"
)


def test_the_bottleneck_moves_where_the_shares_cross() -> None:
    found = curve(traces_of(SEQUENCE), "llm")
    assert found.knee.moves_at == pytest.approx(1.5, abs=0.01)
    assert (found.knee.moves_to, found.knee.reason) == ("vector-db", "bottleneck moves")
    assert found.asymptote.p95 == pytest.approx(0.6)
    assert [point.speedup for point in found.points] == ["1x", "1.25x", "1.5x", "2x", "3x", "4x", "6x", "10x", "inf"]
    twice = next(point for point in found.points if point.factor == 2)
    assert (twice.gain.p50, twice.predicted_ms.p50) == pytest.approx((0.3, 70))
    assert twice.share == pytest.approx(30 / 70)
    assert all(math.isnan(getattr(found.knee.flattens_at, name)) for name in ("p50", "p95", "p99"))


def test_the_gain_flattens_where_something_beside_it_takes_over() -> None:
    found = curve(traces_of(BESIDE), "llm")
    assert found.knee.flattens_at.p95 == pytest.approx(2, abs=0.12)
    assert found.asymptote.p50 == pytest.approx(0.5)
    assert found.knee.factor <= found.knee.flattens_at.p95


def test_what_is_not_the_bottleneck_has_no_place_where_it_moves() -> None:
    found = curve(traces_of(SEQUENCE), "vector-db")
    assert math.isnan(found.knee.moves_at)
    assert {point.bottleneck for point in found.points} == {"llm"}
    assert math.isnan(curve(traces_of(BESIDE), "database").knee.factor)


@pytest.mark.parametrize("selector", ["llm", "llm.stream", "class:model", "name:search", "app"])
def test_points_are_those_of_the_forecast(selector: str) -> None:
    traces = traces_of(SEQUENCE.replace("0-100 trace", "0-110 trace"))
    for point in curve(traces, selector, [0.5, 1.7, 3]).points:
        outcome = forecast(traces, [("speedup", f"{selector}={point.speedup}")])
        assert asdict(point.gain) == pytest.approx(asdict(outcome.gain), abs=1e-12)
        assert point.predicted_ms.p99 == outcome.predicted.p99_ms
        if selector in ("llm", "app"):
            assert point.bottleneck == outcome.bottleneck.after


def test_a_phase_has_its_own_share() -> None:
    found = curve(traces_of(SEQUENCE), "llm.stream")
    assert found.points[0].share == pytest.approx(0.4)
    twice = next(point for point in found.points if point.factor == 2)
    assert twice.share == pytest.approx(20 / 80)
    assert found.asymptote.p50 == pytest.approx(0.4)


def test_gain_never_falls_with_speed() -> None:
    gains = [point.gain.p95 for point in curve(traces_of(BESIDE), "llm").points]
    assert gains == sorted(gains)


def test_nonsense_is_refused() -> None:
    traces = traces_of(SEQUENCE)
    with pytest.raises(EditError, match="matches no span"):
        curve(traces, "lmm")
    for factor in (0.0, -2.0, math.nan):
        with pytest.raises(EditError, match="above 0"):
            curve(traces, "llm", [factor])
