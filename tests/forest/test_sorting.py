"""Sorting by several keys."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from latshift.forest.identity import SpanIndex
from latshift.forest.sorting import order_by

NUMBER = st.one_of(st.integers(-2, 2), st.integers(-(2**63), 2**63 - 1))


@given(st.lists(st.tuples(st.integers(0, 2), NUMBER, NUMBER)))
def test_the_order_is_that_of_sorting_tuples(rows: list[tuple[int, int, int]]) -> None:
    group = np.array([row[0] for row in rows], np.int64)
    first, second = (np.array([row[place] for row in rows], np.int64) for place in (1, 2))
    order = order_by(group, [lambda at: first[at], lambda at: second[at]])
    assert order.tolist() == sorted(range(len(rows)), key=rows.__getitem__)


@given(st.lists(st.tuples(st.integers(-1, 2), st.integers(1, 6))), st.tuples(st.integers(-1, 3), st.integers(0, 7)))
def test_the_index_finds_what_a_dict_finds(keys: list[tuple[int, int]], wanted: tuple[int, int]) -> None:
    traces = np.array([key[0] for key in keys], np.int32)
    ids = np.array([key[1] for key in keys], np.uint64)
    index = SpanIndex(traces, ids)
    assert [keys[row] for row in index.owner.tolist()] == keys
    assert len(set(index.owner.tolist())) == len(set(keys))
    found = index.find(np.array([wanted[0]], np.int32), np.array([wanted[1]], np.uint64)).tolist()
    assert found == [index.owner[keys.index(wanted)] if wanted in keys else -1]
