"""Own work changed by a share or a few ms, for the questions that need many replays: ranking and curves."""

from __future__ import annotations

import numpy as np

from latshift import selectors
from latshift.components.inherit import nearest
from latshift.components.tables import QUEUE
from latshift.errors import EditError
from latshift.selectors import Selection
from latshift.spans import Bool, Int64
from latshift.traceset import TraceSet
from latshift.whatif.model import ReplayModel
from latshift.whatif.picking import selected_work

FROZEN = "queue waits are kept as recorded, whatever gets faster"


def waits_in_queues(traces: TraceSet) -> bool:
    """Return whether requests wait in queues on their critical paths."""
    attribution = traces.attribution
    waiting = [at for at, part in enumerate(attribution.parts) if part.klass == QUEUE]
    return bool(attribution.time[traces.model.requests][:, waiting].any())


def select(model: ReplayModel, text: str) -> Selection:
    """Match a selector against the replayed requests.

    Raises:
        EditError: If it is no selector, or matches nothing that is replayed.
    """
    selection = selectors.match(selectors.parse(text), model.forest, model.classified)
    rows = selection.rows & model.rows_of_requests
    if not rows.any():
        raise EditError(f"'{text}' matches only spans outside the requests that are replayed", "see --root and --since")
    return Selection(rows, selection.phase)


def rows_of(model: ReplayModel, component: str) -> Bool:
    """Return the replayed rows of exactly one component, bool (n,)."""
    column = model.classified.component
    same = column.lookup([word == component for word in column.words], False).astype(bool)
    return np.asarray(same & model.rows_of_requests)


def work_of(model: ReplayModel, selection: Selection) -> Int64:
    """Return how much of the own work before each moment is selected.

    Args:
        model: The requests as recorded.
        selection: Spans, and the phase that is meant of them.

    Returns:
        int64 (nodes,), ns.
    """
    return selected_work(model.graph, model.classified.phases, selection)


def scaled(work: Int64, share: float) -> Int64:
    """Return the work when it takes `share` of its time, int64 ns."""
    return np.asarray(np.rint(work * share).astype(np.int64))


def shortened(model: ReplayModel, work: Int64, saving: int) -> Int64:
    """Return the work when every call does so much less of it, or none if it did less than that.

    Args:
        model: The requests as recorded.
        work: int64 (nodes,), ns; see `work_of`.
        saving: ns taken off each call, in proportion to where its work lies.
    """
    call = nearest(model.forest.parent, model.classified.call)[model.graph.worker]
    total = np.zeros(model.forest.n, np.int64)
    np.add.at(total, call, work)
    kept = np.divide(np.maximum(total - saving, 0), total, out=np.zeros(len(total)), where=total > 0)
    return np.asarray(np.rint(work * kept[call]).astype(np.int64))


def replay(model: ReplayModel, work: Int64, after: Int64) -> Int64:
    """Return when each moment comes if some of the own work changes; int64 ns (nodes,).

    Args:
        model: The requests as recorded.
        work: int64 (nodes,), ns of own work that changes.
        after: int64 (nodes,), ns, what becomes of it.
    """
    graph = model.graph
    return model.schedule.run(graph.own - work + after + graph.beside)
