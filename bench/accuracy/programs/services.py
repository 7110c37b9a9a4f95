"""Several services: client and server spans, the network between them, queues that nobody waits for."""

from __future__ import annotations

import asyncio
from math import inf

from bench.accuracy.programs.common import CHAT, REDIS, SQL, VECTORS, faster, longer, network, remote, taking, together
from bench.accuracy.world import CONSUMER, PRODUCER, Program, Request, Step, fail

NESTED = {
    "gap": Step(3, 0.5),
    **network(4, "/search", "/verify"),
    "auth": Step(50, 0.4),
    "parse": Step(6, 0.3),
    "sql": Step(90, 0.5, 0.03, 5),
    "vectors": Step(80, 0.4),
    "between": Step(5, 0.5),
    "merge": Step(12, 0.4),
    "chat": Step(260, 0.4),
}


async def nested(request: Request) -> None:
    """The API calls a search service, which calls a database and a vector store one after the other."""
    early: list[asyncio.Task[None]] = []

    async def select() -> None:
        await request.call("sql", "SELECT permissions", attributes=SQL, service="search")

    async def search() -> None:
        await request.work("parse")
        await (early.pop() if early else select())
        await request.work("between")
        await request.call("vectors", "query documents", attributes=VECTORS, service="search")
        await request.work("merge")

    async def ask_search() -> None:
        await remote(request, "api", "search", "/search", search)

    async def verify() -> None:
        await request.work("auth")

    await request.work("gap", 0)
    searching = asyncio.create_task(ask_search()) if request.has("search beside auth") else None
    if request.has("sql beside auth"):
        early.append(asyncio.create_task(select()))
    await remote(request, "api", "identity", "/verify", verify)
    await request.work("gap", 2)
    await (searching or ask_search())
    await request.work("gap", 3)
    await request.call("chat", "chat gpt-5-mini", attributes=CHAT)
    await request.work("gap", 4)


LEVELS = 6
DEEP = {
    "chat": Step(200, 0.5),
    **network(3, *(f"/tier/{depth}" for depth in range(2, LEVELS + 1))),
    **{f"{step} {depth}": Step(9, 0.4) for step in ("before", "after") for depth in range(1, LEVELS + 1)},
}


async def deep(request: Request) -> None:
    """Six services, each with work before and after it calls the next; the model at the bottom."""

    async def level(depth: int) -> None:
        await request.work(f"before {depth}")
        if depth == LEVELS:
            await request.call("chat", "chat gpt-5-mini", attributes=CHAT, service=f"tier-{depth}")
        else:
            following = depth + 1
            await remote(request, f"tier-{depth}", f"tier-{following}", f"/tier/{following}", lambda: level(following))
        await request.work(f"after {depth}")

    await level(1)


FALLBACK = {
    "gap": Step(3, 0.5),
    "redis": Step(6, 0.4),
    "primary": Step(180, 0.4),
    "refusal": Step(60, 0.3),
    "secondary": Step(420, 0.4),
    "sql": Step(70, 0.4),
}


async def fallback(request: Request) -> None:
    """A model that fails for one request in eight, and another one that then answers."""
    await request.call("redis", "GET session", attributes=REDIS)
    await request.work("gap", 0)
    await request.call("sql", "SELECT profile", attributes=SQL)
    await request.work("gap", 1)
    failed = request.chance("failure").random() < 0.125
    with request.span("chat primary", attributes=CHAT) as span:
        await request.work("refusal" if failed else "primary")
        if failed:
            fail(span, "overloaded", 503)
    if failed:
        await request.work("gap", 2)
        await request.call("secondary", "chat secondary", attributes=CHAT)


PUBLISH = {
    "gap": Step(3, 0.5),
    "sql": Step(60, 0.5),
    "chat": Step(300, 0.4),
    "publish": Step(9, 0.6),
    "broker": Step(40, 0.5),
    "consume": Step(120, 0.5),
    "audit": Step(80, 0.6),
    "answer": Step(20, 0.6),
}


async def published(request: Request) -> None:
    """Usage is published and an audit record written beside the answer; both mostly outlive the request."""

    async def publish() -> None:
        with request.span("usage publish", PRODUCER, {"messaging.system": "kafka", "messaging.operation.type": "send"}):
            await request.work("publish")
            request.start(consume())

    async def consume() -> None:
        await request.work("broker")
        attributes = {"messaging.system": "kafka", "messaging.operation.type": "process"}
        await request.call("consume", "usage process", CONSUMER, attributes, service="usage")

    await request.work("gap", 0)
    await request.call("sql", "SELECT profile", attributes=SQL)
    await request.work("gap", 1)
    if not request.has("no audit"):
        request.start(request.call("audit", "audit.write"))
    await request.call("chat", "chat gpt-5-mini", attributes=CHAT)
    request.start(publish())
    await request.work("answer")


PROGRAMS = (
    Program(
        "services-nested", "client and server spans with network time", nested, NESTED,
        (
            faster("database", 3, "sql"),
            faster("service:search/**", 2, "parse", "sql", "between", "vectors", "merge"),
            faster("name:/search", inf, "parse", "merge", "between"),
            longer("name:POST /search", 20, "from /search"),
            taking("parallelize", "name:POST /verify,name:POST /search", "search beside auth"),
            taking("parallelize", "name:POST /verify,database", "sql beside auth"),
            together(faster("llm", 3, "chat"), faster("vector-db", 2, "vectors")),
        ),
    ),
    Program(
        "services-deep", "six services in a row", deep, DEEP,
        (
            faster("llm", 2, "chat"),
            faster("service:tier-3", 0.25, "before 3", "after 3", "to /tier/4", "from /tier/4"),
            faster("class:non-model", 2, *(step for step in DEEP if step != "chat")),
        ),
    ),
    Program(
        "services-fallback", "a second model when the first fails", fallback, FALLBACK,
        (
            faster("name:chat secondary", 2, "secondary"),
            faster("name:chat primary", 0.5, "primary", "refusal"),
            faster("llm", 2, "primary", "refusal", "secondary"),
            longer("cache", 15, "redis"),
        ),
    ),
    Program(
        "services-publish", "background work that outlives the request", published, PUBLISH,
        (
            faster("name:usage publish", 0.1, "publish"),
            faster("name:audit.write", 10, "audit"),
            taking("remove", "name:audit.write", "no audit"),
            faster("llm", 3, "chat"),
            longer("database", 30, "sql"),
        ),
    ),
)  # fmt: skip
