"""Ids by their length (formats.md section 0)."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from latshift.ingest.ids import digest, normal_trace_id, normal_trace_ids, packed_span_ids, span_number
from latshift.spans import id_digest

TRACE = "5b8efff798038103d269b633813fc60c"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (TRACE, TRACE),
        (TRACE.upper(), TRACE),
        ("W47/95gDgQPSabYzgT/GDA==", TRACE),
        (f"0x{TRACE}", TRACE),
        (f"1-{TRACE[:8]}-{TRACE[8:]}", TRACE),
        (f"tr-{TRACE}", TRACE),
        ("5b8efff7-9803-8103-d269-b633813fc60c", TRACE),
        ("7uGbfsPBsXM=", "0000000000000000eee19b7ec3c1b173"),
        ("eee19b7ec3c1b173", "0000000000000000eee19b7ec3c1b173"),
        ("abc", "0" * 29 + "abc"),
        ("trace-1", "trace-1"),
        ("t" * 50, "t" * 50),
        (TRACE + "00", TRACE + "00"),
        ("W47/95gDgQPSabYzgT/GD===", "W47/95gDgQPSabYzgT/GD==="),
        ("", ""),
        ("0" * 32, ""),
        ("0", ""),
        ("AAAAAAAAAAAAAAAAAAAAAA==", ""),
    ],
)
def test_trace_ids(text, expected):
    assert normal_trace_id(text) == expected
    assert normal_trace_ids([TRACE, text]) == [TRACE, expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("eee19b7ec3c1b173", 0xEEE19B7EC3C1B173),
        ("EEE19B7EC3C1B173", 0xEEE19B7EC3C1B173),
        ("7uGbfsPBsXM=", 0xEEE19B7EC3C1B173),
        ("0xeee19b7ec3c1b173", 0xEEE19B7EC3C1B173),
        ("bcdef", 0xBCDEF),
        ("", 0),
        ("0000000000000000", 0),
        ("AAAAAAAAAAA=", 0),
        ("span-1", None),
        ("ee e19b7ec3c1b17", None),
        ("0" * 17, None),
    ],
)
def test_span_ids(text, expected):
    assert span_number(text) == expected


def test_many_span_ids_at_once_and_one_by_one():
    odd: dict[int, str] = {}
    short: dict[int, str] = {}
    texts = ["eee19b7ec3c1b173", "0000000000000001", "ee e19b7ec3c1b17"]
    assert packed_span_ids(texts[:2], odd, short) == bytes.fromhex("".join(texts[:2]))
    assert not odd
    packed = packed_span_ids([*texts, "7", ""], odd, short)
    numbers = [int.from_bytes(packed[place : place + 8], "big") for place in range(0, 40, 8)]
    assert numbers == [0xEEE19B7EC3C1B173, 1, digest(texts[2]), 7, 0]
    assert (odd, short) == ({digest(texts[2]): texts[2]}, {7: "7"})


@given(st.text(max_size=40))
def test_any_text_is_an_id(text):
    assert normal_trace_id(normal_trace_id(text)) == normal_trace_id(text)
    number = span_number(text)
    assert number is None or 0 <= number < 2**64
    assert digest(text) == id_digest(text)


@given(st.binary(min_size=16, max_size=16))
def test_base64_and_hex_agree(data):
    assert normal_trace_id(base64.b64encode(data).decode()) == normal_trace_id(data.hex())
    assert span_number(base64.b64encode(data[:8]).decode()) == int(data[:8].hex(), 16)
