"""Path time of components and phases: it adds up, to the nanosecond."""

from __future__ import annotations

import numpy as np
import pytest

from latshift.components import Classified, classify
from latshift.critical_path import find
from latshift.critical_path.attribution import attribute
from latshift.errors import InternalError
from latshift.spans import Forest
from tests.tiny import forest_of

MS = 1_000_000

# R --------------------------------------------------
#   L (model call) ------------------------
#      queue 10-20 · prefill 20-50 · decode 50-90
#      T (a tool inside the call) 60-70
#   D (database)                              95-99
CALL = f"""R 0-100 service=web
L<R 10-95 client operation=chat queue_time={10 * MS} prefill_time={30 * MS} decode_time={40 * MS}
T<L 60-70 operation=execute_tool
D<R 95-99 client db_system=postgresql"""


def times(forest: Forest, classified: Classified | None = None) -> list[dict[str, float]]:
    """Return part name -> ms of every request."""
    result = attribute(forest, find(forest), classified or classify(forest))
    names = [part.name for part in result.parts]
    return [dict(zip(names, (row / MS).tolist(), strict=True)) for row in result.time]


def test_a_call_is_split_into_its_phases_and_the_tool_inside_is_not_the_call() -> None:
    forest = forest_of(CALL, unit=MS)
    assert times(forest) == [
        {
            "app": 11,
            "database": 4,
            "llm.decode": 30,
            "llm.other": 5,
            "llm.prefill": 30,
            "llm.queue": 10,
            "tool": 10,
        }
    ]


def test_parts_know_their_component_and_class() -> None:
    forest = forest_of(CALL, unit=MS)
    parts = attribute(forest, find(forest), classify(forest)).parts
    assert {part.name: (part.component, part.klass) for part in parts} == {
        "app": ("app", "non-model"),
        "database": ("database", "non-model"),
        "llm.decode": ("llm", "model"),
        "llm.other": ("llm", "model"),
        "llm.prefill": ("llm", "model"),
        "llm.queue": ("llm", "queue"),
        "tool": ("tool", "non-model"),
    }


def test_a_call_without_evidence_stays_whole() -> None:
    assert times(forest_of("R 0-100; L<R 10-90 client operation=chat", unit=MS)) == [{"app": 20, "llm": 80}]


def test_requests_are_kept_apart() -> None:
    forest = forest_of("R 0-10; L<R 2-8 operation=chat; S 20-50 trace=u; D<S 30-40 db_system=redis trace=u", unit=MS)
    first, second = times(forest)
    assert (first["app"], first["llm"], second["app"], second["llm"]) == (4, 6, 20, 0)


def test_bounds_beyond_the_segment_or_absurd_do_not_break_the_sum() -> None:
    forest = forest_of(CALL, unit=MS)
    classified = classify(forest)
    extreme = np.iinfo(np.int64)
    classified.phases.bounds[:] = [extreme.min, extreme.min, 50 * MS, 40 * MS, extreme.max, extreme.max]
    (row,) = times(forest, classified)
    assert sum(row.values()) == 100


def test_a_sum_that_is_wrong_is_withheld_and_names_the_trace() -> None:
    forest = forest_of(CALL, unit=MS)
    path = find(forest)
    path.end[forest.root[0]] -= 1
    with pytest.raises(InternalError, match="trace t: "):
        attribute(forest, path, classify(forest))


def test_no_requests() -> None:
    forest = forest_of("")
    result = attribute(forest, find(forest), classify(forest))
    assert result.parts == []
    assert result.time.shape == (0, 0)
