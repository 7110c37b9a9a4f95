"""Requests from spans: parents, orphans, copies, shared ids, cycles, order."""

from __future__ import annotations

import pytest

from latshift.forest import build
from latshift.spans import Forest, InputSummary
from tests.tiny import forest_of, parents, path_text, row_of, spans


def built(text: str) -> tuple[Forest, InputSummary]:
    summary = InputSummary()
    return build(spans(text), summary), summary


def drawn(forest: Forest) -> list[str]:
    """Return "service name <- service name" of every span and its parent."""
    table = forest.spans
    names = [
        f"{service} {name}"
        for service, name in zip(table.text("service").texts(), table.text("name").texts(), strict=True)
    ]
    return [f"{names[row]} <- {names[up]}" for row, up in enumerate(forest.parent.tolist()) if up >= 0]


def test_requests_are_numbered_by_start_and_rows_by_time() -> None:
    forest, summary = built("S 50-90 trace=b; C<S 60-70 trace=b; B<S 60-80 trace=b; R 0-9; A<R 3-4")
    ids = [forest.spans.span_id_text(row) for row in range(forest.n)]
    assert ids == ["R", "A", "S", "B", "C"]
    assert forest.request.tolist() == [0, 0, 1, 1, 1]
    assert forest.root.tolist() == [0, 2]
    assert (summary.spans, summary.traces, summary.requests, summary.incomplete) == (5, 2, 2, 0)
    assert summary.warnings == []


def test_the_same_span_id_in_two_traces_is_two_spans() -> None:
    forest, summary = built("R 0-9; A<R 1-2; R 0-9 trace=b; A<R 1-2 trace=b")
    assert forest.request.tolist() == [0, 0, 1, 1]
    assert forest.parent.tolist() == [-1, 0, -1, 2]
    assert summary.skipped == {}


def test_a_copy_counts_once_and_which_one_stays_does_not_depend_on_the_order() -> None:
    copies = ["A<R 1-2 model=x", "A<R 1-2 model=y", "A<R 1-2 model=y"]
    kept = set()
    for order in (copies, copies[::-1]):
        forest, summary = built("; ".join(["R 0-9", *order]))
        assert forest.n == summary.spans == 2
        assert summary.skipped == {"duplicate span": 2}
        kept.add(forest.spans.text("model").texts()[1])
    assert len(kept) == 1


def test_an_update_of_an_unfinished_span_keeps_the_later_end() -> None:
    forest, summary = built("R 0-9; A<R 1-1; A<R 1-7")
    assert path_text(forest) == "R 0-1, A 1-7, R 7-9"
    assert summary.skipped == {"updated span": 1}


def test_two_halves_with_one_id() -> None:
    # client X ------------------  of web
    #    server X ------------     of api
    #       D (api) -- E (web) --  F (other, inside the server half)
    forest, summary = built(
        """R 0-99 service=web; X<R 10-90 client service=web name=call; X<R 20-80 server service=api name=serve
        D<X 30-40 service=api; E<X 50-60 service=web; F<X 65-70 service=other"""
    )
    assert drawn(forest) == [
        "web call <- web R",
        "api serve <- web call",
        "api D <- api serve",
        "web E <- web call",
        "other F <- api serve",
    ]
    assert summary.warnings == []


def test_two_halves_of_one_service_share_children_by_time() -> None:
    forest, _ = built("R 0-99; X<R 10-90 client name=call; X<R 20-80 server name=serve; D<X 30-40; E<X 82-85")
    assert drawn(forest) == ["svc call <- svc R", "svc serve <- svc call", "svc D <- svc serve", "svc E <- svc call"]


def test_the_server_half_alone_knows_its_parent() -> None:
    # The client half is what has no parent here; Zipkin's server half repeats the client's parent.
    forest, summary = built("X 0-99 client service=web; X<lost 20-80 server service=api")
    assert drawn(forest) == ["api X <- web X"]
    assert summary.incomplete == 0


def test_one_id_for_unrelated_spans_is_reported() -> None:
    forest, summary = built("R 0-99; X<R 10-20 name=a; X<R 30-40 name=b; C<X 12-14")
    assert drawn(forest) == ["svc a <- svc R", "svc C <- svc a", "svc b <- svc R"]
    assert summary.warnings == ["1 span id stood for several different spans; children went to the earliest"]
    assert summary.skipped == {}


def test_an_orphan_beside_a_root_is_an_incomplete_request() -> None:
    forest, summary = built("R 0-9; A<R 1-2; O<lost 3-5; B<O 4-5")
    assert parents(forest) == {"R": None, "A": "R", "O": None, "B": "O"}
    assert forest.complete.tolist() == [True, False]
    assert summary.warnings == ["1 span names a parent that is not in the input; 1 request is incomplete"]


def test_several_orphans_without_a_root_are_one_request_under_a_stand_in() -> None:
    forest, summary = built("P<lost 10-30 service=a host=h; Q<lost 20-50 service=b; B<Q 25-30; X 0-5 trace=other")
    assert parents(forest) == {"X": None, "lost": None, "P": "lost", "Q": "lost", "B": "Q"}
    stand_in = row_of(forest, "lost")
    assert forest.placeholder.tolist() == [row == stand_in for row in range(forest.n)]
    assert forest.complete.tolist() == [True, False]
    texts = {name: forest.spans.text(name).texts()[stand_in] for name in ("name", "service", "host", "trace")}
    assert texts == {"name": "(missing root)", "service": "a", "host": "h", "trace": "t"}
    assert path_text(forest) == "X 0-5 | lost 10-20, Q 20-25, B 25-30, Q 30-50"
    assert (summary.spans, summary.requests, summary.incomplete) == (4, 2, 1)
    assert summary.warnings == [
        "2 spans name a parent that is not in the input; 1 request is incomplete",
        "1 trace lost its root; a stand-in holds the parts together",
    ]


@pytest.mark.parametrize(
    ("text", "expected", "cuts"),
    [
        ("A<A 0-9; B<A 1-2", {"A": None, "B": "A"}, 1),
        ("A<C 2-9; B<A 0-5; C<B 0-7; D<A 3-4", {"A": "C", "B": "A", "C": None, "D": "A"}, 1),
        ("A<B 0-9; B<A 0-9; C<D 0-9 trace=u; D<C 0-9 trace=u", {"A": None, "B": "A", "C": None, "D": "C"}, 2),
    ],
    ids=["itself", "three, cut above the one that ends last", "two of them, cut above the smaller id"],
)
def test_cycles_are_cut(text: str, expected: dict[str, str | None], cuts: int) -> None:
    forest, summary = built(text)
    assert parents(forest) == expected
    assert forest.complete.all()
    assert summary.warnings[0].startswith(f"{cuts} parent reference")


def test_pending_and_log_spans_are_no_work() -> None:
    forest, summary = built("R 0-9 span_type=span; P<R 0-0 span_type=pending_span; L<R 5-5 span_type=log; A<R 1-2")
    assert parents(forest) == {"R": None, "A": "R"}
    assert summary.skipped == {"pending span (Logfire)": 1, "log written as a span (Logfire)": 1}


def test_what_sticks_out_is_counted_except_consumers() -> None:
    summary = InputSummary()
    build(spans("R 0-100; A<R 50-130; B<A 20-60; P<R 0-10 producer; C<P 20-90 consumer", unit=1_000_000), summary)
    # A by 30, B by 30 of its parent A.
    assert summary.warnings == ["2 spans stick out of their parent; 60 ms were cut"]


def test_ids_of_hex_and_of_text_sort_by_their_text() -> None:
    forest = forest_of("R 0-9; b<R 1-2; a<R 1-2; 9<R 1-2")
    assert [forest.spans.span_id_text(row) for row in range(forest.n)] == ["R", "9", "a", "b"]
    assert (forest.rank[2:] > forest.rank[1:-1]).all()


def test_the_input_table_is_left_alone() -> None:
    table = spans("R 5-1; A<R 1-2 client service=a; B<A 0-1 server service=b")
    before = {name: list(table.array(name)) for name in ("start", "end", "span_id")}
    build(table, InputSummary())
    assert before == {name: list(table.array(name)) for name in before}


def test_which_orphan_a_stand_in_takes_after_does_not_depend_on_the_order() -> None:
    orphans = ["A<lost 0-9 host=h name=x", "A<lost 0-9 host=i name=y"]
    for order in (orphans, orphans[::-1]):
        forest, _ = built("; ".join(order))
        assert forest.spans.text("host").texts()[row_of(forest, "lost")] == "h"
