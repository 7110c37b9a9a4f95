"""How long requests remember the load of the moment, and so how long the blocks of a bootstrap must be.

Long blocks are always safe but leave few of them, and with few blocks little can be told. Latency under load needs
them; path time outside the model mostly has no memory at all, and its changes are found with far fewer requests if its
blocks are short.
"""

from __future__ import annotations

import math

import numpy as np

from latshift.shares.resamples import block_length
from latshift.spans import Array

_BLOCK_PER_TIME = 3
"""Blocks are this many correlation times long; what a block of that length misses is 10 % of the standard error."""

_WINDOW_PER_TIME = 5
"""Autocorrelations are added up over this many correlation times; what lies beyond is noise (Sokal 1997)."""


def correlation_time(values: Array) -> float:
    """Return 1 + 2 Σ autocorrelation: how many requests carry the information of one independent request.

    Taken on ranks, so that one very slow request does not hide the rest.

    Args:
        values: Shape (n,), requests in order of time.
    """
    n = len(values)
    if n < 4 or values.min() == values.max():
        return 1.0
    ranks = np.empty(n)
    ranks[np.argsort(values, kind="stable")] = np.arange(n)
    ranks -= ranks.mean()
    power = np.abs(np.fft.rfft(ranks, 2 * n)) ** 2
    covariance = np.fft.irfft(power, 2 * n)[:n]
    upto = 2 * np.cumsum(covariance / covariance[0]) - 1
    far = np.flatnonzero(np.arange(n) >= _WINDOW_PER_TIME * upto)
    return max(1.0, float(upto[far[0] if len(far) else -1]))


def fitting_block_length(values: Array) -> int:
    """Return how long the blocks for a series must be: between ∛n and the length that is always safe.

    Args:
        values: Shape (n,), requests in order of time.
    """
    n = len(values)
    if n == 0:
        return 1
    wanted = max(round(n ** (1 / 3)), math.ceil(_BLOCK_PER_TIME * correlation_time(values)))
    return int(min(wanted, block_length(n)))
