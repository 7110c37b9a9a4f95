"""Model calls seen closely: first tokens, an engine's phases, other models, second copies."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from math import inf

from bench.accuracy.programs.common import CHAT, DRAWS, RETRIEVE, faster, longer, taking
from bench.accuracy.world import CLIENT, SERVER, Case, Change, Program, Request, Step

STREAMED = {
    "gap": Step(3, 0.5),
    "documents": Step(90, 0.4),
    "first": Step(180, 0.4),
    "stream": Step(520, 0.5),
    "post": Step(15, 0.4),
}


async def streamed(request: Request) -> None:
    """A streamed answer whose span says when its first token came."""
    await request.call("documents", "retrieve handbook", attributes=RETRIEVE)
    await request.work("gap", 0)
    with request.span("chat gpt-5-mini", CLIENT, CHAT) as call:
        first = request.seconds("first")
        call.set_attribute("gen_ai.response.time_to_first_chunk", first)
        await asyncio.sleep(first)
        await request.work("stream")
    await request.work("post")


PREFILL_START, PREFILL_TOKEN = 0.020, 0.000_2
"""Seconds of a prefill, and of each token that is not cached (whatif.md 2.8)."""

ENGINE = {
    "gap": Step(3, 0.5),
    "documents": Step(80, 0.4),
    "to engine": Step(4, 0.4),
    "from engine": Step(3, 0.4),
    "queue": Step(15, 0.9),
    "tokens": Step(1_600_000, 0.5),
    "prefill": Step(1, 0.0),
    "decode": Step(350, 0.5),
}


async def engine(request: Request) -> None:
    """An engine that says how long each call waited, and was in prefill and in decode (vLLM's attributes)."""
    await request.call("documents", "retrieve handbook", attributes=RETRIEVE)
    await request.work("gap", 0)
    tokens = round(request.seconds("tokens"))
    cached = request.number_of("cached share", 0.0)
    scale = request.world.change.scale.get("prefill", 1.0)
    queue, decode = request.seconds("queue"), request.seconds("decode")
    prefill = (PREFILL_START + PREFILL_TOKEN * tokens * (1 - cached)) * scale
    with request.span("chat qwen3", CLIENT, {**CHAT, "gen_ai.usage.input_tokens": tokens}):
        await request.work("to engine")
        attributes = {
            "gen_ai.usage.prompt_tokens": tokens,
            "gen_ai.usage.completion_tokens": max(1, round(decode / 0.009)),
            "gen_ai.latency.time_in_queue": queue,
            "gen_ai.latency.time_in_model_prefill": prefill,
            "gen_ai.latency.time_in_model_decode": decode,
            "gen_ai.latency.time_to_first_token": queue + prefill,
        }
        with request.span("llm_request", SERVER, attributes, "vllm"):
            await asyncio.sleep(queue + prefill + decode)
        await request.work("from engine")
    await request.work("gap", 1)


ALPHA, GAMMA, COST = 0.8, 4, 0.1
SPECULATIVE = (1 - ALPHA ** (GAMMA + 1)) / ((1 - ALPHA) * (GAMMA * COST + 1))
"""Speed-up of decode (Leviathan et al., ICML 2023, theorem 3.8)."""

CHOSEN = {
    "gap": Step(3, 0.5),
    "documents": Step(70, 0.4),
    "large": Step(520, 0.45),
    "small": Step(150, 0.35),
    "copy": Step(520, 0.45),
    "rewrite": Step(60, 0.4),
}


async def chosen(request: Request) -> None:
    """One model call that can go to a smaller model, or be sent a second time when it takes long."""
    if request.has("rewrite first"):
        await asyncio.sleep(0.060)
    await request.call("documents", "retrieve handbook", attributes=RETRIEVE)
    await request.work("gap", 0)
    if request.has("only small") or (request.has("route") and request.decide(0.7, "route")):
        await asyncio.sleep(Step.draw(CHOSEN["small"], request.chance("small", request.world.draw)))
    elif request.has("hedge"):
        first = request.seconds("large")
        second = HEDGE_AFTER + CHOSEN["copy"].draw(request.chance("copy", request.world.draw))
        await asyncio.sleep(min(first, second))
    else:
        await request.call("large", "chat large", attributes=CHAT)
    await request.work("gap", 1)


HEDGE_AFTER = 0.520 * 2.718281828459045 ** (0.45 * 1.6448536269514722)
"""The 95th percentile of the large model's latency (s)."""

PROGRAMS = (
    Program(
        "model-streamed", "time to first token, then a stream", streamed, STREAMED,
        (
            faster("llm.stream", 2, "stream"),
            faster("llm.first-token", 2, "first"),
            faster("llm.stream", 0.5, "stream"),
            faster("llm", 3, "first", "stream"),
            longer("llm", 80, "stream"),
        ),
    ),
    Program(
        "model-engine", "queue, prefill and decode of an engine", engine, ENGINE,
        (
            faster("llm.decode", 2, "decode"),
            faster("llm.prefill", 3, "prefill"),
            faster("llm.decode", 0.5, "decode"),
            faster("llm.queue", inf, "queue"),
            replace(
                faster("llm", SPECULATIVE, "decode"),
                edits=(("spec-decode", f"llm=alpha:{ALPHA},gamma:{GAMMA},cost:{COST}"),),
            ),
            Case((("prompt-cache", "llm=80%"),), Change(numbers={"cached share": 0.8})),
        ),
    ),
    Program(
        "model-choice", "another model, a second copy, a step more", chosen, CHOSEN,
        (
            taking("route", "llm=70%:{folder}/small.txt", "route", draws=DRAWS),
            taking("replace", "llm={folder}/small.txt", "only small", draws=DRAWS),
            taking("hedge", "llm=p95", "hedge", draws=DRAWS),
            taking("insert", "rewrite=60ms,before=retrieval", "rewrite first"),
            faster("llm", 2, "large"),
        ),
        requests=1500,
        measured={"small.txt": "small"},
    ),
)  # fmt: skip
