"""A program with a pool, simulated on its own: coroutines on a virtual clock, and a semaphore that is FIFO.

Nothing here comes from latshift; the traces it writes are what latshift is given, and the latencies of the changed
program are what its predictions are held against.
"""

from __future__ import annotations

import heapq
import random
from collections import deque
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any

MS = 1_000_000
Step = Generator[tuple[str, Any], None, None]


class Semaphore:
    """Slots, first come, first served."""

    def __init__(self, slots: int) -> None:
        self.free = slots
        self.line: deque[Step] = deque()


class Clock:
    """Runs coroutines that yield ("sleep", ns), ("acquire", semaphore) or ("release", semaphore)."""

    def __init__(self) -> None:
        self.now = 0
        self._order = 0
        self._timers: list[tuple[int, int, Step]] = []

    def at(self, when: int, step: Step) -> None:
        self._order += 1
        heapq.heappush(self._timers, (when, self._order, step))

    def run(self) -> None:
        while self._timers:
            self.now, _, step = heapq.heappop(self._timers)
            self._advance(step)

    def _advance(self, step: Step) -> None:
        for action, value in step:
            if action == "sleep":
                self.at(self.now + value, step)
                return
            if action == "acquire":
                if not value.free:
                    value.line.append(step)
                    return
                value.free -= 1
            elif value.line:
                self.at(self.now, value.line.popleft())
            else:
                value.free += 1


@dataclass
class Program:
    """auth, then `passes` times: wait for a slot, call the model; then post-processing.

    Attributes:
        rate: Requests per second. slots: Size of the pool. speed: How much faster the model is.
        shape: "span" draws the waiting in front of the call, "child" inside it, "phase" as the engine's queue time,
            "gap" not at all.
        passes: Model calls per request. load: Factor on the rate, on the same draws. extra: ns more in each call.
        overhead: ns from a free slot to the call that gets it.
    """

    rate: float
    slots: int = 4
    speed: float = 1.0
    shape: str = "span"
    passes: int = 1
    load: float = 1.0
    extra: int = 0
    overhead: int = 0
    requests: int = 1500
    seed: int = 1
    rows: list[dict[str, Any]] = field(default_factory=list)
    latency: list[int] = field(default_factory=list)

    def run(self) -> Program:
        clock, pool = Clock(), Semaphore(self.slots)
        chance = random.Random(self.seed)
        arrival = 0.0
        self.latency = [0] * self.requests
        for number in range(self.requests):
            arrival += chance.expovariate(self.rate)
            clock.at(round(arrival / self.load * 1e9), self._request(clock, pool, number))
        clock.run()
        return self

    def _request(self, clock: Clock, pool: Semaphore, number: int) -> Step:
        chance = random.Random(f"{self.seed}.{number}")
        begin = clock.now
        at = clock.now
        yield "sleep", round(chance.uniform(15, 35) * MS)
        self._span(number, "auth", "root", at, clock.now)
        for turn in range(self.passes):
            yield from self._model(clock, pool, number, turn, chance)
            yield "sleep", round(chance.uniform(20, 60) * MS)
        self.latency[number] = clock.now - begin
        self._span(number, "root", None, begin, clock.now, name="POST /chat", kind="server")

    def _model(self, clock: Clock, pool: Semaphore, number: int, turn: int, chance: random.Random) -> Step:
        service = chance.lognormvariate(5.18, 0.48) / self.passes
        call, asked = f"llm{turn}", clock.now
        yield "acquire", pool
        if self.overhead:
            yield "sleep", self.overhead
        started = clock.now
        yield "sleep", round(service * MS / self.speed) + self.extra
        ended = clock.now
        yield "release", pool
        chat = {"name": "chat m", "operation": "chat", "kind": "client"}
        if self.shape == "span":
            self._span(number, f"wait{turn}", "root", asked, started, name="pool.acquire")
            self._span(number, call, "root", started, ended, **chat)
        elif self.shape == "child":
            self._span(number, call, "root", asked, ended, **chat)
            self._span(number, f"wait{turn}", call, asked, started, name="pool.acquire")
        elif self.shape == "phase":
            queue, prefill = started - asked, (ended - started) // 10
            times = {"queue_time": queue, "prefill_time": prefill, "decode_time": ended - started - prefill}
            self._span(number, call, "root", asked, ended, **chat, **times)
        else:
            self._span(number, call, "root", started, ended, **chat)

    def _span(self, number: int, span: str, parent: str | None, start: int, end: int, **more: Any) -> None:
        row = {"id": f"{number}.{span}", "trace": f"t{number}", "name": span, "start": start, "end": end}
        self.rows.append(row | {"parent": f"{number}.{parent}" if parent else None} | more)
