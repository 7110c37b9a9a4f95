"""What the programs write on their spans, and short ways to say what is changed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from bench.accuracy.world import CLIENT, SERVER, Case, Change, Request, Step

CHAT = {"gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": "gpt-5-mini"}
EMBED = {"gen_ai.operation.name": "embeddings", "gen_ai.request.model": "text-embedding-3-small"}
RERANK = {"gen_ai.operation.name": "rerank", "gen_ai.request.model": "rerank-v3.5"}
RETRIEVE = {"gen_ai.operation.name": "retrieval"}
TOOL = {"gen_ai.operation.name": "execute_tool"}
AGENT = {"gen_ai.operation.name": "invoke_agent"}
VECTORS = {"db.system.name": "qdrant"}
SQL = {"db.system.name": "postgresql"}
REDIS = {"db.system.name": "redis"}

DRAWS = 24
"""Runs over which chance that the change brings in is averaged: one run's p99 differs by several percent."""


def faster(selector: str, factor: float, *steps: str) -> Case:
    """Speed steps up by a factor (0.5 makes them slower, infinity takes no time)."""
    return Case(
        (("speedup", f"{selector}={factor:g}x".replace("infx", "inf")),), Change(scale=dict.fromkeys(steps, 1 / factor))
    )


def longer(selector: str, ms: float, *steps: str) -> Case:
    """Add a fixed time to steps."""
    return Case((("add-latency", f"{selector}={ms:g}ms"),), Change(extra_ms=dict.fromkeys(steps, ms)))


def taking(verb: str, value: str, variant: str, *, draws: int = 1, beyond: str = "", given: str = "") -> Case:
    """Let the program take another code path."""
    return Case(((verb, value),), Change(variant=frozenset({variant})), draws, beyond, given)


def with_number(verb: str, value: str, setting: str, number: float, *, draws: int = 1, beyond: str = "") -> Case:
    """Change one of the program's settings."""
    return Case(((verb, value),), Change(numbers={setting: number}), draws, beyond)


def together(*cases: Case, beyond: str = "", given: str = "") -> Case:
    """Make several changes at once."""
    changes = [case.change for case in cases]
    return Case(
        tuple(edit for case in cases for edit in case.edits),
        Change(
            scale={step: factor for change in changes for step, factor in change.scale.items()},
            extra_ms={step: ms for change in changes for step, ms in change.extra_ms.items()},
            variant=frozenset().union(*(change.variant for change in changes)),
            numbers={name: number for change in changes for name, number in change.numbers.items()},
        ),
        max(case.draws for case in cases),
        beyond or next((case.beyond for case in cases if case.beyond), ""),
        given or next((case.given for case in cases if case.given), ""),
    )


async def remote(
    request: Request, caller: str, callee: str, operation: str, body: Callable[[], Awaitable[None]]
) -> None:
    """Call another service: a client span, a server span, and the network's time between them."""
    with request.span(f"POST {operation}", CLIENT, {"http.request.method": "POST"}, caller):
        await request.work(f"to {operation}")
        with request.span(operation, SERVER, {"http.request.method": "POST", "http.route": operation}, callee):
            await body()
        await request.work(f"from {operation}")


def network(median_ms: float, *operations: str) -> dict[str, Step]:
    """Return the steps of the network to and from each operation."""
    return {f"{way} {operation}": Step(median_ms, 0.5) for operation in operations for way in ("to", "from")}
