"""Sorting and numbering of integer keys, faster than argsort and unique where the ranges allow."""

from __future__ import annotations

import numpy as np

from latshift.spans import Array, Int64

_DENSE = 2**22
"""Keys below this are numbered by a table of all keys rather than by sorting."""


def stable_order(key: Array) -> Int64:
    """Return the stable order of non-negative integers, int64 (n,).

    The index is packed below the key, so that a plain sort of integers (which the processor does in vectors) gives the
    order; keys too large for that go through NumPy's stable argsort.
    """
    n = len(key)
    if n == 0:
        return np.empty(0, np.int64)
    bits = max(1, (n - 1).bit_length())
    if int(key.max()).bit_length() + bits > 63:
        return np.argsort(key, kind="stable")
    packed = (key.astype(np.int64) << bits) | np.arange(n)
    packed.sort()
    return packed & ((1 << bits) - 1)


def dense_codes(key: Array) -> tuple[Int64, int]:
    """Number non-negative integers by rank among the distinct ones.

    Returns:
        int64 (n,), the number of each; how many distinct ones there are.
    """
    if len(key) == 0:
        return np.empty(0, np.int64), 0
    largest = int(key.max())
    if largest < _DENSE:
        present = np.zeros(largest + 1, bool)
        present[key] = True
        number = np.cumsum(present) - 1
        return number[key], int(number[-1]) + 1
    distinct, number = np.unique(key, return_inverse=True)
    return number.reshape(-1).astype(np.int64), len(distinct)


def ranges(low: Int64, high: Int64) -> Int64:
    """Return the concatenation of arange(low, high) for every pair, int64."""
    length = high - low
    before = np.cumsum(length) - length
    return np.asarray(np.arange(int(length.sum())) + np.repeat(low - before, length))
