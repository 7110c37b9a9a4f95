"""`whatif`: what the edits would do to the latency, by replay of every request."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from latshift.components.tables import QUEUE
from latshift.critical_path import find
from latshift.errors import EditError
from latshift.measure import NAMES, points_of
from latshift.report.units import percent
from latshift.results import Bottleneck, Doubt, Forecast, Latency, ShareShift, Spread
from latshift.shares import ShareTable, describe, merge_parts, share_table
from latshift.skipped import input_doubts
from latshift.spans import Forest, Int64, ordered_unique
from latshift.traceset import TraceSet
from latshift.whatif.draws import Outcome, replay
from latshift.whatif.edits import parse_edit
from latshift.whatif.model import ReplayModel, moved_forest
from latshift.whatif.plan import Edit

SAME = 1e-3
"""Predictions within this share of each other are called the same."""

NOTABLE = 0.02
"""Share of all time from which waiting that is kept as recorded is worth a word."""


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
    parsed = [_parse(edit) for edit in edits]
    model, duration = traces.model, traces.model.duration
    outcome = replay(model, parsed)
    before, after = describe(duration), outcome.latency()
    names, shares_before, shares_after = _shares(traces, outcome)
    optimistic, pessimistic, assumed = _bounds(model, parsed, outcome, after)
    return Forecast(
        edits=tuple(f"--{verb} {text}" for verb, text in edits),
        baseline=before,
        predicted=after,
        gain=outcome.gain(duration),
        amdahl=_amdahl(duration, outcome.plan.saved),
        bottleneck=Bottleneck(_largest(names, shares_before), _largest(names, shares_after)),
        requests_changed=outcome.changed(duration),
        assumptions=(
            *_chance(outcome),
            *ordered_unique(outcome.plan.notes),
            *_frozen(traces, outcome),
            *assumed,
            *model.notes,
        ),
        components=_shifts(names, shares_before, shares_after),
        optimistic=optimistic,
        pessimistic=pessimistic,
        gain_interval=outcome.gain_intervals(duration),
        doubts=(*shares_before.doubts, *_doubts(traces)),
    )


def _parse(edit: tuple[str, str]) -> Edit:
    if isinstance(edit, str) or len(edit) != 2 or not all(isinstance(word, str) for word in edit):
        raise EditError(f"{edit!r} is no edit", 'an edit is a verb and its value, such as ("speedup", "llm=2x")')
    return parse_edit(*edit)


def _chance(outcome: Outcome) -> list[str]:
    if outcome.draws == 1:
        return []
    return [f"what is left to chance is averaged over {outcome.draws} draws; their spread is in the intervals"]


def _frozen(traces: TraceSet, outcome: Outcome) -> list[str]:
    """Say that waits stay as they are, where there is much waiting and no pool to simulate it."""
    if outcome.plan.pools:
        return []
    attribution, requests = traces.attribution, traces.model.requests
    waiting = [part.klass == QUEUE for part in attribution.parts]
    share = float(attribution.time[requests][:, waiting].sum()) / max(float(traces.model.duration.sum()), 1.0)
    if share < NOTABLE:
        return []
    return [
        f"waiting in queues ({percent(share)} of the time) is kept as recorded; "
        "declare the pool, for example --pool llm=SIZE, to simulate it again"
    ]


def _bounds(
    model: ReplayModel, edits: Sequence[Edit], outcome: Outcome, after: Latency
) -> tuple[Latency | None, Latency | None, list[str]]:
    """Return the replay without and with assumed dependencies where they differ, and a sentence on them."""
    assumed = int(model.dependencies.assumed.sum())
    if not assumed:
        return None, None, []
    loose = replay(model.optimistic(), edits)
    if np.allclose(points_of(loose.pooled), points_of(outcome.pooled), rtol=SAME):
        return None, None, []
    sentence = (
        f"{assumed:,} of {len(model.dependencies.source):,} dependencies are assumed from fewer than 10 requests; "
        "without them the prediction differs"
    )
    kept, dropped = replace(after, interval={}), describe(loose.pooled, intervals=False, draws=loose.draws)
    return _better(min, kept, dropped), _better(max, kept, dropped), [sentence]


def _better(choose: Callable[[float, float], float], kept: Latency, dropped: Latency) -> Latency:
    """Return the smaller or larger of each figure of two replays."""
    mean, p50, p95, p99 = (choose(getattr(kept, f"{name}_ms"), getattr(dropped, f"{name}_ms")) for name in NAMES)
    return replace(kept, mean_ms=mean, p50_ms=p50, p95_ms=p95, p99_ms=p99)


def _shares(traces: TraceSet, outcome: Outcome) -> tuple[list[str], ShareTable, ShareTable]:
    """Return the components and their shares before and after."""
    model = traces.model
    parts = traces.attribution.parts
    before, labels = merge_parts(traces.attribution.time[model.requests], [part.component for part in parts])
    names = [str(label) for label in labels]
    moved = [moved_forest(model, graph, moments) for graph, moments in outcome.replays]
    after = np.concatenate([_component_time(forest, traces, names, model.requests) for forest in moved])
    predicted = outcome.durations[: len(moved)].ravel()
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
    doubts = [*input_doubts(traces.input.skipped)]
    if not traces.only_incomplete:
        return doubts
    return [*doubts, Doubt("only-incomplete", "every request lost its root; the parts that are there are replayed")]
