"""Jaeger JSON: parents, times, kinds, processes, and the shapes in which it comes."""

from __future__ import annotations

import json

import pytest

from tests.ingest.exports import CHILD, ROOT, T0, TRACE, compact, jaeger, jaeger_span, only, read, rows, write

PLAIN = {
    "trace": TRACE, "span_id": ROOT, "name": "POST /chat", "service": "chat-api", "host": "a", "kind": 0,
    "status": 0, "follows": 0, "start": T0, "end": T0 + 1_000_000_000,
}  # fmt: skip


def reference(kind: str, span_id: str, trace_id: str = TRACE) -> dict[str, str]:
    return {"refType": kind, "traceID": trace_id, "spanID": span_id}


@pytest.mark.parametrize(
    "shape",
    [
        lambda trace: {"data": [trace], "total": 0, "limit": 0, "offset": 0, "errors": None},
        lambda trace: {"data": [trace]},
        lambda trace: trace,
        lambda trace: [trace],
        lambda trace: {"_comment": "generated", **trace},
        lambda trace: {key: item for key, item in trace.items() if key != "traceID"},
        lambda trace: [{"traceID": trace["traceID"], "spans": trace["spans"], "processes": trace["processes"]}],
        lambda trace: [trace["spans"][0] | {"process": trace["processes"]["p1"], "processID": None}],
        lambda trace: trace["spans"][0] | {"process": trace["processes"]["p1"], "startTimeMillis": T0 // 10**6},
        lambda trace: {"data": [trace | {"spans": [trace["spans"][0] | {"traceID": ""}]}]},
    ],
)
def test_shapes(tmp_path, shape):
    made = shape(jaeger(jaeger_span()))
    for text in (compact(made), json.dumps(made, indent=2)):
        table, summary = read(write(tmp_path / "a", text))
        assert only(table) == PLAIN
        assert not summary.skipped


def test_spans_one_a_line(tmp_path):
    process = {"serviceName": "s", "tags": [{"key": "ip", "type": "string", "value": "10.0.0.1"}]}
    lines = [compact(jaeger_span(spanID=f"{place:016x}", process=process)) for place in range(1, 4)]
    table, _ = read(write(tmp_path / "a", "\n".join(lines)))
    assert [(row["span_id"], row["service"], row["host"]) for row in rows(table)] == [
        (f"{place:016x}", "s", "10.0.0.1") for place in range(1, 4)
    ]


@pytest.mark.parametrize(
    ("fields", "parent", "follows"),
    [
        ({"references": [reference("CHILD_OF", ROOT)]}, ROOT, 0),
        ({"references": [reference("FOLLOWS_FROM", "1" * 16), reference("CHILD_OF", ROOT)]}, ROOT, 0),
        ({"references": [reference("CHILD_OF", ROOT), reference("CHILD_OF", "1" * 16)]}, ROOT, 0),
        ({"references": [reference("CHILD_OF", ROOT, "f" * 32)]}, None, 0),
        ({"references": [reference("CHILD_OF", "1" * 16, "f" * 32), reference("CHILD_OF", ROOT)]}, ROOT, 0),
        ({"references": [reference("FOLLOWS_FROM", ROOT)]}, ROOT, 1),
        ({"references": [reference("FOLLOWS_FROM", ROOT, "f" * 32)]}, None, 0),
        ({"references": [reference("CHILD_OF", "9" * 16)]}, "9" * 16, 0),
        ({"references": [reference("CHILD_OF", ROOT, TRACE.upper())]}, ROOT, 0),
        ({"references": None}, None, 0),
        ({"references": None, "parentSpanID": ROOT}, ROOT, 0),
        ({"references": [reference("CHILD_OF", ROOT)], "parentSpanID": "1" * 16}, ROOT, 0),
        ({"references": [reference("FOLLOWS_FROM", ROOT)], "parentSpanID": "0"}, ROOT, 1),
    ],
)
def test_parents(tmp_path, fields, parent, follows):
    table, _ = read(write(tmp_path / "a", jaeger(jaeger_span(spanID=CHILD, **fields))))
    assert (only(table).get("parent"), only(table)["follows"]) == (parent, follows)


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ({"span.kind": "client"}, {"kind": 3}),
        ({"span.kind": "CONSUMER"}, {"kind": 5}),
        ({"error": True}, {"status": 2}),
        ({"error": "true"}, {"status": 2}),
        ({"error": False}, {"status": 0}),
        ({"error": "some text"}, {"status": 0}),
        ({"otel.status_code": "ERROR"}, {"status": 2}),
        ({"otel.status_code": "OK"}, {"status": 1}),
        ({"otel.scope.name": "fastapi"}, {"scope": "fastapi"}),
        ({"otel.library.name": "fastapi"}, {"scope": "fastapi"}),
        ({"gen_ai.usage.input_tokens": 812}, {"input_tokens": 812}),
        ({"gen_ai.usage.input_tokens": "812"}, {"input_tokens": 812}),
        ({"gen_ai.response.time_to_first_chunk": 0.31}, {"ttft": 310_000_000}),
        ({"gen_ai.response.time_to_first_chunk": "0.31"}, {"ttft": 310_000_000}),
        ({"gen_ai.request.stream": "True"}, {"streaming": 1}),
        ({"gen_ai.request.model": "m"}, {"model": "m"}),
        ({"peer.hostname": "db.internal"}, {"http_host": "db.internal"}),
    ],
)
def test_tags(tmp_path, tags, expected):
    row = only(read(write(tmp_path / "a", jaeger(jaeger_span(tags))))[0])
    assert {key: row.get(key) for key in expected} == expected


def test_ids_with_half_the_digits_and_numbers_as_texts(tmp_path):
    made = jaeger_span(traceID="1234567890abcdef", spanID="bcdef", startTime=str(T0 // 1_000), duration="1000000.0")
    row = only(read(write(tmp_path / "a", jaeger(made)))[0])
    assert (row["trace"], row["span_id"]) == ("0" * 16 + "1234567890abcdef", "00000000000bcdef")
    assert (row["start"], row["end"]) == (T0, T0 + 10**9)


def test_first_token_from_logs(tmp_path):
    def log(time: int, key: str, name: str) -> dict[str, object]:
        return {"timestamp": time, "fields": [{"key": key, "type": "string", "value": name}]}

    at = T0 // 1_000
    logs = [
        log(at + 9, "event", "other"),
        log(at + 70, "event", "First Token Stream Event"),
        log(at + 50, "message", "first chunk"),
    ]
    row = only(read(write(tmp_path / "a", jaeger(jaeger_span(logs=logs))))[0])
    assert row["first_token_at"] == T0 + 50_000


def test_processes(tmp_path):
    trace = jaeger(
        jaeger_span(), jaeger_span(spanID=CHILD, processID="p2"), jaeger_span(spanID="1" * 16, processID="?")
    )
    trace["processes"]["p2"] = {"serviceName": "db", "tags": [{"key": "env", "type": "string", "value": "prod"}]}
    found = rows(read(write(tmp_path / "a", trace), keep=["env"])[0])
    assert [(row.get("service"), row.get("host"), row.get("attr:env")) for row in found] == [
        ("chat-api", "a", None), ("db", None, "prod"), (None, None, None),
    ]  # fmt: skip


def test_odd_tags_do_not_cost_the_span(tmp_path):
    tags = [
        {"key": "a", "value": {"deep": 1}},
        {"key": 5, "value": 1},
        "x",
        {"key": "gen_ai.request.model", "value": "m"},
    ]
    row = only(read(write(tmp_path / "a", jaeger(jaeger_span() | {"tags": tags})))[0])
    assert row["model"] == "m"
