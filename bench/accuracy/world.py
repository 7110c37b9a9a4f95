"""What every program of the benchmark runs in: traffic, random draws, spans, and the change that is being tried.

Draws belong to (program, week, request, step, turn). A base run and a changed run of the same week therefore see the
same arrivals and the same service times wherever the change does not touch them (common random numbers).
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from opentelemetry.trace import Span, SpanKind, Status, StatusCode

from bench.accuracy.clock import VirtualLoop
from bench.accuracy.telemetry import EPOCH_NS, Attributes, Recorded, Silent, Telemetry

INTERNAL, CLIENT, SERVER = SpanKind.INTERNAL, SpanKind.CLIENT, SpanKind.SERVER
PRODUCER, CONSUMER = SpanKind.PRODUCER, SpanKind.CONSUMER

Service = Callable[["Request"], Awaitable[None]]


@dataclass(frozen=True)
class Step:
    """How long a step takes: log-normal, with a share of calls that are slow by a factor."""

    median_ms: float
    spread: float = 0.3
    slow_share: float = 0.0
    slow_factor: float = 1.0

    def draw(self, chance: random.Random) -> float:
        """Return a duration in seconds."""
        factor = self.slow_factor if chance.random() < self.slow_share else 1.0
        return self.median_ms / 1_000 * factor * chance.lognormvariate(0.0, self.spread)


@dataclass(frozen=True)
class Change:
    """What is changed in the program.

    Attributes:
        scale: Step to the factor its duration is multiplied with. extra_ms: Step to ms that are added.
        variant: Names of code paths that the program takes instead of its usual ones. numbers: Its settings.
        load: Factor on the arrival rate.
    """

    scale: Mapping[str, float] = field(default_factory=dict)
    extra_ms: Mapping[str, float] = field(default_factory=dict)
    variant: frozenset[str] = frozenset()
    numbers: Mapping[str, float] = field(default_factory=dict)
    load: float = 1.0


BASE = Change()

_DRAWN: dict[tuple[str, int, str, int], float] = {}
"""Draws made so far: seeding takes longer than running, and most runs of a program draw the same."""


@dataclass(frozen=True)
class Case:
    """An edit, and the change that really makes it.

    Attributes:
        edits: Verb and value in order, as `latshift whatif` takes them; {folder} is where measured latencies are.
        change: The same thing done to the program.
        draws: Runs with other draws of the decisions that the change introduces (hit or miss), taken together.
        beyond: Why the traces cannot tell, for cases kept to show the limit of the method.
        given: Text of a latshift.toml with which the prediction is made.
    """

    edits: tuple[tuple[str, str], ...]
    change: Change
    draws: int = 1
    beyond: str = ""
    given: str = ""

    @property
    def text(self) -> str:
        """The edits as one types them."""
        return " ".join(f"--{verb} {value}" for verb, value in self.edits)


@dataclass(frozen=True)
class Program:
    """A small asyncio program.

    Attributes:
        name, about: What it is. serve: Handles one request. steps: How long its steps take.
        cases: Changes to it. per_second: Arrival rate. requests: How many arrive.
        measured: Files of measured latencies that its cases name: file name to the step they come from.
    """

    name: str
    about: str
    serve: Service
    steps: Mapping[str, Step]
    cases: tuple[Case, ...]
    per_second: float = 2.0
    requests: int = 1000
    measured: Mapping[str, str] = field(default_factory=dict)


class World:
    """One run of a program.

    Args:
        program: What runs.
        change: What is changed in it.
        week: Which traffic it sees. draw: Which draws of the decisions that the change introduces.
        loop: The event loop it runs on.
    """

    def __init__(self, program: Program, change: Change, week: int, draw: int, loop: VirtualLoop) -> None:
        self.program = program
        self.change = change
        self.seed = f"{program.name} {week}"
        self.draw = draw
        self.loop = loop
        self.telemetry: Telemetry = Silent()
        self.shared: dict[str, Any] = {}
        self.tasks: set[asyncio.Task[None]] = set()
        self.latency: list[int] = []

    def now(self) -> int:
        """Return the time in ns since the epoch."""
        return EPOCH_NS + round(self.loop.time() * 1e9)

    async def run(self, requests: int) -> None:
        """Let the requests arrive, and return when the last of them and all they started are done."""
        arrivals = random.Random(f"{self.seed} arrivals")
        self.latency = [0] * requests
        async with asyncio.TaskGroup() as running:
            for number in range(requests):
                await asyncio.sleep(arrivals.expovariate(self.program.per_second) / self.change.load)
                running.create_task(self._serve(Request(self, number)))
        while self.tasks:
            await asyncio.wait(self.tasks)
        self.telemetry.close()

    async def _serve(self, request: Request) -> None:
        attributes: Attributes = {"http.request.method": "POST", "http.route": "/ask", "http.response.status_code": 200}
        begun = self.now()
        with request.span("POST /ask", SERVER, attributes):
            await self.program.serve(request)
            self.latency[request.number] = self.now() - begun


class Request:
    """One request, as the program sees it."""

    def __init__(self, world: World, number: int) -> None:
        self.world = world
        self.number = number

    def chance(self, step: str, turn: int = 0) -> random.Random:
        """Return the random numbers of one step of this request, the same in every run of the week."""
        return random.Random(f"{self.world.seed} {self.number} {step} {turn}")

    def decide(self, share: float, what: str, turn: int = 0) -> bool:
        """Draw a decision that only the changed program makes."""
        return random.Random(f"{self.world.seed} {self.world.draw} {self.number} {what} {turn}").random() < share

    def seconds(self, step: str, turn: int = 0) -> float:
        """Return how long a step takes in this run."""
        change = self.world.change
        key = (self.world.seed, self.number, step, turn)
        drawn = _DRAWN.get(key)
        if drawn is None:
            drawn = _DRAWN[key] = self.world.program.steps[step].draw(self.chance(step, turn))
        return drawn * change.scale.get(step, 1.0) + change.extra_ms.get(step, 0.0) / 1_000

    async def work(self, step: str, turn: int = 0) -> None:
        """Do a step: wait for a socket, or compute."""
        await asyncio.sleep(self.seconds(step, turn))

    def has(self, variant: str) -> bool:
        """Return whether the program takes another code path in this run."""
        return variant in self.world.change.variant

    def number_of(self, setting: str, usual: float) -> float:
        """Return a setting of the program."""
        return self.world.change.numbers.get(setting, usual)

    def span(
        self, name: str, kind: SpanKind = INTERNAL, attributes: Attributes | None = None, service: str = "api"
    ) -> AbstractContextManager[Span]:
        """Trace a block as a child of the current span."""
        return self.world.telemetry.span(service, name, kind, attributes or {})

    async def call(
        self,
        step: str,
        name: str,
        kind: SpanKind = CLIENT,
        attributes: Attributes | None = None,
        *,
        turn: int = 0,
        service: str = "api",
    ) -> None:
        """Do a step in a span of its own."""
        with self.span(name, kind, attributes, service):
            await self.work(step, turn)

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Start something beside the request; nobody has to await it."""
        task = asyncio.create_task(work)
        self.world.tasks.add(task)
        task.add_done_callback(self.world.tasks.discard)
        return task

    def pool(self, name: str, size: int) -> asyncio.Semaphore:
        """Return the slots that all requests share; first come, first served."""
        shared = self.world.shared
        if name not in shared:
            shared[name] = asyncio.Semaphore(int(self.number_of(name, size)))
        pool: asyncio.Semaphore = shared[name]
        return pool


def fail(span: Span, kind: str, status: int = 0) -> None:
    """Mark a span as failed."""
    span.set_attribute("error.type", kind)
    if status:
        span.set_attribute("http.response.status_code", status)
    span.set_status(Status(StatusCode.ERROR))


def run(
    program: Program,
    change: Change = BASE,
    *,
    week: int = 0,
    draw: int = 0,
    requests: int | None = None,
    export: Path | None = None,
) -> list[int]:
    """Run a program; return the latency of each request in ns, in order of arrival.

    Args:
        export: A file for the spans; None for none.
    """
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        loop = runner.get_loop()
        assert isinstance(loop, VirtualLoop)
        world = World(program, change, week, draw, loop)
        if export is not None:
            world.telemetry = Recorded(export, world.now)
        runner.run(world.run(requests or program.requests))
        return world.latency


def forget_draws() -> None:
    """Free the memory of the draws made so far; they can be made again."""
    _DRAWN.clear()
