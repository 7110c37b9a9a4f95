"""Whose time the critical path is: every own segment goes to the component of its span, or to phases of its call."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from latshift.components import Classified, Phases
from latshift.critical_path import CriticalPath
from latshift.errors import InternalError
from latshift.spans import Array, Forest, Int64


@dataclass(frozen=True)
class Part:
    """What a stretch of the critical path can belong to.

    Attributes:
        component: Such as "llm".
        phase: Such as "llm.prefill"; None where calls of the component are not divided.
        klass: "model", "queue" or "non-model"; time in a queue is of class "queue", whoever waits.
    """

    component: str
    phase: str | None
    klass: str

    @property
    def name(self) -> str:
        """The phase, or the component where there is none."""
        return self.phase or self.component


@dataclass
class Attribution:
    """Path time of every part in every request.

    Attributes:
        parts: The parts that have time in some request, by name.
        time: int64 (r, parts), ns; every row sums to the request's duration, exactly.
        duration: int64 (r,), ns.
    """

    parts: list[Part]
    time: Int64
    duration: Int64


def attribute(forest: Forest, path: CriticalPath, classified: Classified) -> Attribution:
    """Split the critical path of every request over components and phases.

    Args:
        forest: The spans.
        path: Their critical path.
        classified: Their components and phases.

    Returns:
        The path time per request and part.

    Raises:
        InternalError: If the parts of a request do not add up to its duration.
    """
    words, phases = classified.component.words, classified.phases
    codes: list[Array] = []  # index into words + phase names
    requests: list[Array] = []
    times: list[Int64] = []
    row, start, end = path.gaps()
    divided = phases.row[row] >= 0
    codes.append(classified.component.codes[row[~divided]])
    requests.append(forest.request[row[~divided]])
    times.append((end - start)[~divided])
    row, start, end = row[divided], start[divided], end[divided]
    for kind, time in _cut(phases, row, start, end):
        some = time > 0
        codes.append(kind[some] + len(words))
        requests.append(forest.request[row[some]])
        times.append(time[some])

    names = words + phases.names
    used = sorted(_used(codes, len(names)), key=names.__getitem__)
    column = np.zeros(len(names), np.int64)
    column[used] = np.arange(len(used))
    cell = np.concatenate(requests).astype(np.int64) * len(used) + column[np.concatenate(codes)]
    time = np.zeros(forest.root.shape[0] * len(used), np.int64)
    np.add.at(time, cell, np.concatenate(times))
    result = Attribution(
        [_part(classified, code) for code in used],
        time.reshape(forest.root.shape[0], len(used)),
        forest.spans.array("end")[forest.root] - forest.spans.array("start")[forest.root],
    )
    _check(forest, result)
    return result


def _cut(phases: Phases, row: Int64, start: Int64, end: Int64) -> Iterator[tuple[Array, Int64]]:
    """Cut segments of divided spans: yield phase index and ns of all of them, once per interval and for the rest."""
    index = phases.row[row]
    rest = end - start
    low = np.clip(phases.bounds[index, 0], start, end)
    for number in range(phases.kinds.shape[1]):
        # Clipping to the segment, rather than intersecting, cannot overflow whatever the bounds are.
        high = np.maximum(np.clip(phases.bounds[index, number + 1], start, end), low)
        yield phases.kinds[index, number], high - low
        rest -= high - low
        low = high
    yield phases.rest[index], rest


def _used(codes: list[Array], size: int) -> list[int]:
    count = np.zeros(size, np.int64)
    for part in codes:
        count += np.bincount(part, minlength=size)
    return [int(code) for code in np.flatnonzero(count)]


def _part(classified: Classified, code: int) -> Part:
    words, phases = classified.component.words, classified.phases.names
    if code < len(words):
        return Part(words[code], None, classified.class_of(words[code]))
    phase = phases[code - len(words)]
    component = phase.rpartition(".")[0]
    return Part(component, phase, classified.class_of(component, phase))


def _check(forest: Forest, result: Attribution) -> None:
    wrong = np.flatnonzero(result.time.sum(axis=1) != result.duration)
    if wrong.shape[0]:
        trace = forest.spans.text("trace").take(forest.root[wrong[:1]]).texts()[0]
        raise InternalError(
            f"trace {trace}: the parts of the critical path do not add up to the request's duration "
            f"({wrong.shape[0]:,} such requests)",
            "this is a mistake in latshift: please report it with the trace",
        )
