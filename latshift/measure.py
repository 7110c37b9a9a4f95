"""From arrays of durations to the small values that results are made of, where two sets of durations are compared."""

from __future__ import annotations

import numpy as np

from latshift.results import Spread
from latshift.results.base import Interval
from latshift.shares import PERCENTILES, quantiles
from latshift.shares.intervals import interval
from latshift.shares.latency import FEWEST_FOR_INTERVALS
from latshift.shares.quantiles import percentile_name
from latshift.shares.ranked import Ranked
from latshift.shares.resamples import Resamples, draw, stretched
from latshift.spans import Float64, Int64

NAMES = ("mean", *(percentile_name(at) for at in PERCENTILES))


def points_of(duration: Int64) -> Float64:
    """Return mean, p50, p95 and p99 of durations (r,), in their unit; float64 (4,)."""
    return np.concatenate([[duration.mean()], quantiles(duration)])


def gain(before: Int64, after: Int64) -> Spread:
    """Return the fraction of mean, p50, p95 and p99 that is saved; 0 where there was nothing to save."""
    base = points_of(before)
    return Spread(*np.where(base > 0, 1 - points_of(after) / np.where(base > 0, base, 1), 0.0).tolist())


def gain_intervals(before: Int64, after: Int64, draws: int = 1) -> dict[str, Interval]:
    """Return 95 % intervals of the gain, from the same resampled requests before and after.

    Args:
        before: int64 ns (r,), the same requests in canonical order.
        after: Likewise, with so many durations in a row for each request.
        draws: How many.
    """
    if len(before) < FEWEST_FOR_INTERVALS:
        return {}
    resamples = draw(len(before))
    base, changed = _resampled(before, resamples), _resampled(after, stretched(resamples, draws))
    points = gain(before, after)
    found = {}
    for index, name in enumerate(NAMES):
        if base[index].all():
            saved = 1 - changed[index] / base[index]
            found[name] = interval(saved, getattr(points, name), resamples.blocks)
    return found


def _resampled(duration: Int64, resamples: Resamples) -> list[Float64]:
    ranked = Ranked(duration, resamples)
    return [resamples.sums(duration) / ranked.total, *(ranked.quantile(at) for at in PERCENTILES)]
