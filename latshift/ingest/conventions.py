"""Which attribute of which convention fills which column: tables, not code.

Sources: llm_conventions.md sections 1.2 and 1.5 (OpenTelemetry), 2 and 3 (engines and frameworks), 4 (retries, caches,
queues) and 5.1 (time to first token). Within a column the first source that a span has wins. Attributes not listed are
dropped, unless the person asks for them by name; content of prompts, answers and queries is never kept.

Where one key means different things, the column holds what was written: SGLang's prefill time includes the queue
(trap T1), so whoever uses `prefill_time` must look at `scope`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from latshift.ingest import converters as to
from latshift.ingest.converters import NumberConverter, TextConverter


@dataclass(frozen=True)
class Source:
    """An attribute key, and how its value becomes the column's."""

    key: str
    convert: TextConverter | NumberConverter


@dataclass(frozen=True)
class AttributeColumn:
    """A canonical column that is filled from attributes.

    Attributes:
        name: Its name. storage: "text" is a `Coded` column; "int" and "flag" (0 or 1) are int64, NULL where absent.
        unit: "ns", "ns since the epoch", "tokens" or "". sources: Where it comes from, best first.
    """

    name: str
    storage: Literal["text", "int", "flag"]
    unit: str
    sources: tuple[Source, ...]


PROVIDERS: Mapping[str, str] = MappingProxyType(
    {
        "az.ai.openai": "azure.ai.openai", "az.ai.inference": "azure.ai.inference", "vertex_ai": "gcp.vertex_ai",
        "gemini": "gcp.gemini", "xai": "x_ai",
    }
)  # fmt: skip
"""Old values of gen_ai.system to today's gen_ai.provider.name."""

DATABASES: Mapping[str, str] = MappingProxyType(
    {
        "mssql": "microsoft.sql_server", "oracle": "oracle.db", "dynamodb": "aws.dynamodb",
        "cosmosdb": "azure.cosmosdb", "redshift": "aws.redshift", "spanner": "gcp.spanner",
        "db2": "ibm.db2", "hanadb": "sap.hana", "adabas": "softwareag.adabas",
    }
)  # fmt: skip
"""Old values of db.system to today's db.system.name."""

SILENT_KINDS = frozenset({"unknown", "span", "event", "undefined", "none"})
"""Values of frameworks' kind attributes that say nothing; the next framework's is asked."""


def _text(name: str, *sources: str | tuple[str, TextConverter]) -> AttributeColumn:
    listed = tuple(Source(key, to.text) if isinstance(key, str) else Source(*key) for key in sources)
    return AttributeColumn(name, "text", "", listed)


def _number(name: str, unit: str, *sources: str | tuple[str, NumberConverter]) -> AttributeColumn:
    listed = tuple(Source(key, to.integer) if isinstance(key, str) else Source(*key) for key in sources)
    return AttributeColumn(name, "int", unit, listed)


def _flag(name: str, *keys: str) -> AttributeColumn:
    return AttributeColumn(name, "flag", "", tuple(Source(key, to.flag) for key in keys))


def _hint(key: str, prefix: str) -> tuple[str, TextConverter]:
    return key, to.hint(prefix, SILENT_KINDS)


USAGE, MLFLOW = "langfuse.observation.usage_details", "mlflow.chat.tokenUsage"

TEXTS = (
    _text(
        "kind_hint",
        _hint("openinference.span.kind", "openinference"),
        _hint("langfuse.observation.type", "langfuse"),
        _hint("mlflow.spanType", "mlflow"),
        _hint("langsmith.span.kind", "langsmith"),
        _hint("traceloop.span.kind", "traceloop"),
        _hint("llm.request.type", "llm.request.type"),
        _hint("agentops.span.kind", "agentops"),
        _hint("spring.ai.kind", "spring"),
        _hint("ai.operationId", "vercel"),
        _hint("haystack.component.type", "haystack"),
    ),
    _text("operation", "gen_ai.operation.name"),
    _text(
        "model",
        "gen_ai.request.model", "gen_ai.response.model", "llm.request.model", "llm.request.model_name",
        "llm.model_name", "llm.response.model_name", "llm.response.model", "embedding.model_name",
        "reranker.model_name", "ai.model.id", "ai.response.model", ("langfuse.observation.model.name", to.json_text),
        ("mlflow.llm.model", to.json_text), "litellm.provider.model", "triton.model_name",
    ),
    _text(
        "provider",
        *((key, to.renamed(PROVIDERS)) for key in (
            "gen_ai.provider.name", "gen_ai.system", "llm.provider", "llm.system", "ai.model.provider",
            "mlflow.llm.provider",
        )),
    ),
    _text("response_id", "gen_ai.response.id", "ai.response.id"),
    _text(
        "request_id",
        "gen_ai.request.id", "http.response.header.x-request-id", "http.response.header.request-id",
        "http.request.header.x-request-id", "azure.service.request.id", "az.service_request_id", "aws.request_id",
        "guid:x-request-id", "x_request_id", "x_dynamo_request_id", "triton.request_id", "rid", "litellm.call_id",
        "llm_d.pd_proxy.request_id",
    ),
    _text("db_system", ("db.system.name", to.renamed(DATABASES)), ("db.system", to.renamed(DATABASES))),
    _text("http_method", "http.request.method", "http.method"),
    _text(
        "http_host",
        ("server.address", to.host), ("url.full", to.url_host), ("http.url", to.url_host), ("net.peer.name", to.host),
        ("peer.hostname", to.host), ("http.host", to.host), ("peer.address", to.host),
    ),
    _text(
        "http_route",
        ("url.full", to.route), ("url.path", to.route), ("http.url", to.route), ("http.target", to.route),
        ("http.route", to.route),
    ),
    _text("rpc_system", "rpc.system.name", "rpc.system"),
    _text("messaging_system", "messaging.system"),
    _text("messaging_operation", "messaging.operation.type", "messaging.operation", "messaging.operation.name"),
    _text("faas", "faas.name", "faas.trigger", "faas.invoked_name"),
    _text("mcp_method", "mcp.method.name"),
    _text("tool", "gen_ai.tool.name", "tool.name", "ai.toolCall.name"),
    _text("agent", "gen_ai.agent.name", "agent.name", "gen_ai.workflow.name"),
    _text("error_type", "error.type", "error_kind"),
    _text("span_type", ("logfire.span_type", to.lower)),
    _text("peer", "service.peer.name", "peer.service"),
)  # fmt: skip

NUMBERS = (
    _number(
        "input_tokens", "tokens",
        "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.usage.prompt_tokens",
        "llm.token_count.prompt", "ai.usage.inputTokens", "ai.usage.promptTokens", "ai.usage.tokens",
        (USAGE, to.json_field("input")), (MLFLOW, to.json_field("input_tokens")), "input_tokens",
    ),
    _number(
        "output_tokens", "tokens",
        "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.usage.completion_tokens",
        "llm.token_count.completion", "ai.usage.outputTokens", "ai.usage.completionTokens",
        (USAGE, to.json_field("output")), (MLFLOW, to.json_field("output_tokens")), "output_tokens",
    ),
    _number(
        "cached_tokens", "tokens",
        "gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens", "gen_ai.usage.cached_tokens",
        "llm.token_count.prompt_details.cache_read", "ai.usage.cachedInputTokens",
        "ai.usage.inputTokenDetails.cacheReadTokens",
        (USAGE, to.json_field("input_cached_tokens", "cache_read_input_tokens", "input_cache_read")),
        (MLFLOW, to.json_field("cache_read_input_tokens")),
    ),
    _number(
        "cache_write_tokens", "tokens",
        "gen_ai.usage.cache_write.input_tokens", "gen_ai.usage.cache_creation.input_tokens",
        "gen_ai.usage.cache_creation_input_tokens", "llm.token_count.prompt_details.cache_write",
        "llm.token_count.prompt_details.cache_creation", "ai.usage.inputTokenDetails.cacheWriteTokens",
        (USAGE, to.json_field("cache_creation_input_tokens", "input_cache_creation")),
        (MLFLOW, to.json_field("cache_creation_input_tokens")),
    ),
    _number(
        "reasoning_tokens", "tokens",
        "gen_ai.usage.reasoning.output_tokens", "gen_ai.usage.reasoning_tokens", "llm.usage.reasoning_tokens",
        "llm.token_count.completion_details.reasoning", "ai.usage.reasoningTokens",
        "ai.usage.outputTokenDetails.reasoningTokens",
        (USAGE, to.json_field("output_reasoning_tokens", "reasoning_tokens", "output_reasoning")),
    ),
    _number("http_status", "", "http.response.status_code", "http.status_code"),
    _number(
        "resend_count", "",
        "http.request.resend_count", "http.resend_count", "http.retry_count", "retry.count",
        "http.request.header.x-stainless-retry-count", "http.request.header.x_stainless_retry_count",
    ),
    _number("attempt", "0 is the first", "pydantic_ai.model_request.attempt", ("tag.tags", to.retry_tag)),
    _number("batch_size", "", "messaging.batch.message_count", "db.operation.batch.size", "batch_size"),
    _number(
        "ttft", "ns",
        ("gen_ai.latency.time_to_first_token", to.seconds),
        ("gen_ai.response.time_to_first_chunk", to.seconds),
        ("gen_ai.client.operation.time_to_first_chunk", to.seconds),
        ("ai.response.msToFirstChunk", to.milliseconds),
        ("ai.stream.msToFirstChunk", to.milliseconds),
        ("gen_ai.streaming.time_to_first_token", to.seconds),
        ("ttft_ms", to.milliseconds),
        ("time_to_first_token_ms", to.milliseconds),
        ("llm_d.pd_proxy.true_ttft_ms", to.milliseconds),
    ),
    _number(
        "first_token_at", "ns since the epoch",
        ("langfuse.observation.completion_start_time", to.instant), ("first_token_time", to.instant),
    ),
    _number("queue_time", "ns", ("gen_ai.latency.time_in_queue", to.seconds), ("queue_time", to.duration_text)),
    _number("prefill_time", "ns", ("gen_ai.latency.time_in_model_prefill", to.seconds)),
    _number("decode_time", "ns", ("gen_ai.latency.time_in_model_decode", to.seconds)),
)  # fmt: skip

FLAGS = (
    _flag("cache_hit", "litellm.cache_hit"),
    _flag(
        "streaming",
        "gen_ai.request.stream", "gen_ai.is_streaming", "gen_ai.request.streaming", "llm.is_streaming",
        "litellm.request.streaming", "langsmith.request.streaming", "spring.ai.chat.client.stream",
    ),
)  # fmt: skip

ATTRIBUTE_COLUMNS: Mapping[str, AttributeColumn] = MappingProxyType(
    {column.name: column for column in (*TEXTS, *NUMBERS, *FLAGS)}
)
"""All canonical attribute columns by name."""

SOURCES: Mapping[str, tuple[tuple[str, int], ...]] = MappingProxyType(
    {
        key: tuple(
            (column.name, rank)
            for column in ATTRIBUTE_COLUMNS.values()
            for rank, source in enumerate(column.sources)
            if source.key == key
        )
        for key in {source.key for column in ATTRIBUTE_COLUMNS.values() for source in column.sources}
    }
)
"""Attribute key to the columns it fills, with its place among each column's sources."""

RESOURCE_KEYS = frozenset({"faas.name"})
"""Keys that exporters write on the resource and that hold for all its spans."""

EVENT_RANK = len(ATTRIBUTE_COLUMNS["first_token_at"].sources)
"""Place of first-token events among the sources of `first_token_at`: behind all attributes."""

HOST_KEYS = (
    "host.name", "hostname", "host.id", "k8s.node.name", "k8s.pod.name", "container.id", "host.ip", "ip",
)  # fmt: skip
"""Resource attributes that name the machine, the best first."""

CONTENT_KEYS = frozenset(
    {
        "gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.system_instructions", "gen_ai.tool.definitions",
        "gen_ai.tool.call.arguments", "gen_ai.tool.call.result", "gen_ai.retrieval.documents",
        "gen_ai.retrieval.query.text", "input.value", "output.value", "llm.prompts", "llm.completions", "llm.tools",
        "embedding.text", "reranker.query", "tool.parameters", "tool_arguments", "tool_response", "final_result",
        "all_messages_events", "pydantic_ai.all_messages", "events", "traceloop.entity.input",
        "traceloop.entity.output", "ai.response.text", "ai.response.object", "ai.response.toolCalls",
        "ai.response.reasoning", "ai.toolCall.args", "ai.toolCall.result", "ai.value", "ai.values", "ai.documents",
        "ai.ranking", "ai.result.text", "ai.result.object", "ai.schema", "mlflow.spanInputs", "mlflow.spanOutputs",
        "mlflow.chat.messages", "mlflow.chat.tools", "agentops.entity.input", "agentops.entity.output",
        "haystack.component.input", "haystack.component.output", "haystack.pipeline.input_data",
        "haystack.pipeline.output_data", "mcp.request.argument", "mcp.response.value", "db.statement",
        "db.query.text", "db.vector.query.content", "sql", "sql.query", "graphql.document", "url.query", "url.full",
        "http.url", "http.target", "exception.message", "exception.stacktrace", "error.message", "parameters",
        "logfire.msg", "hidden_params", "request_data", "response_data",
    }
)  # fmt: skip
"""Attributes that hold what people wrote, asked or got, or secrets."""

CONTENT_PREFIXES = (
    "gen_ai.prompt", "gen_ai.completion", "gen_ai.content", "llm.input_messages", "llm.output_messages",
    "llm.prompt_template", "llm.choices", "retrieval.documents", "reranker.input_documents",
    "reranker.output_documents", "embedding.embeddings", "input.", "output.", "ai.prompt", "ai.embedding",
    "traceloop.prompt", "langfuse.observation.input", "langfuse.observation.output", "langfuse.trace.input",
    "langfuse.trace.output", "langsmith.inputs", "langsmith.outputs", "gcp.vertex.agent.", "db.query.parameter",
    "db.statement.", "spring.ai.tool.call.", "http.request.body", "http.response.body", "messaging.message.body",
    "http.request.header.authorization", "http.request.header.cookie", "http.request.header.proxy",
    "http.request.header.x-api-key", "http.request.header.api-key", "http.request.header.x-goog-api-key",
    "http.request.header.x-amz-security-token", "http.response.header.set-cookie",
)  # fmt: skip
"""Likewise, for keys that begin so."""

NOT_CONTENT = frozenset({"gen_ai.prompt.name", "gen_ai.prompt.version", "input.mime_type", "output.mime_type"})
"""Keys that begin like content but hold none."""


def is_content(key: str) -> bool:
    """Return whether an attribute may hold content of prompts, answers or queries, or secrets."""
    plain = key.replace("_", "-") if ".header." in key else key
    return key not in NOT_CONTENT and (key in CONTENT_KEYS or plain.startswith(CONTENT_PREFIXES))


def column_of(key: str) -> str | None:
    """Return the canonical column that an attribute key fills first, or None if it fills none."""
    return SOURCES[key][0][0] if key in SOURCES else None


def allowed(keep: Collection[str]) -> list[str]:
    """Return the keys that may be kept as asked, sorted; content is left out."""
    return sorted({key for key in keep if key and not is_content(key)})
