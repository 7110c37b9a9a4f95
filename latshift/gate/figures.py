"""The value of a metric in a run and in each of its resamples, and what it is made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from latshift.critical_path.attribution import Part
from latshift.gate.compare import Side
from latshift.gate.metrics import Metric
from latshift.shares.correlation import fitting_block_length
from latshift.shares.latency import NS_PER_MS
from latshift.shares.table import merge_parts
from latshift.spans import Float64, Int64


class Figure(NamedTuple):
    """A metric's value in the run, and float64 (resamples,) in its resamples; ms or a fraction."""

    point: float
    resampled: Float64


def figure(side: Side, metric: Metric, parts: Sequence[Part]) -> Figure:
    """Measure a metric.

    Args:
        side: A run with at least one request.
        metric: What to measure.
        parts: What the columns of the path times are.
    """
    own = _own_time(side, metric, parts)
    measure = _share if metric.share else _time
    point, resampled = measure(side, own, metric.fraction)
    return Figure(float(point[0]), resampled)


def blocks_for(sides: Sequence[Side], metric: Metric, parts: Sequence[Part]) -> int:
    """Return how long blocks must be for a metric on all of the sides; see `latshift.shares.correlation`."""
    series = [_own_time(side, metric, parts) for side in sides]
    if metric.share:
        series += [side.duration for side in sides]
    return max(fitting_block_length(values) for values in series)


def _own_time(side: Side, metric: Metric, parts: Sequence[Part]) -> Int64:
    """Return the time (r,) in ns that a metric is about."""
    return side.duration if metric.kind == "latency" else side.time[:, metric.columns(parts)].sum(axis=1)


def _time(side: Side, own: Int64, fraction: float | None) -> tuple[Float64, Float64]:
    if fraction is None:
        return _mean(side, own)
    recorded, resampled = side.by_duration if own is side.duration else side.ranked(own)
    return recorded.quantile(fraction) / NS_PER_MS, resampled.quantile(fraction) / NS_PER_MS


def _mean(side: Side, own: Int64) -> tuple[Float64, Float64]:
    weighted = side.weighted(own)
    recorded, resampled = side.total
    return (
        side.recorded.sums(weighted) / recorded / NS_PER_MS,
        side.resamples.sums(weighted) / resampled / NS_PER_MS,
    )


def _share(side: Side, own: Int64, fraction: float | None) -> tuple[Float64, Float64]:
    if fraction is None:
        pairs = [(above, below) for above, below in zip(_mean(side, own), _mean(side, side.duration), strict=True)]
    else:
        bands = [ranked.band_means(fraction, (own, side.duration)) for ranked in side.by_duration]
        pairs = [(found[0], found[1]) for found in bands]
    recorded, resampled = (above / np.where(below > 0, below, 1) for above, below in pairs)
    return recorded, resampled


def made_of(side: Side, metric: Metric, parts: Sequence[Part]) -> dict[Part, float]:
    """Return what the requests behind a value spent their time on: all of them for a mean, else those around it.

    A share's requests are ranked by latency, a path time's by that path time; see `latshift.shares.bands`.

    Args:
        side: A run with at least one request.
        metric: What was measured.
        parts: What the columns of the path times are.

    Returns:
        Mean time in ms of every component in each class (a `Part` without phase).
    """
    whole = [Part(part.component, None, part.klass) for part in parts]
    merged, labels = merge_parts(side.time, whole)
    columns = [np.ascontiguousarray(column) for column in merged.T]
    if metric.fraction is None:
        means = [float(_mean(side, column)[0][0]) for column in columns]
    else:
        own = side.duration if metric.share else _own_time(side, metric, parts)
        ranked = side.ranked(own)[0]
        means = (ranked.band_means(metric.fraction, columns)[:, 0] / NS_PER_MS).tolist()
    return dict(zip((label for label in labels if isinstance(label, Part)), means, strict=True))
