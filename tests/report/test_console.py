"""What a stream can show."""

from __future__ import annotations

from io import BytesIO, StringIO, TextIOWrapper

import pytest
from rich.text import Text

from latshift.report.console import ASCII, UNICODE, ColorChoice, Screen, as_text, screen_for


class Terminal(StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        """Say yes."""
        return True


@pytest.mark.parametrize(
    ("stream", "color", "environ", "colour"),
    [
        (Terminal(), "auto", {}, True),
        (Terminal(), "auto", {"NO_COLOR": "1"}, False),
        (Terminal(), "auto", {"NO_COLOR": ""}, True),
        (Terminal(), "auto", {"TERM": "dumb"}, False),
        (Terminal(), "never", {"FORCE_COLOR": "1"}, False),
        (StringIO(), "auto", {}, False),
        (StringIO(), "auto", {"FORCE_COLOR": "1"}, True),
        (StringIO(), "auto", {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (StringIO(), "always", {"NO_COLOR": "1"}, True),
    ],
)
def test_colour(stream: StringIO, color: ColorChoice, environ: dict[str, str], colour: bool) -> None:
    assert screen_for(stream, color, environ).colour is colour


def test_width_and_cutting() -> None:
    assert screen_for(Terminal(), environ={"COLUMNS": "100"}) == Screen(100, True, True)
    assert screen_for(StringIO(), environ={}) == Screen(80, False, False)
    assert screen_for(StringIO(), environ={"COLUMNS": "120"}).width == 120
    assert screen_for(StringIO(), environ={"COLUMNS": "120"}).cut
    assert screen_for(Terminal(), environ={"COLUMNS": "7"}).width == 40
    assert screen_for(StringIO(), environ={"COLUMNS": "x"}).width == 80


def test_characters_that_the_encoding_lacks_are_not_used() -> None:
    assert screen_for(TextIOWrapper(BytesIO(), "ascii"), environ={}).glyphs is ASCII
    assert screen_for(TextIOWrapper(BytesIO(), "utf-8"), environ={}).glyphs is UNICODE
    text = as_text([Text("1–2 µs → 3 · ×4 … ✓ ✗ ≤ −")], Screen(glyphs=ASCII))
    assert text == "1-2 us -> 3 , x4 ... ok FAIL <= -\n"


def test_no_markup_no_emoji_and_no_escape_without_colour() -> None:
    line = Text("[/id] :smile: [bold]x[/bold] 123", "bold red")
    assert as_text([line], Screen()) == "[/id] :smile: [bold]x[/bold] 123\n"
    coloured = as_text([line], Screen(colour=True))
    assert coloured.startswith("\x1b[")
    assert "[/id] :smile: [bold]x[/bold] 123" in coloured
