"""From an attribute's value to what its column holds; every function returns None for a value it cannot use.

The names of these functions are the units of the tables in `conventions`. Values come as exporters write them: texts,
numbers, truth values, or lists of those. Times become whole nanoseconds.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

import msgspec

Plain = str | int | float | bool | list["Plain"] | None
"""A value without its wrapping."""

TextConverter = Callable[[Plain], str | None]
NumberConverter = Callable[[Plain], int | None]

INT64 = 1 << 63
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UNITS = {"s": 10**9, "ms": 10**6, "us": 10**3, "µs": 10**3, "μs": 10**3, "ns": 1, "m": 60 * 10**9, "h": 3600 * 10**9}
_DURATION = re.compile(r"\s*([0-9.]+)\s*([a-zµμ]+)")
_FRACTION = re.compile(r"\.(\d{1,9})\d*")
_TRUTH = {"true": 1, "1": 1, "yes": 1, "hit": 1, "false": 0, "0": 0, "no": 0, "miss": 0}

_ROUTE = re.compile(
    r"(?:/v\d\w*)?(?:/chat)?/completions$|(?:/v\d\w*)?/(?:responses|messages|rerank|reranking|embeddings?|embed)$"
    r"|/embeddings/|:(?:stream)?generatecontent$|:(?:batch)?embedcontents?$|/(?:invoke|invoke-with-response-stream)$"
    r"|/converse(?:-stream)?$|/api/(?:generate|chat|embed|embeddings)$|/generate(?:_stream)?$"
    r"|/(?:health|healthz|health_check|healthcheck|livez|readyz|live|ready|ping|metrics|-/healthy|-/ready)/?$",
    re.IGNORECASE,
)
"""Ends of paths that say what a call is for; nothing else of a path is kept, for paths hold names and ids of people."""


def text(value: Plain) -> str | None:
    """Return the value as text; of a list, its only element or all of them joined by commas."""
    if isinstance(value, str):
        return value or None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ",".join(word for word in map(text, value) if word) or None
    return None if value is None else str(value)


def json_text(value: Plain) -> str | None:
    """Return a text that may be written as a JSON document ('"gpt-4o"' with its quotes)."""
    word = text(value)
    if word and word[0] == '"':
        try:
            return msgspec.json.decode(word, type=str) or None
        except msgspec.DecodeError:
            return word
    return word


def lower(value: Plain) -> str | None:
    """Return the text in lower case."""
    word = text(value)
    return word.lower() if word else None


def renamed(names: Mapping[str, str]) -> TextConverter:
    """Make a converter that replaces old names of things by their new ones."""

    def convert(value: Plain) -> str | None:
        word = json_text(value)
        return names.get(word, word) if word else None

    return convert


def hint(prefix: str, silent: frozenset[str]) -> TextConverter:
    """Make a converter for kinds: "prefix:KIND"; None for kinds that say nothing."""

    def convert(value: Plain) -> str | None:
        word = json_text(value)
        return None if not word or word.lower() in silent else f"{prefix}:{word}"

    return convert


def host(value: Plain) -> str | None:
    """Return the host of "host", "host:port", "//user@host" or a URL, in lower case."""
    word = text(value)
    if not word:
        return None
    rest = word.partition("://")[2] or word.removeprefix("//")
    authority = re.split(r"[/?#]", rest, maxsplit=1)[0].rpartition("@")[2]
    if authority.startswith("["):
        return authority.partition("]")[0][1:].lower() or None
    name, colon, port = authority.rpartition(":")
    return (name if colon and port.isdigit() and ":" not in name else authority).lower() or None


def url_host(value: Plain) -> str | None:
    """Return the host of a full URL; None for anything else."""
    word = text(value)
    return host(word) if word and "://" in word else None


def route(value: Plain) -> str | None:
    """Return the end of a URL's or target's path if it is that of a known API of models or of a health check."""
    word = text(value)
    if not word:
        return None
    rest = word.partition("://")[2]
    path = "/" + rest.partition("/")[2] if rest else word
    found = _ROUTE.search(re.split(r"[?#]", path, maxsplit=1)[0])
    return found.group() if found else None


def integer(value: Plain) -> int | None:
    """Return a whole number, also from a text or from a list of one."""
    if isinstance(value, list):
        value = value[0] if len(value) == 1 else None
    try:
        number = int(value) if isinstance(value, int | float) else int(str(value).strip()) if value else None
    except (ValueError, OverflowError):
        number = _rounded(value, 1)
    return number if number is not None and -INT64 < number < INT64 else None


def flag(value: Plain) -> int | None:
    """Return 1 or 0 for what means yes or no."""
    return int(value) if isinstance(value, bool) else _TRUTH.get(str(value).strip().lower())


def seconds(value: Plain) -> int | None:
    """Return nanoseconds from seconds."""
    return _rounded(value, 1e9)


def milliseconds(value: Plain) -> int | None:
    """Return nanoseconds from milliseconds."""
    return _rounded(value, 1e6)


def duration_text(value: Plain) -> int | None:
    """Return nanoseconds from a duration with its unit, as Rust prints them: "12.3ms", "850µs", "1m 2s"."""
    if not isinstance(value, str):
        return None
    total, place = 0.0, 0
    while place < len(value):
        found = _DURATION.match(value, place)
        unit = _UNITS.get(found.group(2)) if found else None
        if found is None or unit is None or found.group(1).count(".") > 1:
            return None
        total += float(found.group(1)) * unit
        place = found.end()
    return round(total) if value and total < INT64 else None


def instant(value: Plain) -> int | None:
    """Return ns since the epoch from an ISO 8601 text (with or without JSON quotes; UTC where it names no zone)."""
    word = json_text(value)
    if not word:
        return None
    fraction = _FRACTION.search(word)
    try:
        moment = datetime.fromisoformat(_FRACTION.sub("", word.strip(), count=1))
    except ValueError:
        return None
    since = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH
    nanos = int(fraction.group(1).ljust(9, "0")) if fraction else 0
    return (since.days * 86_400 + since.seconds) * 10**9 + nanos


def json_field(*names: str) -> NumberConverter:
    """Make a converter that takes the first whole number found under one of these names in a JSON object in a text."""

    def convert(value: Plain) -> int | None:
        try:
            fields = msgspec.json.decode(value) if isinstance(value, str) else None
        except (msgspec.DecodeError, RecursionError):
            return None
        found = (integer(fields.get(name)) for name in names) if isinstance(fields, dict) else iter(())
        return next((number for number in found if number is not None), None)

    return convert


def retry_tag(value: Plain) -> int | None:
    """Return the 0-based number of the attempt from LangChain's tags, "retry:attempt:2" being the second."""
    found = re.search(r"\bretry:attempt:(\d{1,6})\b", text(value) or "")
    return max(int(found.group(1)) - 1, 0) if found else None


def _rounded(value: Plain, factor: float) -> int | None:
    if value is None or isinstance(value, bool | list):
        return None
    try:
        number = float(value) * factor
    except (TypeError, ValueError, OverflowError):
        return None
    return round(number) if math.isfinite(number) and abs(number) < INT64 else None
