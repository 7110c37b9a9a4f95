"""Quantiles by linear interpolation (Hyndman and Fan's type 7), and how many requests one needs.

Type 7 puts the q-quantile of n values at position q·(n − 1), counted from 0 in ascending order, and interpolates
between the two neighbours; it is the default of NumPy, R and spreadsheets.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from latshift.spans import Array, Float64

PERCENTILES = (0.50, 0.95, 0.99)
"""The percentiles that every table shows."""

FEWEST_REQUESTS = 20
"""Below this no statistic of a set of requests is called sure, not even its median."""


def quantiles(values: Array, at: Sequence[float] = PERCENTILES) -> Float64:
    """Return type-7 quantiles.

    Args:
        values: Shape (n,) or (n, k); quantiles are taken down the first axis.
        at: Fractions, 0 to 1.

    Returns:
        float64 of shape (len(at),) or (len(at), k), in the unit of the values; nan where n = 0.
    """
    if values.shape[0] == 0:
        return np.full((len(at), *values.shape[1:]), np.nan)
    return np.quantile(values, at, axis=0, method="linear")


def weighted_quantiles(values: Array, counts: Array, at: Sequence[float] = PERCENTILES) -> Float64:
    """Return the type-7 quantiles of the values, each repeated as often as its count says.

    Args:
        values: Shape (n,).
        counts: Shape (n,), how often each value occurs; whole numbers >= 0.
        at: Fractions, 0 to 1.

    Returns:
        float64 of shape (len(at),); nan where all counts are 0.
    """
    order = np.argsort(values, kind="stable")
    upto = np.cumsum(counts[order])
    total = int(upto[-1]) if len(upto) else 0
    if total == 0:
        return np.full(len(at), np.nan)
    place = np.asarray(at, np.float64) * (total - 1)
    below = np.floor(place)
    ranked = values[order].astype(np.float64)
    low = ranked[np.searchsorted(upto, below, side="right")]
    high = ranked[np.searchsorted(upto, np.minimum(below + 1, total - 1), side="right")]
    result: Float64 = low + (high - low) * (place - below)
    return result


def requests_needed(fraction: float | None) -> int:
    """Return how many requests a percentile needs before it is more than a guess.

    That is the n from which, 19 times in 20, at least one request lies beyond the percentile, 1 − q^n >= 0.95: 59 for
    p95, 299 for p99 (whatif.md §4.1). Never fewer than `FEWEST_REQUESTS`.

    Args:
        fraction: The percentile as a fraction; None for the mean.
    """
    if fraction is None or not 0 < fraction < 1:
        return FEWEST_REQUESTS
    return max(FEWEST_REQUESTS, math.ceil(math.log(0.05) / math.log(fraction)))


def percentile_name(fraction: float | None) -> str:
    """Return "p95" for 0.95, "p99.9" for 0.999 and "mean" for None."""
    return "mean" if fraction is None else f"p{round(fraction * 100, 6):g}"
