"""What holds for the forest of any spans whatever, broken ones included."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from latshift.critical_path import find
from latshift.forest import ForestOptions, build
from latshift.spans import Forest, InputSummary
from tests.tiny import KINDS, table

SPAN = st.fixed_dictionaries(
    {
        "id": st.sampled_from("abcdef"),
        "parent": st.sampled_from([None, *"abcdefg"]),
        "trace": st.sampled_from("tu"),
        "start": st.integers(0, 6),
        "end": st.integers(0, 6),
        "kind": st.sampled_from(KINDS),
        "service": st.sampled_from("xy"),
        "host": st.sampled_from(["h", "i", None]),
        "name": st.sampled_from("mn"),
    }
)
BROKEN = st.lists(SPAN, max_size=12)
OPTIONS = st.builds(ForestOptions, fix_skew_ns=st.sampled_from([None, 0, 2, 100]))


def content(forest: Forest) -> list[tuple[Any, ...]]:
    """Return everything that says what and where each row is."""
    table = forest.spans
    texts = (table.text(name).texts() for name in ("trace", "name", "service", "host"))
    numbers = (table.array(name).tolist() for name in ("span_id", "kind", "start", "end"))
    places = (forest.parent.tolist(), forest.request.tolist(), forest.placeholder.tolist())
    return list(zip(*texts, *numbers, *places, strict=True))


@given(BROKEN, OPTIONS)
def test_every_span_hangs_under_a_root_of_its_trace_and_is_counted(spans: list[Any], options: ForestOptions) -> None:
    summary = InputSummary()
    forest = build(table(spans), summary, options)
    assert summary.spans + sum(summary.skipped.values()) == len(spans)
    assert forest.n == summary.spans + int(forest.placeholder.sum())
    top = np.arange(forest.n)
    for _ in range(forest.n):
        top = np.where(forest.parent[top] >= 0, forest.parent[top], top)
    assert (forest.root[forest.request] == top).all()
    trace = forest.spans.text("trace").codes
    assert (trace[top] == trace).all()
    assert (forest.spans.array("end") >= forest.spans.array("start")).all()
    assert (np.diff(forest.request) >= 0).all()
    assert summary.requests == len(forest.root) == len(forest.complete)
    assert summary.incomplete == int((~forest.complete).sum())


@given(BROKEN, OPTIONS, st.randoms(use_true_random=False))
def test_the_order_of_the_input_does_not_matter(spans: list[Any], options: ForestOptions, random: Any) -> None:
    first, second = InputSummary(), InputSummary()
    forest = build(table(spans), first, options)
    random.shuffle(spans)
    again = build(table(spans), second, options)
    assert content(forest) == content(again)
    assert forest.complete.tolist() == again.complete.tolist()
    assert first.to_dict() == second.to_dict()


@given(BROKEN, OPTIONS)
def test_whatever_is_broken_the_path_adds_up(spans: list[Any], options: ForestOptions) -> None:
    forest = build(table(spans), InputSummary(), options)
    own = np.zeros(len(forest.root), np.int64)
    np.add.at(own, forest.request, find(forest).own)
    duration = (forest.spans.array("end") - forest.spans.array("start"))[forest.root]
    assert own.tolist() == duration.tolist()
