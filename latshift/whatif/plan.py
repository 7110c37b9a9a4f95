"""What an edit is, and what it works on: the requests as edited so far, with the draw that random edits are in."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

import numpy as np

from latshift import selectors
from latshift.errors import EditError
from latshift.selectors import Selection, Selector
from latshift.spans import Array, Bool, Float64, Int64
from latshift.whatif.graph import Graph
from latshift.whatif.model import ReplayModel
from latshift.whatif.picking import beneath, outermost
from latshift.whatif.pools import Pooled

SEED = 20261130
"""Fixed, so that the same traces and edits always give the same prediction."""


class Edit(ABC):
    """One change to the requests. Parsed from text by the functions in `latshift.whatif.edits.VERBS`."""

    @property
    def random(self) -> bool:
        """Whether the change differs from draw to draw."""
        return False

    @abstractmethod
    def apply(self, plan: Plan) -> None:
        """Change the plan."""


@dataclass
class Plan:
    """The requests as edited so far.

    Attributes:
        model: The requests as recorded. graph: The graph, with the work as edited so far.
        saved: int64 (r,), ns that plain Amdahl would take off each request: path time times what is saved of it.
        draw, draws: Which draw of how many this is, for random edits. edit: Ordinal of the edit being applied.
        notes: Sentences on what the edits assume or break.
        pools: Pools whose waiting is simulated when all edits are done. load: Factor on the rate of requests.
        slotless: bool (n,) or None, calls that need no slot of a pool any more, such as hits of a cache.
    """

    model: ReplayModel
    graph: Graph
    saved: Int64
    draw: int = 0
    draws: int = 1
    edit: int = 0
    notes: list[str] = field(default_factory=list)
    pools: list[Pooled] = field(default_factory=list)
    load: float = 1.0
    slotless: Bool | None = None

    def select(self, selector: Selector) -> Selection:
        """Match a selector against the replayed requests."""
        selection = selectors.match(selector, self.model.forest, self.model.classified)
        rows = selection.rows & self.model.rows_of_requests
        if not rows.any():
            raise EditError(f"'{selector.text}' matches only spans outside the requests that are replayed")
        return Selection(rows, selection.phase)

    def calls(self, selector: Selector, verb: str) -> Int64:
        """Return the rows of the selected calls, the outer one where selected calls lie inside each other.

        Raises:
            EditError: If the selector means a phase, or nothing that is replayed.
        """
        selection = self.select(selector)
        if selection.phase is not None:
            component = selection.phase.rpartition(".")[0]
            raise EditError(
                f"--{verb} {selector.text}: a phase is no call of its own", f"name the whole call: {component}"
            )
        rows = np.flatnonzero(outermost(self.model.forest, selection.rows) & (self.graph.place >= 0))
        if not len(rows):
            raise EditError(f"--{verb} {selector.text}: the requests wait for none of these calls")
        return rows

    def mask(self, rows: Int64) -> Bool:
        """Return rows as a mask, bool (n,)."""
        chosen = np.zeros(self.model.forest.n, bool)
        chosen[rows] = True
        return chosen

    def per_request(self, rows_ns: Array) -> Int64:
        """Add up a value per span (n,) over the replayed requests (r,)."""
        forest = self.model.forest
        totals = np.zeros(len(forest.root), np.int64)
        np.add.at(totals, forest.request, rows_ns.astype(np.int64))
        return totals[self.model.requests]

    def path_beneath(self, rows: Int64) -> Int64:
        """Return the critical-path time of calls and all beneath them, per request; int64 ns (r,)."""
        return self.per_request(np.where(beneath(self.model.forest, self.mask(rows)), self.model.path.own, 0))

    def on_path(self, rows: Int64) -> Int64:
        """Return how many of the calls lie on the critical path, per request; int64 (r,)."""
        return self.per_request(self.mask(rows) & self.model.path.on_path)

    def save(self, ns: Array) -> None:
        """Note what plain Amdahl would take off each request, (r,) ns; negative where it gets slower."""
        self.saved = self.saved + np.rint(ns).astype(np.int64)

    def begins(self, rows: Int64) -> Int64:
        """Return the rows with which calls begin: the wait for a slot in front of a call, if a pool knows of one."""
        first = np.arange(self.model.forest.n)
        for pool in self.pools:
            first[pool.waits.row] = pool.waits.first
        return first[rows]

    def pooled(self, rows: Int64) -> Bool:
        """Return which of the calls need a slot of a pool, bool like the rows."""
        return np.isin(rows, np.concatenate([np.empty(0, np.int64), *(pool.waits.row for pool in self.pools)]))

    def free(self, rows: Int64) -> None:
        """Note that calls, and all beneath them, need no slot of a pool any more."""
        inside = beneath(self.model.forest, self.mask(rows))
        self.slotless = inside if self.slotless is None else self.slotless | inside

    def random(self, count: int, stream: int = 0) -> Float64:
        """Return one number in [0, 1) for each of `count` calls, the same for the same draw, edit and stream.

        Every draw is a set of independent numbers. From draw to draw they move on by 1/draws, so that over all draws
        each call meets every part of [0, 1) equally often (a Cranley-Patterson rotation): the average over the draws
        is steadier than that of independent ones.

        Args:
            count: Number of calls, in canonical order of the rows.
            stream: Tells apart several numbers that one edit needs for a call.
        """
        source = np.random.Generator(np.random.PCG64([SEED, self.edit, stream]))
        turn = int(source.permutation(self.draws)[self.draw])
        start = source.random(count)
        return np.asarray((start + turn / self.draws) % 1.0)

    def pick(self, values: Int64, count: int, stream: int = 0) -> Int64:
        """Draw one of the values for each of `count` calls, with replacement; int64 (count,)."""
        place = (self.random(count, stream) * len(values)).astype(np.int64)
        return np.sort(values)[np.minimum(place, len(values) - 1)]

    def moments(self) -> Int64:
        """Return when every moment comes with the edits so far, int64 ns after the request's start (nodes,)."""
        graph = self.graph
        return self.model.schedule_of(graph).run(graph.own + graph.beside)

    def durations(self, rows: Int64) -> Int64:
        """Return how long spans take with the edits so far, int64 ns."""
        graph, recorded = self.graph, self.model.graph
        if graph.own is recorded.own and graph.source is recorded.source and graph.beside is recorded.beside:
            return np.asarray(self.model.path.end[rows] - self.model.path.start[rows])
        moment = self.moments()
        return np.asarray(moment[graph.end_of(rows)] - moment[graph.start_of(rows)])
