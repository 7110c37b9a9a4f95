"""What the conventions say, as data: which attribute value means which component.

Sources: llm_conventions.md sections 1 (OpenTelemetry), 3 (frameworks) and 5.0 (precedence). Values are lower case.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

MODEL_COMPONENTS = frozenset({"llm", "embedding", "rerank"})
"""Components of class `model` unless the user names others."""

QUEUE = "queue"
"""The component of spans that wait for a slot, and the name of its class."""

CLASSES = ("model", "queue", "non-model")
"""The classes, in the order in which people read them."""

PHASES = ("queue", "prefill", "decode", "other", "first-token", "stream")
"""What the phases of a model call are called, after the component and a dot."""

COMPONENTS = (
    "llm", "embedding", "rerank", "retrieval", "vector-db", "database", "cache", "feature-store", "auth", "tool",
    "agent", "http", "rpc", "messaging", "gateway", "queue", "app",
)  # fmt: skip
"""The built-in component names."""

KIND_KEYS: Mapping[str, str] = MappingProxyType(
    {
        "openinference": "openinference.span.kind",
        "langfuse": "langfuse.observation.type",
        "mlflow": "mlflow.spanType",
        "langsmith": "langsmith.span.kind",
        "traceloop": "traceloop.span.kind",
        "llm.request.type": "llm.request.type",
        "agentops": "agentops.span.kind",
        "spring": "spring.ai.kind",
        "vercel": "ai.operationId",
        "haystack": "haystack.component.type",
    }
)
"""Prefix of a kind hint to the attribute it was read from."""

KINDS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "openinference": {
            "llm": "llm", "embedding": "embedding", "retriever": "retrieval", "reranker": "rerank", "tool": "tool",
            "chain": "agent", "agent": "agent", "prompt": "agent", "decision": "agent",
            "guardrail": "app", "evaluator": "app",
        },
        "langfuse": {
            "generation": "llm", "embedding": "embedding", "agent": "agent", "tool": "tool", "chain": "agent",
            "retriever": "retrieval", "evaluator": "app", "guardrail": "app",
        },
        "mlflow": {
            "chat_model": "llm", "llm": "llm", "embedding": "embedding", "retriever": "retrieval",
            "reranker": "rerank", "tool": "tool", "agent": "agent", "chain": "agent", "workflow": "agent",
            "memory": "retrieval", "parser": "app", "guardrail": "app", "evaluator": "app",
        },
        "langsmith": {
            "llm": "llm", "chain": "agent", "tool": "tool", "retriever": "retrieval", "embedding": "embedding",
            "prompt": "agent", "parser": "app",
        },
        "traceloop": {"workflow": "agent", "agent": "agent", "tool": "tool"},
        "llm.request.type": {
            "chat": "llm", "completion": "llm", "text_completion": "llm", "embedding": "embedding", "rerank": "rerank",
        },
        "agentops": {
            "session": "agent", "workflow": "agent", "agent": "agent", "chain": "agent", "tool": "tool", "llm": "llm",
            "guardrail": "app",
        },
        "spring": {"chat_client": "agent", "advisor": "agent", "tool_call": "tool", "vector_store": "vector-db"},
        "vercel": {
            "ai.generatetext.dogenerate": "llm", "ai.streamtext.dostream": "llm",
            "ai.generateobject.dogenerate": "llm", "ai.streamobject.dostream": "llm",
            "ai.embed.doembed": "embedding", "ai.embedmany.doembed": "embedding", "ai.rerank.dorerank": "rerank",
            "ai.toolcall": "tool",
            # The names without a second part wrap the call: they carry its usage but are orchestration (trap T6).
            "ai.generatetext": "agent", "ai.streamtext": "agent", "ai.generateobject": "agent",
            "ai.streamobject": "agent", "ai.embed": "agent", "ai.embedmany": "agent", "ai.rerank": "agent",
        },
    }
)  # fmt: skip
"""Kind hints that say what a span is. A value not listed (unknown, span, event, ...) decides nothing."""

WEAK_KINDS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "traceloop": {"task": "agent"},
        "mlflow": {"task": "agent"},
        "agentops": {"task": "agent", "operation": "agent"},
    }
)
"""Kind hints that wrap any function: heard only after the span's name has said nothing."""

KIND_GLOBS: Mapping[str, tuple[tuple[str, str], ...]] = MappingProxyType(
    {
        "haystack": (
            ("*generator", "llm"), ("*embedder", "embedding"), ("*retriever", "retrieval"), ("*ranker", "rerank"),
            ("*router", "app"), ("*joiner", "app"), ("*builder", "app"), ("*toolinvoker", "tool"),
            ("*documentwriter", "database"), ("*agent", "agent"), ("*pipeline", "agent"),
        ),
    }
)  # fmt: skip
"""Kind hints that hold a class name."""

OPERATIONS: Mapping[str, str] = MappingProxyType(
    {
        "chat": "llm", "text_completion": "llm", "text_completions": "llm", "completion": "llm", "acompletion": "llm",
        "generate_content": "llm", "llm_request": "llm", "fetch_response": "llm", "responses": "llm",
        "embeddings": "embedding", "embedding": "embedding", "aembedding": "embedding",
        "rerank": "rerank", "arerank": "rerank",
        "retrieval": "retrieval", "vector_db_retrieve": "retrieval", "search_memory": "retrieval",
        "create_memory": "database", "update_memory": "database", "upsert_memory": "database",
        "delete_memory": "database", "create_memory_store": "database", "delete_memory_store": "database",
        "execute_tool": "tool",
        "invoke_agent": "agent", "create_agent": "agent", "invoke_workflow": "agent", "plan": "agent",
        "framework": "agent",
    }
)  # fmt: skip
"""Values of gen_ai.operation.name, those of the specification and those seen in the field."""

CACHE_SYSTEMS = frozenset({"redis", "memcached", "valkey", "keydb", "dragonfly", "aws.elasticache"})
"""Values of db.system(.name) that are caches."""

VECTOR_SYSTEMS = frozenset(
    {
        "pinecone", "qdrant", "chroma", "chromadb", "milvus", "weaviate", "pg_vector", "pgvector", "marqo", "lancedb",
        "faiss", "vespa", "turbopuffer", "zilliz", "azure_ai_search", "azure.ai.search", "vald",
    }
)  # fmt: skip
"""Values of db.system(.name) that are vector databases; every other value is a `database`."""

TRANSPORT_NAMES = (
    "dns.*", "dns *", "DNS *", "dns_*", "getaddrinfo*", "tls.*", "tls *", "TLS *", "tls_*", "ssl.*", "tcp.*", "tcp *",
    "TCP *", "socket.*", "net.connect*", "connect", "http.connect*", "HTTP connect*",
)  # fmt: skip
"""Globs of span names that are plumbing of a call: they inherit, or are `http`."""

SERVER_PARTS = ("* http send", "* http receive", "* websocket send", "* websocket receive")
"""Globs of span names that are parts of a server span (ASGI): they inherit, or are `app`."""
