"""Agents: rounds of a model call and tools, one at a time or side by side, rounds and tools differing by request."""

from __future__ import annotations

import asyncio
from math import inf

from bench.accuracy.programs.common import AGENT, CHAT, SQL, TOOL, faster, longer, taking, together
from bench.accuracy.world import Program, Request, Step

STEPS = {
    "gap": Step(3, 0.5),
    "think": Step(160, 0.4),
    "search": Step(120, 0.6),
    "weather": Step(60, 0.4),
    "sql": Step(90, 0.5, 0.03, 4),
    "final": Step(280, 0.4),
    "moderate": Step(260, 0.4),
    "plan": Step(220, 0.4),
    "write": Step(300, 0.4),
    "memory": Step(35, 0.4),
}


async def one_tool(request: Request) -> None:
    """One to six rounds of a model call and one tool, then the answer."""
    with request.span("invoke_agent helper", attributes=AGENT):
        await request.work("gap", 0)
        for turn in range(request.chance("rounds").randint(1, 6)):
            await request.call("think", "chat gpt-5-mini", attributes=CHAT, turn=turn)
            await request.work("gap", 10 + turn)
            await request.call("search", "execute_tool search", attributes=TOOL, turn=turn)
            await request.work("gap", 20 + turn)
        await request.call("final", "chat gpt-5-mini final", attributes=CHAT)


async def tools_at_once(request: Request) -> None:
    """One to four rounds in which one to four tools of three kinds run side by side."""
    with request.span("invoke_agent helper", attributes=AGENT):
        for turn in range(request.chance("rounds").randint(1, 4)):
            await request.call("think", "chat gpt-5-mini", attributes=CHAT, turn=turn)
            await request.work("gap", 10 + turn)
            chance = request.chance("tools", turn)
            async with asyncio.TaskGroup() as group:
                for place in range(chance.randint(1, 4)):
                    tool = chance.choice(("search", "weather", "sql"))
                    call = request.call(tool, f"execute_tool {tool}", attributes=TOOL, turn=10 * turn + place)
                    group.create_task(call)
            await request.work("gap", 20 + turn)
        await request.call("final", "chat gpt-5-mini", attributes=CHAT)


async def nested_agents(request: Request) -> None:
    """A planner hands one to three tasks to workers that run side by side, each with rounds of its own."""

    async def worker(number: int) -> None:
        with request.span("invoke_agent worker", attributes=AGENT):
            for turn in range(request.chance("rounds", number).randint(1, 3)):
                await request.call("think", "chat gpt-5-mini", attributes=CHAT, turn=10 * number + turn)
                await request.work("gap", 10 * number + turn)
                with request.span("execute_tool query", attributes=TOOL):
                    await request.work("gap", 100 + 10 * number + turn)
                    await request.call("sql", "SELECT facts", attributes=SQL, turn=10 * number + turn)

    early = None
    if request.has("memory beside plan"):
        early = asyncio.create_task(request.call("memory", "memory.load"))
    await request.call("plan", "chat planner", attributes=CHAT)
    await (early or request.call("memory", "memory.load"))
    async with asyncio.TaskGroup() as group:
        for number in range(request.chance("workers").randint(1, 3)):
            group.create_task(worker(number))
    await request.call("write", "chat writer", attributes=CHAT)


async def watched(request: Request) -> None:
    """Two to five rounds of a model call and a tool; a moderation call runs beside them, and the answer awaits it."""
    await request.work("gap", 0)
    moderation = asyncio.create_task(request.call("moderate", "moderation.check"))
    for turn in range(request.chance("rounds").randint(2, 5)):
        await request.call("think", "chat gpt-5-mini", attributes=CHAT, turn=turn)
        await request.work("gap", 10 + turn)
        await request.call("search", "execute_tool search", attributes=TOOL, turn=turn)
        await request.work("gap", 20 + turn)
    await moderation
    await request.call("final", "chat final", attributes=CHAT)


PROGRAMS = (
    Program(
        "agent-serial", "one to six rounds of model and tool", one_tool, STEPS,
        (
            faster("tool", 3, "search"),
            faster("llm", 2, "think", "final"),
            longer("tool", 100, "search"),
            faster("name:invoke_agent*", inf, "gap"),
        ),
        per_second=1.0,
    ),
    Program(
        "agent-tools", "tools side by side, rounds and tools vary", tools_at_once, STEPS,
        (
            faster("name:execute_tool search", 3, "search"),
            faster("tool", 0.5, "search", "weather", "sql"),
            longer("name:execute_tool sql", 120, "sql"),
            faster("llm", 4, "think", "final"),
        ),
        per_second=1.0,
    ),
    Program(
        "agent-team", "a planner and workers side by side", nested_agents, STEPS,
        (
            faster("database", 4, "sql"),
            faster("llm", 2, "think", "plan", "write"),
            taking("parallelize", "name:chat planner,name:memory.load", "memory beside plan"),
            together(faster("database", 2, "sql"), faster("name:chat writer", 2, "write")),
        ),
        per_second=1.0,
    ),
    Program(
        "agent-watched", "a check beside all rounds, awaited by the answer", watched, STEPS,
        (
            longer("name:moderation*", 900, "moderate"),
            faster("llm", 4, "think", "final"),
            faster("tool", 3, "search"),
        ),
        per_second=1.0,
    ),
)  # fmt: skip
