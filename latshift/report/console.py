"""The one place that decides how text reaches a stream: width, colour, characters.

Rich is used for styled text only, always with markup, emoji and highlighting off (span names are not markup), and
never measures the terminal itself: it cuts cells when piped.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TextIO

if TYPE_CHECKING:
    from rich.text import Text

ColorChoice = Literal["auto", "always", "never"]

PIPED_WIDTH = 80
"""Charts are drawn this wide where there is no terminal; names are not cut there unless COLUMNS is set."""

WIDEST = 160
"""Wider than this a chart is no easier to read."""


@dataclass(frozen=True)
class Glyphs:
    """The characters of charts.

    Attributes:
        fills: Told apart without colour. own, wait, other: Bars of the waterfall: on the critical path; waiting for
            what is below; off the path. ascii: Text must be ASCII, too.
    """

    fills: str
    own: str
    wait: str
    other: str
    ascii: bool = False


UNICODE = Glyphs(fills="█▒░▓╱═╲·", own="█", wait="─", other="░")
ASCII = Glyphs(fills="#=.+/-%:", own="#", wait="-", other=".", ascii=True)

_REPLACED = {
    **dict.fromkeys("–−─", "-"),
    "·": ",",
    "…": "...",
    "→": "->",
    "×": "x",
    "µ": "u",
    "∞": "inf",
    "✓": "ok",
    "✗": "FAIL",
    "≤": "<=",
    "≥": ">=",
    "‖": "||",
}
"""What stands for characters that an encoding lacks."""


@dataclass(frozen=True)
class Screen:
    """Where a view is shown.

    Attributes:
        width: Columns that charts and running text use. cut: Whether names are cut to fit the width; False when
            piped, where nothing may get lost, unless COLUMNS says how wide it is. colour: Whether styles are
            written. glyphs: Which characters can be.
    """

    width: int = PIPED_WIDTH
    cut: bool = False
    colour: bool = False
    glyphs: Glyphs = UNICODE


def screen_for(stream: TextIO, color: ColorChoice = "auto", environ: Mapping[str, str] | None = None) -> Screen:
    """Return how to write to a stream.

    Args:
        stream: Standard output, as a rule; what is no terminal gets plain text, cut only where COLUMNS is set.
        color: "auto" looks at the terminal, NO_COLOR, FORCE_COLOR and TERM.
        environ: Environment variables; those of the process if None.
    """
    env = os.environ if environ is None else environ
    terminal = _is_terminal(stream)
    asked = _asked_width(env)
    width = asked or _terminal_width(stream, terminal)
    return Screen(
        width=max(40, min(width, WIDEST)),
        cut=terminal or asked is not None,
        colour=_wants_colour(color, env, terminal),
        glyphs=_glyphs(stream),
    )


def _is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except (ValueError, AttributeError):
        return False


def _wants_colour(color: ColorChoice, env: Mapping[str, str], terminal: bool) -> bool:
    if color != "auto":
        return color == "always"
    if env.get("NO_COLOR"):
        return False
    if env.get("FORCE_COLOR"):
        return True
    return terminal and env.get("TERM") != "dumb"


def _asked_width(env: Mapping[str, str]) -> int | None:
    columns = env.get("COLUMNS", "")
    return int(columns) if columns.isdecimal() and int(columns) > 0 else None


def _terminal_width(stream: TextIO, terminal: bool) -> int:
    if terminal:
        try:
            return os.get_terminal_size(stream.fileno()).columns or PIPED_WIDTH
        except (OSError, ValueError):
            pass
    return PIPED_WIDTH


def _glyphs(stream: TextIO) -> Glyphs:
    try:
        (UNICODE.fills + UNICODE.own + UNICODE.wait + UNICODE.other + "".join(_REPLACED)).encode(
            getattr(stream, "encoding", None) or "utf-8"
        )
    except (UnicodeEncodeError, LookupError):
        return ASCII
    return UNICODE


def as_text(lines: Iterable[Text], screen: Screen) -> str:
    """Join styled lines into what is written to the stream; without colour no escape is in it."""
    text = _styled(lines) if screen.colour else "".join(f"{line.plain.rstrip()}\n" for line in lines)
    if screen.glyphs.ascii:
        for character, plain in _REPLACED.items():
            text = text.replace(character, plain)
    return text


def _styled(lines: Iterable[Text]) -> str:
    from io import StringIO

    from rich.console import Console

    buffer = StringIO()
    console = Console(
        file=buffer,
        force_terminal=True,
        color_system="standard",
        no_color=False,
        markup=False,
        emoji=False,
        highlight=False,
        legacy_windows=False,
        width=1_000_000,
        height=100,
        _environ={},
    )
    for line in lines:
        line.rstrip()
        console.print(line, soft_wrap=True)
    return buffer.getvalue()
