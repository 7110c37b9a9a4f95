"""Attempts that fail, caches that miss, and things fetched before they are needed."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from bench.accuracy.programs.common import CHAT, DRAWS, REDIS, RETRIEVE, SQL, faster, longer, taking, with_number
from bench.accuracy.world import CLIENT, Program, Request, Step, fail

RETRIED = {
    "gap": Step(3, 0.5),
    "documents": Step(90, 0.4),
    "refusal": Step(70, 0.4),
    "attempt": Step(340, 0.4),
    "post": Step(10, 0.4),
}
URL = {"http.request.method": "POST", "url.full": "https://api.openai.com/v1/chat/completions"}

FAILING = 0.125


async def retried(request: Request) -> None:
    """A model that turns one attempt in eight away; the client waits 0.4 s, 0.8 s, ... before it tries again."""
    await request.call("documents", "retrieve handbook", attributes=RETRIEVE)
    await request.work("gap", 0)
    factor = request.number_of("failing", 1.0)
    with request.span("chat gpt-5-mini", CLIENT, CHAT):
        for attempt in range(4):
            failed = attempt < 3 and request.chance("failure", attempt).random() < FAILING
            if attempt < 3 and failed and factor < 1:
                failed = request.decide(factor, "failure", attempt)
            elif attempt < 3 and factor > 1:
                failed = failed or request.decide(FAILING * (factor - 1) / (1 - FAILING), "failure", attempt)
            with request.span("POST", CLIENT, URL) as post:
                await request.work("refusal" if failed else "attempt", attempt)
                if failed:
                    fail(post, "429", 429)
            if not failed:
                break
            await asyncio.sleep(0.4 * 2**attempt * request.chance("back-off", attempt).uniform(0.75, 1.0))
    await request.work("post")


TIMEOUT = 0.6


async def timed_out(request: Request) -> None:
    """Attempts that are given up after 0.6 s: whoever makes the model faster has fewer of them."""
    await request.call("documents", "retrieve handbook", attributes=RETRIEVE)
    with request.span("chat gpt-5-mini", CLIENT, CHAT):
        for attempt in range(4):
            with request.span("POST", CLIENT, URL) as post:
                try:
                    async with asyncio.timeout(TIMEOUT if attempt < 3 else None):
                        await request.work("attempt", attempt)
                    break
                except TimeoutError:
                    fail(post, "timeout")
            await asyncio.sleep(0.05)
    await request.work("post")


TIMEOUTS = "how long an attempt that was given up would have taken is not in the trace"

CACHED = {
    "gap": Step(2, 0.5),
    "redis": Step(5, 0.5),
    "sql": Step(180, 0.5),
    "store": Step(4, 0.4),
    "features": Step(130, 0.4),
    "chat": Step(300, 0.45),
}


async def cached(request: Request) -> None:
    """A cache in front of the database that answers for 60 %; the model is always asked, unless it gets a cache too."""
    prefetched = None
    if request.has("prefetch") and request.decide(0.7, "prefetch"):
        prefetched = asyncio.create_task(request.call("features", "feast.get_online_features"))
    await request.call("redis", "GET profile", attributes=REDIS)
    await request.work("gap", 0)
    if request.chance("hit").random() >= 0.6:
        await request.call("sql", "SELECT profile", attributes=SQL)
        await request.work("gap", 1)
        await request.call("store", "SET profile", attributes=REDIS)
    await request.work("gap", 2)
    await (prefetched or request.call("features", "feast.get_online_features"))
    await request.work("gap", 3)
    if request.has("cache the model"):
        await asyncio.sleep(0.005)
    if not (request.has("cache the model") and request.decide(0.3, "cache")):
        await request.call("chat", "chat gpt-5-mini", attributes=CHAT)


PROGRAMS = (
    Program(
        "retry-back-off", "attempts turned away, with back-off", retried, RETRIED,
        (
            faster("name:POST", 2, "attempt", "refusal"),
            longer("name:POST", 40, "attempt", "refusal"),
            faster("retrieval", 3, "documents"),
            with_number("retry-rate", "llm=0.5x", "failing", 0.5, draws=DRAWS),
            with_number("retry-rate", "llm=2x", "failing", 2, draws=DRAWS),
        ),
        requests=1500,
    ),
    Program(
        "retry-timeout", "attempts given up after 0.6 s", timed_out, {**RETRIED, "attempt": Step(340, 0.4, 0.08, 3)},
        (
            faster("retrieval", 3, "documents"),
            replace(faster("name:POST", 2, "attempt"), beyond=TIMEOUTS),
        ),
        requests=1500,
    ),
    Program(
        "cache-aside", "a cache before the database", cached, CACHED,
        (
            faster("database", 2, "sql"),
            longer("cache", 10, "redis", "store"),
            faster("llm", 2, "chat"),
            taking("cache", "llm=30%:5ms", "cache the model", draws=DRAWS),
            taking("prefetch", "feature-store=70%", "prefetch", draws=DRAWS),
        ),
        requests=1200,
    ),
)  # fmt: skip
