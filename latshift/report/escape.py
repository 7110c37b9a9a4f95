"""Names come from traces and may hold anything: here they are made harmless for the place where they are shown."""

from __future__ import annotations

LONGEST = 200
"""More characters of one name than this help nobody in a view for people."""

LONGEST_CELL = 32_000
"""Spreadsheets hold no more in a cell."""

_MARKDOWN = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_[]<>#~!|"} | {"&": "&amp;", "@": "&#64;"})


def _code(character: str) -> str:
    special = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(character)
    if special:
        return special
    point = ord(character)
    if point < 0x100:
        return f"\\x{point:02x}"
    return f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"


def visible(text: str, longest: int | None = LONGEST) -> str:
    r"""Return the text with everything that does not print made visible.

    That is control characters and with them ANSI escapes, line breaks, marks that turn the reading direction, and lone
    surrogates ("\x1b[31m", "\u202e").

    Args:
        text: Anything.
        longest: Cut to so many characters, with an ellipsis; None keeps all.
    """
    if longest is not None and len(text) > longest:
        text = text[: longest - 1] + "…"
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else _code(character) for character in text)


def markdown(text: str, longest: int | None = LONGEST) -> str:
    """Return the text so that Markdown shows it as it stands: no table cell ends, no link or tag begins."""
    return visible(text, longest).translate(_MARKDOWN).replace("://", ":&#47;&#47;").replace("www.", "www&#46;")


def csv_cell(text: str) -> str:
    """Return the text so that no spreadsheet takes it for a formula: such a cell begins with an apostrophe."""
    shown = visible(text, LONGEST_CELL)
    return f"'{shown}" if shown.startswith(("=", "+", "-", "@")) else shown
