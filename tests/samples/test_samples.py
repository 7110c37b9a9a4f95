"""The sample traces are small, and are what their script writes."""

from __future__ import annotations

import gzip
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "sample_traces"
FILES = ("2024.otlp.jsonl", "2026.jaeger.json", "2026.otlp.jsonl.gz")


def content(path: Path) -> bytes:
    # Compressors differ between builds of Python; what they hold may not.
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def test_the_samples_are_there_and_small() -> None:
    sizes = [(FOLDER / name).stat().st_size for name in FILES]
    assert min(sizes) > 0
    assert sum(sizes) < 2_000_000


def test_there_is_a_line_for_every_batch_and_traces_are_spread_over_lines() -> None:
    lines = content(FOLDER / "2024.otlp.jsonl").splitlines()
    assert len(lines) > 10
    traces = [{part[:32] for part in line.split(b'"traceId":"')[1:]} for line in lines]
    assert any(first & second for first, second in pairwise(traces))


def test_the_script_writes_them_again_byte_for_byte(tmp_path: Path) -> None:
    pytest.importorskip("opentelemetry.sdk.trace")
    pytest.importorskip("opentelemetry.exporter.otlp.json.file")
    subprocess.run([sys.executable, "-B", FOLDER / "make_samples.py", tmp_path], check=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(FILES)
    for name in FILES:
        assert content(tmp_path / name) == content(FOLDER / name), name
