"""Who the latency belongs to: the share of every part of a request, on average and at each percentile."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from latshift.results.base import Doubt, Spread
from latshift.shares.bands import band_rows
from latshift.shares.latency import NS_PER_MS
from latshift.shares.quantiles import PERCENTILES, percentile_name, quantiles, requests_needed
from latshift.spans import Float64, Int64


@dataclass(frozen=True)
class ShareTable:
    """Shares and path times of parts; columns are mean, p50, p95, p99.

    Attributes:
        share: float64 (parts, 4), fractions; every column adds up to 1 (or to 0 if no request took any time).
        path_ms: float64 (parts, 4), ms; percentiles of the path time over all requests, which do not add up.
        requests: int64 (parts,), requests in which the part is on the critical path.
        doubts: What weakens the figures.
    """

    share: Float64
    path_ms: Float64
    requests: Int64
    doubts: tuple[Doubt, ...]

    def share_spread(self, part: int) -> Spread:
        """Return a part's share as a result."""
        return Spread(*self.share[part].tolist())

    def path_spread(self, part: int) -> Spread:
        """Return a part's path time in ms as a result."""
        return Spread(*self.path_ms[part].tolist())


def share_table(time: Int64, duration: Int64, order: Int64 | None = None) -> ShareTable:
    """Compute shares and path times.

    The share at a percentile is E[path time | band] ÷ E[duration | band] (semantics.md §4): see `bands`.

    Args:
        time: int64 (r, parts), ns, path time; rows add up to the duration.
        duration: int64 (r,), ns, requests in canonical order.
        order: int64 (r,), the stable order of the durations if it is already known.
    """
    if order is None:
        order = np.argsort(duration, kind="stable")
    shares, cut = [_share(time, duration, order)], []
    for at in PERCENTILES:
        rows, was_cut = band_rows(duration, at, order)
        shares.append(_share(time, duration, rows))
        cut += [percentile_name(at)] if was_cut else []
    mean = time.mean(axis=0, keepdims=True) if len(time) else np.full((1, time.shape[1]), np.nan)
    path = np.concatenate((mean, quantiles(time))) / NS_PER_MS
    return ShareTable(np.stack(shares, axis=1), path.T, (time > 0).sum(axis=0), doubts(len(duration), cut))


def _share(time: Int64, duration: Int64, rows: Int64) -> Float64:
    whole = float(duration[rows].sum(dtype=np.float64))
    parts: Float64 = time[rows].sum(axis=0, dtype=np.float64) / (whole or 1.0)
    return parts


def doubts(n: int, cut: Sequence[str] = ()) -> tuple[Doubt, ...]:
    """Return what weakens figures that stand on n requests, with the bands that the end of the data cut."""
    found = []
    few = [at for at in PERCENTILES if n < requests_needed(at)]
    if few:
        needed = ", ".join(f"{percentile_name(at)} needs {requests_needed(at)}" for at in few)
        found.append(
            Doubt("too-few-requests", f"{n:,} request{'' if n == 1 else 's'}: {needed}", "record more requests")
        )
    # A band is always cut when there are too few requests; saying so twice helps nobody.
    cut = [name for name in cut if name not in {percentile_name(at) for at in few}]
    if cut:
        found.append(
            Doubt("band-cut", f"the requests around {' and '.join(cut)} are fewer than 5 %: the data end there")
        )
    return tuple(found)


def merge_parts(time: Int64, labels: Sequence[Hashable]) -> tuple[Int64, list[Hashable]]:
    """Add up the columns that have the same label: phases to components, components to classes.

    Args:
        time: int64 (r, parts).
        labels: One for each part.

    Returns:
        int64 (r, labels), and the labels in first-seen order.
    """
    distinct = list(dict.fromkeys(labels))
    member = np.zeros((time.shape[1], len(distinct)), np.int64)
    member[np.arange(len(labels)), [distinct.index(label) for label in labels]] = 1
    return time @ member, distinct


def tail_excess(time: Int64, duration: Int64, fraction: float = 0.95) -> tuple[float, Float64]:
    """Return how much slower the slow requests are than the mean one, and whose time that is.

    E[T_k | T >= q] − E[T_k] for every part, which add up to E[T | T >= q] − E[T] (whatif.md §2.2).

    Args:
        time: int64 (r, parts), ns.
        duration: int64 (r,), ns.
        fraction: Where the tail begins.

    Returns:
        The excess in ms; float64 (parts,), each part's contribution in ms.
    """
    if len(duration) == 0:
        return 0.0, np.zeros(time.shape[1])
    tail = duration >= quantiles(duration, (fraction,))[0]
    tail[np.argmax(duration)] = True  # Rounding must not leave the tail empty.
    parts = (time[tail].mean(axis=0) - time.mean(axis=0)) / NS_PER_MS
    return float(duration[tail].mean() - duration.mean()) / NS_PER_MS, parts
