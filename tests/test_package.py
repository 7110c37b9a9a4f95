"""`import latshift`: the functions are there whatever has been imported before."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import latshift
from latshift.errors import EditError

SAMPLE = Path(__file__).parents[1] / "sample_traces" / "2024.otlp.jsonl"


def test_every_name_can_be_called() -> None:
    import_module("latshift.whatif.forecast")
    for name in latshift.__all__:
        assert callable(getattr(latshift, name)), name


def test_questions_can_be_asked_in_any_order() -> None:
    traces = latshift.read(SAMPLE, workers=1)
    first = latshift.rank(traces, by="p50").candidates[0]
    edit = ("speedup", f"{first.name}=2x")
    gain = pytest.approx(first.gain_2x.p50)
    assert latshift.whatif(traces, [edit]).gain.p50 == gain
    assert latshift.curve(traces, first.name, [2]).points[1].gain.p50 == gain
    assert latshift.scenarios(traces, {"twice": [edit]}).scenarios[0].forecast.gain.p50 == gain
    assert latshift.dependencies(traces).requests == latshift.analyze(traces).latency.n
    with pytest.raises(EditError):
        latshift.rank(traces, by="p42")


def test_importing_costs_nothing() -> None:
    code = "import latshift, sys; sys.exit('numpy' in sys.modules or 'polars' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
