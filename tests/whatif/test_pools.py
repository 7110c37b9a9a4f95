"""Waits in pools, simulated again: predictions against a program that was really changed."""

from dataclasses import replace
from functools import cache
from math import factorial
from time import process_time
from typing import Any

import numpy as np
import pytest

from latshift import api
from latshift.errors import EditError
from latshift.forest import build
from latshift.spans import InputSummary, Int64
from latshift.traceset import TraceSet
from latshift.whatif import fifo
from latshift.whatif.draws import replay
from latshift.whatif.edits import parse_edit
from latshift.whatif.replay import Schedule
from tests.tiny import spans, table
from tests.whatif.traffic import MS, Program

RATES = {0.4: 7.9, 0.77: 15.2, 0.88: 17.3}
"""Use of the pool to requests per second."""

BOUND = 0.01

Edits = tuple[tuple[str, str], ...]


@cache
def recorded(shape: str, passes: int, use: float) -> tuple[Program, TraceSet]:
    """Return a program and its traces; every change is held against the same ones."""
    program = Program(RATES[use], shape=shape, passes=passes).run()
    return program, traces_of(program)


@cache
def truth(passes: int, use: float, change: tuple[tuple[str, Any], ...]) -> list[int]:
    """Return the latencies of the changed program, which do not depend on what it draws."""
    return Program(RATES[use], passes=passes, **dict(change)).run().latency


def traces_of(program: Program) -> TraceSet:
    return TraceSet(build(table(program.rows), InputSummary()), InputSummary())


def predict(traces: TraceSet, *edits: tuple[str, str]) -> tuple[Int64, list[str]]:
    outcome = replay(traces.model, [parse_edit(verb, text) for verb, text in edits])
    return outcome.durations[0], outcome.plan.notes


def changed(program: Program, **change: Any) -> Program:
    return replace(program, rows=[], latency=[], **change).run()


def assert_percentiles(predicted: Int64, truth: list[int], bound: float = BOUND) -> None:
    for at in (50, 95, 99):
        assert np.percentile(predicted, at) == pytest.approx(np.percentile(truth, at), rel=bound), at


@pytest.mark.parametrize("use", RATES)
@pytest.mark.parametrize(
    ("edits", "change"),
    [
        ((("pool", "llm=4"), ("speedup", "llm=2x")), {"speed": 2.0}),
        ((("speedup", "llm=0.95x"), ("pool", "llm=4")), {"speed": 0.95}),
        ((("pool", "llm=4->8"),), {"slots": 8}),
        ((("pool", "llm=4->5"), ("add-latency", "llm=15ms")), {"slots": 5, "extra": 15 * MS}),
        ((("pool", "llm=4->5"), ("load", "1.2x")), {"slots": 5, "load": 1.2}),
    ],
)
@pytest.mark.parametrize(("shape", "passes"), [("span", 1), ("phase", 1), ("child", 1), ("span", 3), ("phase", 3)])
def test_the_changed_program_is_predicted(
    shape: str, passes: int, use: float, edits: Edits, change: dict[str, Any]
) -> None:
    predicted, _ = predict(recorded(shape, passes, use)[1], *edits)
    assert_percentiles(predicted, truth(passes, use, tuple(change.items())))


def test_more_load_alone_is_predicted() -> None:
    program, traces = recorded("span", 1, 0.4)
    predicted, notes = predict(traces, ("pool", "llm=4,queue=name:pool.acquire"), ("load", "1.8x"))
    assert_percentiles(predicted, changed(program, load=1.8).latency)
    assert "pool llm (4 slots): 3" in notes[-1]


@pytest.mark.parametrize("shape", ["span", "phase", "child", "gap"])
@pytest.mark.parametrize("overhead", [0, 2 * MS])
def test_the_unchanged_pool_gives_every_latency_as_recorded(shape: str, overhead: int) -> None:
    program = Program(RATES[0.77], shape=shape, overhead=overhead, requests=500).run()
    traces = traces_of(program)
    assert (predict(traces, ("pool", "llm=4"))[0] == program.latency).all()


def test_time_to_hand_over_a_slot_is_kept() -> None:
    program = Program(RATES[0.77], overhead=5 * MS).run()
    predicted, _ = predict(traces_of(program), ("pool", "llm=4"), ("speedup", "llm=2x"))
    assert_percentiles(predicted, changed(program, speed=2.0).latency)


def test_waiting_that_is_not_drawn_is_read_from_the_gaps() -> None:
    program = Program(RATES[0.77], shape="gap", passes=2).run()
    predicted, notes = predict(traces_of(program), ("pool", "llm=4->8"))
    assert_percentiles(predicted, changed(program, slots=8).latency, 0.03)
    assert any("the gap before" in note for note in notes)


def test_a_call_that_moves_takes_its_wait_along() -> None:
    # auth |----|  wait      |---| llm |-------|   becomes   wait |---| llm |-------|  beside auth
    text = "R 0-100; a<R 0-20 name=auth; w<R 20-30 name=pool.acquire; c<R 30-90 name=chat operation=chat"
    traces = TraceSet(build(spans(text, MS), InputSummary()), InputSummary())
    predicted, _ = predict(traces, ("pool", "llm=1"), ("parallelize", "name:auth,llm"))
    # The ten ms of waiting are not explained by a pool that nobody else uses, and stay.
    assert predicted.tolist() == [80 * MS]


def test_calls_that_a_cache_answers_take_no_slot() -> None:
    traces = recorded("span", 1, 0.88)[1]
    predicted, notes = predict(traces, ("pool", "llm=4"), ("cache", "llm=100%:1ms"))
    assert predicted.max() < 100 * MS
    assert notes[-1].endswith("then 0 ms")


def test_the_size_may_be_left_out_when_a_cap_shows() -> None:
    traces = recorded("span", 1, 0.77)[1]
    given, _ = predict(traces, ("pool", "llm=4"), ("speedup", "llm=2x"))
    found, notes = predict(traces, ("pool", "llm"), ("speedup", "llm=2x"))
    assert (given == found).all()
    assert "pool llm: 4 slots are assumed" in notes[0]
    assert "pool llm: 4 slots are assumed" in predict(traces, ("load", "1.1x"))[1][0]


def test_a_size_that_does_not_explain_the_waiting_is_said_to() -> None:
    traces = recorded("span", 1, 0.77)[1]
    notes = predict(traces, ("pool", "llm=9"))[1]
    assert "is 4 its size?" in notes[0]
    assert "of which 9 slots explain" in notes[1]


def test_queues_without_a_pool_are_said_to_be_frozen() -> None:
    traces = recorded("span", 1, 0.77)[1]
    assert any("kept as recorded" in line for line in api.whatif(traces, [("speedup", "llm=2x")]).assumptions)
    pooled = api.whatif(traces, [("speedup", "llm=2x"), ("pool", "llm=4")]).assumptions
    assert not any("kept as recorded" in line for line in pooled)


@pytest.mark.parametrize(
    ("edits", "message"),
    [
        ((("pool", "llm=0"),), "at least one slot"),
        ((("pool", "llm=-2"),), "not a number of slots"),
        ((("pool", "llm=2.5"),), "not a number of slots"),
        ((("pool", "llm=4->0"),), "at least one slot"),
        ((("pool", "llm=4->5->6"),), "expected one size"),
        ((("pool", "llm=2"),), "up to 4 of these calls ran at once"),
        ((("pool", "llm.queue=4"),), "is a phase"),
        ((("pool", "nothing=4"),), "matches no span"),
        ((("pool", "llm=4,queue=name:nothing"),), "matches no span"),
        ((("pool", "llm=4"), ("pool", "name:chat*=4")), "two pools share calls"),
        ((("load", "0x"),), "not a factor above 0"),
        ((("load", "fast"),), "not a factor above 0"),
        ((("pool", "llm=4"), ("load", "2x")), "the queue would grow without end"),
    ],
)
def test_nonsense_is_refused(edits: Edits, message: str) -> None:
    traces = recorded("span", 1, 0.77)[1]
    with pytest.raises(EditError, match=message):
        predict(traces, *edits)


def test_load_needs_a_pool() -> None:
    traces = TraceSet(build(spans("R 0-100; a<R 10-50 name=auth", MS), InputSummary()), InputSummary())
    with pytest.raises(EditError, match="no pool is declared"):
        predict(traces, ("load", "1.5x"))


def test_a_nearly_full_pool_is_said_to_be_unsure() -> None:
    traces = recorded("span", 1, 0.77)[1]
    assert any("nearly full" in note for note in predict(traces, ("pool", "llm=4"), ("load", "1.22x"))[1])
    assert any("overloaded" in note for note in predict(traces, ("pool", "llm=4"), ("speedup", "llm=0.5x"))[1])


def _queue(arrived: Int64, service: Int64, slots: int) -> Int64:
    """Return the waits of single calls, by the simulation."""
    count = len(arrived)
    # Moments: start of the request, grant, release.
    node = 3 * np.arange(count)
    source, target = np.concatenate([node, node + 1]), np.concatenate([node + 1, node + 2])
    work = np.zeros(3 * count, np.int64)
    work[node + 2] = service
    nothing = np.zeros(count, np.int64)
    calls = fifo.Calls(nothing, [slots], node + 1, node + 2, nothing)
    schedule = Schedule(3 * count, source, target)
    return fifo.waits(schedule, source, target, work, np.repeat(arrived, 3), calls)


def test_the_mean_wait_is_that_of_erlang() -> None:
    # M/M/c: W = C(c, a) · E[S] / (c - a)
    slots, mean, use = 4, 200 * MS, 0.6
    chance = np.random.default_rng(5)
    arrived = np.cumsum(chance.exponential(mean / (slots * use), 150_000)).astype(np.int64)
    service = chance.exponential(mean, len(arrived)).astype(np.int64)
    a = slots * use
    full = a**slots / factorial(slots) * slots / (slots - a)
    waits_at_all = full / (sum(a**k / factorial(k) for k in range(slots)) + full)
    waited = _queue(arrived, service, slots)
    assert waited.mean() == pytest.approx(waits_at_all * mean / (slots - a), rel=0.05)
    assert (waited > 0).mean() == pytest.approx(waits_at_all, rel=0.03)


def test_a_queue_by_hand() -> None:
    # two slots: A 0-10, B 1-4, C asks at 2 and gets B's slot at 4, D asks at 3 and gets A's at 10
    waited = _queue(np.array([0, 1, 2, 3]), np.array([10, 3, 8, 1]), 2)
    assert waited.tolist() == [0, 0, 2, 7]


def test_calls_that_need_two_slots_of_one_pool_may_wait_for_ever() -> None:
    # One slot: the first call holds it until the second one, which it makes itself, has had it.
    source, target = np.array([0, 1, 2]), np.array([1, 2, 3])
    calls = fifo.Calls(np.zeros(2, np.int64), [1], np.array([1, 2]), np.array([3, 3]), np.zeros(2, np.int64))
    with pytest.raises(ValueError, match="each other"):
        fifo.waits(Schedule(4, source, target), source, target, np.ones(4, np.int64), np.zeros(4, np.int64), calls)


def test_twenty_thousand_requests_take_less_than_a_second() -> None:
    program = Program(RATES[0.77], requests=20_000).run()
    traces = traces_of(program)
    assert (traces.model.schedule.run(traces.model.graph.own + traces.model.graph.beside) >= 0).all()
    begin = process_time()
    predict(traces, ("pool", "llm=4"), ("speedup", "llm=2x"))
    assert process_time() - begin < 1.0
