"""Many calls at once or one after the other: gather, loops, slots, staggered starts, map and reduce."""

from __future__ import annotations

import asyncio
from math import inf

from bench.accuracy.programs.common import CHAT, SQL, TOOL, faster, longer, taking, together
from bench.accuracy.world import Program, Request, Step

FAN = {"gap": Step(3, 0.5), "lookup": Step(80, 0.6, 0.01, 4), "chat": Step(250, 0.4), "plan": Step(60, 0.3)}
WIDTH = 16


async def gathered(request: Request) -> None:
    """Sixteen lookups at once, then the model."""
    await request.call("plan", "plan lookups")
    await request.work("gap", 0)
    async with asyncio.TaskGroup() as group:
        for turn in range(WIDTH):
            group.create_task(request.call("lookup", "execute_tool lookup", attributes=TOOL, turn=turn))
    await request.work("gap", 1)
    await request.call("chat", "chat gpt-5-mini", attributes=CHAT)


async def in_slots(request: Request) -> None:
    """The same with at most four of a request's lookups at a time."""
    slots = asyncio.Semaphore(int(request.number_of("slots", 4)))

    async def lookup(turn: int) -> None:
        async with slots:
            await request.call("lookup", "execute_tool lookup", attributes=TOOL, turn=turn)

    await request.call("plan", "plan lookups")
    async with asyncio.TaskGroup() as group:
        for turn in range(WIDTH):
            group.create_task(lookup(turn))
    await request.work("gap", 1)
    await request.call("chat", "chat gpt-5-mini", attributes=CHAT)


async def staggered(request: Request) -> None:
    """Eight lookups, each started a little after the one before it; the starting is work of the request."""
    await request.work("gap", 0)
    async with asyncio.TaskGroup() as group:
        for turn in range(8):
            await request.work("start", turn)
            group.create_task(request.call("lookup", "execute_tool lookup", attributes=TOOL, turn=turn))
    await request.work("gap", 1)
    await request.call("chat", "chat gpt-5-mini", attributes=CHAT)


LOOP = {"gap": Step(2, 0.5), "list": Step(40, 0.3), "sql": Step(7, 0.6), "row": Step(0.6, 0.4), "chat": Step(180, 0.4)}


async def looped(request: Request) -> None:
    """Forty statements, one for each row: the N+1 problem."""
    await rows(request, 40)


async def looped_unevenly(request: Request) -> None:
    """The same with five to sixty rows."""
    await rows(request, request.chance("rows").randint(5, 60))


async def rows(request: Request, count: int) -> None:
    """List, then one statement a row, then the model."""
    await request.call("list", "SELECT orders", attributes=SQL)
    for turn in range(count):
        await request.work("row", turn)
        await request.call("sql", "SELECT item", attributes=SQL, turn=turn)
    await request.work("gap")
    await request.call("chat", "chat gpt-5-mini", attributes=CHAT)


REDUCE = {"gap": Step(3, 0.5), "split": Step(25, 0.4), "summary": Step(190, 0.5), "reduce": Step(320, 0.4)}


async def reduced(request: Request) -> None:
    """Three to twelve summaries at once, then a model call over all of them."""
    await request.call("split", "split document")
    async with asyncio.TaskGroup() as group:
        for turn in range(request.chance("parts").randint(3, 12)):
            group.create_task(request.call("summary", "chat summarize", attributes=CHAT, turn=turn))
    await request.work("gap")
    await request.call("reduce", "chat combine", attributes=CHAT)


PARTIAL = {"gap": Step(3, 0.4), "a": Step(90, 0.5), "b": Step(150, 0.5), "c": Step(80, 0.5), "d": Step(60, 0.4)}


async def partial(request: Request) -> None:
    """A and B start together; C needs A alone, D needs both B and C (jaeger-ui issue 2371)."""

    async def a_then_c() -> None:
        await request.call("a", "fetch.account")
        await request.work("gap", 1)
        await request.call("c", "fetch.credit")

    await request.work("gap", 0)
    await asyncio.gather(a_then_c(), request.call("b", "fetch.basket"))
    await request.work("gap", 2)
    await request.call("d", "fetch.delivery")
    await request.work("gap", 3)


async def paired(request: Request) -> None:
    """Three tables read one after the other although nothing says they must be."""
    early = {}
    if request.has("all at once"):
        early = {step: asyncio.create_task(request.call(step, f"fetch.{step}")) for step in ("a", "b", "c")}
    for turn, step in enumerate(("a", "b", "c")):
        await (early.get(step) or request.call(step, f"fetch.{step}"))
        await request.work("gap", turn)
    await request.call("d", "fetch.d")


PROGRAMS = (
    Program(
        "fan-out-16", "sixteen calls by gather", gathered, FAN,
        (
            faster("tool", 2, "lookup"),
            longer("tool", 50, "lookup"),
            faster("tool", inf, "lookup"),
            faster("llm", 0.5, "chat"),
        ),
        requests=800,
    ),
    Program(
        "fan-out-slots", "sixteen calls, four of a request at a time", in_slots, FAN,
        (faster("tool", 2, "lookup"), longer("tool", 30, "lookup"), faster("llm", 2, "chat")), requests=800,
    ),
    Program(
        "fan-out-staggered", "eight calls started one after the other", staggered, {**FAN, "start": Step(9, 0.4)},
        (faster("tool", 3, "lookup"), longer("tool", 40, "lookup"), faster("llm", 2, "chat")), requests=800,
    ),
    Program(
        "loop-40", "forty statements one after the other", looped, LOOP,
        (faster("name:SELECT item", 3, "sql"), longer("name:SELECT item", 4, "sql"), faster("llm", 2, "chat")),
        requests=600,
    ),
    Program(
        "loop-uneven", "five to sixty statements", looped_unevenly, LOOP,
        (faster("database", 2, "sql", "list"), longer("name:SELECT item", 4, "sql"), faster("llm", inf, "chat")),
        requests=700,
    ),
    Program(
        "map-reduce", "three to twelve model calls, then one more", reduced, REDUCE,
        (
            faster("name:chat summarize", 2, "summary"),
            faster("llm", 2, "summary", "reduce"),
            longer("name:chat summarize", 100, "summary"),
        ),
    ),
    Program(
        "join-partial", "C follows A only, D waits for all", partial, PARTIAL,
        (
            faster("name:fetch.account", inf, "a"),
            longer("name:fetch.account", 70, "a"),
            faster("name:fetch.basket", 3, "b"),
            longer("name:fetch.credit", 60, "c"),
            together(faster("name:fetch.basket", 2, "b"), faster("name:fetch.credit", 2, "c")),
        ),
    ),
    Program(
        "three-at-once", "three reads made concurrent", paired, PARTIAL,
        (
            taking("parallelize", "name:fetch.a,name:fetch.b,name:fetch.c", "all at once"),
            together(
                taking("parallelize", "name:fetch.a,name:fetch.b,name:fetch.c", "all at once"),
                faster("name:fetch.b", 2, "b"),
            ),
        ),
    ),
)  # fmt: skip
