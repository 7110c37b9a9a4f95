"""The edit retry-rate: fewer or more of the calls are tried again."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from latshift.components.retries import failures
from latshift.errors import EditError
from latshift.selectors import Selector
from latshift.spans import Int64
from latshift.whatif.parsing import parse_factor, split_value
from latshift.whatif.picking import beneath
from latshift.whatif.plan import Edit, Plan
from latshift.whatif.siblings import operation_codes

_ALIKE = 1.36
"""Kolmogorov and Smirnov's statistic times √(nm/(n + m)) above which two samples differ (5 % level)."""

_SAME_MEDIAN, _OTHER_MEDIAN = 1.1, 2.0
"""Medians closer than the first factor are alike; farther than the second one they are not, however few calls."""


@dataclass
class _Chains:
    """Attempts of calls that are tried again, and the calls that could be.

    Attributes:
        again: int64 (k,), rows of attempts beyond the first. before: int64 (k,), the failed attempt before each.
        back_off: int64 ns (k,), between the two. ordinal: int64 (k,), 1 for the first retry of a call.
        firsts: int64, rows of first attempts, whether or not others follow.
        lasts: int64, rows of attempts that succeeded, so that none followed. used: int64, retries before each of these.
    """

    again: Int64
    before: Int64
    back_off: Int64
    ordinal: Int64
    firsts: Int64
    lasts: Int64
    used: Int64

    @property
    def share(self) -> float:
        """Share of the calls that are tried again."""
        return int((self.ordinal == 1).sum()) / max(len(self.firsts), 1)


@dataclass
class RetryRate(Edit):
    """The share of calls that have further attempts is multiplied."""

    selector: Selector
    factor: float

    @property
    def random(self) -> bool:
        """Whether it is left to chance which attempts are gone or added."""
        return self.factor not in (0.0, 1.0)

    @classmethod
    def parse(cls, text: str) -> RetryRate:
        """Parse `SEL=0.5x`."""
        selector, value = split_value(text, "retry-rate", "llm=0.5x")
        factor = parse_factor(value, f"--retry-rate {text}")
        if factor == float("inf"):
            raise EditError(f"--retry-rate {text}: no share grows without end", "write a number such as 2x")
        return cls(selector, factor)

    def apply(self, plan: Plan) -> None:
        """Take attempts away, or add some that are drawn from the recorded ones."""
        chains = self._chains(plan)
        wanted = chains.share * self.factor
        if wanted > 1:
            raise EditError(
                f"--retry-rate {self.selector.text}={self.factor:g}x: {chains.share:.1%} of the calls are tried again, "
                "so that would be more than all",
                f"the most is {1 / chains.share:.3g}x",
            )
        spent = np.zeros(plan.model.forest.n)
        spent[chains.again] = plan.durations(chains.before) + chains.back_off
        spent = np.where(plan.model.path.on_path, spent, 0)
        plan.save((1 - self.factor) * plan.per_request(spent))
        if self.factor <= 1:
            self._take_away(plan, chains)
        else:
            self._add(plan, chains, wanted)
        plan.notes.append(
            f"calls of '{self.selector.text}' that are tried again go from {chains.share:.1%} to {wanted:.1%} "
            f"of {len(chains.firsts):,}"
        )

    def _chains(self, plan: Plan) -> _Chains:
        """Find the attempts among the selected calls and beneath them."""
        forest, retries, place = plan.model.forest, plan.model.classified.retries, plan.graph.place
        selection = plan.select(self.selector)
        if selection.phase is not None:
            raise EditError(f"--retry-rate {self.selector.text}: a phase is not tried again", "name the whole call")
        inside = beneath(forest, selection.rows) & (place >= 0)
        previous = retries.previous
        linked = retries.attempts & inside & (previous >= 0)
        linked &= place[previous] >= 0
        again = np.flatnonzero(linked)
        if not len(again):
            raise EditError(
                f"--retry-rate {self.selector.text}: no call of these is tried again in the traces",
                "a retry is known by its attempt number, or by a failed call that the same call follows",
            )
        ordinal = np.zeros(forest.n, np.int64)
        while True:
            further = np.where(linked, ordinal[previous] + 1, 0)
            if np.array_equal(further, ordinal):
                break
            ordinal = further
        operation = operation_codes(forest)
        kind = inside & np.isin(operation, np.unique(operation[again]))
        followed = plan.mask(previous[again].astype(np.int64))
        lasts = np.flatnonzero(kind & ~followed & ~failures(forest))
        firsts = np.flatnonzero(kind & ~linked & ~(retries.attempts & (previous < 0)))
        before = previous[again].astype(np.int64)
        return _Chains(again, before, retries.back_off[again], ordinal[again], firsts, lasts, ordinal[lasts])

    def _take_away(self, plan: Plan, chains: _Chains) -> None:
        """Drop attempts by chance, each with all that come after it."""
        forest, retries = plan.model.forest, plan.model.classified.retries
        gone = plan.mask(chains.again[plan.random(len(chains.again)) >= self.factor])
        linked = plan.mask(chains.again)
        while True:
            wider = gone | (linked & gone[retries.previous])
            if np.array_equal(wider, gone):
                break
            gone = wider
        rows = np.flatnonzero(gone)
        failed, good = plan.durations(np.unique(chains.before)), plan.durations(chains.lasts)
        # Where failing takes another time than answering, the attempt that is left is one that answers.
        dropped = rows if _alike(failed, good) else retries.previous[rows].astype(np.int64)
        graph = plan.graph
        waiting = np.isin(graph.leads, graph.start_of(rows))
        taken = beneath(forest, plan.mask(dropped))[graph.worker] | waiting
        plan.graph = replace(graph, own=np.where(taken, 0, graph.own), beside=np.where(taken, 0, graph.beside))

    def _add(self, plan: Plan, chains: _Chains, wanted: float) -> None:
        """Let more of the calls that succeed fail first, as often in a row as the traces show at most."""
        graph, count = plan.graph, len(chains.lasts)
        own, beside = graph.own.copy(), graph.beside.copy()
        failed = plan.durations(chains.before)
        fails = plan.random(count) < (wanted - chains.share) / (1 - chains.share)
        longest = int(chains.ordinal.max())
        for turn in range(1, longest + 1):
            fails &= chains.used + turn <= longest
            rows = chains.lasts[fails]
            picked = np.minimum((plan.random(count, 2 * turn) * len(failed)).astype(np.int64), len(failed) - 1)[fails]
            own[graph.end_of(rows)] += failed[picked]
            beside[graph.start_of(rows)] += _back_offs(plan, chains, turn + chains.used)[fails]
            fails &= plan.random(count, 2 * turn + 1) < wanted
        plan.graph = replace(graph, own=own, beside=beside)


def _back_offs(plan: Plan, chains: _Chains, ordinal: Int64) -> Int64:
    """Draw a back-off for each call that could be tried again, from those before a retry of the same ordinal."""
    chance = plan.random(len(ordinal), 1)
    drawn = np.zeros(len(ordinal), np.int64)
    for turn in np.unique(ordinal).tolist():
        same = chains.back_off[chains.ordinal == turn]
        values = np.sort(same if len(same) else chains.back_off)
        here = ordinal == turn
        drawn[here] = values[np.minimum((chance[here] * len(values)).astype(np.int64), len(values) - 1)]
    return drawn


def _alike(first: Int64, second: Int64) -> bool:
    """Return whether two samples of durations look the same (Kolmogorov and Smirnov, and by their medians)."""
    if not len(first) or not len(second):
        return True
    low, high = sorted((float(np.median(first)), float(np.median(second))))
    if high > _OTHER_MEDIAN * low:
        return False
    if high <= _SAME_MEDIAN * low:
        return True
    both = np.concatenate([first, second])
    below = [np.searchsorted(np.sort(sample), both, side="right") / len(sample) for sample in (first, second)]
    distance = float(np.max(np.abs(below[0] - below[1])))
    return distance * math.sqrt(len(first) * len(second) / len(both)) <= _ALIKE
