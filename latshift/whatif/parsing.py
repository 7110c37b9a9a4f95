"""The small parts that edits are written with: durations, factors, shares, key:value lists."""

from __future__ import annotations

import re
from collections.abc import Mapping

from latshift import selectors
from latshift.errors import EditError
from latshift.selectors import Selector

_FACTOR = re.compile(r"^(inf|\d+(?:\.\d+)?|\.\d+)x?$")
_DURATION = re.compile(r"^(\d+(?:\.\d+)?|\.\d+)\s*(ns|us|µs|ms|s|min)$")
_UNIT_NS = {"ns": 1, "us": 1_000, "µs": 1_000, "ms": 1_000_000, "s": 1_000_000_000, "min": 60_000_000_000}
_SHARE = re.compile(r"^(-?\d+(?:\.\d+)?|-?\.\d+)\s*(%?)$")


def parse_duration(text: str, where: str) -> int:
    """Return a duration such as `100ms` in ns.

    Raises:
        EditError: If it is not a number with a unit.
    """
    match = _DURATION.match(text.strip())
    if not match:
        raise EditError(f"{where}: '{text}' is not a duration", "write a number with its unit, such as 100ms or 1.5s")
    return round(float(match[1]) * _UNIT_NS[match[2]])


def parse_factor(text: str, where: str) -> float:
    """Return a factor such as `2x`, `0.5x` or `inf`; 0 and more.

    Raises:
        EditError: If it is none.
    """
    match = _FACTOR.match(text.strip().lower())
    if not match:
        raise EditError(f"{where}: '{text}' is not a factor", "write a positive number such as 2x or 0.5x")
    return float(match[1])


def parse_share(text: str, where: str, of: str) -> float:
    """Return a share such as `30%` as a fraction, 0 to 1.

    Args:
        text: The share.
        where: The option and its value, for the message.
        of: What it is a share of, such as "hit rate".

    Raises:
        EditError: If it is no percentage or not between 0 % and 100 %.
    """
    match = _SHARE.match(text.strip())
    if not match or not match[2]:
        raise EditError(f"{where}: '{text}' is not a percentage", "write it with its sign, such as 30%")
    share = float(match[1]) / 100
    if not 0 <= share <= 1:
        raise EditError(f"{where}: a {of} of {text} cannot be", "it lies between 0% and 100%")
    return share


def split_value(text: str, verb: str, example: str) -> tuple[Selector, str]:
    """Split `SEL=VALUE` at its last equals sign."""
    target, equals, value = text.rpartition("=")
    if not equals or not target.strip() or not value.strip():
        raise EditError(f"--{verb} {text}: expected SELECTOR=VALUE", f"for example --{verb} {example}")
    return selectors.parse(target.strip()), value.strip()


def split_pair(text: str, where: str, example: str) -> tuple[str, str]:
    """Split `A:B` at its first colon."""
    first, colon, second = text.partition(":")
    if not colon or not first.strip() or not second.strip():
        raise EditError(f"{where}: '{text}' lacks a part", f"for example {example}")
    return first.strip(), second.strip()


def parse_numbers(text: str, where: str, known: Mapping[str, float | None]) -> dict[str, float]:
    """Parse `alpha:0.8,gamma:4`.

    Args:
        text: The list.
        where: The option and its value, for the message.
        known: Keys that may be given, with their defaults; None where there is none.

    Raises:
        EditError: If a key is unknown, given twice or missing, or a value is no number.
    """
    wanted = ", ".join(key if default is None else f"{key} ({default:g})" for key, default in known.items())
    found: dict[str, float] = {}
    for part in text.split(","):
        key, colon, value = (piece.strip() for piece in part.partition(":"))
        if key not in known or not colon:
            raise EditError(f"{where}: '{part.strip()}' is not understood", f"expected KEY:NUMBER with keys {wanted}")
        if key in found:
            raise EditError(f"{where}: {key} is given twice")
        try:
            found[key] = float(value)
        except ValueError:
            raise EditError(f"{where}: '{value}' is not a number", f"for example {key}:1") from None
    filled = {key: found.get(key, default) for key, default in known.items()}
    missing = [key for key, value in filled.items() if value is None]
    if missing:
        raise EditError(f"{where}: {' and '.join(missing)} must be given", f"keys are {wanted}")
    return {key: value for key, value in filled.items() if value is not None}
