"""Exact quantiles and sums over ranks of hundreds of resamples at once, without building any of them.

The requests are sorted once. Every 64 or so ranks form a group, and one product of matrices says how many requests of
each group every resample holds. A rank of a resample is then found in two looks: which group, then where in the group.
20,000 requests in 400 resamples take some 10 ms; cumulating 8 million counts would take ten times that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from latshift.shares.bands import band
from latshift.shares.resamples import Resamples
from latshift.spans import Array, Float64, Int64

_GROUP = 64
_GROUPS = 192
"""Ranks in a group, and how many groups at most (groups grow instead)."""


class Found(NamedTuple):
    """Where a rank of each resample is.

    Attributes:
        place: int64 (resamples,), its place in the sorted requests.
        group: int64 (resamples,), its group.
        mass: float64 (resamples, group size), how often the resample holds each request of the group.
        before: float64 (resamples,), how many requests of the resample come before the one at `place`.
    """

    place: Int64
    group: Int64
    mass: Float64
    before: Float64


class Ranked:
    """Requests in ascending order of some value, seen through resamples.

    Args:
        values: Shape (n,), what to rank by, requests in order of time; ties stay in that order. n > 0.
        resamples: The resamples.
        weights: float64 (n,), how much each request counts; None counts all alike.
    """

    def __init__(self, values: Array, resamples: Resamples, weights: Float64 | None = None) -> None:
        self.order: Int64 = np.argsort(values, kind="stable")
        self.values: Float64 = values[self.order].astype(np.float64)
        self.weights: Float64 = np.ones(len(values)) if weights is None else weights[self.order]
        self._resamples = resamples
        self._rows = np.arange(len(resamples.counts))
        self._cell = resamples.cells()[self.order]
        self._size = max(_GROUP, -(-len(values) // _GROUPS))
        self._groups = -(-len(values) // self._size)
        self._upto = self._cumulated(self.weights)
        self.total: Float64 = self._upto[-1]

    def _cumulated(self, amounts: Float64) -> Float64:
        """Sum amounts (n,), in sorted order, over all groups before each: (groups + 1, resamples)."""
        cells = self._resamples.counts.shape[1]
        key = np.arange(len(amounts)) // self._size * cells + self._cell
        table = np.bincount(key, amounts, self._groups * cells).reshape(self._groups, cells)
        upto = np.zeros((self._groups + 1, len(self._rows)))
        np.cumsum(table @ self._resamples.counts.T, axis=0, out=upto[1:])
        return upto

    def find(self, rank: Float64) -> Found:
        """Find one rank in every resample.

        Args:
            rank: float64 (resamples,), counted from 0; beyond the end means the last request.
        """
        group = np.minimum((self._upto[1:] <= rank).sum(axis=0), self._groups - 1)
        item = group[:, None] * self._size + np.arange(self._size)
        inside = item < len(self.values)
        item = np.minimum(item, len(self.values) - 1)
        mass = self._resamples.counts[self._rows[:, None], self._cell[item]] * self.weights[item] * inside
        upto = self._upto[group, self._rows][:, None] + np.cumsum(mass, axis=1)
        offset = np.minimum((upto <= rank[:, None]).sum(axis=1), self._size - 1)
        index = np.minimum(group * self._size + offset, len(self.values) - 1)
        offset = index - group * self._size
        return Found(index, group, mass, upto[self._rows, offset] - mass[self._rows, offset])

    def quantile(self, fraction: float) -> Float64:
        """Return a type-7 quantile of the values in each resample, float64 (resamples,)."""
        place = fraction * np.maximum(self.total - 1, 0)
        below = np.floor(place)
        low = self.values[self.find(below).place]
        high = self.values[self.find(below + 1).place]
        return low + (high - low) * (place - below)

    def sums_below(self, ranks: Sequence[Float64], amounts: Sequence[Array]) -> Float64:
        """Sum amounts over the requests below each rank.

        Args:
            ranks: Each float64 (resamples,); a rank inside a request that counts more than once takes part of it.
            amounts: Each of shape (n,), requests in order of time.

        Returns:
            float64 (ranks, amounts, resamples).
        """
        found = [self.find(rank) for rank in ranks]
        result = np.empty((len(ranks), len(amounts), len(self._rows)))
        for column, amount in enumerate(amounts):
            ranked = amount[self.order].astype(np.float64)
            upto = self._cumulated(ranked * self.weights)
            for row, (rank, at) in enumerate(zip(ranks, found, strict=True)):
                item = at.group[:, None] * self._size + np.arange(self._size)
                earlier = np.where(item < at.place[:, None], at.mass, 0)
                within = (earlier * ranked[np.minimum(item, len(ranked) - 1)]).sum(axis=1)
                # Never more than the request at that rank holds: the rank may lie at or beyond the end.
                most = at.mass[self._rows, at.place - at.group * self._size]
                part = np.clip(rank - at.before, 0, most)
                result[row, column] = upto[at.group, self._rows] + within + part * ranked[at.place]
        return result

    def band_means(self, fraction: float, amounts: Sequence[Array]) -> Float64:
        """Return the means of amounts in the band around a percentile of the values.

        Args:
            fraction: The percentile as a fraction.
            amounts: Each of shape (n,), requests in order of time.

        Returns:
            float64 (amounts, resamples).
        """
        around = band(self.total, fraction)
        low, high = self.sums_below((around.low, around.high), amounts)
        means: Float64 = (high - low) / np.maximum(around.high - around.low, 1e-300)
        return means
