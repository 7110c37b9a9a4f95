"""Edits by which a call takes another time by chance: cache, hedge, replace, route."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import numpy as np

from latshift import selectors
from latshift.errors import EditError
from latshift.selectors import Selector
from latshift.spans import Float64, Int64
from latshift.whatif.latencies import read_latencies
from latshift.whatif.parsing import parse_duration, parse_share, split_pair, split_value
from latshift.whatif.picking import beneath
from latshift.whatif.plan import Edit, Plan
from latshift.whatif.rewire import replace_calls
from latshift.whatif.siblings import operation_codes

_PERCENTILE = re.compile(r"^p(\d{1,2}(?:\.\d+)?)$")


def _take(plan: Plan, rows: Int64, durations: Int64) -> None:
    """Let some calls take fixed times, with nothing beneath them."""
    inside = beneath(plan.model.forest, plan.mask(rows))
    plan.graph = replace_calls(plan.graph, inside, rows, durations)


@dataclass
class Cache(Edit):
    """A share of the calls is answered by a cache; looking there takes its time for hits and misses alike."""

    selector: Selector
    hit: float
    lookup: int

    @property
    def random(self) -> bool:
        """Whether hits differ from draw to draw."""
        return 0 < self.hit < 1

    @classmethod
    def parse(cls, text: str) -> Cache:
        """Parse `SEL=30%:5ms`."""
        where = f"--cache {text}"
        selector, value = split_value(text, "cache", "llm=30%:5ms")
        hit, lookup = split_pair(value, where, "llm=30%:5ms, hit rate and time to look it up")
        return cls(selector, parse_share(hit, where, "hit rate"), parse_duration(lookup, where))

    def apply(self, plan: Plan) -> None:
        """Replace the hits by the time of the lookup, and add that to the misses."""
        rows = plan.calls(self.selector, "cache")
        hit = plan.random(len(rows)) < self.hit
        beside, misses = plan.graph.beside.copy(), rows[~hit]
        # The cache is asked before a slot is: looking there does not hold one.
        first = plan.graph.start_of(plan.begins(misses))
        beside[np.where(plan.pooled(misses), first, plan.graph.end_of(misses))] += self.lookup
        plan.graph = replace(plan.graph, beside=beside)
        _take(plan, rows[hit], np.full(int(hit.sum()), self.lookup))
        plan.free(rows[hit])
        plan.save(self.hit * plan.path_beneath(rows) - plan.on_path(rows) * self.lookup)
        plan.notes.append(
            f"the cache saves {self.hit:.0%} of {len(rows):,} calls of '{self.selector.text}'; "
            "which ones is left to chance, though real hits are often the easy ones"
        )


@dataclass
class Hedge(Edit):
    """A call that is late is sent a second time, and the first answer counts."""

    selector: Selector
    percentile: float | None
    delay: int

    @property
    def random(self) -> bool:
        """Always: how long the second call takes is drawn."""
        return True

    @classmethod
    def parse(cls, text: str) -> Hedge:
        """Parse `SEL=p95` or `SEL=300ms`."""
        where = f"--hedge {text}"
        selector, value = split_value(text, "hedge", "llm=p95")
        match = _PERCENTILE.match(value.lower())
        if match:
            return cls(selector, float(match[1]) / 100, 0)
        if value.lower().startswith("p"):
            raise EditError(f"{where}: '{value}' is not a percentile", "write p95, or a time such as 300ms")
        return cls(selector, None, parse_duration(value, where))

    def apply(self, plan: Plan) -> None:
        """Shorten the calls whose second attempt would have come first.

        F_h(t) = 1 − (1 − F(t))·(1 − F(t − d)) for the delay d (Dean and Barroso 2013; whatif.md §2.3).
        """
        rows = plan.calls(self.selector, "hedge")
        taken = plan.durations(rows)
        chance = plan.random(len(rows))
        after = np.empty(len(rows))
        second = np.empty(len(rows), np.int64)
        operation = operation_codes(plan.model.forest)[rows]
        for code in np.unique(operation).tolist():
            here = operation == code
            values = np.sort(taken[here])
            after[here] = self.delay if self.percentile is None else np.quantile(values, self.percentile)
            second[here] = _at(values, chance[here])
        late = taken > after
        hedged = np.where(late, np.minimum(taken, np.rint(after).astype(np.int64) + second), taken)
        faster = hedged < taken
        _take(plan, rows[faster], hedged[faster])
        whole = float(taken.sum())
        plan.save(plan.path_beneath(rows) * (1 - hedged.sum() / whole if whole else 0.0))
        plan.notes.append(
            f"hedging sends {int(late.sum()):,} calls of '{self.selector.text}' a second time "
            f"({late.mean():.1%} more calls); both are taken to be independent"
        )


def _at(values: Int64, chance: Float64) -> Int64:
    """Return the value at each quantile of sorted values, without interpolation."""
    return values[np.minimum((chance * len(values)).astype(np.int64), len(values) - 1)]


@dataclass
class Replace(Edit):
    """The calls take times that were measured elsewhere; a share of 1 replaces all, less routes some of them there."""

    verb: str
    selector: Selector
    share: float
    file: str
    latencies: Int64

    @property
    def random(self) -> bool:
        """Whether draws differ."""
        return 0 < self.share < 1 or (self.share == 1 and len(np.unique(self.latencies)) > 1)

    @classmethod
    def parse(cls, text: str) -> Replace:
        """Parse `SEL=FILE`."""
        selector, file = split_value(text, "replace", "llm=new_model.txt")
        return cls("replace", selector, 1.0, file, read_latencies(file, f"--replace {text}"))

    @classmethod
    def parse_route(cls, text: str) -> Replace:
        """Parse `SEL=70%:FILE`."""
        where = f"--route {text}"
        example = "llm=70%:small_model.txt"
        match = re.match(r"^(.+)=([^=:]*):(.+)$", text)
        if not match:
            raise EditError(f"{where}: expected SELECTOR=SHARE:FILE", f"for example --route {example}")
        share = parse_share(match[2], where, "share")
        file = match[3].strip()
        return cls("route", selectors.parse(match[1].strip()), share, file, read_latencies(file, where))

    def apply(self, plan: Plan) -> None:
        """Replace the calls, or those that chance sends to the other model."""
        rows = plan.calls(self.selector, self.verb)
        chosen = plan.random(len(rows)) < self.share
        drawn = plan.pick(self.latencies, len(rows), stream=1)
        _take(plan, rows[chosen], drawn[chosen])
        if self.verb == "route":
            plan.free(rows[chosen])
        instead = plan.on_path(rows) * float(self.latencies.mean())
        plan.save(self.share * (plan.path_beneath(rows) - instead))
        often = "" if self.share == 1 else f"{self.share:.0%} of "
        plan.notes.append(
            f"{often}{len(rows):,} calls of '{self.selector.text}' take one of the {len(self.latencies):,} times "
            f"in {self.file}, whatever is asked of them"
        )
