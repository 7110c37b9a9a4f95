"""Parents whose children ran in the same order: what holds for one of them holds for all.

Most requests of a shape look alike, so that a few hundred examples stand for a hundred thousand spans.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from latshift.sorting import ranges
from latshift.spans import Array, Int64, UInt64
from latshift.whatif.siblings import Siblings, starts_of_runs


@dataclass
class Patterns:
    """Parents grouped by what kinds of children they have and in which order these started and ended.

    Attributes:
        members: int64, members of one example of each pattern, sorted by index.
        times: int64, for each of them, how many parents have its pattern.
        example: int64 (patterns,), first member of each example.
        pattern: int64 (parents,), pattern of every parent. first: int64 (parents,), its first member.
    """

    members: Int64
    times: Int64
    example: Int64
    pattern: Int64
    first: Int64

    def spread(self, source: Int64, target: Int64) -> tuple[Int64, Int64, Int64]:
        """Repeat edges of the examples under every parent.

        Args:
            source: int64 (e,), members of examples.
            target: int64 (e,), members of the same examples.

        Returns:
            Index of the edge, source and target, for every repetition.
        """
        starts = np.sort(self.example)
        order_of_example = np.argsort(self.example)
        owner = order_of_example[np.searchsorted(starts, target, side="right") - 1]
        order = np.argsort(owner, kind="stable")
        count = np.bincount(owner, minlength=len(self.example))
        begin = np.cumsum(count) - count
        which = order[ranges(begin[self.pattern], (begin + count)[self.pattern])]
        shift = np.repeat(self.first, count[self.pattern]) - self.example[owner[which]]
        return which, source[which] + shift, target[which] + shift


def find_patterns(siblings: Siblings, members: Int64) -> Patterns:
    """Group the parents of the given members (whole families, sorted by index).

    A pattern is a 64-bit digest of everything that inference looks at; families with a member that took no time are
    patterns of their own, since then the order does not follow from the counts.
    """
    heads = np.flatnonzero(starts_of_runs(siblings.parent[members]))
    first = members[heads]
    ordinal = members - siblings.first[members]
    by_end = np.empty(siblings.m, np.int64)
    by_end[siblings.by_end] = np.arange(siblings.m) - siblings.first[siblings.by_end]
    together = np.zeros(len(members), np.int64)
    together[1:] = siblings.start[members[1:]] == siblings.start[members[:-1]]
    instant = siblings.start[members] == siblings.end[members]
    digest = np.zeros(len(members), np.uint64)
    for column in (
        siblings.kind[members],
        siblings.group[members],
        siblings.position[members],
        siblings.ended[members],
        by_end[members],
        ordinal,
        together,
        np.where(instant, members, -1),
    ):
        digest = _mixed(digest + column.astype(np.uint64))
    family = np.add.reduceat(digest, heads)
    _, example, pattern, count = np.unique(family, return_index=True, return_inverse=True, return_counts=True)
    pattern = pattern.reshape(-1)
    lengths = np.diff(np.append(heads, len(members)))
    chosen = np.sort(example)
    shown = ranges(heads[chosen], heads[chosen] + lengths[chosen])
    times = np.repeat(count[pattern[chosen]], lengths[chosen])
    return Patterns(members[shown], times, first[example], pattern, first)


def _mixed(value: UInt64 | Array) -> UInt64:
    """Scramble numbers so that every bit depends on every other (the finalizer of SplitMix64, Steele et al. 2014)."""
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray((value ^ (value >> np.uint64(31))) + np.uint64(0x9E3779B97F4A7C15))
