"""The nine cases of Jaeger UI, exactly, and its expectations of the single steps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from latshift.critical_path import find
from latshift.forest import build
from latshift.spans import Forest, InputSummary
from tests.tiny import CASES, read_case, row_of

FOLDER = CASES / "jaeger_ui"
FILES = sorted(FOLDER.glob("test*.json"))
pytestmark = pytest.mark.skipif(not FILES, reason="the shared cases are not beside the repository")


def forest_of_case(path: Path) -> Forest:
    return build(read_case(path)[0], InputSummary())


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_path_is_that_of_jaeger_ui(path: Path) -> None:
    _, expected = read_case(path)
    forest = forest_of_case(path)
    rows, starts, ends = find(forest).segments()
    found = [
        (forest.spans.span_id_text(row), start // 1000, end // 1000)
        for row, start, end in zip(rows.tolist(), starts.tolist(), ends.tolist(), strict=True)
    ]
    assert found == expected


def sanitized() -> list[dict[str, Any]]:
    path = FOLDER / "unit_expectations.json"
    return json.loads(path.read_text(encoding="utf-8"))["sanitize"] if path.exists() else []


@pytest.mark.parametrize("expected", sanitized(), ids=lambda expected: expected["case"])
def test_spans_are_cut_to_their_parents_as_in_jaeger_ui(expected: dict[str, Any]) -> None:
    forest = forest_of_case(FOLDER / f"{expected['case']}.json")
    path = find(forest)
    for span, (start, end) in expected["kept"].items():
        row = row_of(forest, span)
        assert (path.start[row], path.end[row]) == (start * 1000, end * 1000)
    for span in expected["dropped"]:
        row = row_of(forest, span)
        assert path.end[row] <= path.start[row]
