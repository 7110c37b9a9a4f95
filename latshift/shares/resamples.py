"""The block bootstrap: many resamples of the requests, made of stretches of time rather than single requests.

Requests that follow each other are alike (they share the load of the moment), so resampling them one by one
understates the uncertainty of p95 by half (whatif.md §3). Requests are cut, in order of time, into cells; a resample
is a set of blocks of neighbouring cells, drawn with replacement from all round the circle. All a resample needs is how
often it holds each cell: tens to thousands of numbers, however many requests there are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from latshift.spans import Array, Float64, Int32, Int64

SEED = 20261130
"""Fixed, so that the same traces always give the same intervals."""

RESAMPLES = 400
_CELLS_PER_BLOCK = 4
_FROM_HERE_ROOT = 50
"""From this many requests a block is 2·√n long; below, a quarter of the requests."""


def block_length(n: int) -> int:
    """Return about how many requests form a block."""
    return round(2 * math.sqrt(n)) if n >= _FROM_HERE_ROOT else max(1, n // 4)


@dataclass(frozen=True)
class Resamples:
    """How often every resample holds every cell.

    Attributes:
        counts: float64 (resamples, cells), whole numbers.
        edges: int64 (cells + 1,), the requests at which the cells begin, and n at the end.
        blocks: How many blocks make up a resample; what can vary independently.
    """

    counts: Float64
    edges: Int64
    blocks: int

    @property
    def n(self) -> int:
        """Number of requests."""
        return int(self.edges[-1])

    def cells(self) -> Int32:
        """Return the cell of every request, int32 (n,)."""
        return np.repeat(np.arange(len(self.edges) - 1, dtype=np.int32), np.diff(self.edges))

    def sums(self, values: Array) -> Float64:
        """Return the sum of the values over each resample.

        Args:
            values: Shape (n,) or (n, k), requests in order of time.

        Returns:
            float64 of shape (resamples,) or (resamples, k).
        """
        if self.n == 0:
            return np.zeros((len(self.counts), *values.shape[1:]))
        return self.counts @ np.add.reduceat(values.astype(np.float64), self.edges[:-1], axis=0)


def draw(n: int, stream: int = 0, length: int | None = None, count: int = RESAMPLES) -> Resamples:
    """Draw resamples of n requests.

    Args:
        n: Number of requests, in order of time.
        stream: Different streams are independent; the same one always gives the same resamples.
        length: About how many requests form a block; None takes a length that is always safe.
        count: How many resamples.
    """
    length = min(length or block_length(n), max(n, 1))
    width = min(length, _CELLS_PER_BLOCK)
    blocks = max(1, min(round(n / length), n // width)) if n else 1
    cells = blocks * width if n else 1
    edges = np.round(np.linspace(0, n, cells + 1)).astype(np.int64)
    random = np.random.Generator(np.random.PCG64([SEED, stream]))
    first = random.integers(0, cells, (count, blocks))
    at = (np.arange(count)[:, None] * cells + first).ravel()
    starts = np.bincount(at, minlength=count * cells).reshape(count, cells).astype(np.float64)
    counts = starts.copy()
    for shift in range(1, width):
        counts += np.roll(starts, shift, axis=1)
    return Resamples(counts, edges, blocks)


def stretched(resamples: Resamples, times: int) -> Resamples:
    """Return the resamples for data in which so many values in a row belong to each request."""
    return replace(resamples, edges=resamples.edges * times)


def as_recorded(resamples: Resamples) -> Resamples:
    """Return the one "resample" that holds every request once: the data themselves."""
    return Resamples(np.ones((1, resamples.counts.shape[1])), resamples.edges, resamples.blocks)
