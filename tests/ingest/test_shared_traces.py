"""Every real export in the shared folder gives the right number of spans, or an error that names file and format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from latshift.errors import InputError
from tests.ingest.exports import SHARED_TRACES, read

INDEX = SHARED_TRACES / "INDEX.tsv"
FILES = [line.split("\t") for line in INDEX.read_text(encoding="utf-8").splitlines()[1:]] if INDEX.exists() else []
READ = [name for name, _, _, kind, _ in FILES if kind in ("otlp", "jaeger")]
SINGLE_SPANS = ("__es_01.json", "__es_01_string_tags.json", "__trace_success.json")
OTHER = [name for name, _, _, kind, _ in FILES if kind not in ("otlp", "jaeger") and not name.endswith(SINGLE_SPANS)]

pytestmark = pytest.mark.skipif(not FILES, reason="the shared folder is not here")


def spans_in(item: Any) -> int:
    """Count the spans of a document: the items of all lists called spans."""
    if isinstance(item, list):
        return sum(map(spans_in, item))
    if not isinstance(item, dict):
        return 0
    return sum(len(value) if key == "spans" else spans_in(value) for key, value in item.items())


@pytest.mark.parametrize("name", READ)
def test_otlp_and_jaeger(name: str):
    path = SHARED_TRACES / name
    text = path.read_text(encoding="utf-8")
    try:
        expected = spans_in(json.loads(text))
    except json.JSONDecodeError:
        expected = sum(spans_in(json.loads(line)) for line in text.splitlines() if line.strip())
    table, summary = read(path)
    assert (table.n, summary.spans) == (expected, expected)
    assert expected > 0
    assert (summary.skipped, summary.warnings) == ({}, [])


@pytest.mark.parametrize("name", [name for name, *_ in FILES if name.endswith(SINGLE_SPANS)])
def test_spans_of_jaegers_search_index(name: str):
    assert read(SHARED_TRACES / name)[0].n == (2 if "success" in name else 1)


@pytest.mark.parametrize("name", OTHER)
def test_other_formats_are_named(name: str):
    with pytest.raises(InputError) as caught:
        read(SHARED_TRACES / name)
    assert str(caught.value).startswith(f"{SHARED_TRACES / name}:1: ")
    assert "keys: " in caught.value.message
    assert "OTLP" in caught.value.hint
    for kind, text in (("langfuse", "Langfuse"), ("zipkin2", "Zipkin"), ("openzipkin", "Zipkin")):
        if Path(name).name.startswith(kind):
            assert text in caught.value.message


def test_the_whole_folder():
    table, summary = read(SHARED_TRACES)
    assert summary.files == len(READ) + 3
    assert summary.skipped["file without traces"] == len(OTHER) + 1
    assert table.n == summary.spans > 150
