"""Answers from documents: the steps one after the other, inside a wrapper, in branches, behind guards."""

from __future__ import annotations

import asyncio
from math import inf

from bench.accuracy.programs.common import (
    CHAT,
    EMBED,
    RERANK,
    RETRIEVE,
    SQL,
    VECTORS,
    faster,
    longer,
    taking,
    together,
)
from bench.accuracy.world import Program, Request, Step

STEPS = {
    "gap": Step(2, 0.5),
    "auth": Step(40, 0.3),
    "embed": Step(30, 0.3),
    "vectors": Step(110, 0.35, 0.04, 5),
    "rerank": Step(70, 0.3),
    "prompt": Step(12, 0.3),
    "inside": Step(6, 0.4),
    "assemble": Step(20, 0.4),
    "chat": Step(420, 0.45),
    "answer": Step(8, 0.4),
}


async def serial(request: Request) -> None:
    """Auth, embedding, vector search, rerank, model; a little code between them."""
    await request.work("gap", 0)
    embedding = None
    if request.has("embed beside auth"):
        embedding = asyncio.create_task(request.call("embed", "embeddings", attributes=EMBED))
    await request.call("auth", "auth.verify")
    await request.work("gap", 1)
    await (embedding or request.call("embed", "embeddings", attributes=EMBED))
    await request.work("gap", 2)
    await request.call("vectors", "query documents", attributes=VECTORS)
    await request.work("gap", 3)
    if not request.has("no rerank"):
        await request.call("rerank", "rerank", attributes=RERANK)
    await request.work("prompt")
    await request.call("chat", "chat gpt-5-mini", attributes=CHAT)
    await request.work("answer")


async def tight(request: Request) -> None:
    """The same without a nanosecond between the calls: every end is the next one's start."""
    searching = None
    if request.has("vectors beside auth"):
        searching = asyncio.create_task(request.call("vectors", "query documents", attributes=VECTORS))
    await request.call("auth", "auth.verify")
    await request.call("embed", "embeddings", attributes=EMBED)
    await (searching or request.call("vectors", "query documents", attributes=VECTORS))
    await request.call("rerank", "rerank", attributes=RERANK)
    await request.call("chat", "chat gpt-5-mini", attributes=CHAT)


async def wrapped(request: Request) -> None:
    """A retrieval span with work of its own around embedding, search and rerank."""
    early: dict[str, asyncio.Task[None]] = {}

    async def step(name: str, label: str, attributes: dict[str, str]) -> None:
        await early.pop(name) if name in early else await request.call(name, label, attributes=attributes)

    async def retrieve() -> None:
        with request.span("retrieve handbook", attributes=RETRIEVE):
            await request.work("inside", 1)
            await step("embed", "embeddings", EMBED)
            await request.work("inside", 2)
            await step("vectors", "query documents", VECTORS)
            await request.work("inside", 3)
            await request.call("rerank", "rerank", attributes=RERANK)
            await request.work("assemble")

    await request.work("gap", 0)
    if request.has("vectors beside auth"):
        early["vectors"] = asyncio.create_task(request.call("vectors", "query documents", attributes=VECTORS))
    retrieving = asyncio.create_task(retrieve()) if request.has("retrieval beside auth") else None
    await request.call("auth", "auth.verify")
    await request.work("gap", 4)
    await (retrieving or retrieve())
    await request.work("gap", 5)
    await request.call("chat", "chat gpt-5-mini", attributes=CHAT)
    await request.work("answer")


BRANCHES = {
    "gap": Step(3, 0.5),
    "embed": Step(35, 0.4),
    "vectors": Step(120, 0.5),
    "sql": Step(140, 0.5),
    "web": Step(190, 0.5, 0.03, 4),
    "chat": Step(300, 0.4),
}


async def branches(request: Request) -> None:
    """Three sources looked up side by side, one of them in two steps; the model needs them all."""

    async def documents() -> None:
        await request.call("embed", "embeddings", attributes=EMBED)
        await request.work("gap", 1)
        await request.call("vectors", "query documents", attributes=VECTORS)

    await request.work("gap", 0)
    await asyncio.gather(
        documents(),
        request.call("sql", "SELECT orders", attributes=SQL),
        request.call("web", "web.search"),
    )
    await request.work("gap", 2)
    await request.call("chat", "chat gpt-5-mini", attributes=CHAT)


GUARDS = {
    "gap": Step(2, 0.5),
    "guard": Step(90, 0.5),
    "documents": Step(110, 0.4),
    "chat": Step(350, 0.4),
    "check": Step(60, 0.4),
    "history": Step(45, 0.4),
}


async def guarded(request: Request) -> None:
    """A guard beside the retrieval, and a check of the answer beside the write of the history."""
    await request.work("gap", 0)
    guard = asyncio.create_task(request.call("guard", "input guardrail"))
    await request.call("documents", "retrieve handbook", attributes=RETRIEVE)
    await guard
    await request.work("gap", 1)
    await request.call("chat", "chat gpt-5-mini", attributes=CHAT)
    async with asyncio.TaskGroup() as group:
        group.create_task(request.call("check", "output guardrail"))
        group.create_task(request.call("history", "INSERT history", attributes=SQL))


MIXED = {
    "gap": Step(3, 0.5),
    "classify": Step(60, 0.3),
    "documents": Step(150, 0.4),
    "sql": Step(220, 0.6),
    "chat": Step(380, 0.4),
}


async def mixed(request: Request) -> None:
    """Three kinds of request behind one endpoint: small talk, documents, and data (documents, then SQL)."""
    kind = request.chance("kind").random()
    await request.call("classify", "classify intent")
    await request.work("gap", 0)
    if kind > 0.4:
        await request.call("documents", "retrieve handbook", attributes=RETRIEVE)
        await request.work("gap", 1)
    if kind > 0.75:
        await request.call("sql", "SELECT report", attributes=SQL)
        await request.work("gap", 2)
    await request.call("chat", "chat gpt-5-mini", attributes=CHAT)


PROGRAMS = (
    Program(
        "rag-serial", "steps one after the other", serial, STEPS,
        (
            faster("llm", 2, "chat"),
            faster("llm", inf, "chat"),
            faster("vector-db", 0.5, "vectors"),
            longer("rerank", 60, "rerank"),
            taking("remove", "rerank", "no rerank"),
            taking("parallelize", "auth,embedding", "embed beside auth"),
            together(faster("llm", 4, "chat"), taking("parallelize", "auth,embedding", "embed beside auth")),
        ),
    ),
    Program(
        "rag-tight", "no time between the steps", tight, STEPS,
        (
            faster("vector-db", 3, "vectors"),
            faster("class:model", 2, "embed", "rerank", "chat"),
            longer("auth", 100, "auth"),
            taking("parallelize", "auth,vector-db", "vectors beside auth"),
        ),
    ),
    Program(
        "rag-wrapped", "retrieval with work of its own around its calls", wrapped, STEPS,
        (
            faster("name:retrieve*/**", 2, "embed", "vectors", "rerank", "assemble", "inside"),
            faster("vector-db", inf, "vectors"),
            taking("parallelize", "auth,retrieval", "retrieval beside auth"),
            taking("parallelize", "auth,vector-db", "vectors beside auth"),
            longer("retrieval", 50, "assemble"),
        ),
    ),
    Program(
        "rag-branches", "three sources side by side", branches, BRANCHES,
        (
            faster("name:web.search", 3, "web"),
            faster("vector-db", 3, "vectors"),
            faster("database", 0.5, "sql"),
            faster("embedding", inf, "embed"),
            together(faster("name:web.search", 4, "web"), faster("database", 2, "sql")),
        ),
    ),
    Program(
        "rag-guarded", "guards beside the work", guarded, GUARDS,
        (
            faster("name:input guardrail", inf, "guard"),
            longer("name:input guardrail", 80, "guard"),
            longer("database", 40, "history"),
            faster("llm", 3, "chat"),
        ),
    ),
    Program(
        "rag-mixed", "kinds of request with different steps", mixed, MIXED,
        (
            faster("database", 3, "sql"),
            faster("retrieval", 0.5, "documents"),
            faster("llm", 2, "chat"),
            longer("name:classify intent", 40, "classify"),
        ),
    ),
)  # fmt: skip
