"""A small chat application that looks up documents and asks a model: the program whose traces are the samples.

It is an ordinary asyncio program that awaits its steps one after the other, as such programs were written when the
model took nearly all of the time. Only the far ends are missing: where a real one would wait for a socket, this one
sleeps for a drawn time on a virtual clock.

    chat-api            POST /chat: auth -> session -> features -> retrieval -> chat model -> answer; publishes usage
    retrieval-service   POST /search: embeddings -> vector search -> SQL -> rerank
    usage-worker        consumes what chat-api has published
"""

from __future__ import annotations

import asyncio
import random

from opentelemetry.sdk.trace.export import SpanExporter
from opentelemetry.trace import Span, SpanKind, Status, StatusCode
from shapes import Shape
from tracing import Attributes, Clock, Headers, SeededIds, Service, incoming, outgoing_headers
from virtual_time import VirtualTimeLoop

CHAT_URL = "https://api.openai.com/v1/chat/completions"
EMBEDDINGS_URL = "https://api.openai.com/v1/embeddings"
RERANK_URL = "https://api.cohere.com/v2/rerank"

SQL_CONNECTIONS = 2
"""Size of the connection pool of the retrieval service."""

ATTEMPTS = 3
FIRST_BACK_OFF = 0.5
"""The model's client tries this often, and waits this long (s) before the second attempt, then twice as long."""


class RejectedError(Exception):
    """The model's host answered 429."""


class Pipeline:
    """The three services, and what they share.

    Args:
        shape: How long the steps take, and which attributes they write.
        exporter: Where the spans of all three services go.
        loop: The event loop that it will run on.
    """

    def __init__(self, shape: Shape, exporter: SpanExporter, loop: VirtualTimeLoop) -> None:
        self._shape = shape
        self._clock = Clock(shape.start, loop, f"{shape.name} code")
        self._ids = SeededIds(shape.name)
        self._exporter = exporter
        self._gateway = self._service("chat-api", "chat-api-7d9f")
        self._retrieval = self._service("retrieval-service", "retrieval-5c4b")
        self._worker = self._service("usage-worker", "usage-worker-0")
        self._sql_pool = asyncio.Semaphore(SQL_CONNECTIONS)
        self._published: asyncio.Queue[Headers] = asyncio.Queue()

    def _service(self, name: str, host: str) -> Service:
        return Service(name, host, clock=self._clock, ids=self._ids, exporter=self._exporter, rename=self._shape.rename)

    async def serve(self, requests: int) -> None:
        """Let that many requests arrive at random, and return when all is done and exported."""
        chance = random.Random(f"{self._shape.name} arrivals")
        consumer = asyncio.create_task(self._consume())
        async with asyncio.TaskGroup() as running:
            for number in range(requests):
                await asyncio.sleep(chance.expovariate(self._shape.requests_per_second))
                running.create_task(self._chat(random.Random(f"{self._shape.name} request {number}")))
        await self._published.join()
        consumer.cancel()
        for service in (self._gateway, self._retrieval, self._worker):
            service.flush()

    async def _work(self, step: str, chance: random.Random) -> None:
        await asyncio.sleep(self._shape.work[step].draw(chance))

    # ---- chat-api

    async def _chat(self, chance: random.Random) -> None:
        attributes = {"http.request.method": "POST", "http.route": "/chat", "http.response.status_code": 200}
        with self._gateway.span("POST /chat", SpanKind.SERVER, attributes):
            await self._work("parse", chance)
            await self._authenticate(chance)
            await self._load_session(chance)
            await self._load_features(chance)
            await self._find_documents(chance)
            await self._work("prompt", chance)
            await self._ask_model(chance)
            publishing = asyncio.create_task(self._publish_usage(chance))
            await self._work("answer", chance)
        await publishing

    async def _authenticate(self, chance: random.Random) -> None:
        with self._gateway.span("auth.verify_token"):
            await self._post(self._gateway, "https://auth.internal/introspect", "auth", chance)

    async def _load_session(self, chance: random.Random) -> None:
        attributes = {"db.system.name": "redis", "db.operation.name": "GET", "server.address": "sessions.internal"}
        with self._gateway.span("GET session", SpanKind.CLIENT, attributes):
            await self._work("session", chance)

    async def _load_features(self, chance: random.Random) -> None:
        with self._gateway.span("feast.get_online_features", attributes={"feast.feature_service": "user_profile"}):
            await self._post(self._gateway, "https://feast.internal/get-online-features", "features", chance)

    async def _find_documents(self, chance: random.Random) -> None:
        attributes = {**self._operation("retrieval"), "gen_ai.data_source.id": "handbook"}
        with self._gateway.span("retrieval handbook", SpanKind.CLIENT, attributes):
            url = "https://retrieval.internal/search"
            with self._gateway.span("POST", SpanKind.CLIENT, _http(url, 200)):
                headers = outgoing_headers()
                await self._work("network", chance)
                # A task of its own, as the server is another process: it knows the caller by the headers alone.
                await asyncio.create_task(self._search(headers, chance))
                await self._work("network", chance)

    async def _ask_model(self, chance: random.Random) -> None:
        shape = self._shape
        output_tokens = round(chance.lognormvariate(5.2, 0.35))
        attributes = {
            **self._operation("chat"),
            "gen_ai.provider.name": "openai",
            "gen_ai.request.model": shape.chat_model,
            "gen_ai.usage.input_tokens": round(chance.lognormvariate(7.6, 0.3)),
            "gen_ai.usage.output_tokens": output_tokens,
        }
        with self._gateway.span(f"chat {shape.chat_model}", SpanKind.CLIENT, attributes) as call:
            begun = self._clock.now()
            await self._post_until_accepted(chance)
            self._gateway.add_event(call, "First Token Stream Event")
            if not shape.rename:  # the attribute is younger than the old conventions
                call.set_attribute("gen_ai.response.time_to_first_chunk", (self._clock.now() - begun) / 1e9)
            await asyncio.sleep(output_tokens * shape.token_ms / 1_000)

    async def _post_until_accepted(self, chance: random.Random) -> None:
        for attempt in range(ATTEMPTS):
            try:
                await self._post_chat(chance, may_fail=attempt < ATTEMPTS - 1)
            except RejectedError:
                await asyncio.sleep(FIRST_BACK_OFF * 2**attempt * chance.uniform(0.75, 1.0))
            else:
                return

    async def _post_chat(self, chance: random.Random, *, may_fail: bool) -> None:
        with self._gateway.span("POST", SpanKind.CLIENT, _http(CHAT_URL)) as post:
            if may_fail and chance.random() < self._shape.rejected_share:
                await asyncio.sleep(chance.uniform(0.03, 0.06))
                post.set_attributes(self._gateway.renamed({"http.response.status_code": 429, "error.type": "429"}))
                post.set_status(Status(StatusCode.ERROR))
                raised = RejectedError()
            else:
                await self._work("first_token", chance)
                post.set_attributes(self._gateway.renamed({"http.response.status_code": 200}))
                return
        raise raised

    async def _publish_usage(self, chance: random.Random) -> None:
        with self._gateway.span("usage publish", SpanKind.PRODUCER, _message("send")):
            headers = outgoing_headers()
            await self._work("publish", chance)
        await self._published.put(headers)

    # ---- retrieval-service

    async def _search(self, headers: Headers, chance: random.Random) -> None:
        attributes = {"http.request.method": "POST", "http.route": "/search", "http.response.status_code": 200}
        with incoming(headers), self._retrieval.span("POST /search", SpanKind.SERVER, attributes):
            await self._embed(chance)
            await self._search_vectors(chance)
            await self._select_permissions(chance)
            await self._rerank(chance)

    async def _embed(self, chance: random.Random) -> None:
        model = self._shape.embedding_model
        attributes = {
            **self._operation("embeddings"),
            "gen_ai.provider.name": "openai",
            "gen_ai.request.model": model,
            "gen_ai.usage.input_tokens": round(chance.lognormvariate(3.2, 0.4)),
        }
        with self._retrieval.span(f"embeddings {model}", SpanKind.CLIENT, attributes):
            await self._post(self._retrieval, EMBEDDINGS_URL, "embed", chance)

    async def _search_vectors(self, chance: random.Random) -> None:
        attributes = {"db.system.name": "qdrant", "db.operation.name": "query", "server.address": "qdrant.internal"}
        with self._retrieval.span("query handbook", SpanKind.CLIENT, attributes):
            await self._work("vectors", chance)

    async def _select_permissions(self, chance: random.Random) -> None:
        attributes = {"db.system.name": "postgresql", "db.operation.name": "SELECT", "server.address": "pg.internal"}
        with self._retrieval.span("SELECT permissions", SpanKind.CLIENT, attributes):
            with self._retrieval.span("pool.acquire"):
                await self._sql_pool.acquire()
            try:
                await self._work("sql", chance)
            finally:
                self._sql_pool.release()

    async def _rerank(self, chance: random.Random) -> None:
        model = self._shape.rerank_model
        attributes = {
            **self._operation("rerank"),
            "gen_ai.provider.name": "cohere",
            "gen_ai.request.model": model,
        }
        with self._retrieval.span(f"rerank {model}", SpanKind.CLIENT, attributes):
            await self._post(self._retrieval, RERANK_URL, "rerank", chance)

    # ---- usage-worker

    async def _consume(self) -> None:
        chance = random.Random(f"{self._shape.name} worker")
        while True:
            headers = await self._published.get()
            await self._work("broker", chance)
            with incoming(headers), self._worker.span("usage process", SpanKind.CONSUMER, _message("process")):
                await self._work("usage", chance)
            self._published.task_done()

    # ---- shared

    def _operation(self, name: str) -> Attributes:
        return {"gen_ai.operation.name": self._shape.operations.get(name, name)}

    async def _post(self, service: Service, url: str, step: str, chance: random.Random) -> Span:
        with service.span("POST", SpanKind.CLIENT, _http(url, 200)) as post:
            await self._work(step, chance)
        return post


def _http(url: str, status: int | None = None) -> Attributes:
    attributes: dict[str, str | int] = {
        "http.request.method": "POST",
        "server.address": url.split("/")[2],
        "url.full": url,
    }
    return attributes if status is None else {**attributes, "http.response.status_code": status}


def _message(operation: str) -> Attributes:
    return {
        "messaging.system": "kafka",
        "messaging.destination.name": "usage",
        "messaging.operation.type": operation,
    }
