"""Fan-outs under a limit of their own (a semaphore per request): a late call waits for whichever just ended."""

from __future__ import annotations

import numpy as np

from latshift.sorting import dense_codes, stable_order
from latshift.spans import Array, Bool, Int64
from latshift.whatif.siblings import Siblings, run_bounds, sort_by_group, starts_of_runs

ENOUGH = 10
"""Runs longer than the limit that must have been seen."""

SAME = 0.95
"""Share of these runs that must reach the limit, and of late calls that must begin when another ends."""

HANDOVER_NS, HANDOVER_MOST = 1_000_000, 0.25
"""A slot is handed over within this many ns, on short calls within this share of the call that ended ..."""

HANDOVER_SHARE = 0.02
"""... or within this share of it if that is longer."""


def slot_edges(siblings: Siblings, members: Int64) -> tuple[Int64, Int64, Int64]:
    """Find the calls that waited for a slot of their run.

    Args:
        siblings: The children of all spans.
        members: Whole families among them, sorted; times decide, so that no family stands for another.

    Returns:
        Member whose end freed the slot, member that took it, number of runs that show the limit.
    """
    members = members[siblings.end[members] > siblings.start[members]]
    kind, group, parent = siblings.kind[members], siblings.group[members], siblings.parent[members].astype(np.int64)
    if not len(members):
        return members, members, members
    sort, _ = dense_codes(kind * (int(group.max()) + 1) + group)
    order = stable_order(parent * (int(sort.max()) + 1) + sort)
    members, kind = members[order], kind[order]
    begins = starts_of_runs(parent[order], kind, group[order])
    first, last = run_bounds(begins)
    freed, ended = _last_ended(siblings, members, np.cumsum(begins) - 1, first)
    place = np.arange(len(members)) - first
    heads = np.flatnonzero(begins)
    of_run = kind[heads]
    peak = np.maximum.reduceat(place + 1 - ended, heads)
    kinds = int(kind.max()) + 1
    limit = np.zeros(kinds, np.int64)
    np.maximum.at(limit, of_run, peak)
    longer = (last - first)[heads] > limit[of_run]
    runs = np.bincount(of_run[longer], minlength=kinds)
    reached = np.bincount(of_run[longer & (peak == limit[of_run])], minlength=kinds)
    late = (place >= limit[kind]) & (ended > 0)
    tight = late & _hands_over(siblings, members[freed], members)
    lates = np.bincount(kind[place >= limit[kind]], minlength=kinds)
    tights = np.bincount(kind[tight], minlength=kinds)
    limited = (limit > 1) & (runs >= ENOUGH) & (reached >= SAME * runs) & (tights >= SAME * lates)
    chosen = np.flatnonzero(tight & limited[kind])
    return members[freed[chosen]], members[chosen], runs[kind[chosen]]


def _last_ended(siblings: Siblings, members: Int64, run: Int64, first: Int64) -> tuple[Int64, Int64]:
    """Return for each member which one of its run ended last before it started, and how many had ended.

    Args:
        siblings: The children of all spans.
        members: Members by run and start.
        run: int64, code of each one's run.
        first: int64, index of the first of the run.
    """
    k = len(members)
    start = siblings.since_parent[members]
    end = start + siblings.end[members] - siblings.start[members]
    tie = np.repeat(np.array([0, 3]), k)
    events = sort_by_group(np.tile(run, 2), np.concatenate([end, start]), tie)
    is_end = events < k
    ended = np.empty(k, np.int64)
    ended[events[~is_end] - k] = np.cumsum(is_end)[~is_end]
    by_end = events[is_end]
    return by_end[np.maximum(ended - 1, 0)], ended - first


def _hands_over(siblings: Siblings, freed: Int64, taken: Int64) -> Bool:
    """Return which calls began so soon after another ended that they took over its slot."""
    gap: Array = siblings.start[taken] - siblings.end[freed]
    took: Array = siblings.end[freed] - siblings.start[freed]
    return np.asarray(gap <= np.maximum(HANDOVER_SHARE * took, np.minimum(HANDOVER_NS, HANDOVER_MOST * took)))


def without(source: Int64, target: Int64, other_source: Int64, other_target: Int64) -> Int64:
    """Return the indices of the pairs that are not among the others, in order."""
    wide = int(max(target.max(initial=0), other_target.max(initial=0))) + 1
    return np.flatnonzero(~np.isin(source * wide + target, other_source * wide + other_target))
