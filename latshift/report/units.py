"""The one place where numbers become text: durations with three significant digits, percents, counts."""

from __future__ import annotations

import math

NONE = "–"
"""Stands for a number that does not exist."""

_DURATIONS = ((1e-6, "ns"), (1e-3, "µs"), (1.0, "ms"), (1e3, "s"), (6e4, "min"), (3.6e6, "h"))
"""Unit sizes in ms, smallest first."""

_LAST_OF_UNIT = {"s": 600.0, "min": 600.0}
"""From how many of a unit on the next one is easier to read; 1,000 where it is not said."""


def significant(value: float, digits: int = 3) -> str:
    """Return a number with so many significant digits, thousands grouped: 0.0412, 41.2, 412, 41,200."""
    if not math.isfinite(value):
        return NONE if math.isnan(value) else ("-∞" if value < 0 else "∞")
    if value == 0:
        return "0"
    magnitude = math.floor(math.log10(abs(value)))
    rounded = round(value, digits - 1 - magnitude)
    magnitude = math.floor(math.log10(abs(rounded)))
    return f"{rounded:,.{max(0, digits - 1 - magnitude)}f}"


def _unit(ms: float) -> tuple[float, str]:
    size, name = _DURATIONS[0]
    for index, (size, name) in enumerate(_DURATIONS):
        count = abs(ms) / size
        # Rounded to three digits first, so that 999.7 ms is "1.00 s" and not "1,000 ms".
        rounded = round(count, 2 - math.floor(math.log10(count))) if count else 0.0
        if rounded < _LAST_OF_UNIT.get(name, 1000.0) or index == len(_DURATIONS) - 1:
            break
    return size, name


def duration(ms: float) -> str:
    """Return a duration given in ms, in the unit that suits it: "412 ms", "1.24 s", "85.0 µs"."""
    if not math.isfinite(ms) or ms == 0:
        return "0 ms" if ms == 0 else significant(ms)
    size, name = _unit(ms)
    return f"{significant(ms / size)} {name}"


def duration_range(low: float, high: float) -> str:
    """Return an interval of durations given in ms, both ends in one unit: "1.19–1.31 s"."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return NONE
    size, name = _unit(max(abs(low), abs(high)))
    return f"{significant(low / size)}–{significant(high / size)} {name}"


def percent(fraction: float) -> str:
    """Return a fraction as a percent: "41%", "4.2%"; "~0%" is next to nothing, "0%" is nothing."""
    if not math.isfinite(fraction):
        return NONE
    number = 100 * fraction
    if number == 0:
        return "0%"
    if abs(number) < 0.05:
        return "~0%"
    digits = 1 if abs(number) < 9.95 else 0
    return f"{number:.{digits}f}%".replace("-", "−")


def signed_percent(fraction: float, unit: str = "%") -> str:
    """Return a change given as a fraction with one decimal and its sign: "+12.3%", or "+3.1 pp" for unit " pp"."""
    if not math.isfinite(fraction):
        return NONE
    number = round(100 * fraction, 1)
    return f"{number:+.1f}{unit}".replace("-", "−") if number else f"0.0{unit}"


def count(number: float) -> str:
    """Return a count with grouped thousands: "38,000"."""
    return f"{number:,.0f}"


def short_count(number: float) -> str:
    """Return a count in at most five characters or so: "950", "38.0k", "1.20M"."""
    for size, name in ((1e9, "G"), (1e6, "M"), (1e4, "")):
        if number >= size and name:
            return significant(number / size) + name
    return count(number) if number < 1e4 else significant(number / 1e3) + "k"


def plural(number: int, noun: str, many: str = "") -> str:
    """Return a count with its noun: "1 span", "12 spans"."""
    return f"{count(number)} {noun if number == 1 else many or noun + 's'}"


def size(number: int) -> str:
    """Return a size in bytes for people: "12.4 MB"."""
    value = float(number)
    for name in ("bytes", "kB", "MB", "GB"):
        if value < 1000 or name == "GB":
            break
        value /= 1000
    return f"{count(value)} {name}" if name == "bytes" else f"{significant(value)} {name}"
