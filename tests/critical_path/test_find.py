"""Hand-drawn requests and their critical paths; one unit is one ns unless said otherwise."""

from __future__ import annotations

import time

import numpy as np
import pytest

from latshift.critical_path import PathOptions, find
from latshift.forest import build
from latshift.spans import Coded, InputSummary, SpanTable
from tests.tiny import forest_of, path_text, row_of, spans

DRAWINGS = {
    # R ------------------------
    #   A ---- B ------
    "one after the other": ("R 0-100; A<R 10-40; B<R 50-90", "R 0-10, A 10-40, R 40-50, B 50-90, R 90-100"),
    # R ------------------------
    #   A ------
    #   B ------------
    "the longer of two": ("R 0-100; A<R 10-50; B<R 10-80", "R 0-10, B 10-80, R 80-100"),
    # R ------------------------
    #   A ----
    #       B ----    B begins as A ends
    "touching": ("R 0-100; A<R 10-40; B<R 40-80", "R 0-10, A 10-40, B 40-80, R 80-100"),
    # R ------------------------
    #   A --------
    #      B ----------   A ended inside B: nobody waited for it
    "overlapping": ("R 0-100; A<R 10-50; B<R 40-80", "R 0-40, B 40-80, R 80-100"),
    "nested": ("R 0-100; A<R 10-90; B<A 20-60", "R 0-10, A 10-20, B 20-60, A 60-90, R 90-100"),
    "starts before its parent": ("R 10-100; A<R 0-50", "A 10-50, R 50-100"),
    "ends after its parent": ("R 0-100; A<R 50-150", "R 0-50, A 50-100"),
    "reaches beyond on both sides": ("R 10-100; A<R 0-150; B<A 20-120", "A 10-20, B 20-100"),
    "outside its parent": ("R 0-100; A<R 120-150; B<A 10-20", "R 0-100"),
    "an instant in between": (
        "R 0-100; A<R 10-40; Z<R 50-50; B<R 60-80",
        "R 0-10, A 10-40, R 40-60, B 60-80, R 80-100",
    ),
    "time zero is a time": ("R 0-100; A<R 0-30; B<R 40-80", "A 0-30, R 30-40, B 40-80, R 80-100"),
    "two roots": ("R 0-50; A<R 10-20; S 60-90", "R 0-10, A 10-20, R 20-50 | S 60-90"),
    "no length": ("R 5-5; A<R 5-5", ""),
    "same end: the earlier start": ("R 0-100; A<R 30-80; B<R 20-80", "R 0-20, B 20-80, R 80-100"),
    "same times: the smaller id": ("R 0-100; B<R 20-80; A<R 20-80", "R 0-20, A 20-80, R 80-100"),
    "both cut at the start: the earlier one": ("R 50-100; A<R 20-80; B<R 10-80", "B 50-80, R 80-100"),
    "both cut at both sides: the earlier one": ("R 50-100; A<R 20-130; B<R 10-120", "B 50-100"),
    "producer and consumer": ("R 0-100 producer; A<R 10-90 consumer; B<A 20-80", "R 0-100"),
    "consumer under no producer": ("R 0-100; A<R 10-90 consumer", "R 0-10, A 10-90, R 90-100"),
    "follows-from": ("R 0-100; A<R 20-80 follows", "R 0-20, A 20-80, R 80-100"),
}


@pytest.mark.parametrize("name", DRAWINGS)
def test_drawings(name: str) -> None:
    text, path = DRAWINGS[name]
    assert path_text(forest_of(text)) == path


def test_which_children_nobody_waits_for_is_an_option() -> None:
    message, follower = forest_of("R 0-9 producer; A<R 1-8 consumer"), forest_of("R 0-9; A<R 1-8 follows; B<A 2-3")
    assert path_text(message, PathOptions(asynchronous="none")) == "R 0-1, A 1-8, R 8-9"
    assert path_text(message, PathOptions(asynchronous="follows-from")) == "R 0-1, A 1-8, R 8-9"
    assert path_text(follower, PathOptions(asynchronous="follows-from")) == "R 0-9"
    assert find(follower, PathOptions(asynchronous="follows-from")).blocking.tolist() == [True, False, False]


def test_what_outlives_its_parent_can_be_dropped() -> None:
    forest = forest_of("R 0-100; A<R 10-40; B<R 50-150; C<B 60-70")
    assert path_text(forest) == "R 0-10, A 10-40, R 40-50, B 50-60, C 60-70, B 70-100"
    assert path_text(forest, PathOptions(overflow="drop")) == "R 0-10, A 10-40, R 40-100"


def test_an_overlap_within_rounding_is_tolerated_and_the_earlier_span_gives_way() -> None:
    # In µs: B ends 1 µs after C began, in a parent of 10,000 µs; D in B ends with B.
    forest = forest_of("R 0-10000; B<R 1000-4001; D<B 2000-4001; C<R 4000-8000", unit=1000)
    path = find(forest)
    assert path_text(forest, unit=1000) == "R 0-1000, B 1000-2000, D 2000-4000, C 4000-8000, R 8000-10000"
    assert path.tolerated == 1
    assert path.end[row_of(forest, "D")] == 4_000_000
    strict = PathOptions(tolerance_ns=0)
    assert path_text(forest, strict, unit=1000) == "R 0-4000, C 4000-8000, R 8000-10000"


@pytest.mark.parametrize("text", ["R 0-100; B<R 10-41; C<R 40-80", "R 0-10000; B<R 1000-4002; C<R 4000-8000"])
def test_a_larger_overlap_is_not_tolerated(text: str) -> None:
    assert "B" not in path_text(forest_of(text, unit=1000))


def test_the_tolerance_never_goes_forward_in_time() -> None:
    # T lies within the tolerance of C's start, but began after it.
    forest = forest_of("R 0-100000; B<R 1000-3000; C<R 4000-8000; T<R 4001-4003")
    assert path_text(forest).startswith("R 0-1000, B 1000-3000, R 3000-4000, C 4000-8000")


def test_marks_and_own_time() -> None:
    forest = forest_of("R 0-100; A<R 10-90; B<A 20-60; X<R 15-50; Y<X 20-30")
    path = find(forest)
    marks = {
        forest.spans.span_id_text(row): (bool(path.on_path[row]), bool(path.in_chain[row]), int(path.own[row]))
        for row in range(forest.n)
    }
    assert marks == {
        "R": (True, True, 20),
        "A": (True, True, 40),
        "B": (True, True, 40),
        "X": (False, False, 0),
        "Y": (False, True, 0),
    }


def test_times_too_long_for_one_line_still_sort() -> None:
    far = 2**61
    forest = forest_of(f"R 0-{far * 3}; A<R 10-{far}; B<R {far}-{far * 2}; C<B {far + 1}-{far + 5}; D<A 20-30")
    assert path_text(forest).startswith(f"R 0-10, A 10-20, D 20-30, A 30-{far}, B {far}-{far + 1}, C ")


def test_nothing_in_nothing_out() -> None:
    forest = build(spans(""), InputSummary())
    assert [len(column) for column in find(forest).segments()] == [0, 0, 0]


SIZE = 100_000


def shape(parent: np.ndarray, start: np.ndarray, end: np.ndarray) -> SpanTable:
    n = len(parent)
    ids = np.arange(1, n + 1, dtype=np.uint64)
    none, one = Coded(np.full(n, -1, np.int32), []), Coded(np.zeros(n, np.int32), ["x"])
    columns = {"trace": one, "span_id": ids, "parent_id": (parent + 1).astype(np.uint64), "name": one, "service": one}
    columns |= {"host": none, "scope": none, "kind": np.zeros(n, np.uint8), "status": np.zeros(n, np.uint8)}
    columns |= {"start": start, "end": end, "follows": np.zeros(n, np.bool_)}
    return SpanTable(n, columns)


def seconds_and_segments(table: SpanTable) -> tuple[float, int]:
    began = time.process_time()
    rows, starts, ends = find(build(table, InputSummary())).segments()
    took = time.process_time() - began
    assert int((ends - starts).sum()) == int(table.array("end").max() - table.array("start").min())
    assert (starts[1:] == ends[:-1]).all()
    return took, len(rows)


def test_a_trace_of_depth_100_000() -> None:
    level = np.arange(SIZE)
    took, segments = seconds_and_segments(shape(level - 1, level, 3 * SIZE - level))
    assert segments == 2 * SIZE - 1
    assert took < 3  # about 0.3 s; the bound only keeps quadratic work out


def test_a_deep_trace_in_which_everything_sticks_out() -> None:
    level = np.arange(SIZE)
    table = shape(level - 1, SIZE - level, 2 * SIZE + level)
    table.columns["start"][0], table.columns["end"][0] = 0, 3 * SIZE
    took, segments = seconds_and_segments(table)
    assert segments == 2 + 1
    assert took < 3


def test_a_trace_of_100_000_children() -> None:
    number = np.arange(SIZE)
    parent = np.where(number == 0, -1, 0)
    start, end = 10 * number, 10 * number + 8
    start[0], end[0] = 0, 10 * SIZE
    took, segments = seconds_and_segments(shape(parent, start, end))
    assert segments == 2 * (SIZE - 1) + 1
    assert took < 3
