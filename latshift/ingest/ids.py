"""Ids told apart by their length (formats.md section 0), so that all spellings of one id are one id."""

from __future__ import annotations

import binascii
import re
from collections.abc import Sequence

_HEX = re.compile(r"[0-9a-f]+")
_X_RAY = re.compile(r"1-([0-9a-f]{8})-([0-9a-f]{24})")
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_BASE64 = {24: 16, 12: 8}
"""Length of padded base64 to the bytes it stands for."""


def normal_trace_id(text: str) -> str:
    """Return a trace id as 32 lower-case hex digits; the text as it stands if it is neither hex nor base64.

    Args:
        text: Hex of up to 32 digits (also with 0x or MLflow's "tr-" before it), padded base64 of 16 or 8 bytes, an
            X-Ray id, or a UUID.

    Returns:
        The id; "" for one that is missing (empty or all zeros).
    """
    word = text.strip().lower()
    plain = word.removeprefix("tr-").removeprefix("0x")
    found = _X_RAY.fullmatch(plain)
    if found:
        plain = found.group(1) + found.group(2)
    elif _UUID.fullmatch(plain):
        plain = plain.replace("-", "")
    elif text.endswith("="):
        plain = _from_base64(text.strip()) or plain
    if len(plain) > 32 or not _HEX.fullmatch(plain):
        return text.strip()
    padded = plain.rjust(32, "0")
    return padded if padded.strip("0") else ""


def normal_trace_ids(texts: Sequence[str]) -> list[str]:
    """Return the normal form of many trace ids; quick where all have it already."""
    joined = "".join(texts)
    if set(map(len, texts)) == {32} and joined == joined.lower() and _HEX.fullmatch(joined):
        nothing = "0" * 32
        return ["" if text == nothing else text for text in texts] if nothing in joined else list(texts)
    return [normal_trace_id(text) for text in texts]


def span_number(text: str) -> int | None:
    """Return a span id as a number: 0 if it is missing (empty or all zeros), None if it is neither hex nor base64."""
    word = text.strip()
    if not word:
        return 0
    plain = word.lower().removeprefix("0x")
    if word.endswith("="):
        plain = _from_base64(word) or plain
    return int(plain, 16) if len(plain) <= 16 and _HEX.fullmatch(plain) else None


def packed_span_ids(texts: Sequence[str], odd: dict[int, str], short: dict[int, str]) -> bytes:
    """Return span ids as big-endian numbers of 8 bytes each.

    Args:
        texts: The ids as exporters write them; "" for none.
        odd: Filled with the digests of ids that are neither hex nor base64, and their texts.
        short: Filled with hex ids of fewer than 8 digits, and their texts: people's labels rather than random numbers.
    """
    if set(map(len, texts)) == {16}:
        try:
            packed = bytes.fromhex("".join(texts))
        except ValueError:
            packed = b""
        if len(packed) == 8 * len(texts):
            return packed
    return b"".join([_packed(text, odd, short) for text in texts])


def _packed(text: str, odd: dict[int, str], short: dict[int, str]) -> bytes:
    number = span_number(text)
    if number is None:
        number = digest(text.strip())
        odd[number] = text.strip()
    elif number and len(text.strip()) < 8:
        short[number] = text.strip()
    return number.to_bytes(8, "big")


def digest(text: str) -> int:
    """Return the number that stands for a span id that is not hex; the same as `latshift.spans.id_digest`."""
    # Not taken from `spans`, which imports NumPy: workers do without.
    from hashlib import blake2b

    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big") or 1


def _from_base64(text: str) -> str:
    size = _BASE64.get(len(text))
    try:
        # Some writers use the alphabet for URLs.
        decoded = binascii.a2b_base64(text.replace("-", "+").replace("_", "/"))
    except ValueError:
        return ""
    return decoded.hex() if len(decoded) == size else ""
