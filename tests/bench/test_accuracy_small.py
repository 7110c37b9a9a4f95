"""The accuracy benchmark on a few programs with little traffic: it runs, repeats itself, and latshift is right."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("opentelemetry.exporter.otlp.json.file")

from bench.accuracy import report
from bench.accuracy.measure import measure
from bench.accuracy.programs import PROGRAMS
from bench.accuracy.world import run

BY_NAME = {program.name: program for program in PROGRAMS}
FEW = 0.1


def test_there_are_many_programs_with_unique_names():
    assert len(BY_NAME) == len(PROGRAMS) >= 25
    assert all(program.cases for program in PROGRAMS)


def test_the_programs_know_nothing_of_latshift():
    folder = Path(report.__file__).parent
    for file in [*folder.glob("programs/*.py"), folder / "world.py", folder / "telemetry.py", folder / "truth.py"]:
        assert "import latshift" not in file.read_text() and "from latshift" not in file.read_text(), file


def test_every_change_names_steps_of_its_program():
    for program in PROGRAMS:
        for case in program.cases:
            assert {*case.change.scale, *case.change.extra_ms} <= set(program.steps), (program.name, case.text)


def test_a_run_repeats_and_its_root_spans_last_as_long_as_its_requests(tmp_path):
    program = BY_NAME["services-publish"]
    file = tmp_path / "traces.jsonl"
    latency = run(program, requests=20, export=file)
    assert latency == run(program, requests=20)
    spans = [
        span
        for line in file.read_text().splitlines()
        for resource in json.loads(line)["resourceSpans"]
        for scope in resource["scopeSpans"]
        for span in scope["spans"]
    ]
    roots = [span for span in spans if not span.get("parentSpanId")]
    assert sorted(latency) == sorted(int(span["endTimeUnixNano"]) - int(span["startTimeUnixNano"]) for span in roots)


@pytest.mark.parametrize("name", ["rag-wrapped", "join-partial", "pool-inside"])
def test_predictions_match_the_changed_programs(name, tmp_path):
    outcomes = measure(name, tmp_path, FEW, weeks=0)
    for outcome in outcomes:
        assert outcome.problem == ""
        assert max(map(abs, outcome.errors)) < 0.5, outcome.case.text
    printed = "\n".join([*report.table(outcomes), *report.summary(outcomes)])
    assert f"1 programs, {len(outcomes)} changes" in printed
