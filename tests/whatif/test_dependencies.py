"""Inferred dependencies on drawn requests: rounds of loops that skip a step, work beside a loop, slots."""

from __future__ import annotations

import numpy as np

from latshift.critical_path import find
from latshift.forest import build
from latshift.spans import InputSummary
from latshift.whatif import graph, siblings
from latshift.whatif.dependencies import infer
from tests.tiny import spans

Edges = set[tuple[str, str]]


def inferred(*requests: str) -> tuple[list[Edges], list[Edges]]:
    """Return the edges and the refuted orders of every request, as pairs of span ids; digits are no part of a name."""
    rows = []
    for q, request in enumerate(requests):
        for span in request.split("; "):
            head, times = span.split()
            own, _, parent = head.partition("<")
            link = f"<{parent}.{q}" if parent else ""
            rows.append(f"{own}.{q}{link} {times} trace=t{q} name={own.rstrip('0123456789')}")
    forest = build(spans(";".join(rows)), InputSummary())
    path = find(forest)
    members = siblings.lay_out(forest, path, graph.replayable(path, np.ones(forest.n, bool)))
    found = infer(members)
    full = infer(members, keep_refuted=True)
    assert full.denied is not None
    ids = [forest.spans.span_id_text(row).split(".") for row in members.row.tolist()]

    def by_request(source: list[int], target: list[int]) -> list[Edges]:
        result: list[Edges] = [set() for _ in requests]
        for a, b in zip(source, target, strict=True):
            result[int(ids[a][1])].add((ids[a][0], ids[b][0]))
        return result

    edges = by_request(found.source.tolist(), found.target.tolist())
    # Families that look alike are inferred once; the slow way says the same.
    assert edges == by_request(full.source.tolist(), full.target.tolist())
    assert full.refuted == found.refuted >= len(full.denied.source)
    assert np.all(full.denied.against > 0)
    return edges, by_request(full.denied.source.tolist(), full.denied.target.tolist())


# Model, then search beside sql, three rounds.
# M |--|      |--|      |--|
# S     |---|     |---|
# Q     |--|      |--|
FULL = "R 0-100; M1<R 0-10; S1<R 10-30; Q1<R 10-25; M2<R 30-40; S2<R 40-60; Q2<R 40-55; M3<R 60-70"
# The first round does without sql, so that Q1 here is the sql of the second round: after M2, not before it.
SKIPS = "R 0-100; M1<R 0-10; S1<R 10-30; M2<R 30-40; S2<R 40-60; Q2<R 40-55; M3<R 60-70"


def test_a_round_that_skips_a_step_does_not_turn_the_order_round() -> None:
    edges, refuted = inferred(*[FULL, SKIPS] * 6)
    steps = {("M1", "S1"), ("S1", "M2"), ("M2", "S2"), ("S2", "M3"), ("M2", "Q2"), ("Q2", "M3")}
    # S1 -> M3 follows from S1 -> M2, by way of S2 rather than Q2, the latest that M3 waits for.
    assert edges == [steps | {("M1", "Q1"), ("Q1", "M2")}, steps | {("S1", "M3")}] * 6
    # Counted by runs, the first sql of a request that skips one runs beside its second search.
    assert refuted == [{("Q1", "S2")}, {("S1", "Q2")}] * 6


def test_a_step_of_a_loop_that_overlaps_still_refutes() -> None:
    # Once, sql was still running when the second model call began: the model does not wait for it.
    late = FULL.replace("Q1<R 10-25", "Q1<R 10-35")
    edges, refuted = inferred(*[FULL] * 11, late)
    assert ("Q1", "M2") not in edges[0]
    assert ("Q1", "M2") in refuted[0]
    assert ("Q2", "M3") in edges[0]


def test_without_a_loop_the_reverse_order_refutes() -> None:
    edges, refuted = inferred("R 0-50; A<R 0-10; B<R 20-30", "R 0-50; B<R 0-10; A<R 20-30")
    assert edges == [set(), set()]
    assert refuted == [{("A", "B")}, {("B", "A")}]


# W runs beside a loop of model and tool; it is over long before the third model call, which does not wait for it.
# W |------------|
# M |--|     |--|     |--|
# T     |---|    |---|
BESIDE = "R 0-100; W<R 0-35; M1<R 0-10; T1<R 10-30; M2<R 30-40; T2<R 40-60; M3<R 60-70"
# Here the third model call begins when W ends: it does wait.
GATES = BESIDE.replace("W<R 0-35", "W<R 0-65").replace("M3<R 60-70", "M3<R 65-75")


def test_work_beside_a_loop_does_not_gate_its_late_rounds() -> None:
    edges, refuted = inferred(*[BESIDE] * 40)
    rounds = {("M1", "T1"), ("T1", "M2"), ("M2", "T2"), ("T2", "M3")}
    # W never overlaps a second tool call here, but it does overlap the first.
    assert edges[0] == rounds
    assert refuted[0] == {("W", "T2"), ("W", "M3")}


def test_work_beside_a_loop_that_is_at_times_the_last_to_end_gates_it() -> None:
    edges, _ = inferred(*[BESIDE] * 36, *[GATES] * 4)
    assert ("W", "M3") in edges[0]
    assert ("W", "M3") in edges[-1]
    edges, _ = inferred(*[BESIDE] * 39, GATES)
    assert ("W", "M3") not in edges[0]


# Four calls under a semaphore of two; whichever ends first hands its slot to the third.
# C1 |----|          C1 |--------|
# C2 |--------|      C2 |----|
# C3      |-------|  C3      |-------|
# C4          |---|  C4          |---|
SLOTS = "R 0-90; C1<R 0-20; C2<R 1-40; C3<R 20-60; C4<R 40-80"
OTHER = "R 0-90; C1<R 0-40; C2<R 1-20; C3<R 20-60; C4<R 40-80"


def test_a_late_call_waits_for_the_one_that_freed_its_slot() -> None:
    edges, refuted = inferred(*[SLOTS, OTHER] * 6)
    assert edges[0] >= {("C1", "C3"), ("C2", "C4")}
    assert edges[1] >= {("C2", "C3"), ("C1", "C4")}
    assert not refuted[0] & edges[0]


def test_late_calls_that_begin_at_any_time_hold_no_slot() -> None:
    # The third begins well after the first ended: something else decided when.
    loose = [text.replace("C3<R 20-60", "C3<R 32-60") for text in (SLOTS, OTHER)]
    edges, _ = inferred(*loose * 6)
    assert ("C1", "C3") not in edges[0]
    assert ("C2", "C3") not in edges[1]


def test_few_runs_show_no_slots() -> None:
    edges, _ = inferred(SLOTS, OTHER)
    assert ("C1", "C3") not in edges[0]
