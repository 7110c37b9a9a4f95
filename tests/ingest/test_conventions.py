"""Which attribute fills which column, in which unit; and that content is never kept."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from latshift.ingest.conventions import ATTRIBUTE_COLUMNS, CONTENT_KEYS, SOURCES, column_of, is_content
from latshift.ingest.enumerations import IS_FIRST_TOKEN, KINDS, STATUSES
from tests.ingest.exports import T0, compact, jaeger, jaeger_span, only, otlp, read, span, write

MAPPED = [
    ({"openinference.span.kind": "LLM"}, {"kind_hint": "openinference:LLM"}),
    ({"mlflow.spanType": '"CHAT_MODEL"'}, {"kind_hint": "mlflow:CHAT_MODEL"}),
    ({"langfuse.observation.type": "generation"}, {"kind_hint": "langfuse:generation"}),
    ({"langsmith.span.kind": "llm", "openinference.span.kind": "UNKNOWN"}, {"kind_hint": "langsmith:llm"}),
    ({"ai.operationId": "ai.streamText.doStream"}, {"kind_hint": "vercel:ai.streamText.doStream"}),
    ({"spring.ai.kind": "chat_client"}, {"kind_hint": "spring:chat_client"}),
    ({"haystack.component.type": "OpenAIGenerator"}, {"kind_hint": "haystack:OpenAIGenerator"}),
    ({"llm.request.type": "chat"}, {"kind_hint": "llm.request.type:chat"}),
    ({"traceloop.span.kind": "workflow"}, {"kind_hint": "traceloop:workflow"}),
    ({"agentops.span.kind": "llm"}, {"kind_hint": "agentops:llm"}),
    ({"gen_ai.system": "az.ai.openai"}, {"provider": "azure.ai.openai"}),
    ({"gen_ai.system": "old", "gen_ai.provider.name": "new"}, {"provider": "new"}),
    ({"gen_ai.response.model": "b", "gen_ai.request.model": "a"}, {"model": "a"}),
    ({"mlflow.llm.model": '"gpt"'}, {"model": "gpt"}),
    ({"gen_ai.usage.prompt_tokens": 1, "gen_ai.usage.completion_tokens": "2"}, {"input_tokens": 1, "output_tokens": 2}),
    ({"gen_ai.usage.input_tokens": "many", "llm.token_count.prompt": 3.0}, {"input_tokens": 3}),
    (
        {"langfuse.observation.usage_details": '{"input": 8, "output": 2, "input_cached_tokens": 4}'},
        {"input_tokens": 8, "output_tokens": 2, "cached_tokens": 4},
    ),
    ({"mlflow.chat.tokenUsage": '{"input_tokens": 8, "output_tokens": 2}'}, {"input_tokens": 8, "output_tokens": 2}),
    ({"gen_ai.usage.cache_creation.input_tokens": 3}, {"cache_write_tokens": 3}),
    ({"gen_ai.usage.reasoning_tokens": 3}, {"reasoning_tokens": 3}),
    ({"gen_ai.latency.time_to_first_token": 0.25, "gen_ai.response.time_to_first_chunk": 9.0}, {"ttft": 250_000_000}),
    ({"ai.response.msToFirstChunk": 31.5}, {"ttft": 31_500_000}),
    ({"ttft_ms": "42.13"}, {"ttft": 42_130_000}),
    ({"gen_ai.response.time_to_first_chunk": 1}, {"ttft": 10**9}),
    ({"gen_ai.response.time_to_first_chunk": float("inf")}, {"ttft": None}),
    (
        {"langfuse.observation.completion_start_time": '"2026-11-30T00:11:50.410000123Z"'},
        {"first_token_at": T0 + 410_000_123},
    ),
    ({"langfuse.observation.completion_start_time": "2026-11-30 01:11:50+01:00"}, {"first_token_at": T0}),
    ({"gen_ai.latency.time_in_queue": 0.5}, {"queue_time": 500_000_000}),
    ({"queue_time": "12.3ms"}, {"queue_time": 12_300_000}),
    ({"queue_time": "850µs"}, {"queue_time": 850_000}),
    ({"queue_time": "1m 2.5s"}, {"queue_time": 62_500_000_000}),
    ({"queue_time": 5}, {"queue_time": None}),
    ({"gen_ai.latency.time_in_model_prefill": 1.5}, {"prefill_time": 1_500_000_000}),
    ({"gen_ai.latency.time_in_model_decode": 1.5}, {"decode_time": 1_500_000_000}),
    ({"db.system": "mssql"}, {"db_system": "microsoft.sql_server"}),
    ({"http.method": "GET", "http.status_code": "429"}, {"http_method": "GET", "http_status": 429}),
    (
        {"http.url": "https://user:pw@API.openai.com:443/v1/chat/completions?key=1"},
        {"http_host": "api.openai.com", "http_route": "/v1/chat/completions"},
    ),
    ({"url.full": "http://[::1]:8000/v1/embeddings"}, {"http_host": "::1", "http_route": "/v1/embeddings"}),
    ({"url.full": "/v1/messages#x"}, {"http_host": None, "http_route": "/v1/messages"}),
    ({"url.full": "https://h/users/alice/profile"}, {"http_host": "h", "http_route": None}),
    ({"http.target": "/openai/deployments/secret/chat/completions?api-version=1"}, {"http_route": "/chat/completions"}),
    ({"url.path": "/v1beta/models/gemini:generateContent"}, {"http_route": ":generateContent"}),
    ({"http.route": "/healthz"}, {"http_route": "/healthz"}),
    ({"net.peer.name": "db.internal"}, {"http_host": "db.internal"}),
    ({"rpc.system": "grpc"}, {"rpc_system": "grpc"}),
    ({"messaging.operation": "publish", "messaging.operation.type": "send"}, {"messaging_operation": "send"}),
    ({"faas.trigger": "http"}, {"faas": "http"}),
    ({"mcp.method.name": "tools/call", "gen_ai.tool.name": "t"}, {"mcp_method": "tools/call", "tool": "t"}),
    ({"error.type": "timeout", "peer.service": "p"}, {"error_type": "timeout", "peer": "p"}),
    ({"logfire.span_type": "pending_span"}, {"span_type": "pending_span"}),
    ({"http.request.header.x-stainless-retry-count": ["2"]}, {"resend_count": 2}),
    ({"pydantic_ai.model_request.attempt": 1}, {"attempt": 1}),
    ({"tag.tags": ["seq:step:2", "retry:attempt:2"]}, {"attempt": 1}),
    ({"litellm.cache_hit": True, "llm.is_streaming": "False"}, {"cache_hit": 1, "streaming": 0}),
    ({"gen_ai.usage.input_tokens": 2**63}, {"input_tokens": None}),
]  # fmt: skip


@pytest.mark.parametrize(("attributes", "expected"), MAPPED, ids=[next(iter(item[0])) for item in MAPPED])
def test_columns(tmp_path, attributes, expected):
    row = only(read(write(tmp_path / "a", otlp(span(attributes))))[0])
    assert {key: row.get(key) for key in expected} == expected


def test_resource_attribute_that_holds_for_all_spans(tmp_path):
    assert only(read(write(tmp_path / "a", otlp(span(), resource={"faas.name": "f"})))[0])["faas"] == "f"


def events(*moments: tuple[int, str]) -> list[dict[str, object]]:
    return [{"timeUnixNano": str(T0 + after), "name": name} for after, name in moments]


def test_earliest_first_token_event(tmp_path):
    moments = events(
        (900, "gen_ai.content.completion.chunk"), (500, "gen_ai.content.completion.chunk"), (100, "exception")
    )
    assert only(read(write(tmp_path / "a", otlp(span(events=moments))))[0])["first_token_at"] == T0 + 500


def test_attribute_beats_event(tmp_path):
    made = span(
        {"langfuse.observation.completion_start_time": "2026-11-30T00:11:50.3Z"}, events=events((500, "first token"))
    )
    assert only(read(write(tmp_path / "a", otlp(made)))[0])["first_token_at"] == T0 + 300_000_000


def test_event_at_the_end_of_the_answer_is_no_first_token(tmp_path):
    late = events((999_500_000, "First Token Stream Event"))
    long_answer = span({"gen_ai.usage.output_tokens": 50}, events=late)
    table, summary = read(write(tmp_path / "a", otlp(long_answer)))
    assert "first_token_at" not in only(table)
    assert "1 first-token event stands at the end of the answer; not used" in summary.warnings
    one_token = span({"gen_ai.usage.output_tokens": 1}, events=late)
    assert only(read(write(tmp_path / "a", otlp(one_token)))[0])["first_token_at"] == T0 + 999_500_000


CANARY = "canary-4711"


def test_content_is_never_kept(tmp_path):
    keys = [
        *CONTENT_KEYS,
        "gen_ai.prompt.0.content",
        "llm.input_messages.0.message.content",
        "input.value.x",
        "anything.else",
    ]
    attributes = dict.fromkeys(keys, CANARY) | {
        "url.full": f"https://h/{CANARY}?q={CANARY}", "http.target": f"/{CANARY}/v1/chat/completions?{CANARY}",
        "langfuse.observation.usage_details": f'{{"input": 1, "{CANARY}": 2}}', "tag.tags": [CANARY],
        "http.request.header.authorization": [CANARY],
    }  # fmt: skip
    event = {
        "timeUnixNano": str(T0),
        "name": "first token",
        "attributes": [{"key": "k", "value": {"stringValue": CANARY}}],
    }
    made = otlp(
        span(attributes, events=[event], status={"code": 2, "message": CANARY}),
        resource={"service.name": "s", "x": CANARY},
    )
    tags = {key: item for key, item in attributes.items() if isinstance(item, str)}
    logs = [{"timestamp": 1, "fields": [{"key": "event", "value": "first token"}, {"key": "prompt", "value": CANARY}]}]
    path = write(tmp_path / "a", compact(made) + "\n" + compact(jaeger(jaeger_span(tags, logs=logs))))
    table, summary = read(path, keep=[*CONTENT_KEYS, "http.request.header.authorization", "gen_ai.prompt.0.content"])
    assert table.n == 2
    assert CANARY.encode() not in pickle.dumps((table, summary))
    assert "never kept" in summary.warnings[0]


SCALAR = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12)
ODD = st.sampled_from(["http://[::1", "1ms2", "//", '"', "{}", '{"input":[]}', "²", "1e400", "."])


@given(SCALAR | st.lists(SCALAR, max_size=3) | ODD)
def test_converters_take_anything(value):
    for column in ATTRIBUTE_COLUMNS.values():
        for source in column.sources:
            made = source.convert(value)
            if column.storage == "text":
                assert made is None or (isinstance(made, str) and made)
            else:
                assert made is None or (isinstance(made, int) and -(2**63) < made < 2**63)


@given(SCALAR)
def test_kinds_and_statuses_take_anything(value):
    assert 0 <= KINDS[value] <= 5
    assert 0 <= STATUSES[value] <= 2
    assert IS_FIRST_TOKEN[value] in (True, False)


def test_what_counts_as_content():
    for key in (
        "gen_ai.prompt",
        "gen_ai.completion.0.content",
        "db.statement",
        "http.request.header.cookie",
        "input.value",
    ):
        assert is_content(key), key
    for key in (
        "gen_ai.prompt.name",
        "gen_ai.request.model",
        "db.system",
        "http.request.header.x-request-id",
        "tenant",
    ):
        assert not is_content(key), key
    assert not any(is_content(key) for key in SOURCES if key not in ("url.full", "http.url", "http.target"))


def test_column_of():
    assert column_of("gen_ai.system") == "provider"
    assert column_of("tenant") is None
    assert len(ATTRIBUTE_COLUMNS) == len({*ATTRIBUTE_COLUMNS})
