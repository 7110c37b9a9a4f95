"""The program as people run it: real processes on the sample traces."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from collections.abc import Callable
from io import StringIO
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SAMPLES = sorted(path for path in (ROOT / "sample_traces").rglob("*.json*") if path.is_file())

pytestmark = [
    pytest.mark.skipif(not SAMPLES, reason="sample_traces holds no traces"),
    pytest.mark.skipif(not (ROOT / "latshift" / "api.py").exists(), reason="the API is not there yet"),
]

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run latshift in an empty directory with a cache of its own."""
    unwanted = ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "TTY_COMPATIBLE")
    environment = {name: value for name, value in os.environ.items() if name not in unwanted}
    paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    environment |= {"XDG_CACHE_HOME": str(tmp_path / "cache"), "PYTHONPATH": paths}
    work = tmp_path / "work"
    work.mkdir()

    def call(
        *args: str | Path, stdin: str | None = None, env: dict[str, str] | None = None, **options: str
    ) -> subprocess.CompletedProcess[str]:
        feed = {"input": stdin} if stdin is not None else {"stdin": subprocess.DEVNULL}
        return subprocess.run(
            [sys.executable, "-m", "latshift", *map(str, args)],
            cwd=options.get("cwd", work), env=environment | (env or {}),
            capture_output=True, encoding="utf-8", timeout=120, check=False, **feed,  # type: ignore[call-overload]
        )  # fmt: skip

    return call


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from latshift.cli.main import main; main(['--help']); main(['analyze', '--help']);"
        "heavy = {'polars', 'numpy', 'networkx', 'pyarrow', 'rich', 'msgspec', 'altair', 'scipy'};"
        "sys.exit(repr(sorted(heavy & set(sys.modules))) if heavy & set(sys.modules) else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_analyze_json_adds_up(run: Run, path: Path) -> None:
    done = run("analyze", path, "--format", "json", "--no-cache")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    value = json.loads(done.stdout)
    assert value["schema"] == "latshift/analyze/1"
    assert value["latency"]["n"] == value["input"]["requests"] - value["input"]["incomplete"] > 0
    for point in ("mean", "p50", "p95", "p99"):
        assert sum(item["share"][point] for item in value["components"]) == pytest.approx(1, abs=1e-9)
        assert sum(item["share"][point] for item in value["classes"]) == pytest.approx(1, abs=1e-9)
    for item in value["components"]:
        assert {"name", "class", "requests", "spans", "share", "path_ms", "ceiling"} <= item.keys()


def test_the_table_is_plain_in_a_pipe(run: Run) -> None:
    done = run("analyze", SAMPLES[0])
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout
    assert "Where the time goes" in done.stdout
    assert run("analyze", SAMPLES[0], "--color", "always").stdout.count("\x1b[") > 10
    assert "\x1b" not in run("analyze", SAMPLES[0], "--color", "never", env={"FORCE_COLOR": "1"}).stdout


def test_the_same_bytes_every_time(run: Run) -> None:
    assert run("analyze", SAMPLES[0]).stdout == run("analyze", SAMPLES[0], "--workers", "1").stdout


def test_markdown_and_csv(run: Run) -> None:
    markdown = run("analyze", SAMPLES[0], "--format", "md")
    assert markdown.returncode == 0
    assert "| component | class | calls |" in markdown.stdout
    rows = list(csv.DictReader(StringIO(run("analyze", SAMPLES[0], "--format", "csv").stdout)))
    assert {"latency", "class", "component"} <= {row["kind"] for row in rows}


def test_standard_input(run: Run) -> None:
    text = SAMPLES[0].read_text(encoding="utf-8")
    piped = run("analyze", "-", "--format", "json", stdin=text)
    named = run("analyze", SAMPLES[0], "--format", "json")
    assert piped.returncode == 0, piped.stderr
    assert json.loads(piped.stdout)["latency"] == json.loads(named.stdout)["latency"]


def test_the_last_analysis_is_remembered(run: Run) -> None:
    missing = run("whatif", "--speedup", "llm=2x")
    assert missing.returncode == 2
    assert len(missing.stderr.splitlines()) == 2
    assert run("analyze", SAMPLES[0]).returncode == 0
    done = run("whatif", "--speedup", "llm=2x", "--format", "json")
    assert done.returncode == 0, done.stderr
    value = json.loads(done.stdout)
    assert value["schema"] == "latshift/whatif/1"
    assert value["predicted"]["p50_ms"] < value["baseline"]["p50_ms"]
    assert len(value["edits"]) == 1
    assert run("whatif", "--speedup", "llm=2x").stdout.startswith("What if")


def test_a_selector_that_matches_nothing(run: Run) -> None:
    done = run("whatif", SAMPLES[0], "--speedup", "lmm=2x")
    assert done.returncode == 2
    assert "llm" in done.stderr
    assert done.stdout == ""


def test_path(run: Run) -> None:
    done = run("path", "--slowest", "2", SAMPLES[0], "--format", "json")
    assert done.returncode == 0, done.stderr
    requests = json.loads(done.stdout)["requests"]
    assert len(requests) == 2
    assert requests[0]["duration_ms"] >= requests[1]["duration_ms"]
    for request in requests:
        segments = request["segments"]
        assert all(a["end_ns"] == b["start_ns"] for a, b in pairwise(segments))
        assert (segments[-1]["end_ns"] - segments[0]["start_ns"]) / 1e6 == pytest.approx(request["duration_ms"])
    shown = run("path", requests[0]["trace_id"], SAMPLES[0])
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.startswith(f"Trace {requests[0]['trace_id']}\n")
    assert "on the critical path" in shown.stdout
    unknown = run("path", "ffffffffffffffffffffffffffffffff", SAMPLES[0])
    assert unknown.returncode == 2
    assert "ffffffffffffffffffffffffffffffff" in unknown.stderr


def test_check_against_itself_passes(run: Run) -> None:
    done = run("check", SAMPLES[0], "--baseline", SAMPLES[0], "--format", "json", "--on-inconclusive", "pass")
    assert done.returncode == 0, done.stderr
    value = json.loads(done.stdout)
    assert value["schema"] == "latshift/check/1"
    assert all(check["verdict"] != "regression" for check in value["checks"])


def test_a_saved_baseline_works_like_its_traces(run: Run) -> None:
    assert run("analyze", SAMPLES[0], "--save", "base.latshift").returncode == 0
    done = run("check", SAMPLES[0], "--baseline", "base.latshift", "--on-inconclusive", "pass")
    assert done.returncode == 0, done.stderr


def test_components(run: Run) -> None:
    done = run("components", SAMPLES[0])
    assert done.returncode == 0, done.stderr
    assert "put there by" in done.stdout
    assert json.loads(run("components", SAMPLES[0], "--format", "json").stdout)["schema"] == "latshift/components/1"


@pytest.mark.parametrize(
    "args", [["analyze", "no-such-file.json"], ["analyze", "bad.json"], ["analyze", "empty.json"], ["analyze"]]
)
def test_bad_input_is_2_and_two_lines(run: Run, tmp_path: Path, args: list[str]) -> None:
    (tmp_path / "work" / "bad.json").write_text('{"resourceSpans": [{"scopeSpans": "x"')
    (tmp_path / "work" / "empty.json").write_text("")
    done = run(*args)
    assert done.returncode == 2
    assert done.stdout == ""
    assert 1 <= len(done.stderr.splitlines()) <= 2
    assert "Traceback" not in done.stderr


def test_a_reader_that_goes_away_is_no_failure(run: Run, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "latshift", "analyze", str(SAMPLES[0]), "--no-cache"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait(120) == 0
