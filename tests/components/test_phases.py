"""Where model calls are cut, by evidence level; what cannot be is dropped and counted."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from latshift.components import classify
from latshift.spans import Forest
from tests.components.builder import MS, by_id, forest
from tests.tiny import row_of


def call(**columns: Any) -> dict[str, Any]:
    """A model call from 0 to 100 ms; times in ms."""
    for key in ("queue_time", "prefill_time", "decode_time", "ttft", "first_token_at"):
        if key in columns:
            columns[key] = int(columns[key] * MS)
    return {"id": "call", "name": "llm_request", "kind": "server", "end": 100, **columns}


def cuts(spans: Forest, span: str) -> str | None:
    """Return a span's cuts as text in ms, "llm.queue 0-10, ..."; None where it is undivided."""
    phases = classify(spans).phases
    index = phases.row[row_of(spans, span)]
    if index < 0:
        return None
    bounds, kinds = phases.bounds[index] / MS, phases.kinds[index]
    pieces = zip(kinds.tolist(), bounds[:-1], bounds[1:], strict=True)
    return ", ".join(f"{phases.names[kind]} {start:g}-{end:g}" for kind, start, end in pieces if end > start)


def level(spans: Forest, span: str) -> int:
    return int(classify(spans).level[row_of(spans, span)])


CASES: list[tuple[int, str | None, dict[str, Any]]] = [
    (0, None, {}),
    (1, "llm.first-token 0-40, llm.stream 40-100", {"ttft": 40}),
    (1, "llm.first-token 0-40, llm.stream 40-100", {"first_token_at": 40}),
    (1, "llm.first-token 0-40, llm.stream 40-100", {"ttft": 40, "first_token_at": 70}),
    (2, "llm.queue 0-10, llm.prefill 10-40, llm.decode 40-100", {"ttft": 40, "queue_time": 10}),
    (
        3,
        "llm.queue 0-10, llm.prefill 10-30, llm.decode 30-80, llm.other 80-100",
        {"queue_time": 10, "prefill_time": 20, "decode_time": 50},
    ),
    (
        3,
        "llm.other 0-5, llm.queue 5-15, llm.prefill 15-35, llm.decode 35-85, llm.other 85-100",
        {"queue_time": 10, "prefill_time": 20, "decode_time": 50, "ttft": 35},
    ),
    # never beyond the end of the span, even where the times are a little too long together
    (
        3,
        "llm.queue 0-20, llm.prefill 20-50, llm.decode 50-100",
        {"queue_time": 20, "prefill_time": 30, "decode_time": 80},
    ),
    (
        3,
        "llm.prefill 0-20, llm.decode 20-80, llm.other 80-100",
        {"queue_time": 0, "prefill_time": 20, "decode_time": 60},
    ),
]


@pytest.mark.parametrize(("expected_level", "expected", "columns"), CASES)
def test_levels(expected_level: int, expected: str | None, columns: dict[str, Any]) -> None:
    spans = forest(call(**columns))
    assert (level(spans, "call"), cuts(spans, "call")) == (expected_level, expected)
    assert classify(spans).phases.impossible == 0


IMPOSSIBLE: list[tuple[str | None, dict[str, Any]]] = [
    (None, {"queue_time": -1, "prefill_time": 20, "decode_time": 50}),
    (None, {"queue_time": 10, "prefill_time": 20, "decode_time": 5_000}),
    (None, {"queue_time": 70, "prefill_time": 70, "decode_time": 70}),
    (None, {"ttft": 150}),
    (None, {"ttft": -5}),
    ("llm.first-token 0-40, llm.stream 40-100", {"ttft": 150, "first_token_at": 40}),
    (None, {"first_token_at": 1_000}),
    (None, {"first_token_at": -30}),
    ("llm.first-token 0-20, llm.stream 20-100", {"ttft": 20, "queue_time": 60}),
    ("llm.first-token 0-20, llm.stream 20-100", {"ttft": 20, "queue_time": 60, "prefill_time": 5}),
]


@pytest.mark.parametrize(("expected", "columns"), IMPOSSIBLE)
def test_impossible_values_are_dropped_and_counted(expected: str | None, columns: dict[str, Any]) -> None:
    spans = forest(call(**columns))
    result = classify(spans)
    assert cuts(spans, "call") == expected
    assert result.phases.impossible == 1
    assert "1 time of a model call is impossible" in result.warnings[0]


def test_a_first_token_event_at_the_end_of_the_span_is_not_believed() -> None:
    assert cuts(forest(call(first_token_at=99.5, output_tokens=20)), "call") is None  # trap T2
    assert cuts(forest(call(first_token_at=99.5)), "call") is None
    assert (
        cuts(forest(call(first_token_at=99.5, output_tokens=1)), "call")
        == "llm.first-token 0-99.5, llm.stream 99.5-100"
    )
    assert classify(forest(call(first_token_at=99.5, output_tokens=20))).phases.impossible == 0


def test_the_prefill_time_of_sglang_holds_its_queue() -> None:
    times = {"prefill_time": 30, "queue_time": 5, "decode_time": 50, "ttft": 40}  # trap T1
    spans = forest(call(name="Req 1", scope="sglang server", **times))
    assert (level(spans, "call"), cuts(spans, "call")) == (1, "llm.first-token 0-40, llm.stream 40-100")


def test_slices_drawn_as_spans_are_the_phases() -> None:
    sglang = {"scope": "sglang server"}
    spans = forest(
        call(name="Req 1", ttft=40, **sglang),
        {"id": "thread", "parent": "call", "name": "Scheduler [TP 0]", "start": 5, "end": 95, **sglang},
        {"id": "wait", "parent": "thread", "name": "prefill_waiting", "start": 10, "end": 20, **sglang},
        {"id": "prefill", "parent": "thread", "name": "prefill_forward", "start": 20, "end": 40, **sglang},
        {"id": "chunk", "parent": "prefill", "name": "run_batch_cpu", "start": 21, "end": 30, **sglang},
        {"id": "decode", "parent": "thread", "name": "decode_forward", "start": 40, "end": 90, **sglang},
    )
    result = classify(spans)
    assert cuts(spans, "call") == "llm.other 0-100"
    assert cuts(spans, "thread") == "llm.other 0-100"
    assert cuts(spans, "wait") == "llm.queue 10-20"
    assert cuts(spans, "prefill") == cuts(spans, "chunk") == "llm.prefill 20-40"
    assert cuts(spans, "decode") == "llm.decode 40-90"
    assert set(result.level.tolist()) == {3}
    assert result.class_of("llm", "llm.queue") == "queue"


def test_a_slice_that_mixes_phases_stays_undivided() -> None:
    tgi = {"service": "text-generation-inference.router"}
    spans = forest(
        call(name="generate", **tgi),
        {"id": "queued", "parent": "call", "name": "queued", "end": 10, **tgi},
        {"id": "infer", "parent": "call", "name": "infer", "start": 10, "end": 90, **tgi},
    )
    assert [cuts(spans, span) for span in ("call", "queued", "infer")] == ["llm.other 0-100", "llm.queue 0-10", None]


def test_a_call_around_a_better_known_call_is_the_rest() -> None:
    # chat 0-100 (first token) > POST > gateway 10-90 > POST > engine 20-80 (all phases)
    post = {"kind": "client", "http_method": "POST", "name": "POST"}
    spans = forest(
        {"id": "chat", "kind": "client", "operation": "chat", "ttft": 40 * MS},
        {"id": "post", "parent": "chat", "start": 5, "end": 95, **post},
        {"id": "gateway", "parent": "post", "kind": "server", "operation": "chat", "start": 10, "end": 90},
        {"id": "up", "parent": "gateway", "start": 15, "end": 85, **post},
        {
            "id": "engine", "parent": "up", "kind": "server", "name": "llm_request", "start": 20, "end": 80,
            "queue_time": 10 * MS, "prefill_time": 20 * MS, "decode_time": 30 * MS,
        },
    )  # fmt: skip
    assert cuts(spans, "chat") == cuts(spans, "post") == "llm.other 0-100"
    assert cuts(spans, "engine") == "llm.queue 20-30, llm.prefill 30-50, llm.decode 50-80"
    assert cuts(spans, "gateway") is None
    assert by_id(spans, classify(spans).level) == {"chat": 3, "post": 3, "gateway": -1, "up": -1, "engine": 3}


def test_a_call_behind_a_tool_is_another_call() -> None:
    spans = forest(
        {"id": "chat", "kind": "client", "operation": "chat", "ttft": 40 * MS},
        {"id": "tool", "parent": "chat", "operation": "execute_tool", "start": 50, "end": 90},
        {
            "id": "inner", "parent": "tool", "name": "llm_request", "start": 60, "end": 80,
            "queue_time": 0, "prefill_time": 5 * MS, "decode_time": 15 * MS,
        },
    )  # fmt: skip
    assert cuts(spans, "chat") == "llm.first-token 0-40, llm.stream 40-100"


def test_a_call_inside_a_better_known_one_is_cut_where_that_is() -> None:
    # LangChain's span knows nothing, the client inside it the first token, the request inside that nothing again
    spans = forest(
        {"id": "outer", "kind_hint": "openinference:LLM", "name": "ChatOpenAI"},
        {"id": "middle", "parent": "outer", "operation": "chat", "start": 5, "end": 95, "ttft": 35 * MS},
        {"id": "inner", "parent": "middle", "operation": "chat", "start": 10, "end": 90},
    )
    assert cuts(spans, "outer") == "llm.other 0-100"
    assert cuts(spans, "middle") == cuts(spans, "inner") == "llm.first-token 5-40, llm.stream 40-95"
    assert set(classify(spans).level.tolist()) == {1}


def test_only_model_calls_are_cut() -> None:
    spans = forest({"id": "root"}, {"id": "a", "parent": "root", "operation": "execute_tool", "ttft": 5 * MS})
    result = classify(spans)
    assert result.phases.names == [] and set(result.level.tolist()) == {-1}


def test_overlap_counts_what_lies_in_a_phase_and_outside_all_cuts() -> None:
    spans = forest(
        {"id": "root", "end": 200},
        {**call(ttft=40), "parent": "root"},
        {"id": "post", "parent": "call", "kind": "client", "http_method": "POST", "name": "POST", "end": 150},
    )
    phases = classify(spans).phases
    rows = np.array([row_of(spans, span) for span in ("call", "post", "post", "root")])
    start, end = np.array([10, 30, 90, 0]) * MS, np.array([50, 30, 150, 200]) * MS
    for phase, expected in {
        "llm.first-token": [30, 0, 0, 0],
        "llm.stream": [10, 0, 10, 0],
        "llm.other": [0, 0, 50, 0],
        "llm.queue": [0, 0, 0, 0],
    }.items():
        assert (phases.overlap(rows, start, end, phase) / MS).tolist() == expected, phase


TIME = st.one_of(st.none(), st.integers(-(2**62), 2**62), st.integers(-10, 250))


@given(st.lists(st.tuples(*[TIME] * 5, st.integers(0, 200), st.integers(0, 200)), min_size=1, max_size=12))
def test_cuts_ascend_within_the_call_and_parts_add_up(rows: list[tuple[int | None, ...]]) -> None:
    keys = ("queue_time", "prefill_time", "decode_time", "ttft", "first_token_at")
    listed: list[dict[str, Any]] = [{"id": "root", "start": 0, "end": 1, "trace": "r"}]
    for index, (*times, start, length) in enumerate(rows):
        present = {key: time for key, time in zip(keys, times, strict=True) if time is not None}
        row = {
            "id": str(index),
            "trace": str(index),
            "operation": "chat",
            "start": start / MS,
            "end": (start + length) / MS,
        }
        listed.append({**row, **present})
    spans = forest(*listed)
    phases = classify(spans).phases
    assert (np.diff(phases.bounds, axis=1) >= 0).all()
    cut = np.flatnonzero(phases.row >= 0)
    start, end = spans.spans.array("start")[cut], spans.spans.array("end")[cut]
    assert (phases.bounds[phases.row[cut], 0] == start).all()
    assert (phases.bounds[phases.row[cut], -1] == end).all()
    together = sum((phases.overlap(cut, start, end, name) for name in phases.names), np.zeros(len(cut), np.int64))
    assert (together == end - start).all()
