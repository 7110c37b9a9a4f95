"""Rows of a waterfall: order, folding, bars, and requests of any size."""

from __future__ import annotations

from types import ModuleType

from latshift.report.console import Screen
from latshift.report.path_view import path_view
from latshift.report.waterfall import most_telling, painted, rows_of
from latshift.results import Paths, RequestPath, Segment, WaterfallSpan


def test_rows_stand_in_order_and_repeats_are_folded(examples: ModuleType) -> None:
    rows = rows_of(examples.request_path())
    assert [(row.depth, len(row.spans), row.spans[0].name) for row in rows] == [
        (0, 1, "POST /answer"),
        (1, 1, "auth.check"),
        (1, 1, "retrieve"),
        (2, 1, "embeddings text-embedding-3"),
        (2, 1, "qdrant.search"),
        (1, 1, "prefetch profile"),
        (1, 14, "SELECT orders"),
        (1, 1, "chat gpt-x"),
        (2, 1, "POST api.example.com"),
    ]
    assert sum(row.own_ns for row in rows) == 1_000_000_000


def test_at_every_moment_one_row_is_on_the_path(examples: ModuleType) -> None:
    request = examples.request_path()
    bars = [painted(row, 0, 1_000_000_000, 200, "#-.") for row in rows_of(request)]
    assert [sum(bar[cell] == "#" for bar in bars) for cell in range(200)] == [1] * 200


def test_two_equal_neighbours_are_not_folded() -> None:
    spans = (_span(0, -1, 0, 100), *(_span(i, 0, 10 * i, 10 * i + 10) for i in (1, 2)))
    assert len(rows_of(_request(spans))) == 3


def _span(index: int, parent: int, start: int, end: int, on_path: bool = True) -> WaterfallSpan:
    return WaterfallSpan(f"{index:x}", parent, 0, "step", "svc", "app", start, end, on_path)


def _request(spans: tuple[WaterfallSpan, ...]) -> RequestPath:
    last = len(spans) - 1
    segments = (Segment(spans[last].span_id, "svc", "step", "app", 0, spans[0].end_ns, None, last),)
    return RequestPath("t", "0", 1.0, True, segments, spans)


def test_a_very_deep_and_a_very_wide_request_are_drawn() -> None:
    deep = _request(tuple(_span(i, i - 1, 0, 1_000_000) for i in range(100_000)))
    text = path_view(Paths((deep,)), Screen(80, cut=True))
    assert "99,940 spans with less time on the path not shown" in text
    assert max(map(len, text.splitlines())) <= 80
    wide = _request((_span(0, -1, 0, 1_000_000), *(_span(i, 0, i, i + 1) for i in range(1, 100_000))))
    assert "×99,999 step" in path_view(Paths((wide,)), Screen(80, cut=True))


def test_the_rows_that_matter_are_kept() -> None:
    spans = [_span(0, -1, 0, 1000)]
    spans += [WaterfallSpan(f"{i:x}", 0, 1, f"step {i}", "svc", "app", i, i + 1, True) for i in range(1, 200)]
    segments = tuple(Segment(s.span_id, "svc", s.name, "app", s.start_ns, s.start_ns + i, None, i)
                     for i, s in enumerate(spans))  # fmt: skip
    kept = most_telling(rows_of(RequestPath("t", "0", 1.0, True, segments, tuple(spans))), 10)
    assert [row.spans[0].name for row in kept] == ["step", *(f"step {i}" for i in range(191, 200))]


def test_a_request_of_no_length_is_drawn() -> None:
    request = RequestPath("t", "0", 0.0, True, (), (_span(0, -1, 5, 5),))
    assert "step" in path_view(Paths((request,)), Screen())
    assert path_view(Paths((RequestPath("t", "0", 0.0, True, ()),)), Screen())
