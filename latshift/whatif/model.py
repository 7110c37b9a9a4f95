"""A set of requests made ready for replay: the graph, its schedule, and how to read the outcome."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from latshift.components import Classified
from latshift.config import Dependency
from latshift.critical_path import CriticalPath
from latshift.errors import EditError, InternalError
from latshift.spans import Array, Bool, Forest, Int32, Int64, SpanTable
from latshift.whatif import dependencies as deps
from latshift.whatif import graph as graphs
from latshift.whatif.declared import declare
from latshift.whatif.replay import Schedule
from latshift.whatif.rewire import split_phases
from latshift.whatif.siblings import Siblings, lay_out


@dataclass
class ReplayModel:
    """Requests ready for replay.

    Attributes:
        forest, path, classified: What the model was built from.
        requests: int64 (r,), the requests replayed, as indices into the forest's requests.
        siblings: The children of every span side by side. dependencies: Who waits for whom among them.
        graph: The moments of the requests as they were.
        notes: Sentences on declared dependencies that have no effect.
    """

    forest: Forest
    path: CriticalPath
    classified: Classified
    requests: Int64
    siblings: Siblings
    dependencies: deps.Dependencies
    graph: graphs.Graph
    notes: list[str] = field(default_factory=list)
    _changed: tuple[Int64, Int64, Schedule] | None = field(default=None, init=False, repr=False)

    @cached_property
    def schedule(self) -> Schedule:
        """The order in which the moments of the unchanged graph are computed."""
        return Schedule(self.graph.nodes, self.graph.source, self.graph.target)

    def schedule_of(self, graph: graphs.Graph) -> Schedule:
        """Return the order for a changed graph; kept from one call to the next while the waits stay the same.

        Raises:
            EditError: If calls wait for each other in a circle.
        """
        if graph.source is self.graph.source and graph.target is self.graph.target:
            return self.schedule
        known = self._changed
        if known and all(np.array_equal(*pair) for pair in zip(known[:2], (graph.source, graph.target), strict=True)):
            return known[2]
        try:
            schedule = Schedule(graph.nodes, graph.source, graph.target)
        except ValueError as error:
            raise EditError(
                "the edits make calls wait for each other in a circle", "parallelize or prefetch fewer calls at once"
            ) from error
        self._changed = (graph.source, graph.target, schedule)
        return schedule

    @cached_property
    def root_ends(self) -> Int64:
        """The moments at which the requests end, int64 (r,)."""
        return self.graph.end_of(self.forest.root[self.requests])

    @cached_property
    def duration(self) -> Int64:
        """The requests' durations as recorded, int64 ns (r,)."""
        root = self.forest.root[self.requests]
        return np.asarray(self.path.end[root] - self.path.start[root])

    def optimistic(self) -> ReplayModel:
        """Return the model without the dependencies that rest on few observations."""
        rows = graphs.replayable(self.path, self.rows_of_requests)
        graph = graphs.build(self.forest, self.path, rows, self.siblings, self.dependencies, assumed=False)
        return replace(self, graph=split_phases(graph, self.classified.phases))

    @cached_property
    def rows_of_requests(self) -> Bool:
        """The rows that belong to the replayed requests, bool (n,)."""
        wanted = np.zeros(len(self.forest.root), bool)
        wanted[self.requests] = True
        return wanted[self.forest.request]

    def without(self, rows: Bool, share: float) -> Int64:
        """Return the durations if the own work of some rows took `share` of its time; int64 ns (r,).

        Args:
            rows: bool (n,).
            share: 0 for an infinite speed-up.
        """
        graph = self.graph
        chosen = rows[graph.worker]
        own = np.where(chosen, np.rint(graph.own * share).astype(np.int64), graph.own)
        return np.asarray(self.schedule.run(own + graph.beside)[self.root_ends])


def build_model(
    forest: Forest,
    path: CriticalPath,
    classified: Classified,
    requests: Int64,
    declared: Sequence[Dependency] = (),
) -> ReplayModel:
    """Make requests ready for replay.

    Args:
        forest: The spans, their critical path and their components.
        path: Likewise.
        classified: Likewise.
        requests: int64 (r,), the requests to replay; they are also the evidence for the dependencies.
        declared: Dependencies stated by the configuration.

    Raises:
        InternalError: If the unchanged replay does not give the recorded durations.
    """
    wanted = np.zeros(len(forest.root), bool)
    wanted[requests] = True
    rows = graphs.replayable(path, wanted[forest.request])
    siblings = lay_out(forest, path, rows)
    stated, notes = declare(forest, classified, siblings, declared)
    dependencies = deps.infer(siblings, stated)
    graph = split_phases(graphs.build(forest, path, rows, siblings, dependencies), classified.phases)
    model = ReplayModel(forest, path, classified, requests, siblings, dependencies, graph, notes)
    replayed = model.schedule.run(model.graph.own + model.graph.beside)[model.root_ends]
    wrong = np.flatnonzero(replayed != model.duration)
    if len(wrong):
        row = int(forest.root[requests[wrong[0]]])
        trace = forest.spans.text("trace").texts(np.asarray([row]))[0]
        raise InternalError(
            f"the unchanged replay of trace {trace} does not give its recorded duration",
            "please report this with the trace",
        )
    return model


def moved_forest(model: ReplayModel, graph: graphs.Graph, moment: Int64) -> Forest:
    """Return the forest with every replayed span at its predicted time (others shrink to nothing at their root).

    Args:
        model: The recorded requests.
        graph: The changed graph.
        moment: int64 (nodes,), its replay.
    """
    forest = model.forest
    table = forest.spans
    root_start = model.path.start[forest.root][forest.request]
    start, end = root_start.copy(), root_start.copy()
    rows: Int32 = graph.rows
    at = np.arange(len(rows))
    start[rows] = root_start[rows] + moment[2 * at]
    end[rows] = root_start[rows] + moment[2 * at + 1]
    columns: dict[str, Array] = {"start": start, "end": end}
    return replace(forest, spans=SpanTable(table.n, {**table.columns, **columns}, table.odd_ids))
