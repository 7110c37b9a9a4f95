from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from latshift.config import Budget, Config
from latshift.errors import InputError
from latshift.forest import build
from latshift.gate import gate, sample_of, save_sample
from latshift.paths import find_paths
from latshift.spans import InputSummary
from latshift.traceset import TraceSet
from latshift.whatif.curves import curve
from latshift.whatif.forecast import forecast
from latshift.whatif.orders import dependency_graph
from latshift.whatif.ranking import rank
from latshift.whatif.scenarios import Scenario, compare
from tests.tiny import spans

MS = 1_000_000


def traces(requests: int, model: int, config: Config | None = None) -> TraceSet:
    """Requests of an app that asks a database and then a model:

    R  |------------------------|   0..(60 + model)
    D     |----|                    10..50
    M             |----------|      50..(50 + model)
    """
    lines = [
        f"R{at} 0-{60 + model} trace=t{at:03} service=api name=ask server;"
        f"D{at}<R{at} 10-50 trace=t{at:03} service=api db_system=postgresql client;"
        f"M{at}<R{at} 50-{50 + model} trace=t{at:03} service=api operation=chat client"
        for at in range(requests)
    ]
    summary = InputSummary()
    return TraceSet(build(spans(";".join(lines), MS), summary), summary, config=config or Config())


def test_a_run_is_made_of_the_requests_that_count():
    sample = sample_of(traces(3, 100))
    assert sample.trace_ids == ["t000", "t001", "t002"]
    assert sample.group_names() == ["api ask"]
    assert np.array_equal(sample.time.sum(axis=1), sample.duration)
    assert {part.name: time for part, time in zip(sample.parts, sample.time[0].tolist(), strict=True)} == {
        "app": 20 * MS,
        "database": 40 * MS,
        "llm": 100 * MS,
    }


def test_traces_and_saved_runs_make_the_same_baseline(tmp_path: Path):
    before, now = traces(60, 100), traces(60, 150)
    save_sample(sample_of(before), tmp_path / "b")
    report = gate(now, tmp_path / "b")
    assert report.verdict == "regression"
    assert "all of it" in report.checks[0].explanation or "of which llm +50.0 ms" in report.checks[0].explanation
    assert gate(now, before).to_dict() == gate(now, [tmp_path / "b"]).to_dict() == report.to_dict()


def test_budgets_come_from_the_configuration():
    config = Config(budgets=(Budget(metric="llm", percentile=[50], max_ms=90.0),))
    report = gate(traces(30, 100, config))
    assert [(item.metric, item.verdict, item.current) for item in report.checks] == [
        ("llm.path.p50", "regression", 100)
    ]


def test_a_saved_run_stands_alone(tmp_path: Path):
    save_sample(sample_of(traces(3, 100)), tmp_path / "b")
    with pytest.raises(InputError, match="cannot be joined"):
        gate(traces(3, 100), [tmp_path / "b", tmp_path / "other.jsonl"])


def test_what_was_skipped_on_either_side_is_said(tmp_path: Path):
    before, now = traces(60, 100), traces(60, 100)
    before.input.skip("line cut off", 2)
    now.input.skip("duplicate span", 7)
    save_sample(sample_of(before), tmp_path / "b")
    for baseline in (before, tmp_path / "b"):
        said = [doubt.text for doubt in gate(now, baseline).doubts if doubt.code == "skipped"]
        assert said == ["skipped: duplicate span 7", "baseline: skipped: line cut off 2"]


def test_replays_and_paths_say_what_was_skipped():
    run = traces(30, 100)
    run.input.skip("line cut off", 2)
    results = [
        find_paths(run), forecast(run, [("speedup", "llm=2x")]), rank(run), curve(run, "llm"), dependency_graph(run),
        compare(run, [Scenario("faster", (("speedup", "llm=2x"),))]),
    ]  # fmt: skip
    for result in results:
        assert [doubt.text for doubt in result.doubts if doubt.code == "skipped"] == ["skipped: line cut off 2"]
