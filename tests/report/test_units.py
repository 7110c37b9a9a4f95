"""Numbers as people read them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from latshift.report import units


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (0, "0 ms"),
        (412.3, "412 ms"),
        (41.23, "41.2 ms"),
        (1.0, "1.00 ms"),
        (0.085, "85.0 µs"),
        (0.9996, "1.00 ms"),
        (999.4, "999 ms"),
        (999.6, "1.00 s"),
        (1243, "1.24 s"),
        (599_000, "599 s"),
        (600_000, "10.0 min"),
        (7.2e7, "20.0 h"),
        (0.000_012, "12.0 ns"),
        (-12.5, "-12.5 ms"),
        (math.nan, "–"),
        (math.inf, "∞"),
    ],
)
def test_duration(ms: float, text: str) -> None:
    assert units.duration(ms) == text


@given(st.floats(min_value=1e-6, max_value=1e9))
def test_a_duration_is_right_to_three_digits_and_never_wide(ms: float) -> None:
    number, unit = units.duration(ms).split(" ")
    size = {"ns": 1e-6, "µs": 1e-3, "ms": 1.0, "s": 1e3, "min": 6e4, "h": 3.6e6}[unit]
    assert float(number.replace(",", "")) * size == pytest.approx(ms, rel=0.0051)
    assert len(number) <= 5 or unit == "h"


@pytest.mark.parametrize(
    ("fraction", "text"),
    [
        (0, "0%"),
        (0.412, "41%"),
        (0.042, "4.2%"),
        (0.0999, "10%"),
        (0.0004, "~0%"),
        (1, "100%"),
        (-0.2, "−20%"),
        (math.nan, "–"),
    ],
)
def test_percent(fraction: float, text: str) -> None:
    assert units.percent(fraction) == text


def test_intervals_share_one_unit() -> None:
    assert units.duration_range(405.1, 419.4) == "405–419 ms"
    assert units.duration_range(930.0, 1310.0) == "0.930–1.31 s"
    assert units.duration_range(math.nan, 1.0) == "–"


def test_changes_and_counts() -> None:
    assert units.signed_percent(0.1234) == "+12.3%"
    assert units.signed_percent(-0.0311, " pp") == "−3.1 pp"
    assert units.signed_percent(0.0) == "0.0%"
    assert [units.short_count(n) for n in (0, 950, 9_999, 38_000, 1_200_000)] == ["0", "950", "9,999", "38.0k", "1.20M"]
    assert units.plural(1, "span") == "1 span"
    assert units.plural(1200, "span") == "1,200 spans"
    assert units.size(12_400_000) == "12.4 MB"
    assert units.size(7) == "7 bytes"
