"""The language of edits: what a what-if changes, parsed and applied in the order given.

An edit is a function from `Plan` to `Plan`'s new state; all are listed in `VERBS`. To add one, write its parser and its
class with `apply`, and add a line there.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from latshift import selectors
from latshift.errors import EditError
from latshift.selectors import Selection, Selector
from latshift.spans import Array, Bool, Forest, Int64
from latshift.whatif.graph import Graph, move_beside
from latshift.whatif.model import ReplayModel

_FACTOR = re.compile(r"^(inf|\d+(?:\.\d+)?)x?$")
_DURATION = re.compile(r"^(\d+(?:\.\d+)?)\s*(ns|us|µs|ms|s|min)$")
_UNIT_NS = {"ns": 1, "us": 1_000, "µs": 1_000, "ms": 1_000_000, "s": 1_000_000_000, "min": 60_000_000_000}


@dataclass
class Plan:
    """The requests as edited so far.

    Attributes:
        model: The requests as recorded. graph: The graph, with the work as edited so far.
        saved: int64 (r,), ns that plain Amdahl would take off each request: path time times what is saved of it.
        notes: Sentences on what the edits assume or break.
    """

    model: ReplayModel
    graph: Graph
    saved: Int64
    notes: list[str] = field(default_factory=list)

    def select(self, selector: Selector) -> Selection:
        """Match a selector against the replayed requests."""
        selection = selectors.match(selector, self.model.forest, self.model.classified)
        rows = selection.rows & self.model.rows_of_requests
        if not rows.any():
            raise EditError(f"'{selector.text}' matches only spans outside the requests that are replayed")
        return Selection(rows, selection.phase)

    def per_request(self, rows_ns: Array) -> Int64:
        """Add up a value per span (n,) over the replayed requests (r,)."""
        forest = self.model.forest
        totals = np.zeros(len(forest.root), np.int64)
        np.add.at(totals, forest.request, rows_ns.astype(np.int64))
        return totals[self.model.requests]


class Edit(Protocol):
    """One change to the requests."""

    def apply(self, plan: Plan) -> None:
        """Change the plan."""


def parse_duration(text: str, where: str) -> int:
    """Return a duration such as `100ms` in ns.

    Raises:
        EditError: If it is not a number with a unit.
    """
    match = _DURATION.match(text.strip())
    if not match:
        raise EditError(f"{where}: '{text}' is not a duration", "write a number with its unit, such as 100ms or 1.5s")
    return round(float(match[1]) * _UNIT_NS[match[2]])


def _split(text: str, verb: str, example: str) -> tuple[Selector, str]:
    """Split `SEL=VALUE` at its last equals sign."""
    target, equals, value = text.rpartition("=")
    if not equals or not target.strip() or not value.strip():
        raise EditError(f"--{verb} {text}: expected SELECTOR=VALUE", f"for example --{verb} {example}")
    return selectors.parse(target.strip()), value.strip()


@dataclass
class Speedup:
    """Own work of the selected spans takes 1/factor of its time."""

    selector: Selector
    factor: float

    @classmethod
    def parse(cls, text: str) -> Speedup:
        """Parse `SEL=2x`."""
        selector, value = _split(text, "speedup", "llm=2x")
        match = _FACTOR.match(value.lower())
        if not match:
            raise EditError(f"--speedup {text}: '{value}' is not a factor", "write 2x, 0.5x (slower) or inf")
        factor = float(match[1])
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
        graph = plan.graph
        part = selected_work(plan, selection)
        graph.own = graph.own - part + np.rint(part * share).astype(np.int64)
        plan.saved = plan.saved + np.rint(path_time(plan, selection) * (1 - share)).astype(np.int64)


@dataclass
class AddLatency:
    """Every selected call takes longer by a fixed time."""

    selector: Selector
    delay: int

    @classmethod
    def parse(cls, text: str) -> AddLatency:
        """Parse `SEL=100ms`."""
        selector, value = _split(text, "add-latency", "vector-db=20ms")
        return cls(selector, parse_duration(value, f"--add-latency {text}"))

    def apply(self, plan: Plan) -> None:
        """Add the delay to the end of every call that is selected and replayed."""
        selection = plan.select(self.selector)
        model, graph = plan.model, plan.graph
        calls = top_calls(model.forest, selection.rows) & (graph.place >= 0)
        rows = np.flatnonzero(calls)
        graph.own = graph.own.copy()
        graph.own[graph.end_of(rows)] += self.delay
        plan.saved = plan.saved - plan.per_request(calls & model.path.on_path) * self.delay


@dataclass
class Remove:
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
        graph.own = np.where(taken, 0, graph.own)
        graph.beside = np.where(taken, 0, graph.beside)
        plan.saved = plan.saved + plan.per_request(np.where(gone, model.path.own, 0))


@dataclass
class Parallelize:
    """The later of the selected calls start together with the earliest."""

    members: tuple[Selector, ...]
    text: str

    @classmethod
    def parse(cls, text: str) -> Parallelize:
        """Parse `A,B[,C]`, also `A‖B` and `A||B`."""
        names = [name.strip() for name in re.split(r"‖|\|\||,", text)]
        if len(names) < 2 or not all(names):
            raise EditError(
                f"--parallelize {text}: expected two or more selectors", "for example --parallelize auth,retrieval"
            )
        if len(set(names)) != len(names):
            raise EditError(f"--parallelize {text}: a call cannot run beside itself", "name two different selectors")
        return cls(tuple(selectors.parse(name) for name in names), text)

    def apply(self, plan: Plan) -> None:
        """Pair the calls in order of start and move the later ones to the earliest."""
        from latshift.whatif.broken import describe_broken

        model = plan.model
        calls = []
        times = []
        for selector in self.members:
            selection = plan.select(selector)
            if selection.phase is not None:
                raise EditError(f"--parallelize {self.text}: '{selector.text}' is a phase, not a call")
            calls.append(top_calls(model.forest, selection.rows) & (plan.graph.place >= 0))
            times.append(path_time(plan, selection))
        anchors, moved = _pairs(model, calls, self.text)
        plan.notes.extend(describe_broken(model, anchors, moved))
        # Plain Amdahl on the shares would hide all but the longest of them.
        plan.saved = plan.saved + np.sum(times, axis=0) - np.max(times, axis=0)
        plan.graph = move_beside(plan.graph, anchors, moved)


def _pairs(model: ReplayModel, calls: Sequence[Bool], text: str) -> tuple[Int64, Int64]:
    """Pair the calls of one request by their order of start: first with first, second with second.

    Returns:
        Rows of the earliest call of each pair, and rows of the later ones.
    """
    start = model.path.start
    request = model.forest.request
    chosen = []
    for mask in calls:
        rows = np.flatnonzero(mask)
        rows = rows[np.lexsort((rows, start[rows], request[rows]))]
        begins = np.ones(len(rows), bool)
        begins[1:] = request[rows[1:]] != request[rows[:-1]]
        heads = np.flatnonzero(begins)
        number = np.arange(len(rows)) - np.repeat(heads, np.diff(np.append(heads, len(rows))))
        chosen.append({(int(request[row]), int(turn)): int(row) for row, turn in zip(rows, number, strict=True)})
    anchors, moved = [], []
    for key in sorted(set().union(*chosen)):
        rows_here = sorted({c[key] for c in chosen if key in c}, key=lambda row: (int(start[row]), row))
        anchors.extend([rows_here[0]] * (len(rows_here) - 1))
        moved.extend(rows_here[1:])
    if not moved:
        raise EditError(
            f"--parallelize {text}: no request has calls of both", "see `latshift components` for what there is"
        )
    first, later = np.asarray(anchors, np.int64), np.asarray(moved, np.int64)
    if np.any(_is_ancestor(model.forest, first, later)) or np.any(_is_ancestor(model.forest, later, first)):
        raise EditError(
            f"--parallelize {text}: one of the calls contains the other", "a call cannot run beside its own caller"
        )
    return first, later


def _is_ancestor(forest: Forest, above: Int64, below: Int64) -> Bool:
    """Return where the first row is an ancestor of the second, pair by pair."""
    current = below.copy()
    found = np.zeros(len(above), bool)
    while True:
        alive = current >= 0
        if not alive.any():
            return found
        current = np.where(alive, forest.parent[current], -1)
        found |= current == above


def beneath(forest: Forest, rows: Bool) -> Bool:
    """Return the rows and all their descendants."""
    marked = rows.copy()
    jump = np.where(forest.parent >= 0, forest.parent, np.arange(forest.n))
    while True:
        wider = marked | marked[jump]
        further = jump[jump]
        if np.array_equal(further, jump) and np.array_equal(wider, marked):
            return marked
        marked, jump = wider, further


def top_calls(forest: Forest, rows: Bool) -> Bool:
    """Return those rows whose parent is not selected: one for each call, however many spans describe it."""
    parent = forest.parent
    return rows & ~(rows[parent] & (parent >= 0))


def selected_work(plan: Plan, selection: Selection) -> Int64:
    """Return, per moment, how much of its own work is selected; int64 ns (nodes,)."""
    graph = plan.graph
    chosen = selection.rows[graph.worker]
    if selection.phase is None:
        return np.where(chosen, graph.own, 0)
    length = graph.own + graph.beside
    inside = plan.model.classified.phases.overlap(graph.worker, graph.began, graph.began + length, selection.phase)
    fraction = np.divide(inside, length, out=np.zeros(len(length)), where=length > 0)
    return np.where(chosen, np.rint(graph.own * fraction).astype(np.int64), 0)


def path_time(plan: Plan, selection: Selection) -> Int64:
    """Return the critical-path time of what is selected, per request; int64 ns (r,)."""
    model = plan.model
    if selection.phase is None:
        return plan.per_request(np.where(selection.rows, model.path.own, 0))
    row, start, end = model.path.segments()
    inside = np.where(selection.rows[row], model.classified.phases.overlap(row, start, end, selection.phase), 0)
    per_row = np.zeros(model.forest.n, np.int64)
    np.add.at(per_row, row, inside)
    return plan.per_request(per_row)


VERBS: dict[str, Callable[[str], Edit]] = {
    "speedup": Speedup.parse,
    "add-latency": AddLatency.parse,
    "parallelize": Parallelize.parse,
    "remove": Remove.parse,
}
"""Every edit: the option's name, and what parses its value."""
