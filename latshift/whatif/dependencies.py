"""Who waits for whom among the children of a span, inferred from all requests at once.

Start from "B waits for A wherever A had ended when B began", and let one counter-example refute it: a request in which
B began before A ended (Chow et al., The Mystery Machine, OSDI 2014, section 3). Calls are compared by what they are
(operation under operation), by their run (first round of a loop, second round, ...) and inside a run by position.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from latshift.sorting import dense_codes, stable_order
from latshift.spans import Bool, Int64
from latshift.whatif.patterns import Patterns, find_patterns
from latshift.whatif.siblings import Siblings, sort_by_group, starts_of_runs

WIDE = 96
"""Spans with more children than this are replayed in the observed order, without looking for counter-examples."""

FEW = 10
"""A dependency seen in fewer requests than this is assumed rather than inferred."""

DENSE = 2**22
"""Pair codes below this are counted in one array rather than sorted."""

POSITIONS = 64
"""Positions in a run beyond this one share their evidence."""


@dataclass
class Declared:
    """Dependencies stated by the configuration, as member kinds.

    Attributes:
        always: bool (kinds, kinds) or None; [a, b] is True where b waits for a whatever the traces show.
        never: the same for pairs where b does not wait for a.
    """

    always: Bool
    never: Bool


DECLARED = 2**31 - 1
"""The support of a dependency that the configuration states."""


@dataclass
class Refuted:
    """Observed orders that are no dependency: in each of these pairs the source had ended when the target began.

    Attributes:
        source, target: int64 (k,), member indices.
        support: int64 (k,), how often the order was seen. against: int64 (k,), how often it was contradicted; 0 where
            the configuration denies it.
    """

    source: Int64
    target: Int64
    support: Int64
    against: Int64


@dataclass
class Dependencies:
    """Edges between members: `target` waits for `source`; among narrow spans only (see WIDE).

    Attributes:
        source, target: int64 (e,), member indices.
        support: int64 (e,), requests that showed the order. assumed: bool (e,), support below FEW.
        refuted: int64, number of observed orders that other requests refuted.
        wide: bool (m,), members of spans too wide to infer for.
        denied: The refuted orders one by one; None unless they were asked for.
    """

    source: Int64
    target: Int64
    support: Int64
    assumed: Bool
    refuted: int
    wide: Bool
    denied: Refuted | None = None


@dataclass
class _Evidence:
    """Counts per ordered pair of codes: how often the order was seen, and how often it was contradicted."""

    codes: Int64 | None
    seen: Int64
    against: Int64

    def at(self, pairs: Int64) -> tuple[Int64, Int64]:
        """Return both counts for the given pair codes, all of which have been counted."""
        place = pairs if self.codes is None else np.searchsorted(self.codes, pairs)
        return self.seen[place], self.against[place]


def _count(forward: list[Int64], backward: list[Int64], ordered: list[Bool], times: list[Int64]) -> _Evidence:
    """Add up the evidence of pairs (earlier start first): seen if ordered, else contradicted, and never the reverse."""
    if not forward:
        return _Evidence(None, np.zeros(1, np.int64), np.zeros(1, np.int64))
    there, back, order = np.concatenate(forward), np.concatenate(backward), np.concatenate(ordered)
    often = np.concatenate(times)
    largest = int(max(there.max(initial=0), back.max(initial=0))) + 1
    codes = None
    if largest > DENSE:
        codes, place = np.unique(np.concatenate([there, back]), return_inverse=True)
        there, back = np.split(place.reshape(-1), [len(there)])
        largest = len(codes)
    seen = np.bincount(there[order], often[order], largest)
    shown = np.bincount(there, often, largest) + np.bincount(back, often, largest)
    return _Evidence(codes, seen.astype(np.int64), (shown - seen).astype(np.int64))


def _pairs(run: Int64, limit: int = WIDE) -> list[tuple[Int64, Int64]]:
    """Return index pairs (i, i + lag) that lie in one run, for every lag; `run` is a sorted run code per element."""
    pairs = []
    early = np.arange(len(run))
    for lag in range(1, limit):
        early = early[: len(early) - int(np.sum(early + lag >= len(run)))]
        early = early[run[early] == run[early + lag]]
        if not len(early):
            break
        pairs.append((early, early + lag))
    return pairs


def _groups_of(siblings: Siblings, narrow: Int64) -> tuple[Int64, Int64, Int64, Int64, Int64]:
    """Merge narrow members into their groups, sorted by (parent, start of the group).

    Returns:
        Group index of each narrow member; per group its parent, code, start, end.
    """
    kind, parent = siblings.kind[narrow], siblings.parent[narrow].astype(np.int64)
    sort, _ = dense_codes(kind * (WIDE + 1) + siblings.group[narrow])
    key = stable_order(parent * (int(sort.max()) + 1) + sort)
    begins = starts_of_runs(parent[key], sort[key])
    heads = np.flatnonzero(begins)
    ordered = narrow[key]
    # Members of a group stand in order of start.
    start = siblings.start[ordered[heads]]
    end = np.maximum.reduceat(siblings.end[ordered], heads)
    parent, code = parent[key][heads], sort[key][heads]
    # At one instant, what took no time comes first, as among the members.
    by_start = sort_by_group(parent, siblings.since_parent[ordered[heads]], (end > start).astype(np.int64))
    place = np.empty(len(heads), np.int64)
    place[by_start] = np.arange(len(heads))
    group_of = np.empty(len(narrow), np.int64)
    group_of[key] = place[np.cumsum(begins) - 1]
    return group_of, parent[by_start], code[by_start], start[by_start], end[by_start]


def infer(siblings: Siblings, declared: Declared | None = None, keep_refuted: bool = False) -> Dependencies:
    """Infer the dependencies between the members of every span.

    Args:
        siblings: The children of all spans, of all requests that count as evidence.
        declared: What the configuration states; it beats inference.
        keep_refuted: Return the refuted orders, too; a replay has no use for them.
    """
    width = siblings.last - siblings.first
    wide = width > WIDE
    narrow = np.flatnonzero(~wide)
    if not len(narrow):
        empty = np.empty(0, np.int64)
        denied = Refuted(empty, empty, empty, empty) if keep_refuted else None
        return Dependencies(empty, empty, empty, np.empty(0, bool), 0, wide, denied)
    patterns = find_patterns(siblings, narrow)
    if not keep_refuted:
        narrow = patterns.members
    times = patterns.times if not keep_refuted else np.ones(len(narrow), np.int64)
    group_of, parent, code, start, end = _groups_of(siblings, narrow)
    group_times = np.empty(len(code), np.int64)
    group_times[group_of] = times
    codes = int(code.max()) + 1
    between = _pairs(parent)
    across = _count(
        [code[a] * codes + code[b] for a, b in between],
        [code[b] * codes + code[a] for a, b in between],
        [end[a] <= start[b] for a, b in between],
        [group_times[a] for a, _ in between],
    )
    position = np.minimum(siblings.position[narrow], POSITIONS - 1)
    member_code = code[group_of] * POSITIONS + position
    members = _pairs(siblings.parent[narrow].astype(np.int64))
    inside: list[tuple[Int64, Int64]] = [
        (a[same], b[same]) for a, b in members for same in [group_of[a] == group_of[b]]
    ]
    within = _count(
        [member_code[a] * POSITIONS + position[b] for a, b in inside],
        [member_code[b] * POSITIONS + position[a] for a, b in inside],
        [siblings.end[narrow[a]] <= siblings.start[narrow[b]] for a, b in inside],
        [times[a] for a, _ in inside],
    )
    found = _edges(
        siblings, narrow, members, group_of, code, codes, member_code, position, across, within, declared, wide,
        keep_refuted, times,
    )  # fmt: skip
    return found if keep_refuted else _everywhere(found, patterns)


def _everywhere(found: Dependencies, patterns: Patterns) -> Dependencies:
    """Repeat the edges between the members of one example under every parent that looks like it."""
    which, source, target = patterns.spread(found.source, found.target)
    return replace(found, source=source, target=target, support=found.support[which], assumed=found.assumed[which])


def _edges(
    siblings: Siblings,
    narrow: Int64,
    members: list[tuple[Int64, Int64]],
    group_of: Int64,
    code: Int64,
    codes: int,
    member_code: Int64,
    position: Int64,
    across: _Evidence,
    within: _Evidence,
    declared: Declared | None,
    wide: Bool,
    keep_refuted: bool,
    times: Int64,
) -> Dependencies:
    """Turn the evidence into edges between members, leaving out those that follow from others."""
    start, end, kind = siblings.start[narrow], siblings.end[narrow], siblings.kind[narrow]
    width = int((siblings.last - siblings.first)[narrow].max())
    holds = np.zeros((len(narrow), max(width, 1)), bool)
    support = np.zeros((len(narrow), max(width, 1)), np.int32)
    refuted = 0
    denied: list[tuple[Int64, Int64, Int64, Int64]] = []
    for a, b in members:
        observed = end[a] <= start[b]
        a, b = a[observed], b[observed]
        same = group_of[a] == group_of[b]
        apart = ~same
        seen, against = np.empty(len(a), np.int64), np.empty(len(a), np.int64)
        seen[apart], against[apart] = across.at(code[group_of[a[apart]]] * codes + code[group_of[b[apart]]])
        seen[same], against[same] = within.at(member_code[a[same]] * POSITIONS + position[b[same]])
        waits = against == 0
        if declared is not None:
            waits = (waits | declared.always[kind[a], kind[b]]) & ~declared.never[kind[a], kind[b]]
            seen = np.where(declared.always[kind[a], kind[b]], np.int64(DECLARED), seen)
        refuted += int(np.sum(times[b[~waits]]))
        if keep_refuted:
            denied.append((a[~waits], b[~waits], seen[~waits], against[~waits]))
        lag = b - a
        holds[b[waits], lag[waits]] = True
        support[b[waits], lag[waits]] = np.minimum(seen[waits], DECLARED)
    target, lag = np.nonzero(holds)
    source = target - lag
    # The latest source of a target stands for everything it waited for itself.
    nearest = holds.argmax(axis=1)
    middle = target - nearest[target]
    implied = (lag > nearest[target]) & holds[middle, np.maximum(lag - nearest[target], 0)]
    target, source, lag = target[~implied], source[~implied], lag[~implied]
    counts = support[target, lag].astype(np.int64)
    found = Dependencies(narrow[source], narrow[target], counts, counts < FEW, refuted, wide)
    if keep_refuted:
        found.denied = _join(narrow, denied)
    return found


def _join(narrow: Int64, parts: list[tuple[Int64, Int64, Int64, Int64]]) -> Refuted:
    """Join refuted pairs of narrow members, lag by lag, into pairs of members."""
    empty = np.empty(0, np.int64)
    early, late, seen, against = (np.concatenate(column) for column in zip((empty,) * 4, *parts, strict=True))
    return Refuted(narrow[early], narrow[late], seen, against)
