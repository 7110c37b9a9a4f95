"""Slots that all requests share: waiting depends on the load, so a change in one place shortens another's queue."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from bench.accuracy.programs.common import CHAT, RETRIEVE, SQL, faster, longer, remote, together, with_number
from bench.accuracy.programs.common import network as network_steps
from bench.accuracy.world import CLIENT, SERVER, Case, Change, Program, Request, Step

POOLED = {
    "gap": Step(3, 0.5),
    "auth": Step(25, 0.3),
    "documents": Step(75, 0.5),
    "chat": Step(180, 0.5),
    "post": Step(12, 0.3),
}
SLOTS = 4


async def acquired(request: Request) -> None:
    """Four slots for the model; waiting for one has a span of its own, next to the call."""
    await request.call("auth", "auth.verify")
    await request.work("gap", 0)
    await request.call("documents", "retrieve handbook", attributes=RETRIEVE)
    await request.work("gap", 1)
    slots = request.pool("slots", SLOTS)
    with request.span("pool.acquire"):
        await slots.acquire()
    try:
        await request.call("chat", "chat gpt-5-mini", attributes=CHAT)
    finally:
        slots.release()
    await request.work("post")


async def waiting_inside(request: Request) -> None:
    """The same with the wait inside the model call's span, as a child of it."""
    await request.call("documents", "retrieve handbook", attributes=RETRIEVE)
    await request.work("gap", 0)
    with request.span("chat gpt-5-mini", CLIENT, CHAT):
        slots = request.pool("slots", SLOTS)
        with request.span("pool.acquire"):
            await slots.acquire()
        try:
            await request.work("chat")
        finally:
            slots.release()
    await request.work("post")


ENGINE = {
    **POOLED,
    "prefill": Step(60, 0.4),
    "decode": Step(120, 0.5),
    **network_steps(3, "/v1/chat/completions"),
}


async def waiting_in_engine(request: Request) -> None:
    """Four slots inside an engine, which says how long each call waited (gen_ai.latency.time_in_queue)."""

    async def serve() -> None:
        prefill, decode = request.seconds("prefill"), request.seconds("decode")
        with request.span("llm_request", SERVER, service="vllm") as call:
            begun = request.world.loop.time()
            async with request.pool("slots", SLOTS):
                waited = request.world.loop.time() - begun
                await asyncio.sleep(prefill + decode)
            call.set_attributes(
                {
                    "gen_ai.latency.time_in_queue": waited,
                    "gen_ai.latency.time_in_model_prefill": prefill,
                    "gen_ai.latency.time_in_model_decode": decode,
                    "gen_ai.latency.time_to_first_token": waited + prefill,
                    "gen_ai.usage.prompt_tokens": 1200,
                    "gen_ai.usage.completion_tokens": max(1, round(decode / 0.008)),
                }
            )

    await request.call("documents", "retrieve handbook", attributes=RETRIEVE)
    await request.work("gap", 0)
    with request.span("chat qwen3", CLIENT, CHAT):
        await request.work("to /v1/chat/completions")
        await serve()
        await request.work("from /v1/chat/completions")
    await request.work("post")


CONNECTIONS = {
    "gap": Step(3, 0.5),
    "first": Step(40, 0.6),
    "second": Step(70, 0.6),
    "chat": Step(240, 0.4),
    **network_steps(3, "/orders"),
}


async def connections(request: Request) -> None:
    """Three connections to the database in another service, taken twice by every request."""

    async def query(step: str, name: str) -> None:
        pool = request.pool("slots", 3)
        with request.span("pool.acquire", service="orders"):
            await pool.acquire()
        try:
            await request.call(step, name, attributes=SQL, service="orders")
        finally:
            pool.release()

    async def orders() -> None:
        await query("first", "SELECT customer")
        await request.work("gap", 1)
        await query("second", "SELECT orders")

    await request.work("gap", 0)
    await remote(request, "api", "orders", "/orders", orders)
    await request.call("chat", "chat gpt-5-mini", attributes=CHAT)


SPAN_POOL = ("pool", f"llm={SLOTS},queue=name:pool.acquire")
SQL_POOL = ("pool", "database=3,queue=name:pool.acquire")
PHASE_POOL = ("pool", f"llm={SLOTS},queue=llm.queue")


def pooled(pool: tuple[str, str], case: Case) -> Case:
    """Say which pool there is, before the edit."""
    return replace(case, edits=(pool, *case.edits))


def more_slots(pool: tuple[str, str], slots: int) -> Case:
    """Give the pool another size."""
    verb, value = pool
    size, comma, queue = value.partition(",")
    return with_number(verb, f"{size}->{slots}{comma}{queue}", "slots", slots)


def busier(pool: tuple[str, str], factor: float) -> Case:
    """Let more requests arrive."""
    return Case((pool, ("load", f"{factor:g}x")), Change(load=factor))


def span_cases(slower: float, load: float) -> tuple[Case, ...]:
    """Return the cases of a pool whose queue is a span."""
    return (
        pooled(SPAN_POOL, faster("llm", 2, "chat")),
        pooled(SPAN_POOL, faster("llm", slower, "chat")),
        pooled(SPAN_POOL, longer("retrieval", 60, "documents")),
        more_slots(SPAN_POOL, 8),
        together(more_slots(SPAN_POOL, 3), faster("llm", 2, "chat")),
        busier(SPAN_POOL, load),
    )


def phase_cases(slower: float, load: float) -> tuple[Case, ...]:
    """Return the cases of a pool whose queue is a phase of the engine's span."""
    return (
        pooled(PHASE_POOL, faster("llm.decode", 2, "decode")),
        pooled(PHASE_POOL, faster("llm.decode", slower, "decode")),
        more_slots(PHASE_POOL, 6),
        busier(PHASE_POOL, load),
    )


# Mean times held: 180 ms · e^(0.5²/2) = 204 ms, in the engine 60 · 1.083 + 120 · 1.133 = 201 ms; ρ = rate · that / 4.
PROGRAMS = (
    Program("pool-40", "four slots, ρ = 0.40", acquired, POOLED, span_cases(0.6, 1.6), 7.84, 1500),
    Program("pool-77", "four slots, ρ = 0.77", acquired, POOLED, span_cases(0.87, 1.15), 15.1, 1500),
    Program("pool-88", "four slots, ρ = 0.88", acquired, POOLED, span_cases(0.95, 0.8), 17.25, 1500),
    Program(
        "pool-inside", "the wait inside the call, ρ = 0.77", waiting_inside, POOLED,
        (
            pooled(SPAN_POOL, faster("llm", 2, "chat")),
            pooled(SPAN_POOL, faster("llm", 0.87, "chat")),
            more_slots(SPAN_POOL, 6),
        ),
        15.1, 1500,
    ),
    Program(
        "pool-engine-77", "slots of an engine, ρ = 0.77", waiting_in_engine, ENGINE, phase_cases(0.85, 1.15),
        15.3, 1500,
    ),
    Program(
        "pool-engine-88", "slots of an engine, ρ = 0.88", waiting_in_engine, ENGINE, phase_cases(0.95, 0.8),
        17.5, 1500,
    ),
    Program(
        "pool-database", "connections taken twice, ρ = 0.75", connections, CONNECTIONS,
        (
            pooled(SQL_POOL, faster("name:SELECT orders", 2, "second")),
            pooled(SQL_POOL, faster("database", 0.9, "first", "second")),
            pooled(SQL_POOL, faster("llm", 2, "chat")),
            more_slots(SQL_POOL, 5),
        ),
        17.1, 1200,
    ),
)  # fmt: skip
