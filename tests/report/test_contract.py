"""The JSON is the output contract of semantics.md §7, field for field."""

from __future__ import annotations

import csv
import json
from io import StringIO
from types import ModuleType
from typing import Any

from latshift.report.console import Screen
from latshift.report.views import VIEWS, draw
from latshift.results import CheckReport

SPREAD = {"mean": 0, "p50": 0, "p95": 0, "p99": 0}
POINTS = {"p50": 0, "p95": 0, "p99": 0}
LATENCY = {"n": 0, "mean_ms": 0, "p50_ms": 0, "p95_ms": 0, "p99_ms": 0, "interval": {"p50_ms": [0, 0]}}
COUNTS = dict.fromkeys(["files", "bytes", "spans", "traces", "requests", "incomplete"], 0)

CONTRACT: dict[str, dict[str, Any]] = {
    "analysis": {
        "schema": "latshift/analyze/1",
        "input": {**COUNTS, "skipped": {}, "warnings": []},
        "latency": LATENCY,
        "classes": [{"name": "", "share": SPREAD, "path_ms": SPREAD}],
        "components": [
            {"name": "", "class": "", "requests": 0, "spans": 0, "share": SPREAD, "path_ms": SPREAD, "ceiling": POINTS}
        ],
        "groups": [{"root": "", "n": 0, "latency": {"n": 0, "p50_ms": 0}}],
    },
    "forecast": {
        "schema": "latshift/whatif/1",
        "edits": [""],
        "baseline": {"n": 0, "mean_ms": 0, "p50_ms": 0, "p95_ms": 0, "p99_ms": 0},
        "predicted": {"mean_ms": 0, "p50_ms": 0, "p95_ms": 0, "p99_ms": 0, "interval": {"p50_ms": [0, 0]}},
        "gain": SPREAD,
        "amdahl": SPREAD,
        "bottleneck": {"before": "", "after": ""},
        "requests_changed": 0,
        "assumptions": [""],
        "components": [{"name": "", "share_before": SPREAD, "share_after": SPREAD}],
    },
    "paths": {
        "schema": "latshift/path/1",
        "requests": [
            {
                "trace_id": "", "root": "", "duration_ms": 0, "complete": True,
                "segments": [{"span_id": "", "service": "", "name": "", "component": "", "start_ns": 0, "end_ns": 0}],
            }
        ],
    },
    "check_report": {
        "schema": "latshift/check/1",
        "verdict": "",
        "checks": [
            {
                "metric": "", "baseline": 0, "current": 0, "change": 0, "interval": [0, 0], "tolerance": 0,
                "verdict": "", "explanation": "",
            }
        ],
    },
}  # fmt: skip


def assert_like(value: Any, wanted: Any, place: str = "$") -> None:
    """Every field that is wanted is there, with the kind of value that is wanted."""
    if isinstance(wanted, dict):
        assert isinstance(value, dict), place
        for key, inner in wanted.items():
            assert key in value, f"{place}.{key}"
            assert_like(value[key], inner, f"{place}.{key}")
    elif isinstance(wanted, list):
        assert isinstance(value, list), place
        assert not wanted or value, place
        for index, item in enumerate(value if len(wanted) == 1 else []):
            assert_like(item, wanted[0], f"{place}[{index}]")
    elif isinstance(wanted, int) and not isinstance(wanted, bool):
        assert value is None or (isinstance(value, (int, float)) and not isinstance(value, bool)), place
    else:
        assert isinstance(value, type(wanted)), place


def test_every_field_of_the_contract_is_there(examples: ModuleType) -> None:
    for name, wanted in CONTRACT.items():
        text = draw(getattr(examples, name)(), "json", Screen())
        value = json.loads(text)
        assert_like(value, wanted)
        assert value["schema"] == wanted["schema"]
        assert text.isascii()


def test_names_survive_json_untouched(examples: ModuleType) -> None:
    value = json.loads(draw(examples.hostile_analysis(), "json", Screen()))
    assert [component["name"] for component in value["components"]] == list(examples.HOSTILE)


def test_what_only_views_need_is_not_in_the_json(examples: ModuleType) -> None:
    request = examples.paths().to_dict()["requests"][0]
    assert "spans" not in request
    assert "span" not in request["segments"][0]
    assert examples.check_report().to_dict()["checks"][-1]["baseline"] is None


def test_exit_codes_follow_the_verdict() -> None:
    assert CheckReport("pass", ()).exit_code == 0
    assert CheckReport("regression", ()).exit_code == 1
    assert CheckReport("inconclusive", ()).exit_code == 3
    assert CheckReport("inconclusive", (), inconclusive_passes=True).exit_code == 0


def test_every_view_draws_hostile_names(examples: ModuleType) -> None:
    for format in VIEWS["latshift/analyze/1"]:
        text = draw(examples.hostile_analysis(), format, Screen())
        assert "\x1b" not in text
        assert "\u202e" not in text


def test_csv_has_a_row_for_everything(examples: ModuleType) -> None:
    rows = list(csv.DictReader(StringIO(draw(examples.analysis(), "csv", Screen()))))
    kinds = [row["kind"] for row in rows]
    assert {kind: kinds.count(kind) for kind in kinds} == {
        "latency": 1, "class": 3, "component": 9, "phase": 2, "group": 2,
    }  # fmt: skip
    llm = next(row for row in rows if row["name"] == "llm")
    assert (llm["share_p50"], llm["time_ms_p99"], llm["ceiling_p50"]) == ("0.36", "1230.0", "0.36")
    hostile = list(csv.DictReader(StringIO(draw(examples.hostile_analysis(), "csv", Screen()))))
    assert any(row["name"].startswith("'=cmd") for row in hostile)


def test_markdown_tables_have_as_many_cells_as_headings(examples: ModuleType) -> None:
    for name in ("analysis", "hostile_analysis", "forecast", "check_report"):
        text = draw(getattr(examples, name)(), "md", Screen())
        widths: list[int] = []
        for line in text.splitlines():
            if not line.startswith("|"):
                widths = []
                continue
            widths.append(line.replace("\\\\", "").replace("\\|", "").count("|"))
            assert widths[0] == widths[-1], line
