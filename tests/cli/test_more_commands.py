"""rank, dependencies, whatif --curve and whatif --scenario, from the command line to their output."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from latshift.cli.main import main

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "sample_traces" / "2024.otlp.jsonl"

PLAN = """
[[scenario]]
name = "faster model"
edits = ["--speedup llm=2x"]

[[scenario]]
name = "slower model"
edits = ["--add-latency llm=50ms", "--speedup llm=0.5x"]
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in an empty folder, with a cache of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LATSHIFT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("COLUMNS", raising=False)


def run(capsys: pytest.CaptureFixture[str], *args: str | Path) -> str:
    code = main([*map(str, args), str(SAMPLE), "--workers", "1"])
    out, err = capsys.readouterr()
    assert (code, err) == (0, "")
    return out


def as_json(capsys: pytest.CaptureFixture[str], *args: str | Path) -> Any:
    return json.loads(run(capsys, *args, "--format", "json"))


def test_rank(capsys: pytest.CaptureFixture[str]) -> None:
    value = as_json(capsys, "rank", "--by", "p99")
    assert (value["schema"], value["by"]) == ("latshift/rank/1", "p99")
    gains = [item["gain_2x"]["p99"] for item in value["candidates"]]
    assert gains == sorted(gains, reverse=True)
    assert gains[0] > 0
    assert {"name", "kind", "class", "share", "gain_2x", "gain_inf", "saved_per_10ms"} <= value["candidates"][0].keys()
    table = run(capsys, "rank")
    assert table.startswith("What to improve for p95 · ")
    assert "\x1b" not in table
    assert run(capsys, "rank", "--format", "md").startswith("## What to improve for p95\n")


def test_curve(capsys: pytest.CaptureFixture[str]) -> None:
    value = as_json(capsys, "whatif", "--curve", "llm")
    assert (value["schema"], value["selector"]) == ("latshift/curve/1", "llm")
    twice = next(point for point in value["points"] if point["speedup"] == "2x")
    assert twice["gain"] == pytest.approx(as_json(capsys, "whatif", "--speedup", "llm=2x")["gain"])
    assert value["asymptote"] == value["points"][-1]["gain"]
    assert run(capsys, "whatif", "--curve", "llm").startswith("What if llm were faster · ")
    assert run(capsys, "whatif", "--curve", "llm", "--format", "md").startswith("## What if llm were faster\n")


def test_scenarios(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(PLAN)
    value = as_json(capsys, "whatif", "--scenario", "plan.toml")
    assert value["schema"] == "latshift/scenarios/1"
    faster, slower = (item["forecast"] for item in value["scenarios"])
    assert faster["gain"]["p50"] > 0 > slower["gain"]["p50"]
    assert slower["edits"] == ["--add-latency llm=50ms", "--speedup llm=0.5x"]
    assert "slower model" in run(capsys, "whatif", "--scenario", "plan.toml")
    assert "| faster model |" in run(capsys, "whatif", "--scenario", "plan.toml", "--format", "md")


def test_dependencies_in_every_format(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    value = as_json(capsys, "dependencies")
    assert value["schema"] == "latshift/dependencies/1"
    assert any(link["verdict"] == "waits" for link in value["components"])
    starts = {"table": "Who waits for whom", "dot": "digraph", "mermaid": "flowchart LR", "graphml": "<graphml"}
    for format, start in starts.items():
        assert run(capsys, "dependencies", "--format", format).startswith(start)
    args = ["dependencies", str(SAMPLE), "-q", "-o", "d.dot", "-o", "d.gv", "-o", "d.mmd", "-o", "d.graphml"]
    assert main([*args, "-o", "d.json", "-o", "d.txt"]) == 0
    assert (tmp_path / "d.gv").read_text() == (tmp_path / "d.dot").read_text()
    assert (tmp_path / "d.mmd").read_text().startswith("flowchart LR")


def test_the_last_traces_are_used_without_a_path(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyze", str(SAMPLE)]) == 0
    for args in (["rank"], ["dependencies"], ["whatif", "--curve", "llm"]):
        assert main(args) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["rank", "--by", "p42"], "p42"),
        (["rank", "--format", "dot"], "dot"),
        (["rank", "-o", "r.dot"], "cannot tell the format"),
        (["dependencies", "-o", "d.md"], "cannot tell the format"),
        (["whatif", "--curve", "lmm"], "selector 'lmm' matches no span"),
        (["whatif", "--curve", "llm", "--speedup", "llm=2x"], "a change and --curve are two questions"),
        (["whatif", "--curve", "llm", "--scenario", "plan.toml"], "--curve and --scenario are two questions"),
        (["whatif", "--scenario", "none.toml"], "none.toml: cannot be read"),
        (["whatif", "--scenario", "bad.toml"], "there is no edit '--sped'"),
        (["whatif", "--scenario", "plan.toml", "-o", "plan.toml", "--format", "json"], "is one of the inputs"),
        (["whatif", "--scenario", "plan.json", "-o", "plan.json"], "is one of the inputs"),
    ],
)
def test_bad_usage_is_2_and_two_lines(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, args: list[str], message: str
) -> None:
    (tmp_path / "plan.toml").write_text(PLAN)
    (tmp_path / "plan.json").write_text(PLAN)
    (tmp_path / "bad.toml").write_text('[[scenario]]\nname = "a"\nedits = ["--sped llm=2x"]\n')
    assert main([*args, str(SAMPLE)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert 1 <= len(err.splitlines()) <= 2
    assert (tmp_path / "plan.json").read_text() == PLAN


def test_help_shows_examples_and_imports_nothing_heavy() -> None:
    code = (
        "import sys; from latshift.cli.main import main; main(['rank', '-h']); main(['dependencies', '-h']);"
        "heavy = {'polars', 'numpy', 'networkx', 'pyarrow', 'rich', 'msgspec'};"
        "sys.exit(repr(sorted(heavy & set(sys.modules))) if heavy & set(sys.modules) else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Examples:\n  latshift rank traces.jsonl\n" in done.stdout
    assert "Examples:\n  latshift dependencies traces.jsonl\n" in done.stdout
