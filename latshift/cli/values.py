"""Values of options as people write them: durations and points in time."""

from __future__ import annotations

import re

from latshift.errors import LatshiftError

_UNITS_MS = {"ns": 1e-6, "us": 1e-3, "µs": 1e-3, "ms": 1.0, "s": 1e3, "min": 6e4, "h": 3.6e6}

_EPOCH_NS = ((1e11, 1_000_000_000), (1e14, 1_000_000), (1e17, 1_000), (float("inf"), 1))
"""Epochs below the first number are counted in units of so many ns: seconds, ms, µs, ns."""


def duration_ms(text: str, option: str) -> float:
    """Return a duration such as "5ms" or "1.5 s" in ms.

    Raises:
        LatshiftError: If it is none; `option` is named.
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-zµ]+)\s*", text)
    if not match or match[2] not in _UNITS_MS:
        raise LatshiftError(f"{option}: {text!r} is not a duration", "write a number and its unit: 500us, 5ms, 1.5s")
    return float(match[1]) * _UNITS_MS[match[2]]


def time_ns(text: str, option: str) -> int:
    """Return a point in time, ISO 8601 (UTC unless it says otherwise) or an epoch in s, ms, µs or ns, in ns.

    Raises:
        LatshiftError: If it is none; `option` is named.
    """
    match = re.fullmatch(r"(\d+)(?:\.(\d{1,9}))?", text.strip())
    # Eight digits without a dot are a date (20261130), not a second of the year 1970.
    if match and not (len(match[1]) == 8 and match[2] is None):
        whole = int(match[1])
        unit = next(unit for limit, unit in _EPOCH_NS if whole < limit)
        return whole * unit + int((match[2] or "0").ljust(9, "0")) * unit // 1_000_000_000
    from datetime import UTC, datetime, timedelta

    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        hint = "write 2026-11-30T08:00:00Z, or seconds since 1970"
        raise LatshiftError(f"{option}: {text!r} is not a point in time", hint) from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1) * 1000
