"""The children of every span laid out side by side: in order of start, in groups, with what they cover.

Everything that needs to know "what ran before what under one parent" reads it from here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from latshift.critical_path import CriticalPath
from latshift.sorting import dense_codes, stable_order
from latshift.spans import CLIENT, CONSUMER, ERROR, PRODUCER, SERVER, Array, Bool, Forest, Int32, Int64

BACKGROUND_SHARE = 0.01
"""A kind of child is background work when at least this share of its calls outlives the parent."""

OVERFLOW_TOLERANCE = 0.02
"""A child outlives its parent only if it does so by more than this share of its own duration ..."""

OVERFLOW_FLOOR_NS = 10_000
"""... and by more than this: clocks and span bookkeeping are no finer."""


@dataclass
class Siblings:
    """Children of all spans, sorted by (parent, start, end, row); all arrays have shape (m,) unless said.

    Attributes:
        row: Span row of the member. parent: Span row of its parent.
        first: Index of the first member with the same parent. last: Index after the last one.
        start, end: ns since the epoch, cut to the parent.
        since_parent: int64, ns from the parent's start to the member's.
        awaited: False for background work that the parent's end does not wait for.
        kind: int64, what sort of call it is: parent operation and own operation (code).
        group: int64, ordinal of the run of calls of its kind; a new run begins when other work came wholly between.
        position: int64, ordinal of the member in its group.
        ended: int64, how many members of the parent (by order of end) had ended when this one started.
        by_end: int64, member indices sorted by (parent, end).
        covered_at_start, covered_at_end: ns of [parent start, own start or end] covered by awaited members.
        covered_total: ns of the whole parent that awaited members cover.
    """

    row: Int32
    parent: Int32
    first: Int64
    last: Int64
    start: Int64
    end: Int64
    since_parent: Int64
    awaited: Bool
    kind: Int64
    group: Int64
    position: Int64
    ended: Int64
    by_end: Int64
    covered_at_start: Int64
    covered_at_end: Int64
    covered_total: Int64

    @property
    def m(self) -> int:
        """Number of members."""
        return len(self.row)


def starts_of_runs(*keys: Array) -> Bool:
    """Return a mask of the places where a sorted sequence of keys changes, the first place included."""
    change = np.zeros(len(keys[0]), bool)
    if len(change):
        change[0] = True
        for key in keys:
            change[1:] |= key[1:] != key[:-1]
    return change


def run_bounds(begins: Bool) -> tuple[Int64, Int64]:
    """Return for every place the first index of its run and the index after its last."""
    heads = np.flatnonzero(begins)
    lengths = np.diff(np.append(heads, len(begins)))
    return np.repeat(heads, lengths), np.repeat(heads + lengths, lengths)


def sort_by_group(group: Array, time: Int64, last: Array | None = None) -> Int64:
    """Return the order that sorts by (group, time, last), in one integer sort where the ranges allow.

    Args:
        group: Non-negative integers.
        time: int64.
        last: 0 to 3, for ties.
    """
    tie = np.zeros(len(group), np.int64) if last is None else last.astype(np.int64)
    if not len(group):
        return np.empty(0, np.int64)
    low = int(time.min())
    span = int(time.max()) - low + 1
    if span.bit_length() + int(group.max()).bit_length() + 2 <= 62:
        return stable_order((group.astype(np.int64) * span + (time - low)) * 4 + tie)
    return np.lexsort((tie, time, group))


def running_maximum(values: Int64, begins: Bool) -> Int64:
    """Return the running maximum of the values, restarted where a run begins.

    Runs are told apart by lifting each above the one before it, which needs the values relative to their run.
    """
    run = np.cumsum(begins) - 1
    low = values.min() if len(values) else 0
    height = int(values.max() - low) + 1 if len(values) else 1
    if height * (int(run[-1]) + 1 if len(run) else 1) < 2**62:
        lifted = (values - low) + run * height
        return np.asarray(np.maximum.accumulate(lifted) - run * height + low)
    result = values.copy()
    heads = np.flatnonzero(begins)
    for begin, end in zip(heads, np.append(heads[1:], len(values)), strict=True):
        result[begin:end] = np.maximum.accumulate(values[begin:end])
    return result


def operation_codes(forest: Forest) -> Int64:
    """Return a small code per row for its (service, name)."""
    names = forest.spans.text("name")
    services = forest.spans.text("service")
    pairs = (services.codes.astype(np.int64) + 1) * (len(names.words) + 1) + names.codes + 1
    return dense_codes(pairs)[0]


def _background(forest: Forest, path: CriticalPath, row: Int32, parent: Int32, kind: Int64) -> Bool:
    """Return which members their parent does not wait for (see BACKGROUND_SHARE).

    A server span that ends after its client span is a clock or a flush, not background work.
    """
    starts, ends = forest.spans.array("start"), forest.spans.array("end")
    kinds, status = forest.spans.array("kind"), forest.spans.array("status")
    over = ends[row] - ends[parent]
    threshold = np.maximum(OVERFLOW_FLOOR_NS, OVERFLOW_TOLERANCE * (ends[row] - starts[row]))
    call = (kinds[parent] == CLIENT) & (kinds[row] == SERVER)
    outlives = (over > threshold) & ~call
    # A parent that failed may have given up on a child that it normally waits for.
    evidence = outlives & (status[parent] != ERROR)
    calls = np.bincount(kind, minlength=1)
    share = np.bincount(kind, weights=evidence, minlength=1) / np.maximum(calls, 1)
    consumer = (kinds[parent] == PRODUCER) & (kinds[row] == CONSUMER)
    return np.asarray(outlives | consumer | ((share[kind] >= BACKGROUND_SHARE) & ~call))


def lay_out(forest: Forest, path: CriticalPath, included: Bool) -> Siblings:
    """Lay the children of every span side by side.

    Args:
        forest: The spans.
        path: Their times cut to the parents.
        included: bool (n,), rows to replay; the rest is left out.
    """
    parent_of = forest.parent
    members = np.flatnonzero(included & (parent_of >= 0))
    parent = parent_of[members]
    # Times inside the parent keep the sort keys short.
    inside = path.start[members] - path.start[parent]
    members = members[sort_by_group(parent, inside)]
    parent = parent_of[members]
    start, end = path.start[members], path.end[members]
    begins = starts_of_runs(parent)
    first, last = run_bounds(begins)
    operation = operation_codes(forest)
    pairs = operation[parent] * (int(operation.max(initial=0)) + 1) + operation[members]
    kind, _ = dense_codes(pairs)
    awaited = ~_background(forest, path, members.astype(np.int32), parent, kind)
    from_parent, to_parent = start - path.start[parent], end - path.start[parent]
    ended, by_end, started = _interleave(parent, from_parent, to_parent, first)
    at_start, at_end, total = _coverage(from_parent, to_parent, awaited, begins, first, last, started)
    group, position = _groups(parent, kind, from_parent, to_parent, first, ended, by_end)
    return Siblings(
        members.astype(np.int32), parent, first, last, start, end, from_parent, awaited, kind, group, position,
        ended, by_end, at_start, at_end, total,
    )  # fmt: skip


def _interleave(parent: Int32, start: Int64, end: Int64, first: Int64) -> tuple[Int64, Int64, Int64]:
    """Merge starts and ends of each parent's members in time, an end before a start at the same instant.

    A member of no duration (a slot that was free at once) begins and ends before others start at its instant, so that
    they come in the order in which they stand; those of no duration do not come after one another.

    Returns:
        For each member how many members had ended when it started; the members by (parent, end);
        for each member how many had started when it ended.
    """
    m = len(parent)
    lasting = end > start
    tie = np.concatenate([np.where(lasting, 0, 2), np.where(lasting, 3, 1)])
    order = sort_by_group(np.tile(parent, 2), np.concatenate([end, start]), tie)
    is_end = order < m
    ends_so_far = np.cumsum(is_end)
    member = np.where(is_end, order, order - m)
    ended = np.empty(m, np.int64)
    started = np.empty(m, np.int64)
    place = np.arange(1, 2 * m + 1)
    ended[member[~is_end]] = ends_so_far[~is_end]
    started[member[is_end]] = (place - ends_so_far)[is_end]
    # The counts run over all parents; those before a parent's own members are exactly `first`.
    return ended - first, member[is_end], started - first


def _coverage(
    start: Int64, end: Int64, awaited: Bool, begins: Bool, first: Int64, last: Int64, started: Int64
) -> tuple[Int64, Int64, Int64]:
    """Return how much of the parent awaited members cover up to each member's start, its end, and in all."""
    if not len(start):
        empty = np.empty(0, np.int64)
        return empty, empty, empty
    # A background member covers nothing: as an interval it is empty.
    reach = running_maximum(np.where(awaited, end, start), begins)
    before = np.empty_like(reach)
    before[0] = start[0]
    before[1:] = reach[:-1]
    before[begins] = start[begins]
    fresh = np.where(awaited, np.maximum(0, end - np.maximum(start, before)), 0)
    total = np.concatenate([[0], np.cumsum(fresh)])
    index = np.arange(len(start))
    at_start = total[index] - total[first] - np.maximum(0, before - start)
    known = first + started
    at_end = total[known] - total[first] - np.maximum(0, reach[known - 1] - end)
    return at_start, at_end, total[last] - total[first]


def _groups(
    parent: Int32, kind: Int64, start: Int64, end: Int64, first: Int64, ended: Int64, by_end: Int64
) -> tuple[Int64, Int64]:
    """Number the runs of calls of one kind under one parent, and the members inside each run.

    A run ends when some other call started after all of it had ended, and ended before the next of the kind starts:
    a loop of model call and tool makes a new run each round, a fan-out or a plain loop is one run.
    """
    m = len(parent)
    if not m:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    latest_start = running_maximum(start[by_end], starts_of_runs(parent[by_end]))
    low = np.int64(np.iinfo(np.int64).min)
    separated_from = np.where(ended > 0, latest_start[np.maximum(first + ended - 1, 0)], low)
    order = stable_order(parent.astype(np.int64) * (int(kind.max()) + 1) + kind)
    begins = starts_of_runs(parent[order], kind[order])
    reach = running_maximum(end[order], begins)
    previous = np.empty_like(reach)
    previous[0] = 0
    previous[1:] = reach[:-1]
    new_run = begins | (separated_from[order] >= previous)
    run_number = np.cumsum(new_run)
    group, position = np.empty(m, np.int64), np.empty(m, np.int64)
    group[order] = run_number - run_number[run_bounds(begins)[0]]
    position[order] = np.arange(m) - run_bounds(new_run)[0]
    return group, position
