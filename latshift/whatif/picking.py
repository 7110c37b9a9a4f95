"""From selected spans to calls: which of them are tops, what lies beneath, how much of their time is meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from latshift.components.inherit import nearest
from latshift.selectors import Selection
from latshift.spans import Bool, Forest, Int64

if TYPE_CHECKING:
    from latshift.components import Phases
    from latshift.whatif.graph import Graph
    from latshift.whatif.plan import Plan


def beneath(forest: Forest, rows: Bool) -> Bool:
    """Return the rows and all their descendants."""
    return np.asarray(nearest(forest.parent, rows) >= 0)


def outermost(forest: Forest, rows: Bool) -> Bool:
    """Return those rows that have no selected ancestor, however far above."""
    parent = forest.parent
    inside = beneath(forest, rows)
    return np.asarray(rows & ~(inside[parent] & (parent >= 0)))


def top_calls(forest: Forest, rows: Bool) -> Bool:
    """Return those rows whose parent is not selected: one for each call, however many spans describe it."""
    parent = forest.parent
    return np.asarray(rows & ~(rows[parent] & (parent >= 0)))


def is_ancestor(forest: Forest, above: Int64, below: Int64) -> Bool:
    """Return where the first row is an ancestor of the second, pair by pair."""
    current = below.copy()
    found = np.zeros(len(above), bool)
    while True:
        alive = current >= 0
        if not alive.any():
            return found
        current = np.where(alive, forest.parent[current], -1)
        found |= current == above


def selected_work(graph: Graph, phases: Phases, selection: Selection) -> Int64:
    """Return, per moment, how much of its own work is selected; int64 ns (nodes,).

    Args:
        graph: The moments, cut at the phases of model calls.
        phases: Where model calls are cut.
        selection: Spans, and the phase that is meant of them.
    """
    chosen = selection.rows[graph.worker]
    if selection.phase is not None:
        chosen &= np.isin(graph.phase, phases.covers(selection.phase))
    return np.where(chosen, graph.own, 0)


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
