"""End-to-end latency of a set of requests, with intervals."""

from __future__ import annotations

import math

from latshift.results.base import Interval, Latency
from latshift.shares.intervals import interval
from latshift.shares.quantiles import PERCENTILES, percentile_name, quantiles, requests_needed
from latshift.shares.ranked import Ranked
from latshift.shares.resamples import Resamples, draw, stretched
from latshift.spans import Int64

NS_PER_MS = 1e6

FEWEST_FOR_INTERVALS = 8
"""Fewer requests say nothing about how much others would differ."""


def describe(duration: Int64, intervals: bool = True, draws: int = 1) -> Latency:
    """Return mean and percentiles of the latency, with 95 % intervals from a block bootstrap.

    Args:
        duration: int64 (r,), ns, requests in canonical order (start, then trace id).
        intervals: False leaves the intervals out.
        draws: How many durations in a row belong to each request; they are resampled together.
    """
    n = len(duration) // draws
    thin = tuple(f"{percentile_name(at)}_ms" for at in PERCENTILES if n < requests_needed(at))
    if n == 0:
        return Latency(0, math.nan, math.nan, math.nan, math.nan, thin=("mean_ms", *thin))
    figures = [float(duration.mean()), *quantiles(duration).tolist()]
    ends = _intervals(duration, figures, stretched(draw(n), draws)) if intervals and n >= FEWEST_FOR_INTERVALS else {}
    mean, p50, p95, p99 = (figure / NS_PER_MS for figure in figures)
    return Latency(n, mean, p50, p95, p99, ends, thin)


def _intervals(duration: Int64, figures: list[float], resamples: Resamples) -> dict[str, Interval]:
    ranked = Ranked(duration, resamples)
    resampled = [resamples.sums(duration) / ranked.total, *(ranked.quantile(at) for at in PERCENTILES)]
    names = ("mean_ms", *(f"{percentile_name(at)}_ms" for at in PERCENTILES))
    ends: dict[str, Interval] = {}
    for name, values, point in zip(names, resampled, figures, strict=True):
        low, high = interval(values, point, resamples.blocks)
        # Stretched, the lower end may pass zero and the upper end what was seen; time cannot be negative.
        ends[name] = (max(low, 0.0) / NS_PER_MS, high / NS_PER_MS)
    return {name: ends[name] for name in sorted(ends, key=_reading_order)}


def _reading_order(name: str) -> tuple[bool, str]:
    return name == "mean_ms", name
