"""`rank`: what to improve first. Every component and phase is replayed faster, in every request."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

import numpy as np

from latshift.errors import EditError
from latshift.measure import NAMES, gain, gain_intervals, points_of
from latshift.results import Candidate, Doubt, Points, Ranking, Spread
from latshift.selectors import Selection
from latshift.shares import ShareTable, describe, merge_parts, share_table
from latshift.shares.latency import NS_PER_MS
from latshift.skipped import input_doubts
from latshift.spans import Int64
from latshift.traceset import TraceSet
from latshift.whatif import trials
from latshift.whatif.model import ReplayModel
from latshift.whatif.pairs import best_pairs

SAVING = 10_000_000
"""ns taken off each call for `saved_per_10ms`."""

BEST = 8
"""Candidates whose gain gets an interval."""

PERCENTILES = NAMES[1:]


def rank(traces: TraceSet, by: str = "p95") -> Ranking:
    """Rank all components and phases, and pairs of components, by what improving them gains.

    Args:
        traces: The requests.
        by: The percentile whose gain decides: "p50", "p95" or "p99".

    Raises:
        EditError: If `by` is none of these.
        InputError: If no request is left to look at.
    """
    if by not in PERCENTILES:
        raise EditError(f"--by {by}: unknown", f"use {', '.join(PERCENTILES)}")
    model = traces.model
    candidates = [
        _candidate(traces, name, kind, share) for name, kind, share in _names_and_shares(traces) if share.mean > 0
    ]
    candidates.sort(key=lambda item: _order(item, by))
    pairs, left = best_pairs(traces, by)
    return Ranking(
        by=by,
        baseline=describe(model.duration),
        candidates=(*(_with_interval(traces, item, by) for item in candidates[:BEST]), *candidates[BEST:]),
        pairs=pairs,
        pairs_left=left,
        doubts=(*share_table(traces.attribution.time[model.requests], model.duration).doubts, *_doubts(traces)),
    )


def _order(item: Candidate, by: str) -> tuple[float, float, str]:
    return -getattr(item.gain_2x, by), -getattr(item.gain_inf, by), item.name


def _names_and_shares(traces: TraceSet) -> Iterator[tuple[str, Literal["component", "phase"], Spread]]:
    """Yield every component and every phase with its share of the latency."""
    model, parts = traces.model, traces.attribution.parts
    time = traces.attribution.time[model.requests]
    totals, components = merge_parts(time, [part.component for part in parts])
    table: ShareTable = share_table(totals, model.duration)
    for at, component in enumerate(components):
        yield str(component), "component", table.share_spread(at)
    divided = [at for at, part in enumerate(parts) if part.phase is not None]
    table = share_table(time[:, divided], model.duration)
    for at, index in enumerate(divided):
        yield parts[index].name, "phase", table.share_spread(at)


def _candidate(traces: TraceSet, name: str, kind: Literal["component", "phase"], share: Spread) -> Candidate:
    model, classified = traces.model, traces.classified
    selection, component = _selection(traces, name, kind)
    work = trials.work_of(model, selection)
    return Candidate(
        name=name,
        kind=kind,
        component=component,
        klass=classified.class_of(component, selection.phase),
        requests=len(np.unique(traces.forest.request[selection.rows])),
        calls=int((selection.rows & classified.call).sum()),
        share=share,
        gain_2x=gain(model.duration, _durations(model, work, trials.scaled(work, 0.5))),
        gain_inf=gain(model.duration, _durations(model, work, np.zeros_like(work))),
        saved_per_10ms=_saved(model.duration, _durations(model, work, trials.shortened(model, work, SAVING))),
    )


def _selection(traces: TraceSet, name: str, kind: str) -> tuple[Selection, str]:
    """Return what a component or phase means, and the component's name."""
    if kind == "component":
        return Selection(trials.rows_of(traces.model, name)), name
    component = name.rpartition(".")[0]
    rows = trials.rows_of(traces.model, component) & traces.classified.phases.has(name)
    return Selection(rows, name), component


def _with_interval(traces: TraceSet, item: Candidate, by: str) -> Candidate:
    """Return the candidate with the interval of its gain for twice the speed."""
    model = traces.model
    work = trials.work_of(model, _selection(traces, item.name, item.kind)[0])
    ends = gain_intervals(model.duration, _durations(model, work, trials.scaled(work, 0.5)))
    return replace(item, interval_2x={by: ends[by]} if by in ends else {})


def _durations(model: ReplayModel, work: Int64, after: Int64) -> Int64:
    return np.asarray(trials.replay(model, work, after)[model.root_ends])


def _saved(before: Int64, after: Int64) -> Points:
    """Return what is saved at p50, p95 and p99, in ms."""
    return Points(*((points_of(before) - points_of(after))[1:] / NS_PER_MS).tolist())


def _doubts(traces: TraceSet) -> list[Doubt]:
    doubts = [*input_doubts(traces.input.skipped)]
    if traces.only_incomplete:
        doubts.append(Doubt("only-incomplete", "every request lost its root; the parts that are there are replayed"))
    if trials.waits_in_queues(traces):
        doubts.append(Doubt("frozen-queues", trials.FROZEN, "latshift whatif --pool simulates them anew"))
    return doubts
