"""What the requests show about who runs before whom: counts per pair of calls, between runs and inside them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from latshift.sorting import dense_codes, stable_order
from latshift.spans import Bool, Int64
from latshift.whatif.siblings import Siblings, sort_by_group, starts_of_runs

DENSE = 2**22
"""Pair codes below this are counted in one array rather than sorted."""

POSITIONS = 64
"""Positions in a run beyond this one share their evidence."""

RARELY_LAST = 0.05
"""Work beside a loop that ended last before a round in less than this share of the requests does not gate it."""


@dataclass
class Counts:
    """Counts per ordered pair of codes: how often the order was seen, and how often it was contradicted."""

    codes: Int64 | None
    seen: Int64
    against: Int64

    def at(self, pairs: Int64) -> tuple[Int64, Int64]:
        """Return both counts for the given pair codes, all of which have been counted."""
        place = self.place(pairs)
        return self.seen[place], self.against[place]

    def place(self, pairs: Int64) -> Int64:
        """Return where the given pair codes stand in the counts."""
        return pairs if self.codes is None else np.searchsorted(self.codes, pairs)


@dataclass
class Groups:
    """Runs of calls of one kind (see `Siblings.group`), sorted by (parent, start); arrays per run but `of`.

    Attributes:
        of: int64, run of each member.
        parent: Row of the parent. code: int64, kind and ordinal of the run. kind: int64, the kind alone.
        start, end: ns. rank: int64, place of the run among those of its parent by order of end.
        times: int64, how many parents the run stands for.
        looped: Whether the kind has several runs under some parent: it is a step of a loop.
    """

    of: Int64
    parent: Int64
    code: Int64
    kind: Int64
    start: Int64
    end: Int64
    rank: Int64
    times: Int64
    looped: Bool


@dataclass
class Evidence:
    """Everything that was counted about some members (whole families).

    Attributes:
        pairs: Indices (earlier, later start) among the members, of siblings, one pair of arrays for every lag.
        groups: Their runs. codes: Number of codes of runs. across: Counts between runs, by pair of codes.
        member_code: int64, code of the run and position in it. position: int64. within: Counts inside runs.
    """

    pairs: list[tuple[Int64, Int64]]
    groups: Groups
    codes: int
    across: Counts
    member_code: Int64
    position: Int64
    within: Counts

    def of(self, a: Int64, b: Int64) -> tuple[Int64, Int64]:
        """Return for pairs of members how often "a, then b" was seen, and how often it was contradicted."""
        early, late = self.groups.of[a], self.groups.of[b]
        same = early == late
        apart = ~same
        seen, against = np.empty(len(a), np.int64), np.empty(len(a), np.int64)
        code = self.groups.code
        seen[apart], against[apart] = self.across.at(code[early[apart]] * self.codes + code[late[apart]])
        seen[same], against[same] = self.within.at(self.member_code[a[same]] * POSITIONS + self.position[b[same]])
        return seen, against


def gather(siblings: Siblings, members: Int64, times: Int64) -> Evidence:
    """Count the orders in which siblings ran.

    Args:
        siblings: The children of all spans.
        members: Whole families among them, sorted.
        times: int64, how many members each of these stands for.
    """
    groups = _groups_of(siblings, members, times)
    pairs = _pairs(siblings.parent[members].astype(np.int64))
    position = np.minimum(siblings.position[members], POSITIONS - 1)
    member_code = groups.code[groups.of] * POSITIONS + position
    codes = int(groups.code.max()) + 1
    within = _inside(siblings, members, times, pairs, groups.of, member_code, position)
    return Evidence(pairs, groups, codes, _across(groups, codes), member_code, position, within)


def _count(there: Int64, back: Int64, ordered: Bool, neutral: Bool, often: Int64) -> Counts:
    """Add up the evidence of pairs (earlier start first): seen if ordered, else contradicted, and never the reverse.

    Args:
        there: Codes of the pairs.
        back: Codes of their reverse.
        ordered: Whether the first had ended when the second began.
        neutral: Whether the pair says nothing about the reverse order.
        often: How often each pair counts.
    """
    if not len(there):
        return Counts(None, np.zeros(1, np.int64), np.zeros(1, np.int64))
    largest = int(max(there.max(), back.max())) + 1
    codes = None
    if largest > DENSE:
        codes, place = np.unique(np.concatenate([there, back]), return_inverse=True)
        there, back = np.split(place.reshape(-1), [len(there)])
        largest = len(codes)
    seen = np.bincount(there[ordered], often[ordered], largest)
    against = np.bincount(there[~ordered], often[~ordered], largest)
    against = against + np.bincount(back[~neutral], often[~neutral], largest)
    return Counts(codes, seen.astype(np.int64), against.astype(np.int64))


def _pairs(run: Int64) -> list[tuple[Int64, Int64]]:
    """Return index pairs (i, i + lag) that lie in one run, for every lag; `run` is a sorted run code per element."""
    pairs = []
    early = np.arange(len(run))
    for lag in range(1, len(run)):
        early = early[: len(early) - int(np.sum(early + lag >= len(run)))]
        early = early[run[early] == run[early + lag]]
        if not len(early):
            break
        pairs.append((early, early + lag))
    return pairs


def _joined(pairs: list[tuple[Int64, Int64]]) -> tuple[Int64, Int64]:
    """Return the pairs of all lags one after the other."""
    empty = np.empty(0, np.int64)
    return np.concatenate([empty, *(a for a, _ in pairs)]), np.concatenate([empty, *(b for _, b in pairs)])


def _groups_of(siblings: Siblings, members: Int64, times: Int64) -> Groups:
    """Merge members into their groups, sorted by (parent, start of the group)."""
    kind, group, parent = siblings.kind[members], siblings.group[members], siblings.parent[members].astype(np.int64)
    sort, _ = dense_codes(kind * (int(group.max()) + 1) + group)
    key = stable_order(parent * (int(sort.max()) + 1) + sort)
    begins = starts_of_runs(parent[key], sort[key])
    heads = np.flatnonzero(begins)
    ordered = members[key]
    # Members of a group stand in order of start.
    start = siblings.start[ordered[heads]]
    end = np.maximum.reduceat(siblings.end[ordered], heads)
    # Ranks rather than times, so that ties are broken as in the pattern that stands for many families.
    rank = np.empty(siblings.m, np.int64)
    rank[siblings.by_end] = np.arange(siblings.m)
    last = np.maximum.reduceat(rank[ordered], heads)
    several = np.zeros(int(kind.max()) + 1, bool)
    several[kind[group > 0]] = True
    # At one instant, what took no time comes first, as among the members.
    since = siblings.since_parent[ordered[heads]]
    by_start = sort_by_group(parent[key][heads], since, (end > start).astype(np.int64))
    place = np.empty(len(heads), np.int64)
    place[by_start] = np.arange(len(heads))
    group_of = np.empty(len(members), np.int64)
    group_of[key] = place[np.cumsum(begins) - 1]
    example = key[heads][by_start]
    return Groups(
        group_of, parent[example], sort[example], kind[example], start[by_start], end[by_start], last[by_start],
        times[example], several[kind[example]],
    )  # fmt: skip


def _across(groups: Groups, codes: int) -> Counts:
    """Count the orders between runs.

    A round that skips a step shifts the numbers of that step's later runs, so that "second tool before third model
    call" turns round without anything running side by side: for steps of a loop, only overlap refutes.
    """
    a, b = _joined(_pairs(groups.parent))
    code, often = groups.code, groups.times[a]
    ordered = groups.end[a] <= groups.start[b]
    there = code[a] * codes + code[b]
    neutral = ordered & (groups.looped[a] | groups.looped[b])
    counts = _count(there, code[b] * codes + code[a], ordered, neutral, often)
    _loosen(groups, counts, a, b, there, ordered)
    return counts


def _loosen(groups: Groups, counts: Counts, a: Int64, b: Int64, there: Int64, ordered: Bool) -> None:
    """Count requests against orders of work beside a loop and a round of it, where the work hardly ever ended last.

    Late rounds begin after work that runs beside the loop, only because it is over by then; overlap with early rounds
    shows that they are independent. What gates a round is at times the last to end before it.
    """
    kinds = int(groups.kind.max()) + 1
    low, high = np.minimum(groups.kind[a], groups.kind[b]), np.maximum(groups.kind[a], groups.kind[b])
    both = low * kinds + high
    beside = ordered & (groups.looped[a] != groups.looped[b])
    beside[beside] = np.isin(both[beside], np.unique(both[~ordered]))
    if not beside.any():
        return
    last = np.full(len(groups.code), -1, np.int64)
    np.maximum.at(last, b[ordered], groups.rank[a[ordered]])
    place = counts.place(there)
    was_last = beside & (groups.rank[a] == last[b])
    gated = np.bincount(place[was_last], groups.times[a[was_last]], len(counts.seen)).astype(np.int64)
    candidates = np.unique(place[beside])
    loose = candidates[gated[candidates] < RARELY_LAST * counts.seen[candidates]]
    counts.against[loose] += counts.seen[loose] - gated[loose]


def _inside(
    siblings: Siblings,
    members: Int64,
    times: Int64,
    pairs: list[tuple[Int64, Int64]],
    group_of: Int64,
    member_code: Int64,
    position: Int64,
) -> Counts:
    """Count the orders inside runs, by position."""
    a, b = _joined([(a[same], b[same]) for a, b in pairs for same in [group_of[a] == group_of[b]]])
    ordered = siblings.end[members[a]] <= siblings.start[members[b]]
    there, back = member_code[a] * POSITIONS + position[b], member_code[b] * POSITIONS + position[a]
    return _count(there, back, ordered, np.zeros(len(a), bool), times[a])
