"""What really happens when a program is changed and run again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bench.accuracy.world import Case, Program, run


@dataclass(frozen=True)
class Percentiles:
    """End-to-end latency in ms."""

    p50: float
    p95: float
    p99: float

    @property
    def values(self) -> tuple[float, float, float]:
        """The three of them."""
        return self.p50, self.p95, self.p99

    def against(self, truth: Percentiles) -> tuple[float, float, float]:
        """Return by how much these are off, in percent of the truth; positive is too slow."""
        first, second, third = (100 * (mine / real - 1) for mine, real in zip(self.values, truth.values, strict=True))
        return first, second, third


def percentiles(latency: Sequence[int]) -> Percentiles:
    """Return the percentiles of latencies in ns."""
    p50, p95, p99 = np.quantile(np.asarray(latency) / 1e6, [0.5, 0.95, 0.99])
    return Percentiles(float(p50), float(p95), float(p99))


def changed(program: Program, case: Case, requests: int, week: int = 0) -> list[int]:
    """Run a program with the change made; return the latencies in ns, of all draws of its decisions together."""
    latency: list[int] = []
    for draw in range(case.draws):
        latency += run(program, case.change, week=week, draw=draw, requests=requests)
    return latency
