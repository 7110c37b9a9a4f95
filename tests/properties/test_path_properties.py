"""What holds for the critical path of any requests whatever."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from latshift.components import classify
from latshift.critical_path import CriticalPath, PathOptions, find
from latshift.critical_path.attribution import attribute
from latshift.forest import build
from latshift.spans import Forest, InputSummary
from tests.critical_path.walk import walk
from tests.properties.forests import rows
from tests.tiny import table

Rows = list[dict[str, Any]]
DEFAULT = PathOptions()
OPTIONS = st.builds(
    PathOptions,
    asynchronous=st.sampled_from(["otel", "follows-from", "none"]),
    overflow=st.sampled_from(["clamp", "drop"]),
    tolerance_share=st.sampled_from([0.0, 1e-4, 0.3]),
)


def forest_and_path(spans: Rows, options: PathOptions = DEFAULT) -> tuple[Forest, CriticalPath]:
    forest = build(table(spans), InputSummary())
    return forest, find(forest, options)


def described(spans: Rows) -> list[tuple[str | None, str, int, int]]:
    """Return trace, span id, start and end of every segment."""
    forest, path = forest_and_path(spans)
    row, start, end = path.segments()
    traces = forest.spans.text("trace").texts(row)
    ids = [forest.spans.span_id_text(number) for number in row.tolist()]
    return list(zip(traces, ids, start.tolist(), end.tolist(), strict=True))


@given(rows(orphans=True), OPTIONS)
def test_segments_partition_each_request(spans: Rows, options: PathOptions) -> None:
    forest, path = forest_and_path(spans, options)
    row, start, end = path.segments()
    assert (end > start).all()
    request = forest.request[row]
    same = request[1:] == request[:-1]
    assert (start[1:][same] == end[:-1][same]).all()
    assert (row[1:][same] != row[:-1][same]).all()
    first, last = forest.spans.array("start")[forest.root], forest.spans.array("end")[forest.root]
    opens, closes = (
        np.flatnonzero(np.append(True, ~same)[: len(row)]),
        np.flatnonzero(np.append(~same, True)[: len(row)]),
    )
    with_time = np.flatnonzero(last > first)
    assert request[opens].tolist() == with_time.tolist()
    assert start[opens].tolist() == first[with_time].tolist()
    assert end[closes].tolist() == last[with_time].tolist()


@given(rows(orphans=True), OPTIONS)
def test_own_time_is_the_length_of_the_segments(spans: Rows, options: PathOptions) -> None:
    forest, path = forest_and_path(spans, options)
    row, start, end = path.segments()
    own = np.zeros(forest.n, np.int64)
    np.add.at(own, row, end - start)
    assert own.tolist() == path.own.tolist()
    assert not path.own[~path.on_path].any()


@given(rows(orphans=True))
def test_the_path_is_that_of_the_plain_walk(spans: Rows) -> None:
    forest, path = forest_and_path(spans)
    found = [column.tolist() for column in path.segments()]
    assert list(zip(*found, strict=True)) == walk(forest)


@given(rows(coarse=True), st.sampled_from([1e-4, 1e-5, 0.5]), st.sampled_from([1, 1_000, 20_000]))
def test_the_path_is_that_of_the_plain_walk_where_neighbours_overlap_a_little(
    spans: Rows, share: float, limit: int
) -> None:
    forest, path = forest_and_path(spans, PathOptions(tolerance_ns=limit, tolerance_share=share))
    found = [column.tolist() for column in path.segments()]
    assert list(zip(*found, strict=True)) == walk(forest, limit, share)


@given(rows(orphans=True), st.randoms(use_true_random=False))
def test_the_order_of_the_input_does_not_matter(spans: Rows, random: Any) -> None:
    shuffled = list(spans)
    random.shuffle(shuffled)
    assert described(shuffled) == described(spans)


@given(rows(), st.data())
def test_a_child_nobody_waits_for_changes_nothing(spans: Rows, data: st.DataObject) -> None:
    above = data.draw(st.sampled_from(spans)) | {"kind": "producer"}
    spans = [above if row["id"] == above["id"] else row for row in spans]
    start, end = sorted(data.draw(st.tuples(st.integers(0, 30), st.integers(0, 30))))
    extra = {"id": "extra", "parent": above["id"], "trace": above["trace"], "start": start, "end": end}
    below = {"id": "below", "parent": "extra", "trace": above["trace"], "start": start, "end": end}
    assert described([*spans, extra | {"kind": "consumer"}, below]) == described(spans)


@given(rows(orphans=True), st.integers(-(10**15), 10**18))
def test_a_shift_of_all_times_shifts_the_path(spans: Rows, shift: int) -> None:
    moved = [row | {"start": row["start"] + shift, "end": row["end"] + shift} for row in spans]
    back = [(trace, span, start - shift, end - shift) for trace, span, start, end in described(moved)]
    assert back == described(spans)


@given(rows(orphans=True))
def test_the_parts_add_up(spans: Rows) -> None:
    forest, path = forest_and_path(spans)
    result = attribute(forest, path, classify(forest))
    assert result.time.sum(axis=1).tolist() == result.duration.tolist()
    assert (result.time >= 0).all()
