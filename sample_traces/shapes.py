"""The two shapes of the pipeline: how long each step takes, and which attribute names it writes. Data, no code."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime


@dataclass(frozen=True)
class Work:
    """How long one step takes: log-normal, with a share of calls that are slow by a factor."""

    median_ms: float
    spread: float = 0.25
    slow_share: float = 0.0
    slow_factor: float = 1.0

    def draw(self, chance: random.Random) -> float:
        """Return a service time in seconds."""
        factor = self.slow_factor if chance.random() < self.slow_share else 1.0
        return self.median_ms / 1_000 * factor * chance.lognormvariate(0.0, self.spread)


@dataclass(frozen=True)
class Shape:
    """One year's pipeline."""

    name: str
    start: datetime
    requests_per_second: float
    chat_model: str
    embedding_model: str
    rerank_model: str
    work: Mapping[str, Work]
    token_ms: float
    """Time between two output tokens of the chat model."""
    rejected_share: float
    """Share of calls to the chat model that are turned away with 429."""
    rename: Mapping[str, str] = field(default_factory=dict)
    """Attribute names of the stable conventions, to the ones in use in that year."""
    operations: Mapping[str, str] = field(default_factory=dict)
    """Values of gen_ai.operation.name, to the ones in use in that year."""


YEAR_2024 = Shape(
    name="2024",
    start=datetime(2024, 3, 12, 9, 0, tzinfo=UTC),
    requests_per_second=0.5,
    chat_model="gpt-4-turbo",
    embedding_model="text-embedding-ada-002",
    rerank_model="rerank-english-v2.0",
    work={
        "parse": Work(4),
        "auth": Work(55),
        "session": Work(4, spread=0.4),
        "features": Work(170, spread=0.35, slow_share=0.05, slow_factor=5),
        "network": Work(2, spread=0.4),
        "embed": Work(90, spread=0.3),
        "vectors": Work(120, spread=0.3),
        "sql": Work(150, spread=0.35, slow_share=0.05, slow_factor=5),
        "rerank": Work(180, spread=0.3),
        "prompt": Work(25),
        "first_token": Work(620, spread=0.35),
        "answer": Work(9),
        "publish": Work(1.5),
        "broker": Work(30, spread=0.5),
        "usage": Work(18),
    },
    token_ms=17.0,
    rejected_share=0.04,
    rename={
        "gen_ai.operation.name": "openinference.span.kind",
        "gen_ai.provider.name": "llm.provider",
        "gen_ai.request.model": "llm.model_name",
        "gen_ai.usage.input_tokens": "llm.token_count.prompt",
        "gen_ai.usage.output_tokens": "llm.token_count.completion",
        "db.system.name": "db.system",
        "db.operation.name": "db.operation",
        "http.request.method": "http.method",
        "http.response.status_code": "http.status_code",
        "url.full": "http.url",
        "server.address": "net.peer.name",
        "messaging.operation.type": "messaging.operation",
    },
    operations={"chat": "LLM", "embeddings": "EMBEDDING", "rerank": "RERANKER", "retrieval": "RETRIEVER"},
)

YEAR_2026 = Shape(
    name="2026",
    start=datetime(2026, 10, 6, 9, 0, tzinfo=UTC),
    requests_per_second=2.5,
    chat_model="gpt-5-mini",
    embedding_model="text-embedding-3-small",
    rerank_model="rerank-v3.5",
    work={
        "parse": Work(4),
        "auth": Work(60),
        "session": Work(5, spread=0.4),
        "features": Work(180, spread=0.35, slow_share=0.04, slow_factor=8),
        "network": Work(3, spread=0.4),
        "embed": Work(30, spread=0.3),
        "vectors": Work(110, spread=0.35),
        "sql": Work(150, spread=0.35, slow_share=0.03, slow_factor=8),
        "rerank": Work(60, spread=0.3),
        "prompt": Work(35),
        "first_token": Work(150, spread=0.35),
        "answer": Work(12),
        "publish": Work(1.5),
        "broker": Work(30, spread=0.5),
        "usage": Work(18),
    },
    token_ms=1.1,
    rejected_share=0.03,
)
