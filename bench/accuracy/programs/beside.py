"""Work beside other work, where a trace shows the order of things but not who waits for whom."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from bench.accuracy.programs.common import CHAT, RETRIEVE, SQL, faster, longer, together
from bench.accuracy.world import Program, Request, Step

STEPS = {
    "gap": Step(3, 0.5),
    "auth": Step(90, 0.35, 0.01, 5),
    "documents": Step(170, 0.3),
    "chat": Step(300, 0.4),
    "answer": Step(10, 0.4),
    "render": Step(120, 0.5),
    "sql": Step(140, 0.5),
    "profile": Step(60, 0.4),
    "replica 0": Step(150, 0.6),
    "replica 1": Step(150, 0.6),
}


async def auth_beside(request: Request) -> None:
    """Auth runs beside everything and nearly always ends before the model starts; only the answer awaits it."""
    await request.work("gap", 0)
    auth = asyncio.create_task(request.call("auth", "auth.verify"))
    await request.call("documents", "retrieve handbook", attributes=RETRIEVE)
    await request.work("gap", 1)
    await request.call("chat", "chat gpt-5-mini", attributes=CHAT)
    await auth
    await request.work("answer")


NOT_BEFORE = """
[[dependency]]
never = "auth"
after = "llm"
"""

ALWAYS_FIRST = (
    "auth ended before the model started in every request, so that nothing tells this program from one in which "
    "the model waits for auth; a declared dependency does"
)


async def auth_never_seen(request: Request) -> None:
    """The same with an auth that always ends first: nothing in the traces tells that the model does not wait."""
    await auth_beside(request)


async def rendered(request: Request) -> None:
    """The request computes for itself, in a span, while the database works."""
    await request.work("gap", 0)
    reading = asyncio.create_task(request.call("sql", "SELECT orders", attributes=SQL))
    with request.span("render page"):
        await request.work("render")
    await reading
    await request.work("gap", 1)
    await request.call("profile", "fetch.profile")
    await request.work("answer")


async def rendered_unseen(request: Request) -> None:
    """The request computes for itself, without a span, while the database works; then it makes another call."""
    await request.work("gap", 0)
    reading = asyncio.create_task(request.call("sql", "SELECT orders", attributes=SQL))
    await request.work("render")
    profile = asyncio.create_task(request.call("profile", "fetch.profile"))
    await reading
    await profile
    await request.work("answer")


HIDDEN = (
    "where the database took longer than the rendering, the trace does not show when the rendering ended; "
    "a span around it does (program beside-span)"
)


async def rendered_hidden(request: Request) -> None:
    """The request computes for itself, without a span, while the database works, and then needs both."""
    await request.work("gap", 0)
    reading = asyncio.create_task(request.call("sql", "SELECT orders", attributes=SQL))
    await request.work("render")
    await reading
    await request.work("answer")


async def raced(request: Request) -> None:
    """Two replicas are asked, the first answer counts, the other call is cancelled."""

    async def replica(turn: int) -> None:
        await request.call(f"replica {turn}", f"SELECT replica-{turn}", attributes=SQL)

    await request.work("gap", 0)
    tasks = [asyncio.create_task(replica(turn)) for turn in range(2)]
    _, late = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in late:
        task.cancel()
    await asyncio.gather(*late, return_exceptions=True)
    await request.work("gap", 1)
    await request.call("chat", "chat gpt-5-mini", attributes=CHAT)


RACE = "the call that lost was cancelled when the other one answered: how long it would have taken is not in the trace"

PROGRAMS = (
    Program(
        "beside-auth", "auth beside everything, awaited by the answer", auth_beside, STEPS,
        (
            longer("auth", 100, "auth"),
            longer("auth", 400, "auth"),
            faster("llm", 3, "chat"),
            faster("retrieval", 4, "documents"),
            together(faster("retrieval", 4, "documents"), longer("auth", 200, "auth")),
        ),
        requests=1500,
    ),
    Program(
        "beside-auth-unseen", "the same, auth always ends first", auth_never_seen,
        {**STEPS, "auth": Step(40, 0.2)},
        (
            together(longer("auth", 500, "auth"), beyond=ALWAYS_FIRST),
            together(longer("auth", 500, "auth"), given=NOT_BEFORE),
            faster("llm", 2, "chat"),
        ),
    ),
    Program(
        "beside-span", "own work in a span beside a query", rendered, STEPS,
        (
            faster("database", 4, "sql"),
            faster("name:render page", 4, "render"),
            longer("database", 60, "sql"),
            together(faster("database", 2, "sql"), faster("name:render page", 2, "render")),
        ),
    ),
    Program(
        "beside-call", "own work without a span, seen by the call after it", rendered_unseen,
        {**STEPS, "profile": Step(110, 0.4)},
        (faster("database", 4, "sql"), longer("database", 60, "sql"), faster("name:fetch.profile", 2, "profile")),
    ),
    Program(
        "beside-hidden", "own work without a span beside a query", rendered_hidden, STEPS,
        (
            together(faster("database", 4, "sql"), beyond=HIDDEN),
            together(longer("database", 60, "sql"), beyond=HIDDEN),
        ),
    ),
    Program(
        "beside-race", "the first of two replicas counts", raced, STEPS,
        (
            faster("llm", 2, "chat"),
            faster("name:SELECT replica-*", 2, "replica 0", "replica 1"),
            replace(faster("name:SELECT replica-0", 3, "replica 0"), beyond=RACE),
        ),
    ),
)  # fmt: skip
