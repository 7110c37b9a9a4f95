"""Phases of model calls: which stretch of a call was waiting, prefill, decode, and which nothing is known about.

A call is cut where its own evidence says so (see `evidence`). Three things modify this:
- pieces drawn as spans of their own (SGLang, TGI) *are* a phase, and the call around them keeps only the rest;
- a call that contains a better-known call (a client's call around the engine's) keeps only the rest: network, gateway;
- a call inside a better-known one, in one run of the same component, is cut where the outer one is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from latshift.components.board import Board, Role
from latshift.components.evidence import Evidence, gather
from latshift.components.inherit import Inheritance, nearest
from latshift.components.tables import PHASES
from latshift.spans import NULL, Array, Bool, Coded, Forest, Int32, Int64

QUEUE, PREFILL, DECODE, OTHER, FIRST_TOKEN, STREAM = range(len(PHASES))

LAYOUTS = np.array(
    [
        [OTHER, OTHER, OTHER, OTHER, OTHER],
        [FIRST_TOKEN, STREAM, STREAM, STREAM, STREAM],
        [OTHER, QUEUE, PREFILL, DECODE, OTHER],
        [OTHER, QUEUE, PREFILL, DECODE, OTHER],
    ]
)
"""Which phase each of the five intervals of a call is, by evidence level; level 0 stands for "all rest"."""

MIXED = "whole"
"""The phase of a piece that mixes several and stays undivided."""

SEEN_THROUGH = frozenset({"gateway", "http", "rpc", "app"})
"""Components through which a client's model call may contain the engine's."""


@dataclass
class Phases:
    """Where model calls are cut.

    Attributes:
        names: Names of the phases in use, such as "llm.prefill".
        row: int32 (n,), index into `bounds` of each span (of its call, for a span that inherits); -1 = undivided.
        bounds: int64 (m, 6), ascending ns since the epoch.
        kinds: int32 (m, 5), index into `names` of each interval [bounds[:, k], bounds[:, k + 1]).
        rest: int32 (m,), index into `names` of what lies outside the bounds ("<component>.other").
        level: int8 (n,), evidence level 0 to 3 of model calls; -1 for spans that are none.
        impossible: Number of values that were dropped because they cannot be.
    """

    names: list[str]
    row: Int32
    bounds: Int64
    kinds: Int32
    rest: Int32
    level: Array
    impossible: int

    def covers(self, phase: str) -> list[int]:
        """Return the indices of names that a phase stands for: "llm.decode" covers "llm/openai.decode" as well."""
        component, _, part = phase.rpartition(".")
        return [
            index
            for index, name in enumerate(self.names)
            if name == phase or (name.startswith(f"{component}/") and name.rpartition(".")[2] == part)
        ]

    def has(self, phase: str) -> Bool:
        """Return which spans have time in a phase or could have (the rest), bool (n,)."""
        wanted = self.covers(phase)
        inside = (np.isin(self.kinds, wanted) & (np.diff(self.bounds, axis=1) > 0)).any(axis=1)
        return np.append(inside | np.isin(self.rest, wanted), False)[self.row]

    def overlap(self, row: Array, start: Int64, end: Int64, phase: str) -> Int64:
        """Return how much of each interval lies in a phase.

        Args:
            row: int (k,), span of the interval.
            start: int64 (k,), ns since the epoch.
            end: int64 (k,), ns since the epoch.
            phase: Such as "llm.decode".

        Returns:
            int64 (k,), ns; 0 for undivided spans.
        """
        result = np.zeros(len(row), np.int64)
        divided = np.flatnonzero(self.row[row] >= 0)
        index = self.row[row[divided]]
        length = np.maximum(end - start, 0)[divided]
        low = np.maximum(self.bounds[index, :-1], start[divided, None])
        high = np.minimum(self.bounds[index, 1:], end[divided, None])
        inside = np.maximum(high - low, 0)
        wanted = self.covers(phase)
        time = np.where(np.isin(self.kinds[index], wanted), inside, 0).sum(axis=1)
        result[divided] = time + np.where(np.isin(self.rest[index], wanted), length - inside.sum(axis=1), 0)
        return result


def find_phases(forest: Forest, board: Board, component: Coded, inheritance: Inheritance, model: Bool) -> Phases:
    """Cut all model calls.

    Args:
        forest: The spans.
        board: Their verdicts.
        component: Their components in the end.
        inheritance: Their owners.
        model: bool (n,), the component is of class model.
    """
    n = forest.n
    parts = [verdict.phase if verdict.role == Role.PART else "" for verdict in board.verdicts]
    piece = model & board.lookup([bool(phase) for phase in parts], np.bool_)
    mixed = board.lookup([phase == MIXED for phase in parts], np.bool_)
    call = model & ~inheritance.inherits & ~piece
    evidence = gather(forest.spans, np.flatnonzero(call))
    level = np.full(n, -1, np.int8)
    level[evidence.rows] = evidence.level
    # A piece drawn as a span is better evidence than any attribute of the call around it; a mixed one is none.
    level[piece] = np.where(mixed[piece], 0, len(LAYOUTS))
    better = _best_inside(forest, component, inheritance, level, piece)
    index = np.full(n, -1, np.int32)
    bounds, layout, place = _cuts(forest, board, evidence, piece, better > level)
    index[place] = np.arange(len(place))
    level = np.minimum(np.where(call, np.maximum(level, better), level), len(LAYOUTS) - 1).astype(np.int8)
    _adopt(forest, component, index, level, call)
    anchor = nearest(forest.parent, ~inheritance.inherits | piece)
    row = np.where(model & (anchor >= 0), index[anchor], np.int32(-1)).astype(np.int32)
    row[piece & (index < 0)] = -1
    names, kinds, rest = _name(layout, component.codes[place], component.words)
    level = np.where(model & (anchor >= 0), level[anchor], np.int8(-1)).astype(np.int8)
    return Phases(names, row, bounds, kinds, rest, level, evidence.impossible)


def _best_inside(forest: Forest, component: Coded, inheritance: Inheritance, level: Array, piece: Bool) -> Array:
    """Return for each call the best evidence level of a call or piece it contains, int8 (n,); -1 where it has none."""
    seen_through = component.lookup([word in SEEN_THROUGH for word in component.words], False)
    outer = nearest(forest.parent, ~(seen_through | inheritance.inherits & ~piece))
    candidates = np.flatnonzero((level >= 0) & (forest.parent >= 0))
    above = outer[forest.parent[candidates]]
    fits = (above >= 0) & (component.codes[above] == component.codes[candidates])
    candidates, above = candidates[fits], above[fits]
    jump = np.full(forest.n, -1, np.int64)
    jump[candidates] = above
    best = level.copy()
    inside = np.full(forest.n, -1, np.int8)
    while len(candidates):
        np.maximum.at(inside, jump[candidates], best[candidates])
        best = np.maximum(best, inside)
        jump[candidates] = jump[jump[candidates]]
        candidates = candidates[jump[candidates] >= 0]
    return inside


def _cuts(
    forest: Forest, board: Board, evidence: Evidence, piece: Bool, contains_better: Bool
) -> tuple[Int64, Array, Int64]:
    """Return bounds int64 (m, 6), phases int (m, 5) and the rows (m,) of all calls and pieces that are cut."""
    cut = contains_better[evidence.rows] | (evidence.level > 0)
    evidence = evidence.take(cut)
    only_rest = contains_better[evidence.rows]
    bounds = np.where(only_rest[:, None], _whole(evidence.start, evidence.end), _bounds(evidence))
    layout = LAYOUTS[np.where(only_rest, 0, evidence.level)]
    phase_of = {name: number for number, name in enumerate(PHASES)}
    # A piece without a phase is the rest of its call; one that mixes phases ("whole") stays undivided.
    phase = board.lookup([phase_of.get(verdict.phase, -1) for verdict in board.verdicts], np.int64)
    pieces = np.flatnonzero(piece & (phase >= 0))
    start, end = forest.spans.array("start")[pieces], forest.spans.array("end")[pieces]
    return (
        np.concatenate([bounds, _whole(start, end)]),
        np.concatenate([layout, np.repeat(phase[pieces][:, None], 5, axis=1)]),
        np.concatenate([evidence.rows, pieces]),
    )


def _whole(start: Int64, end: Int64) -> Int64:
    return np.stack([start, end, end, end, end, end], axis=1)


def _bounds(evidence: Evidence) -> Int64:
    """Return where calls are cut by their own evidence, int64 (k, 6), never beyond their ends."""
    duration = evidence.end - evidence.start
    zero = np.zeros_like(duration)
    queue, prefill, decode = (np.maximum(value, 0) for value in (evidence.queue, evidence.prefill, evidence.decode))
    first = evidence.first_token
    # Level 3: what comes before the queue (tokenizing, hand-over) is what the time to first token leaves over.
    spare = np.maximum(duration - queue - prefill - decode, 0)
    lead = np.where(first != NULL, np.clip(first - queue - prefill, 0, spare), 0)
    generating = lead + queue + prefill
    three = np.stack([zero, lead, lead + queue, generating, generating + decode, duration], axis=1)
    two = np.stack([zero, zero, queue, first, duration, duration], axis=1)
    one = np.stack([zero, first, duration, duration, duration, duration], axis=1)
    level = evidence.level[:, None]
    offsets = np.select([level == 3, level == 2, level == 1], [three, two, one], 0)
    return np.asarray(evidence.start[:, None] + np.clip(offsets, 0, duration[:, None]))


def _adopt(forest: Forest, component: Coded, index: Int32, level: Array, call: Bool) -> None:
    """Give calls of which nothing is known the cuts of the call around them, if both are one run of a component."""
    parent = forest.parent
    joined = (parent >= 0) & (component.codes[parent] == component.codes)
    poor = call & joined & (level == 0)
    if not poor.any():
        return
    # A row looks upwards as long as the run goes on and nothing is known.
    known = (index >= 0) | ~joined
    source = nearest(parent, known)
    rows = np.flatnonzero(poor & (source >= 0))
    index[rows] = index[source[rows]]
    level[rows] = np.maximum(level[rows], level[source[rows]])


def _name(layout: Array, codes: Int32, words: Sequence[str]) -> tuple[list[str], Int32, Int32]:
    """Name the phases: return the names, their indices (m, 5) and the index of the rest (m,)."""
    wide = codes.astype(np.int64)[:, None] * len(PHASES) + layout
    rest = codes.astype(np.int64) * len(PHASES) + OTHER
    used = np.unique(np.concatenate([wide.reshape(-1), rest]))
    names = [f"{words[code // len(PHASES)]}.{PHASES[code % len(PHASES)]}" for code in used.tolist()]
    return names, np.searchsorted(used, wide).astype(np.int32), np.searchsorted(used, rest).astype(np.int32)
