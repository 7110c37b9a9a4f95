"""Which requests stand for a percentile: the band of ranks around it.

A single request at p95 says nothing about who makes requests slow there; the 20 (or 5 %) nearest to it do. Within one
band E[path time] ÷ E[duration] adds up to 1 over the components (Euler allocation, whatif.md §2.2).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from latshift.spans import Array, Float64, Int64

SMALLEST_BAND = 20
BAND_SHARE = 0.05
"""A band has the larger of this many requests and this share of them."""

_ROUNDING = 1e-9
"""Ranks that a product such as 0.95 · 100 misses by less than this are hit."""


class Band(NamedTuple):
    """The ranks [low, high) of a band, and whether the end of the data cut it.

    All float64 or bool of one shape: one value for each set of requests. With whole counts the ranks are whole.
    """

    low: Float64
    high: Float64
    cut: Array


def band(total: Array | int, fraction: float) -> Band:
    """Return the ranks nearest to a percentile, cut where the requests end.

    Args:
        total: How many requests there are, of any shape.
        fraction: The percentile as a fraction.

    Returns:
        Ranks counted from 0 in ascending order of latency.
    """
    number = np.asarray(total, np.float64)
    size = np.maximum(SMALLEST_BAND, np.ceil(number * BAND_SHARE - _ROUNDING))
    low = np.ceil(fraction * (number - 1) - size / 2 - _ROUNDING)
    high = low + size
    return Band(np.maximum(low, 0), np.minimum(high, number), (low < 0) | (high > number))


def band_rows(duration: Int64, fraction: float, order: Int64 | None = None) -> tuple[Int64, bool]:
    """Return the requests in the band around a percentile of their duration.

    Args:
        duration: int64 (r,), in any unit; equal durations stay in the order given.
        fraction: The percentile as a fraction.
        order: int64 (r,), the stable order of `duration` if it is already known.

    Returns:
        int64 (m,), the requests in ascending order of duration; whether the band was cut.
    """
    ranked = np.argsort(duration, kind="stable") if order is None else order
    low, high, cut = band(len(duration), fraction)
    return ranked[int(low) : int(high)], bool(cut)
