"""One example per family of conventions: which attribute makes which component."""

from typing import Any

import pytest

from latshift.components import COMPONENTS, Rule, classify, tables
from latshift.components.engines import ENGINE_SPANS
from latshift.components.hosts import BARE_PATHS, HOSTS, PATHS
from latshift.components.names import NAME_RULES, component_of_name
from tests.components.builder import by_id, components, forest, single

CASES: list[tuple[str, dict[str, Any]]] = [
    # kind hints of frameworks
    ("llm", {"kind_hint": "openinference:LLM"}),
    ("embedding", {"kind_hint": "openinference:EMBEDDING"}),
    ("retrieval", {"kind_hint": "openinference:RETRIEVER"}),
    ("rerank", {"kind_hint": "openinference:RERANKER"}),
    ("tool", {"kind_hint": "openinference:TOOL"}),
    ("agent", {"kind_hint": "openinference:CHAIN"}),
    ("app", {"kind_hint": "openinference:GUARDRAIL"}),
    ("llm", {"kind_hint": "langfuse:generation"}),
    ("app", {"kind_hint": "langfuse:span"}),
    ("llm", {"kind_hint": "mlflow:CHAT_MODEL"}),
    ("retrieval", {"kind_hint": "mlflow:RETRIEVER"}),
    ("llm", {"kind_hint": "langsmith:llm"}),
    ("retrieval", {"kind_hint": "langsmith:retriever", "operation": "embeddings"}),  # trap T7
    ("agent", {"kind_hint": "langsmith:prompt", "operation": "chat"}),  # trap T7
    ("agent", {"kind_hint": "traceloop:workflow"}),
    ("agent", {"kind_hint": "traceloop:task"}),
    ("rerank", {"kind_hint": "traceloop:task", "name": "rerank_passages.task"}),
    ("llm", {"kind_hint": "llm.request.type:chat"}),
    ("embedding", {"kind_hint": "llm.request.type:embedding"}),
    ("llm", {"kind_hint": "agentops:llm"}),
    ("agent", {"kind_hint": "spring:chat_client", "operation": "framework"}),
    ("vector-db", {"kind_hint": "spring:vector_store"}),
    ("llm", {"kind_hint": "vercel:ai.streamText.doStream"}),
    ("agent", {"kind_hint": "vercel:ai.streamText", "model": "m", "input_tokens": 3}),  # trap T6
    ("embedding", {"kind_hint": "vercel:ai.embedMany.doEmbed"}),
    ("tool", {"kind_hint": "vercel:ai.toolCall"}),
    ("llm", {"kind_hint": "haystack:OpenAIGenerator"}),
    ("embedding", {"kind_hint": "haystack:SentenceTransformersTextEmbedder"}),
    ("rerank", {"kind_hint": "haystack:TransformersSimilarityRanker"}),
    ("app", {"kind_hint": "haystack:PromptBuilder"}),
    # gen_ai.operation.name, new, old and home-made
    ("llm", {"operation": "chat", "kind": "client"}),
    ("llm", {"operation": "text_completions"}),
    ("llm", {"operation": "generate_content"}),
    ("embedding", {"operation": "embeddings"}),
    ("retrieval", {"operation": "retrieval"}),
    ("rerank", {"operation": "rerank"}),
    ("tool", {"operation": "execute_tool"}),
    ("agent", {"operation": "invoke_agent"}),
    ("agent", {"operation": "invoke_agent", "kind": "server"}),
    ("llm", {"model": "m", "provider": "openai"}),
    ("embedding", {"model": "m", "input_tokens": 3, "name": "openai.embeddings"}),
    ("gateway", {"operation": "chat", "kind": "server"}),
    ("gateway", {"model": "m", "output_tokens": 3, "kind": "server"}),
    # engines and gateways
    ("llm", {"name": "llm_request", "kind": "server", "scope": "vllm.tracing.otel"}),
    ("llm", {"name": "llm_request", "kind": "server", "model": "m", "output_tokens": 5}),
    ("app", {"name": "Load weights", "scope": "vllm.tracing.otel"}),
    ("llm", {"name": " Req 12ab", "scope": "sglang server"}),
    ("llm", {"name": "Scheduler [TP 0] (host:1 | pid:2)", "scope": "sglang server"}),
    ("queue", {"name": "prefill_waiting"}),
    ("llm", {"name": "InferRequest", "kind": "server", "scope": "triton-server"}),
    ("llm", {"name": "generate_stream", "service": "text-generation-inference.router"}),
    ("queue", {"name": "queued", "service": "text-generation-inference.router"}),
    ("llm", {"name": "serve", "kind": "server", "queue_time": 5, "ttft": 9}),
    ("llm", {"name": "engine.generate"}),
    ("gateway", {"name": "kv_router.select_worker"}),
    ("queue", {"name": "kv_router.schedule"}),
    ("gateway", {"name": "Received Proxy Server Request", "kind": "server", "operation": "acompletion"}),
    ("cache", {"name": "redis", "scope": "litellm"}),
    ("auth", {"name": "auth /chat/completions", "scope": "litellm"}),
    ("gateway", {"name": "llm_d.epp.scorer.prefix_cache"}),
    ("gateway", {"name": "proxy_route_to_replica", "kind": "server"}),
    ("llm", {"name": "call_llm", "scope": "gcp.vertex.agent"}),
    # MCP, tools, databases, messaging, RPC, HTTP, FaaS
    ("tool", {"mcp_method": "tools/call", "kind": "client"}),
    ("cache", {"db_system": "redis", "kind": "client"}),
    ("cache", {"db_system": "valkey", "kind": "client"}),
    ("vector-db", {"db_system": "qdrant", "kind": "client"}),
    ("vector-db", {"db_system": "pg_vector", "kind": "client"}),
    ("database", {"db_system": "postgresql", "kind": "client"}),
    ("database", {"db_system": "microsoft.sql_server", "kind": "client"}),
    ("messaging", {"messaging_system": "kafka", "kind": "producer"}),
    ("messaging", {"kind": "consumer"}),
    ("rpc", {"rpc_system": "grpc", "kind": "client", "name": "shop.Catalogue/List"}),
    ("auth", {"rpc_system": "grpc", "kind": "client", "name": "AuthService/Check"}),
    ("http", {"http_method": "GET", "kind": "client", "name": "GET"}),
    ("http", {"http_method": "GET", "kind": "internal", "name": "GET"}),
    ("app", {"http_method": "GET", "kind": "server", "name": "GET /things"}),
    ("app", {"faas": "thumbnailer", "kind": "server"}),
    ("rpc", {"faas": "thumbnailer", "kind": "client"}),
    ("rpc", {"kind": "client", "name": "recommend"}),
    ("http", {"name": "dns.lookup"}),
    ("app", {"name": "POST /chat http send"}),
    # model hosts and paths on bare HTTP spans
    ("llm", {"http_method": "POST", "kind": "client", "http_host": "api.openai.com"}),
    ("embedding", {"http_method": "POST", "kind": "client", "http_host": "api.x.ai", "http_route": "/v1/embeddings"}),
    ("llm", {"http_method": "POST", "kind": "client", "http_host": "x.openai.azure.com:443"}),
    ("llm", {"http_method": "POST", "kind": "client", "http_host": "bedrock-runtime.eu-west-1.amazonaws.com"}),
    ("rerank", {"http_method": "POST", "kind": "client", "http_host": "api.cohere.com", "http_route": "/v2/rerank"}),
    ("llm", {"http_method": "POST", "kind": "client", "http_host": "10.0.0.7", "http_route": "/v1/chat/completions"}),
    ("vector-db", {"http_method": "POST", "kind": "client", "http_host": "idx-1.svc.pinecone.io"}),
    ("llm", {"kind": "client", "http_host": "api.anthropic.com", "http_route": "/v1/messages"}),
    ("llm", {"kind": "client", "http_method": "POST", "http_route": ":streamGenerateContent"}),
    ("rpc", {"kind": "client", "http_host": "prices.internal"}),
    ("feature-store", {"http_method": "POST", "kind": "client", "http_host": "feature-store.internal"}),
    ("auth", {"http_method": "POST", "kind": "client", "http_host": "x", "peer": "oauth-service"}),
]  # fmt: skip

NAMES = [
    ("queue", "pool.acquire"),
    ("queue", "db_pool.acquire_connection"),
    ("queue", "gpu.wait_for_slot"),
    ("queue", "llm.queue"),
    ("queue", "queued"),
    ("feature-store", "feast.get_online_features"),
    ("feature-store", "featureStore.lookup"),
    ("feature-store", "tecton.query"),
    ("auth", "auth.verify_token"),
    ("auth", "AuthorizeRequest"),
    ("auth", "opa.decide"),
    ("auth", "refresh_token"),
    ("auth", "JWTDecode"),
    ("cache", "embedding_cache.get"),
    ("cache", "redis GET"),
    ("rerank", "rerank_documents"),
    ("rerank", "cross-encoder"),
    ("embedding", "embed_query"),
    ("embedding", "createEmbedding"),
    ("vector-db", "qdrant.search"),
    ("vector-db", "vectorSearch"),
    ("retrieval", "retrieve_context"),
    ("retrieval", "RAGPipeline"),
    ("tool", "tool.weather"),
    ("llm", "llm.call"),
    ("llm", "openai.chat"),
    ("llm", "generate_answer"),
    ("gateway", "ai-gateway"),
    ("agent", "orchestrator"),
    ("database", "sql.select"),
    ("messaging", "publish usage"),
    ("app", "count_tokens"),
    ("app", "first_token"),
    ("app", "feature_flags.get"),
    ("app", "build_prompt"),
    ("app", "author_list"),
    ("app", ""),
]


@pytest.mark.parametrize(("component", "columns"), CASES, ids=[f"{c}: {v}" for c, v in CASES])
def test_attributes_decide(component: str, columns: dict[str, Any]) -> None:
    assert single(**columns)[0] == component


@pytest.mark.parametrize(("component", "name"), NAMES)
def test_names_are_the_last_resort(component: str, name: str) -> None:
    assert single(name=name)[0] == component


def test_the_rule_says_why() -> None:
    assert single(operation="chat")[1] == "gen_ai.operation.name=chat"
    assert single(kind_hint="openinference:LLM")[1] == "openinference.span.kind=LLM"
    assert single(db_system="redis")[1] == "db.system=redis"
    assert single(name="auth.verify")[1] == "name has 'auth'"
    assert single(name="compute")[1] == "default"


def test_a_server_root_is_the_application_whatever_its_name() -> None:
    spans = forest(
        {"id": "a", "trace": "1", "name": "POST /auth/login", "kind": "server", "http_method": "POST"},
        {"id": "b", "trace": "2", "name": "GET", "http_method": "GET"},
        {"id": "c", "trace": "3", "name": "rag.query"},
        {"id": "d", "trace": "4", "name": "usage process", "kind": "consumer", "messaging_system": "kafka"},
        {"id": "e", "trace": "5", "name": "chat m", "kind": "client", "operation": "chat"},
        {"id": "f", "trace": "6", "name": "POST /v1/chat/completions", "kind": "server", "operation": "chat"},
        {"id": "g", "trace": "7", "name": "POST", "kind": "client", "http_method": "POST"},
        {"id": "h", "trace": "8", "name": "AuthService/Check", "kind": "server", "rpc_system": "grpc"},
    )
    expected = {"a": "app", "b": "app", "c": "app", "d": "app", "e": "llm", "f": "gateway", "g": "http", "h": "app"}
    assert components(spans) == expected


def test_the_root_of_an_incomplete_request_is_judged_by_its_name() -> None:
    spans = forest({"id": "a", "parent": "lost", "name": "auth.verify"})
    assert components(spans) == {"a": "auth"}


def test_rules_come_first_in_their_order_and_need_all_their_globs() -> None:
    spans = forest(
        {"id": "root", "kind": "server"},
        {"id": "a", "parent": "root", "name": "pg read", "db_system": "redis", "service": "orders-1"},
        {"id": "b", "parent": "root", "name": "pg read", "db_system": "redis", "service": "other"},
        {"id": "c", "parent": "root", "name": "x", "attr:region": "eu-1", "input_tokens": 12},
        {"id": "d", "parent": "root", "name": "PGS read"},
    )
    rules = [
        Rule("database/postgresql", name="pg *", service="orders-*"),
        Rule("database/other", name="pg *"),
        Rule("search", attributes={"region": "eu-?", "input_tokens": "1*"}),
        Rule("never", attributes={"absent": "*"}),
    ]
    found = components(spans, *rules)
    assert found == {"root": "app", "a": "database/postgresql", "b": "database/other", "c": "search", "d": "app"}


def test_classes_follow_the_base_name_the_option_and_the_rule() -> None:
    spans = forest(
        {"id": "root", "kind": "server"},
        {"id": "a", "parent": "root", "name": "one"},
        {"id": "b", "parent": "root", "name": "two"},
        {"id": "c", "parent": "root", "name": "pool.acquire"},
        {"id": "d", "parent": "root", "name": "three", "operation": "embeddings"},
    )
    rules = (Rule("llm/openai", name="one"), Rule("mine", name="two", klass="queue"))
    assert classify(spans, rules).klass == {
        "app": "non-model", "llm/openai": "model", "mine": "queue", "queue": "queue", "embedding": "model",
    }  # fmt: skip
    assert classify(spans, rules, ["llm/openai"]).klass["embedding"] == "non-model"
    assert classify(spans).class_of("app") == "non-model"
    assert classify(spans, rules).class_of("llm/openai", "llm/openai.queue") == "queue"


def test_what_no_rule_knew_is_marked() -> None:
    spans = forest({"id": "root", "kind": "server"}, {"id": "a", "parent": "root", "name": "compute"})
    assert by_id(spans, classify(spans).known) == {"root": True, "a": False}


def test_tables_name_only_built_in_components() -> None:
    named = {span.component for span in ENGINE_SPANS} | {rule.component for rule in NAME_RULES}
    named |= {component for table in (HOSTS, PATHS, BARE_PATHS) for _, component in table}
    named |= {component for kinds in tables.KINDS.values() for component in kinds.values()}
    named |= set(tables.OPERATIONS.values())
    assert named <= set(COMPONENTS)


def test_tables_are_lower_case_and_phases_are_known() -> None:
    assert all(value == value.lower() for kinds in tables.KINDS.values() for value in kinds)
    assert {span.phase for span in ENGINE_SPANS} <= {"", "whole", *tables.PHASES}
    assert set(tables.KINDS) | set(tables.KIND_GLOBS) <= set(tables.KIND_KEYS)


def test_long_and_odd_names_do_no_harm() -> None:
    assert component_of_name("x" * 100_000) is None
    assert component_of_name("[/id] 👩 ‮ \ud800") is None


def test_an_empty_forest_is_classified() -> None:
    result = classify(forest())
    assert len(result.owner) == 0 and result.phases.names == []
