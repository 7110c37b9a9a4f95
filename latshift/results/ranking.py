"""What is worth improving, most promising first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from latshift.results.base import CLASS, Doubt, Interval, Latency, Points, Result, Spread


@dataclass(frozen=True)
class Candidate:
    """One component or phase, and what making it faster gains, by replay of every request.

    Attributes:
        name: Component, or phase such as "llm.decode". kind: Which of both. component: The phase's component.
        klass: Its class. requests: Requests it occurs in. calls: Its calls, over all requests.
        share: Of the latency at each percentile, as recorded.
        gain_2x: Fraction of the latency saved if it took half its time. gain_inf: If it took none.
        saved_per_10ms: ms of latency saved if each call took 10 ms less (or nothing, if it took less than that).
        interval_2x: "p95" to the 95 % interval of `gain_2x`, for the percentile that the ranking is
            by; only for the best ones.
    """

    name: str
    kind: Literal["component", "phase"]
    component: str
    klass: str = field(metadata=CLASS)
    requests: int
    calls: int
    share: Spread
    gain_2x: Spread
    gain_inf: Spread
    saved_per_10ms: Points
    interval_2x: Mapping[str, Interval] = field(default_factory=dict)


@dataclass(frozen=True)
class Pair:
    """Two components that run one after the other, and what starting them together gains.

    Attributes:
        first, second: Components in the order in which they run now. requests: Requests in which they do.
        overtakes: Whether the second would start before others that now run between the two.
        gain: Fraction of the latency saved. interval: "p95" to the 95 % interval of the gain.
        assumptions: One sentence each: the dependencies it breaks, and what else it takes for granted.
    """

    first: str
    second: str
    requests: int
    overtakes: bool
    gain: Spread
    interval: Mapping[str, Interval] = field(default_factory=dict)
    assumptions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Ranking(Result):
    """What to improve first (`latshift rank`).

    Attributes:
        by: "p50", "p95" or "p99": the percentile whose gain puts the candidates in order.
        baseline: Latency as recorded. candidates: By gain for twice the speed, largest first.
        pairs: By gain, largest first. pairs_left: Pairs that run one after the other and were not replayed.
    """

    schema: ClassVar[str] = "latshift/rank/1"
    by: str
    baseline: Latency
    candidates: tuple[Candidate, ...]
    pairs: tuple[Pair, ...] = ()
    pairs_left: int = 0
    doubts: tuple[Doubt, ...] = ()
