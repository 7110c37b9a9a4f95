"""Prefix maxima and minima along the way from a span up to its root, for all spans at once, by pointer doubling.

After k rounds a row holds the value over itself and its 2^k - 1 nearest ancestors, so a tree of depth 100,000 takes 17
rounds over the rows that are still looking, and no recursion.
"""

from __future__ import annotations

import numpy as np

from latshift.spans import Array, Bool, Int64


def fold_upwards(parent: Array, *folds: tuple[np.ufunc, Array]) -> None:
    """Fold each array over every row and all its ancestors, in place.

    Args:
        parent: int (n,), row of the parent, -1 for roots; no cycles.
        folds: Pairs of an associative, idempotent operation (np.maximum, np.minimum) and its array (n,).
    """
    active = np.flatnonzero(parent >= 0)
    ahead = parent.astype(np.int64)
    while active.shape[0]:
        up = ahead[active]
        for operation, values in folds:
            values[active] = operation(values[active], values[up])
        ahead[active] = ahead[up]
        active = active[ahead[active] >= 0]


def clamp_to_ancestors(parent: Array, start: Int64, end: Int64) -> None:
    """Cut every span's interval to those of all its ancestors, in place; outside them it ends up empty.

    Args:
        parent: int (n,), row of the parent, -1 for roots.
        start: int64 (n,), ns.
        end: int64 (n,), ns.
    """
    child = np.flatnonzero(parent >= 0)
    above = parent[child]
    if bool(((start[child] >= start[above]) & (end[child] <= end[above])).all()):
        return  # everything lies inside its parent, hence inside all ancestors
    fold_upwards(parent, (np.maximum, start), (np.minimum, end))


def all_along(parent: Array, flag: Bool) -> Bool:
    """Return which rows have the flag themselves and in all their ancestors."""
    result = flag.copy()
    ahead = parent.astype(np.int64)
    active = np.flatnonzero(flag & (parent >= 0))
    while active.shape[0]:
        up = ahead[active]
        result[active] = result[up]
        ahead[active] = ahead[up]
        active = active[result[active] & (ahead[active] >= 0)]
    return result
