"""Whatever a trace holds, views stay readable and harmless."""

from __future__ import annotations

import csv
from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from latshift.report.escape import csv_cell, markdown, visible

ANY_TEXT = st.text(st.characters(exclude_categories=()))


@given(ANY_TEXT)
def test_what_is_visible_prints(text: str) -> None:
    assert visible(text).isprintable()
    visible(text).encode("utf-8")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain [id] :smile:", "plain [id] :smile:"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("a\nb\tc", "a\\nb\\tc"),
        ("\u202eabc", "\\u202eabc"),
        ("\ud800", "\\ud800"),
        ("\U000e0041", "\\U000e0041"),
        ("漢字 é", "漢字 é"),
    ],
)
def test_visible(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_long_names_are_cut_only_where_asked() -> None:
    assert len(visible("x" * 1_000_000)) == 200
    assert visible("x" * 1_000, None) == "x" * 1_000


@given(ANY_TEXT)
def test_markdown_keeps_to_its_cell(text: str) -> None:
    shown = markdown(text)
    assert "\n" not in shown
    bare = shown.replace("\\\\", "")
    assert all(bare[at - 1] == "\\" for at in range(len(bare)) if bare[at] in "|<>[]`")
    assert "://" not in shown


@given(ANY_TEXT)
def test_csv_cells_are_no_formulas_and_one_line(text: str) -> None:
    cell = csv_cell(text)
    assert not cell.startswith(("=", "+", "-", "@", "\t", "\r"))
    buffer = StringIO()
    csv.writer(buffer).writerow([cell, "next"])
    assert next(csv.reader(StringIO(buffer.getvalue()))) == [cell, "next"]
