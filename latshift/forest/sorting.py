"""Sorting by several int64 keys, cheaply: later keys are looked at only for the rows that are still tied."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from latshift.sorting import stable_order
from latshift.spans import Array, Bool, Int64

Key = Callable[[Array], Int64]
"""A sort key on demand: rows in, their int64 values out."""


def order_by(group: Array, keys: Sequence[Key]) -> Int64:
    """Return the stable order by group, then by each key in turn.

    Args:
        group: int, shape (n,), not negative; the most significant key.
        keys: Further keys, most significant first; each is asked only for the rows that are still tied.

    Returns:
        int64 (n,), rows in order; rows tied in every key stay in row order.
    """
    order = np.arange(group.shape[0], dtype=np.int64)
    places = order.copy()  # positions in `order` that are still tied
    run = group.astype(np.int64)  # the tied run each of these positions is in
    for key in keys:
        rows = order[places]
        values = key(rows)
        inside = _argsort_pairs(run, values)
        order[places] = rows[inside]
        run, values = run[inside], values[inside]
        same = (run[1:] == run[:-1]) & (values[1:] == values[:-1])
        if not same.any():
            break
        tied = in_runs(same)
        run = np.concatenate(([0], np.cumsum(~same)))[tied]
        places = places[tied]
    return order


def in_runs(same: Bool) -> Bool:
    """Return which rows are in a run of two or more, given for each but the first whether it equals the one before."""
    tied = np.zeros(same.shape[0] + 1, np.bool_)
    tied[1:] = same
    tied[:-1] |= same
    return tied


def _argsort_pairs(major: Int64, minor: Int64) -> Int64:
    """Return the stable order by (major, minor): through one packed int64 if both fit, by lexsort otherwise."""
    if major.shape[0] == 0:
        return np.empty(0, np.int64)
    low, high = int(minor.min()), int(minor.max())
    bits = (high - low).bit_length()
    if int(major.max()).bit_length() + bits > 63:
        return np.lexsort((minor, major)).astype(np.int64)
    return stable_order((major << bits) | (minor - low))
