"""`whatif`: what the edits would do to the latency, by replay of every request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from latshift.critical_path import find
from latshift.errors import EditError
from latshift.measure import gain, gain_intervals
from latshift.results import Bottleneck, Doubt, Forecast, Latency, ShareShift, Spread
from latshift.shares import ShareTable, describe, merge_parts, share_table
from latshift.spans import Forest, Int64
from latshift.traceset import TraceSet
from latshift.whatif.edits import VERBS, Edit, Plan
from latshift.whatif.model import ReplayModel, moved_forest
from latshift.whatif.replay import Schedule


def forecast(traces: TraceSet, edits: Sequence[tuple[str, str]]) -> Forecast:
    """Predict what edits would do, and say how sure that is.

    Args:
        traces: The requests.
        edits: Verb and value in the order to apply them, such as ("speedup", "llm=2x").

    Raises:
        EditError: If an edit cannot be parsed, makes no sense, or selects nothing.
        InputError: If no request is left to replay.
    """
    if not edits:
        raise EditError("no edit given", "for example --speedup llm=2x; latshift whatif --help lists them all")
    parsed = [_parse(verb, text) for verb, text in edits]
    model = traces.model
    plan, moments = _replay(model, parsed)
    predicted = moments[plan.graph.end_of(model.forest.root[model.requests])]
    duration = model.duration
    before, after = describe(duration), describe(predicted)
    names, shares_before, shares_after = _shares(traces, plan, moments, predicted)
    optimistic, pessimistic, assumed = _bounds(model, parsed, predicted, after)
    return Forecast(
        edits=tuple(f"--{verb} {text}" for verb, text in edits),
        baseline=before,
        predicted=after,
        gain=gain(duration, predicted),
        amdahl=_amdahl(duration, plan.saved),
        bottleneck=Bottleneck(_largest(names, shares_before), _largest(names, shares_after)),
        requests_changed=int(np.sum(predicted != duration)),
        assumptions=(*plan.notes, *assumed),
        components=_shifts(names, shares_before, shares_after),
        optimistic=optimistic,
        pessimistic=pessimistic,
        gain_interval=gain_intervals(duration, predicted),
        doubts=(*shares_before.doubts, *_doubts(traces)),
    )


def _parse(verb: str, text: str) -> Edit:
    try:
        return VERBS[verb](text)
    except KeyError:
        raise EditError(f"there is no edit '{verb}'", f"edits are {', '.join(VERBS)}") from None


def _replay(model: ReplayModel, edits: Sequence[Edit]) -> tuple[Plan, Int64]:
    """Apply the edits in order and replay the result."""
    plan = Plan(model, replace(model.graph), np.zeros(len(model.requests), np.int64))
    for edit in edits:
        edit.apply(plan)
    graph = plan.graph
    same = graph.source is model.graph.source
    try:
        schedule = model.schedule if same else Schedule(graph.nodes, graph.source, graph.target)
    except ValueError as error:
        raise EditError(
            "the edits make calls wait for each other in a circle", "parallelize fewer calls at once"
        ) from error
    return plan, schedule.run(graph.own + graph.beside)


def _bounds(
    model: ReplayModel, edits: Sequence[Edit], predicted: Int64, after: Latency
) -> tuple[Latency | None, Latency | None, list[str]]:
    """Return the replay without and with assumed dependencies where they differ, and a sentence on them."""
    assumed = int(model.dependencies.assumed.sum())
    if not assumed:
        return None, None, []
    free = model.optimistic()
    plan, moments = _replay(free, edits)
    loose = moments[plan.graph.end_of(free.forest.root[free.requests])]
    if np.array_equal(loose, predicted):
        return None, None, []
    sentence = (
        f"{assumed:,} of {len(model.dependencies.source):,} dependencies are assumed from fewer than 10 requests; "
        "without them the prediction differs (see the range)"
    )
    return describe(loose, intervals=False), replace(after, interval={}), [sentence]


def _shares(traces: TraceSet, plan: Plan, moments: Int64, predicted: Int64) -> tuple[list[str], ShareTable, ShareTable]:
    """Return the components and their shares before and after."""
    model = plan.model
    parts = traces.attribution.parts
    before, labels = merge_parts(traces.attribution.time[model.requests], [part.component for part in parts])
    names = [str(label) for label in labels]
    moved = moved_forest(model, plan.graph, moments)
    after = _component_time(moved, traces, names, model.requests)
    return names, share_table(before, model.duration), share_table(after, predicted)


def _component_time(forest: Forest, traces: TraceSet, names: list[str], requests: Int64) -> Int64:
    """Return the path time of every named component in the replayed requests, int64 ns (r, k)."""
    own = find(forest, replace(traces.path_options, overflow="clamp")).own
    component = traces.classified.component
    index = {name: place for place, name in enumerate(names)}
    column = component.lookup([index.get(word, -1) for word in component.words], -1)
    time = np.zeros((len(forest.root), len(names)), np.int64)
    known = column >= 0
    np.add.at(time, (forest.request[known], column[known]), own[known])
    return time[requests]


def _largest(names: list[str], table: ShareTable) -> str:
    """Return the component with the largest mean share."""
    return names[int(np.argmax(table.share[:, 0]))] if names else ""


def _shifts(names: list[str], before: ShareTable, after: ShareTable) -> tuple[ShareShift, ...]:
    shifts = [ShareShift(name, before.share_spread(at), after.share_spread(at)) for at, name in enumerate(names)]
    return tuple(sorted(shifts, key=lambda shift: (-shift.share_before.mean, shift.name)))


def _amdahl(duration: Int64, saved: Int64) -> Spread:
    """Return the gain that Amdahl's law gives on the shares at each percentile (Amdahl 1967)."""
    return share_table(saved[:, None], duration).share_spread(0)


def _doubts(traces: TraceSet) -> list[Doubt]:
    if not traces.only_incomplete:
        return []
    return [Doubt("only-incomplete", "every request lost its root; the parts that are there are replayed")]
