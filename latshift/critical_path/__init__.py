"""The critical path of every request: which span the request was waiting for, at every moment.

The segments of a request partition [root start, root end] exactly, in integers. The rules are those of semantics.md §2:
Jaeger UI's algorithm, with its edge cases put right. Everything is computed for all requests at once, on arrays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from latshift.critical_path.ancestors import all_along, clamp_to_ancestors, fold_upwards
from latshift.critical_path.chain import Chain, find_chains
from latshift.spans import CONSUMER, PRODUCER, Bool, Forest, Int32, Int64

__all__ = ["CriticalPath", "PathOptions", "find"]


@dataclass(frozen=True)
class PathOptions:
    """What counts as waiting.

    Attributes:
        asynchronous: Which children nobody waits for: "otel" consumers under a producer (as Jaeger UI since 2.15),
            "follows-from" spans with no other reference than FOLLOWS_FROM (as Jaeger UI before, and Grafana), "none".
        overflow: What ends after its parent is cut there ("clamp") or not waited for at all ("drop").
        tolerance_ns: By how many ns a child may overlap the next one and still come before it: what rounding to µs
            can do. tolerance_share: The same as a share of the parent's duration; the smaller of the two holds.
    """

    asynchronous: Literal["otel", "follows-from", "none"] = "otel"
    overflow: Literal["clamp", "drop"] = "clamp"
    tolerance_ns: int = 1_000
    tolerance_share: float = 1e-4


@dataclass
class CriticalPath:
    """What the requests waited for.

    Attributes:
        forest: The spans.
        start: int64 (n,), ns, start after cutting to the parent.
        end: int64 (n,), ns, likewise; end <= start means that the span is not in the picture.
        blocking: bool (n,), False at and below a span that nobody waits for.
        on_path: bool (n,), the span and all its ancestors are in the chain of their parent.
        in_chain: bool (n,), the span is in the chain of its parent, on the path or not; True for roots.
        own: int64 (n,), ns of the path that are the span's own; they sum to the root's duration in each request.
        tolerated: Number of overlaps between neighbours in a chain that were taken for rounding.
    """

    forest: Forest
    start: Int64
    end: Int64
    blocking: Bool
    on_path: Bool
    in_chain: Bool
    own: Int64
    tolerated: int
    _walked: Int64
    """int64 (m,), the spans on the path below the roots, by parent, then time."""

    def gaps(self) -> tuple[Int64, Int64, Int64]:
        """Return the own segments as `segments` does, but in no particular order."""
        child = self._walked
        above = self.forest.parent[child].astype(np.int64)
        first = np.ones(child.shape[0], np.bool_)
        first[1:] = above[1:] != above[:-1]
        since = np.where(first, self.start[above], self.end[np.roll(child, 1)])
        walked = np.flatnonzero(self.on_path)
        tail = self.start.copy()
        last = np.roll(first, -1)
        tail[above[last]] = self.end[child[last]]
        rows = np.concatenate((above, walked))
        starts = np.concatenate((since, tail[walked]))
        ends = np.concatenate((self.start[child], self.end[walked]))
        some = ends > starts
        return rows[some], starts[some], ends[some]

    def segments(self) -> tuple[Int32, Int64, Int64]:
        """Return row (int32), start and end (int64, ns) of every own segment, by request and time.

        Segments are not empty, and two neighbours never belong to one span: there is always a child's time between.
        """
        rows, starts, ends = self.gaps()
        request = self.forest.request[rows]
        order = np.lexsort((starts, request))
        return rows[order].astype(np.int32), starts[order], ends[order]


def find(forest: Forest, options: PathOptions = PathOptions()) -> CriticalPath:
    """Find the critical path of every request.

    Args:
        forest: The spans under their parents.
        options: What counts as waiting.

    Returns:
        The path, on rows of the forest.
    """
    parent = forest.parent.astype(np.int64)
    raw_start, raw_end = forest.spans.array("start"), forest.spans.array("end")
    start, end = raw_start.copy(), raw_end.copy()
    blocking = _blocking(forest, parent, options)
    clamp_to_ancestors(parent, start, end)
    end = np.where(blocking, end, start)

    share = (np.maximum(end - start, 0) * options.tolerance_share).astype(np.int64)
    tolerance = np.minimum(share, options.tolerance_ns)
    chain = find_chains(parent, start, end, raw_start, forest.rank, tolerance)
    if chain.tolerated:
        end[chain.rows] = chain.limit
        fold_upwards(parent, (np.minimum, end))
    in_chain = parent < 0
    in_chain[chain.rows] = True
    on_path = all_along(parent, in_chain & (end > start))
    return _account(forest, chain, start, end, blocking, on_path, in_chain)


def _account(
    forest: Forest, chain: Chain, start: Int64, end: Int64, blocking: Bool, on_path: Bool, in_chain: Bool
) -> CriticalPath:
    walked = chain.rows[on_path[chain.rows]]
    length = end - start
    own = np.where(on_path, length, 0)
    np.subtract.at(own, forest.parent[walked], length[walked])
    return CriticalPath(forest, start, end, blocking, on_path, in_chain, own, chain.tolerated, walked)


def _blocking(forest: Forest, parent: Int64, options: PathOptions) -> Bool:
    """Return which spans are waited for by all their ancestors."""
    child = np.flatnonzero(parent >= 0)
    above = parent[child]
    kind = forest.spans.array("kind")
    waited = np.ones(parent.shape[0], np.bool_)
    if options.asynchronous == "otel":
        waited[child] = (kind[child] != CONSUMER) | (kind[above] != PRODUCER)
    elif options.asynchronous == "follows-from":
        waited[child] = ~forest.spans.array("follows")[child]
    if options.overflow == "drop":
        end = forest.spans.array("end")
        waited[child] &= end[child] <= end[above]
    return waited if waited.all() else all_along(parent, waited)
