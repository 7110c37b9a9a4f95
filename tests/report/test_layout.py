"""Tables and bars keep to their width."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.text import Text

from latshift.report.console import ASCII, Screen
from latshift.report.layout import Column, Part, fit, spread_cells, stacked_bar, table, wrapped

NAMES = st.text("ab字é /", max_size=60)


@given(NAMES, st.integers(1, 50))
def test_fit(name: str, width: int) -> None:
    cut = fit(Text(name), width)
    assert cut.cell_len <= max(width, 1)
    assert cut.plain == name or cut.plain.endswith("…")


@given(st.lists(st.floats(0, 1) | st.just(float("nan")), max_size=12), st.integers(0, 200))
def test_cells_are_shared_out_completely(fractions: list[float], width: int) -> None:
    cells = spread_cells(fractions, width)
    assert len(cells) == len(fractions)
    assert min(cells, default=0) >= 0
    assert sum(cells) == (width if any(fraction > 0 for fraction in fractions) else 0)


@given(st.lists(st.tuples(NAMES, st.floats(0, 1)), min_size=1, max_size=9), st.integers(10, 120), st.booleans())
def test_a_bar_has_exactly_its_width(items: list[tuple[str, float]], width: int, colour: bool) -> None:
    parts = [Part(name, fraction, "black on cyan", "█", "9%") for name, fraction in items]
    bar, _ = stacked_bar(parts, width, Screen(colour=colour))
    assert bar.cell_len == (width if any(fraction > 0 for _, fraction in items) else 0)


def test_labels_stand_in_their_parts() -> None:
    parts = [Part("llm", 0.6, "", "#", "60%"), Part("database", 0.3, "", "=", "30%"), Part("x", 0.1, "", ".", "10%")]
    bar, unlabelled = stacked_bar(parts, 40, Screen(glyphs=ASCII))
    assert bar.plain == "## llm 60% #############== 30% =====...."
    assert unlabelled == {"database", "x"}


def test_tables_cut_names_on_a_terminal_only() -> None:
    columns = [
        Column(("", "name"), right=False, names=True),
        Column(("", "p50"), group=("share at",)),
        Column(("", "p99"), gap=1, group=("share at",)),
        Column(("", "spare"), spare=1),
    ]
    rows = [["a-name-of-thirty-characters-long", "100%", "7.1%", "12345"]]
    piped = [line.plain for line in table(columns, rows, Screen(width=30, cut=False))]
    assert piped[-1] == "a-name-of-thirty-characters-long  100% 7.1%  12345"
    narrow = [line.plain for line in table(columns, rows, Screen(width=27, cut=True))]
    assert narrow == [
        "                   share at",
        "name               p50  p99",
        "a-name-of-thirt…  100% 7.1%",
    ]


def test_wrapped_text_keeps_long_words_whole() -> None:
    lines = [line.plain for line in wrapped("one two " + "x" * 30 + " three", 12, indent="  ")]
    assert lines == ["one two", "  " + "x" * 30, "  three"]
    assert all(cell_len(line) <= 32 for line in lines)
