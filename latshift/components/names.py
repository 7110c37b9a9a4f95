"""What a span's name gives away: the last resort before `app`. Facts as data, and the reading of names.

A name is read as words: "vectorSearch", "vector_search" and "vector.search" are all "vector search". A phrase is one or
more words in a row; a `*` at the end of a word stands for any letters; a final `$` for the end of the name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


@dataclass(frozen=True)
class NameRule:
    """One component and the phrases that give it away.

    Attributes:
        component: What the span is.
        phrases: Any of them decides. unless: Phrases that veto.
    """

    component: str
    phrases: tuple[str, ...]
    unless: tuple[str, ...] = ()

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The phrases as one pattern over the words of a name."""
        return _pattern(self.phrases)

    @cached_property
    def veto(self) -> re.Pattern[str] | None:
        """The vetoes as one pattern, or None."""
        return _pattern(self.unless) if self.unless else None

    def find(self, words: str) -> str | None:
        """Return the words that decide, or None."""
        found = self.pattern.search(words)
        if found is None or (self.veto is not None and self.veto.search(words)):
            return None
        return found.group().strip()


def _pattern(phrases: Sequence[str]) -> re.Pattern[str]:
    alternatives = "|".join(phrase.replace("*", "[a-z]*").replace("$", "(?= $)") for phrase in phrases)
    return re.compile(f" (?:{alternatives})(?= )")


NAME_RULES: tuple[NameRule, ...] = (
    NameRule(
        "queue",
        (
            "acquire", "semaphore", "wait for slot", "wait slot", "slot wait", "queued", "queueing", "queuing",
            "queue wait*", "wait* queue", "wait* in queue", "in queue", "queue time", "queue delay", "pool wait*",
            "wait* for (?:a )?(?:connection|slot|worker|capacity|permit)", "connection wait", "prefill waiting",
            "decode waiting", "backpressure", "rate limit* wait", "queue$", "admission wait",
        ),
        unless=("enqueue", "publish*", "send", "consume*", "produce*", "push", "poll"),
    ),
    NameRule("gateway", ("llm gateway", "ai gateway", "model gateway", "api gateway", "litellm proxy")),
    NameRule(
        "feature-store",
        (
            "feast", "tecton", "hopsworks", "feature store*", "featurestore", "featureform", "online features?",
            "(?:get|fetch|load|lookup|read) features?", "features? lookup", "features? service", "features? view",
            "features",
        ),
        unless=("features? flags?",),
    ),
    NameRule(
        "cache",
        ("cache*", "redis", "memcached?", "valkey", "elasticache"),
        unless=("kv cache", "prompt cache", "cached tokens"),
    ),
    NameRule(
        "auth",
        (
            "auth", "oauth", "authn", "authz", "authenticat*", "authori[sz]*", "jwt", "jwks", "oidc", "saml", "sso",
            "opa", "rbac", "keycloak", "okta", "cognito", "api key", "apikey", "login", "introspect*",
            "(?:check|verify) permissions?", "permissions? check",
        ),
    ),
    NameRule(
        "auth",
        ("token",),
        unless=(
            "tokens", "tokeni[sz]*", "first", "next", "count*", "stream*", "budget", "usage", "limit*", "generat*",
            "decode*", "sampl*", "output", "input", "llm", "prompt", "truncat*", "split*", "bucket", "time per",
        ),
    ),
    NameRule("rerank", ("rerank*", "re rank*", "ranker", "cross encoder")),
    NameRule("embedding", ("embed", "embeds", "embedder", "embeddings?", "vectori[sz]er?")),
    NameRule(
        "vector-db",
        (
            "pinecone", "qdrant", "milvus", "weaviate", "chroma", "chromadb", "pgvector", "pg vector", "faiss",
            "marqo", "vespa", "lancedb", "turbopuffer", "zilliz", "vector db", "vectordb", "vector stores?",
            "vectorstore", "vector search", "vector query", "vector index", "similarity search", "ann search",
            "knn search", "knn", "nearest neighbou?rs?",
        ),
    ),
    NameRule(
        "retrieval",
        (
            "retriev*", "rag", "hybrid search", "semantic search", "documents? search", "search documents?",
            "search knowledge", "knowledge base", "fetch (?:documents|context|chunks|passages)", "search chunks",
            "memory search", "search memory", "bm",
        ),
    ),
    NameRule("tool", ("tool", "tools", "tool calls?", "function call", "mcp")),
    NameRule(
        "llm",
        (
            "llm*", "v llm", "chat completions?", "text completions?", "completions", "openai", "open ai",
            "anthropic", "claude", "gemini", "mistral", "ollama", "sglang", "bedrock", "vertex ai", "gpt", "prefill",
            "generate (?:answer|response|text|content|completion)", "model (?:call|inference|request)",
            "(?:call|invoke) model", "language model",
        ),
    ),
    NameRule("gateway", ("gateway", "ingress", "envoy")),
    NameRule("agent", ("agents?", "orchestrat*", "workflow", "planner", "supervisor")),
    NameRule(
        "database",
        (
            "sql", "postgres*", "pg", "mysql", "mariadb", "sqlite", "mongo*", "dynamodb", "cassandra", "database",
            "db", "snowflake", "bigquery", "elasticsearch", "opensearch", "clickhouse", "cosmosdb", "spanner", "solr",
        ),
    ),
    NameRule(
        "messaging",
        ("kafka", "rabbitmq", "sqs", "sns", "pubsub", "pub sub", "nats", "kinesis", "enqueue", "dequeue", "publish*"),
    ),
)  # fmt: skip
"""The first that holds wins; a component may come twice."""


@lru_cache(maxsize=65536)
def _component_of_words(words: str) -> tuple[str, str] | None:
    for rule in NAME_RULES:
        found = rule.find(words)
        if found is not None:
            return rule.component, found
    return None


def component_of_name(name: str) -> tuple[str, str] | None:
    """Return the component that a name gives away and the words that did, or None.

    >>> component_of_name("feast.get_online_features")
    ('feature-store', 'feast')
    """
    # Names may be as long as a statement, and may hold ids: only the words at the beginning count.
    return _component_of_words(f" {' '.join(word.lower() for word in _WORD.findall(name[:120]))} ")
