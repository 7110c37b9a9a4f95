"""Edits that stretch or shrink what is there: speedup, add-latency, spec-decode."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from latshift.components.tables import PHASES
from latshift.errors import EditError
from latshift.selectors import Selection, Selector
from latshift.spans import Array, Int64
from latshift.whatif.parsing import parse_duration, parse_factor, parse_numbers, split_value
from latshift.whatif.picking import path_time, selected_work, top_calls
from latshift.whatif.plan import Edit, Plan

DECODE, STREAM = PHASES[2], PHASES[5]
"""What decoding is called where the engine tells, and where only the first token's time is known."""


def scale(plan: Plan, part: Int64, share: Array | float) -> None:
    """Let a part of the own work (nodes,) ns take `share` of its time."""
    graph = plan.graph
    plan.graph = replace(graph, own=graph.own - part + np.rint(part * share).astype(np.int64))


@dataclass
class Speedup(Edit):
    """Own work of the selected spans takes 1/factor of its time."""

    selector: Selector
    factor: float

    @classmethod
    def parse(cls, text: str) -> Speedup:
        """Parse `SEL=2x`."""
        selector, value = split_value(text, "speedup", "llm=2x")
        factor = parse_factor(value, f"--speedup {text}")
        if factor <= 0:
            raise EditError(
                f"--speedup {text}: a factor of 0 would make it endless",
                "use 0.5x to halve the speed, inf to remove the work",
            )
        return cls(selector, factor)

    def apply(self, plan: Plan) -> None:
        """Scale the own work of what is selected."""
        selection = plan.select(self.selector)
        share = 0.0 if math.isinf(self.factor) else 1 / self.factor
        scale(plan, selected_work(plan.graph, plan.model.classified.phases, selection), share)
        plan.save(path_time(plan, selection) * (1 - share))


@dataclass
class AddLatency(Edit):
    """Every selected call takes longer by a fixed time."""

    selector: Selector
    delay: int

    @classmethod
    def parse(cls, text: str) -> AddLatency:
        """Parse `SEL=100ms`."""
        selector, value = split_value(text, "add-latency", "vector-db=20ms")
        return cls(selector, parse_duration(value, f"--add-latency {text}"))

    def apply(self, plan: Plan) -> None:
        """Add the delay to the end of every call that is selected and replayed."""
        selection = plan.select(self.selector)
        model, graph = plan.model, plan.graph
        calls = top_calls(model.forest, selection.rows) & (graph.place >= 0)
        own = graph.own.copy()
        own[graph.end_of(np.flatnonzero(calls))] += self.delay
        plan.graph = replace(graph, own=own)
        plan.save(-plan.per_request(calls & model.path.on_path) * self.delay)


def speculative_speedup(alpha: float, gamma: float, cost: float, verify: float = 1.0) -> float:
    """Return how much faster decoding gets with a draft model (Leviathan et al., ICML 2023, theorem 3.8).

    Args:
        alpha: Share of draft tokens that are accepted, 0 to 1.
        gamma: Draft tokens before each check.
        cost: Time of one draft token, in steps of the large model.
        verify: Time of one check, likewise; the paper has 1, large batches cost more (whatif.md §2.10).
    """
    tokens = gamma + 1 if alpha == 1 else (1 - alpha ** (gamma + 1)) / (1 - alpha)
    return tokens / (gamma * cost + verify)


@dataclass
class SpecDecode(Edit):
    """A small model drafts tokens and the large one checks them: decoding gets faster, or slower."""

    selector: Selector
    speedup: float
    alpha: float

    @classmethod
    def parse(cls, text: str) -> SpecDecode:
        """Parse `SEL=alpha:0.8,gamma:4,cost:0.1[,verify:1.25]`."""
        selector, value = split_value(text, "spec-decode", "llm=alpha:0.8,gamma:4,cost:0.1")
        where = f"--spec-decode {text}"
        given = parse_numbers(value, where, {"alpha": None, "gamma": None, "cost": None, "verify": 1.0})
        if not 0 <= given["alpha"] <= 1:
            raise EditError(f"{where}: alpha is the share of draft tokens accepted", "it lies between 0 and 1")
        if not (given["gamma"] >= 1 and given["gamma"].is_integer()):
            raise EditError(f"{where}: gamma is the number of draft tokens before each check", "write 1, 2, 3, …")
        if not 0 <= given["cost"] < math.inf:
            raise EditError(f"{where}: cost is the time of a draft token in steps of the model", "write 0.1, say")
        if not 1 <= given["verify"] < math.inf:
            raise EditError(f"{where}: verify is the time of a check in steps of the model", "it is 1 or more")
        return cls(selector, speculative_speedup(**given), given["alpha"])

    def apply(self, plan: Plan) -> None:
        """Scale the decode phase of what is selected."""
        selection = plan.select(self.selector)
        phases, graph = plan.model.classified.phases, plan.graph
        part = [name.rpartition(".")[2] for name in phases.names]
        allowed = range(len(part)) if selection.phase is None else phases.covers(selection.phase)
        wanted = [index for index in allowed if part[index] in (DECODE, STREAM)]
        decoding = selection.rows[graph.worker] & np.isin(graph.phase, wanted)
        work = np.where(decoding, graph.own, 0)
        if not work.any():
            raise EditError(
                f"--spec-decode {self.selector.text}: the traces do not show how long decoding takes",
                "record the engine's decode time or the time to the first token of each call",
            )
        scale(plan, work, 1 / self.speedup)
        for name in (phases.names[index] for index in wanted):
            plan.save(path_time(plan, Selection(selection.rows, name)) * (1 - 1 / self.speedup))
        text = self.selector.text
        if self.speedup < 1:
            plan.notes.append(
                f"speculative decoding hurts here: at {self.alpha:.0%} accepted tokens '{text}' decodes "
                f"{self.speedup:.2f} times as fast"
            )
        else:
            plan.notes.append(f"speculative decoding makes decoding of '{text}' {self.speedup:.2f} times as fast")
        if np.isin(graph.phase[decoding], [index for index in wanted if part[index] == STREAM]).any():
            plan.notes.append(f"decoding of '{text}' is taken to be all that follows the first token")
