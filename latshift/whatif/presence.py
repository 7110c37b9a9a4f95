"""Edits that add calls or take them away: insert, remove."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from latshift import selectors
from latshift.errors import EditError
from latshift.selectors import Selector
from latshift.spans import Int32
from latshift.whatif.parsing import parse_duration
from latshift.whatif.picking import beneath
from latshift.whatif.plan import Edit, Plan
from latshift.whatif.rewire import insert_after, insert_before


@dataclass
class Remove(Edit):
    """The selected calls, and all beneath them, do not happen."""

    selector: Selector

    @classmethod
    def parse(cls, text: str) -> Remove:
        """Parse `SEL`."""
        return cls(selectors.parse(text.strip()))

    def apply(self, plan: Plan) -> None:
        """Take the work of the selected spans and of all beneath them away."""
        selection = plan.select(self.selector)
        if selection.phase is not None:
            raise EditError(f"--remove {self.selector.text}: a phase cannot be removed", "use --speedup with inf")
        model, graph = plan.model, plan.graph
        if selection.rows[model.forest.root].any():
            raise EditError(
                f"--remove {self.selector.text}: this selects the requests themselves",
                "select calls inside a request",
            )
        gone = beneath(model.forest, selection.rows)
        taken = gone[graph.worker]
        plan.graph = replace(graph, own=np.where(taken, 0, graph.own), beside=np.where(taken, 0, graph.beside))
        plan.save(plan.per_request(np.where(gone, model.path.own, 0)))


@dataclass
class Insert(Edit):
    """Something new happens before or after every selected call, and takes a fixed time."""

    name: str
    duration: int
    place: Literal["before", "after"]
    selector: Selector

    @classmethod
    def parse(cls, text: str) -> Insert:
        """Parse `NAME=60ms,before=SEL` or `NAME=60ms,after=SEL`."""
        where = f"--insert {text}"
        new, comma, anchor = text.partition(",")
        name, equals, duration = (piece.strip() for piece in new.partition("="))
        place, follows, target = (piece.strip() for piece in anchor.partition("="))
        if not (comma and equals and follows and name and target):
            raise EditError(
                f"{where}: expected NAME=DURATION,before=SELECTOR or after=SELECTOR",
                "for example --insert reranker=60ms,before=llm",
            )
        for known in ("before", "after"):
            if place == known:
                return cls(name, parse_duration(duration, where), known, selectors.parse(target))
        raise EditError(f"{where}: '{place}' is no place", "write before=SELECTOR or after=SELECTOR")

    def apply(self, plan: Plan) -> None:
        """Put a moment before or after each of the calls."""
        rows = plan.calls(self.selector, "insert")
        caller: Int32 = np.where(plan.model.forest.parent[rows] >= 0, plan.model.forest.parent[rows], rows)
        put = insert_before if self.place == "before" else insert_after
        # A call that has to get a slot begins with its wait in front.
        at = plan.begins(rows) if self.place == "before" else rows
        plan.graph = put(plan.graph, at, self.duration, caller)
        plan.save(-plan.on_path(rows) * self.duration)
        plan.notes.append(
            f"'{self.name}' is put {self.place} {len(rows):,} calls; in the shares it is their callers' own time"
        )
