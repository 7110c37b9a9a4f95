"""Arguments, exit codes and files: what the command line does before and after the work, which is faked here."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import latshift
from latshift.cli.main import main
from latshift.cli.path import split
from latshift.cli.values import duration_ms, time_ns
from latshift.errors import InputError, LatshiftError
from latshift.results import Analysis, CheckReport, Latency, Paths
from latshift.spans import InputSummary

NUMBERS = Latency(3, 2.0, 2.0, 3.0, 3.0)


class FakeTraces:
    """Traces that only remember how they were narrowed."""

    def __init__(self) -> None:
        self.changes: dict[str, object] = {}

    def narrowed(self, **changes: object) -> FakeTraces:
        """Remember the changes."""
        self.changes = changes
        return self


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, Any]:
    """Replace `latshift.api` by one that notes its calls; `calls["raise"]` is raised by reading."""
    noted: dict[str, Any] = {"verdict": "pass"}

    def note(name: str, result: Any) -> Any:
        def call(*args: Any, **options: Any) -> Any:
            noted[name] = (args, options)
            if name in noted.get("raise", {}):
                raise noted["raise"][name]
            return result() if callable(result) else result

        return call

    api = SimpleNamespace(
        read=note("read", FakeTraces()),
        analyze=note("analyze", Analysis(InputSummary(files=1), NUMBERS, (), ())),
        find_paths=note("find_paths", Paths(())),
        whatif=note("whatif", Analysis(InputSummary(files=1), NUMBERS, (), ())),
        check=note("check", lambda: CheckReport(noted["verdict"], ())),
        load_last=note("load_last", FakeTraces()),
        save_last=note("save_last", None),
        save_baseline=note("save_baseline", None),
    )
    monkeypatch.setitem(sys.modules, "latshift.api", api)
    monkeypatch.setattr(latshift, "api", api, raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.json").write_text("{}")
    return noted


def test_edits_keep_their_order_across_options(calls: dict[str, Any]) -> None:
    edits = ["--speedup", "llm=2x", "--remove=audit", "--speedup", "auth=inf", "--add-latency", "db=5ms"]
    assert main(["whatif", *edits, "a.json"]) == 0
    assert calls["whatif"][0][1] == [
        ("speedup", "llm=2x"),
        ("remove", "audit"),
        ("speedup", "auth=inf"),
        ("add-latency", "db=5ms"),
    ]


def test_whatif_without_an_edit_is_an_error(calls: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["whatif", "a.json"]) == 2
    assert capsys.readouterr().err.splitlines() == [
        "latshift: no change to predict",
        "  hint: add one, for example --speedup llm=2x",
    ]


def test_reading_options_reach_the_api(calls: dict[str, Any]) -> None:
    options = ["--root", "a*", "--fix-skew", "5ms", "--async", "none", "--async-overflow", "drop", "--workers", "2"]
    options += ["--model-components", "llm, embedding", "--since", "1700000000", "--include-incomplete"]
    assert main(["analyze", "a.json", *options]) == 0
    given = calls["read"][1]
    assert (given["root"], given["fix_skew_ms"], given["asynchronous"], given["overflow"]) == (
        "a*",
        5.0,
        "none",
        "drop",
    )
    assert given["model_components"] == ["llm", "embedding"]
    assert given["since"] == 1_700_000_000_000_000_000
    assert (given["until"], given["workers"], given["include_incomplete"]) == (None, 2, True)


def test_commands_without_a_path_use_what_was_last_analysed(
    calls: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["path", "--slowest", "2", "--root", "x"]) == 0
    assert calls["find_paths"][1] == {"trace_id": None, "slowest": 2}
    assert calls["find_paths"][0][0].changes == {"root": "x"}
    assert "read" not in calls
    assert main(["path", "--fix-skew", "1ms"]) == 2
    assert "--fix-skew has no effect on traces that are already read" in capsys.readouterr().err


def test_analyze_keeps_the_traces_unless_told_not_to(calls: dict[str, Any]) -> None:
    assert main(["analyze", "a.json", "--no-cache"]) == 0
    assert "save_last" not in calls
    assert main(["analyze", "a.json"]) == 0
    assert "save_last" in calls


def test_a_full_disk_does_not_fail_the_analysis(calls: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    calls["raise"] = {"save_last": OSError(28, "No space left on device")}
    assert main(["analyze", "a.json"]) == 0
    assert "No space left on device (--no-cache avoids this)" in capsys.readouterr().err


@pytest.mark.parametrize(("verdict", "code"), [("pass", 0), ("regression", 1), ("inconclusive", 3)])
def test_the_gate_s_verdict_is_the_exit_code(calls: dict[str, Any], verdict: str, code: int) -> None:
    calls["verdict"] = verdict
    assert main(["check", "a.json", "--baseline", "a.json", "--baseline", "b.json"]) == code
    assert calls["check"][1] == {"baseline": ["a.json", "b.json"], "on_inconclusive": "fail"}


@pytest.mark.parametrize(
    ("error", "code", "first"),
    [
        (InputError("a.json:3: not JSON", "look at it"), 2, "latshift: a.json:3: not JSON"),
        (ValueError("odd\x1b[2J"), 101, "latshift: internal error: ValueError: odd\\x1b[2J"),
        (MemoryError(), 2, "latshift: not enough memory for this input"),
        (KeyboardInterrupt(), 130, ""),
    ],
)
def test_errors_are_two_lines_and_a_code(
    calls: dict[str, Any], capsys: pytest.CaptureFixture[str], error: BaseException, code: int, first: str
) -> None:
    calls["raise"] = {"read": error}
    assert main(["analyze", "a.json"]) == code
    lines = capsys.readouterr().err.splitlines()
    assert lines[:1] == ([first] if first else [])
    assert len(lines) == (2 if first else 0)


def test_debug_shows_the_traceback(calls: dict[str, Any]) -> None:
    calls["raise"] = {"read": ValueError("odd")}
    with pytest.raises(ValueError, match="odd"):
        main(["analyze", "a.json", "--debug"])


@pytest.mark.parametrize(
    "args",
    [
        [],
        ["analyse", "a.json"],
        ["analyze", "--nope"],
        ["analyze", "a.json", "--format", "pdf"],
        ["analyze", "a.json", "--workers", "0"],
        ["analyze", "a.json", "--since", "yesterday"],
        ["analyze", "a.json", "--fix-skew", "5"],
        ["analyze", "a.json", "-o", "report.pdf"],
        ["analyze", "a.json", "-o", "none/report.md"],
        ["analyze", "a.json", "-o", "a.json"],
        ["analyze", "a.json", "-o", "r.csv", "--format", "md"],
        ["analyze", ".", "-o", "./a.json"],
        ["analyze", "*.json", "--save", "a.json"],
        ["path", "--slowest", "0"],
    ],
)
def test_usage_errors_are_2(calls: dict[str, Any], capsys: pytest.CaptureFixture[str], args: list[str]) -> None:
    assert main(args) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err
    assert "Traceback" not in err
    assert Path("a.json").read_text() == "{}"


def test_nothing_to_read_from_a_terminal(
    calls: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdin", terminal)
    assert main(["analyze"]) == 2
    assert "no traces given" in capsys.readouterr().err


def test_files_are_written_whole_with_their_format(calls: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    Path("r.md").write_text("old")
    Path("r.md").chmod(0o640)
    assert main(["analyze", "a.json", "-o", "r.md", "-o", "r.json", "-o", "r.csv", "-o", "r.txt", "-o", "-"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("latshift · 3 requests")
    assert "wrote r.json" in err
    assert Path("r.md").read_text().startswith("## Latency of 3 requests")
    assert Path("r.md").stat().st_mode & 0o777 == 0o640
    assert Path("r.json").read_text().startswith('{\n  "schema": "latshift/analyze/1"')
    assert Path("r.csv").read_text().startswith("kind,name,class")
    assert sorted(path.name for path in Path().iterdir()) == ["a.json", "r.csv", "r.json", "r.md", "r.txt"]
    assert main(["analyze", "a.json", "-q", "-o", "odd.ending", "--format", "json"]) == 0
    assert capsys.readouterr() == ("", "")
    assert Path("odd.ending").read_text().startswith("{")
    assert main(["analyze", "a.json", "-q", "-o", "/dev/null"]) == 0
    assert main(["analyze", "a.json", "-q", "-o", "r.csv", "-o", "-", "--format", "md"]) == 0
    assert capsys.readouterr().out.startswith("## Latency of 3 requests")


def test_the_trace_id_is_told_from_the_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.json").write_text("{}")
    assert split(["4bf92f", "a.json"]) == ("4bf92f", ["a.json"])
    assert split(["a.json"]) == (None, ["a.json"])
    assert split(["*.json"]) == (None, ["*.json"])
    assert split(["missing.jsonl"]) == (None, ["missing.jsonl"])
    assert split(["-"]) == (None, ["-"])
    assert split([]) == (None, [])


@pytest.mark.parametrize(
    ("text", "ns"),
    [
        ("1700000000", 1_700_000_000_000_000_000),
        ("1700000000.000000001", 1_700_000_000_000_000_001),
        ("1700000000123", 1_700_000_000_123_000_000),
        ("1700000000123456789", 1_700_000_000_123_456_789),
        ("2023-11-14T22:13:20Z", 1_700_000_000_000_000_000),
        ("2023-11-14 23:13:20+01:00", 1_700_000_000_000_000_000),
        ("20231114T221320", 1_700_000_000_000_000_000),
        ("20231114", 1_699_920_000_000_000_000),
    ],
)
def test_points_in_time(text: str, ns: int) -> None:
    assert time_ns(text, "--since") == ns


def test_durations() -> None:
    assert [duration_ms(text, "x") for text in ("5ms", "1.5 s", "500us", "2min")] == [5.0, 1500.0, 0.5, 120_000.0]
    for text in ("5", "ms", "-5ms", "5 parsecs", "1e3ms"):
        with pytest.raises(LatshiftError, match="not a duration"):
            duration_ms(text, "--fix-skew")


def test_help_has_examples_and_no_odd_types(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("analyze", "path", "whatif", "check", "components"):
        assert main([command, "-h"]) == 0
        out = capsys.readouterr().out
        assert f"\nExamples:\n  latshift {command} " in out
        assert "<list[str]>" not in out
        assert "...]..." not in out
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    assert "Exit codes: 0 ok, 1 gate failed" in out
    assert "..." not in out.partition("Commands:")[2]
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("latshift ")
