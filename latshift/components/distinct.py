"""Kinds of spans: rows that agree in all columns that matter are looked at once.

A trace file holds hundreds of thousands of spans, but seldom more than some hundreds of different ones.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from latshift.spans import Array, Int64

DENSE = 2**21
"""Codes below this are renumbered through a table; beyond, by sorting."""


def distinct(n: int, columns: Iterable[tuple[Array, int]]) -> tuple[Int64, Int64]:
    """Number the rows by what they hold.

    Args:
        n: Number of rows.
        columns: Per column its codes (int (n,), from -1) and the number of codes from 0.

    Returns:
        The number of each row's kind, int64 (n,); one row of each kind, int64 (kinds,).
    """
    number = np.zeros(n, np.int64)
    if not n:
        return number, number
    kinds = 1
    for codes, size in columns:
        width = size + 1
        if width > 1:
            if kinds * width > DENSE:
                number, kinds = _renumber(number, kinds)
            number *= width
            number += codes
            number += 1
            kinds *= width
    number, kinds = _renumber(number, kinds)
    row = np.zeros(kinds, np.int64)
    row[number] = np.arange(n)
    return number, row


def _renumber(number: Int64, size: int) -> tuple[Int64, int]:
    """Close the gaps in the numbers; return them and how many there are."""
    if size > DENSE:
        kinds, number = np.unique(number, return_inverse=True)
        return number.reshape(-1), len(kinds)
    place = np.zeros(size, np.int64)
    place[number] = 1
    place = np.cumsum(place) - 1
    return place[number], int(place[-1]) + 1
