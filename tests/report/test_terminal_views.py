"""The terminal views: nothing breaks them, nothing is wider than the terminal, nothing is lost in a pipe."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from types import ModuleType

import pytest
from rich.cells import cell_len

from latshift.report.console import ASCII, Screen
from latshift.report.views import draw
from latshift.results import Analysis, Latency, Paths, Result, RuleHit
from latshift.skipped import input_doubts
from latshift.spans import InputSummary

RESULTS = ("analysis", "hostile_analysis", "paths", "forecast", "check_report", "listing")
ANSI = re.compile(r"\x1b\[[0-9;]*m")


def result_of(examples: ModuleType, name: str) -> Result:
    made = getattr(examples, name)()
    assert isinstance(made, Result)
    return made


@pytest.mark.parametrize("name", RESULTS)
@pytest.mark.parametrize("width", [80, 140])
def test_nothing_is_wider_than_the_terminal(examples: ModuleType, name: str, width: int) -> None:
    text = draw(result_of(examples, name), "table", Screen(width, cut=True))
    # A single word in running text stays whole: names that people may want to copy.
    wide = [line for line in text.splitlines() if cell_len(line) > width and " " in line.strip()]
    assert wide == []


@pytest.mark.parametrize("name", RESULTS)
def test_without_colour_there_are_only_printable_characters(examples: ModuleType, name: str) -> None:
    text = draw(result_of(examples, name), "table", Screen())
    assert all(line.isprintable() for line in text.split("\n"))
    assert all(line == line.rstrip() for line in text.split("\n"))


@pytest.mark.parametrize("name", RESULTS)
def test_colour_adds_escapes_and_nothing_else_odd(examples: ModuleType, name: str) -> None:
    text = draw(result_of(examples, name), "table", Screen(80, cut=True, colour=True))
    assert ANSI.search(text)
    assert all(line.isprintable() for line in ANSI.sub("", text).split("\n"))


@pytest.mark.parametrize("name", ["analysis", "forecast", "check_report"])
def test_ascii_only_where_the_terminal_has_nothing_else(examples: ModuleType, name: str) -> None:
    assert draw(result_of(examples, name), "table", Screen(glyphs=ASCII)).isascii()


def test_what_bounds_p50_and_p99_is_said_first(examples: ModuleType) -> None:
    text = draw(examples.analysis(), "table", Screen())
    assert "llm (model, 36%) bounds p50, and p99 too (57%)" in text
    assert text.index("bounds p50") < text.index("by class") < text.index("by component")
    components = (replace(examples.COMPONENTS[1], share=replace(examples.COMPONENTS[1].share, p50=0.5)),)
    moved = examples.analysis(components + examples.COMPONENTS[:1])
    assert "p50 is bound by retrieval (non-model, 50%), p99 by llm (model, 57%)." in draw(moved, "table", Screen())


def test_the_table_has_shares_path_times_calls_ceilings_and_phases(examples: ModuleType) -> None:
    lines = draw(examples.analysis(), "table", Screen(80, cut=True)).splitlines()
    row = next(line for line in lines if line.startswith("database/po"))
    assert row.split()[1:] == ["18%", "14%", "10%", "72.0", "ms", "175", "ms", "230", "ms", "14", "18%", "14%", "10%"]
    assert any(line.startswith("  prefill ") for line in lines)
    assert any(line.startswith("  retries est.") for line in lines)


def test_names_are_whole_in_a_pipe(examples: ModuleType) -> None:
    long = "a-rather-long-component-name/with-a-refinement-of-it"
    analysis = examples.analysis((replace(examples.COMPONENTS[0], name=long),))
    assert long in draw(analysis, "table", Screen())
    assert long not in draw(analysis, "table", Screen(80, cut=True))


def test_doubts_and_skips_are_said_once(examples: ModuleType) -> None:
    text = " ".join(draw(examples.analysis(), "table", Screen()).split())
    assert "skipped: duplicate span 12" in text
    assert "3 incomplete requests of 2,003" in text
    assert "214 spans end after their parent" in text


def test_an_empty_analysis_is_drawn() -> None:
    nan = math.nan
    empty = Analysis(InputSummary(files=1), Latency(0, nan, nan, nan, nan), (), ())
    assert draw(empty, "table", Screen()).startswith("latshift · 0 requests")
    assert '"p50_ms": null' in draw(empty, "json", Screen())
    for format in ("md", "csv"):
        draw(empty, format, Screen())


def test_the_waterfall(examples: ModuleType) -> None:
    text = draw(Paths((examples.request_path(),)), "table", Screen(glyphs=ASCII))
    lines = {line[:30].strip(): line for line in text.splitlines()}
    assert "x14 SELECT orders" in lines
    assert lines["x14 SELECT orders"].split()[-1] == "#####"
    assert set(lines["prefetch profile"].split()[-1]) == {"."}
    assert "llm 530 ms (53%)" in " ".join(text.split())


def test_a_forecast_says_amdahl_bottleneck_and_assumptions(examples: ModuleType) -> None:
    text = draw(examples.forecast(), "table", Screen())
    assert "What if  --speedup llm=2x\n         --parallelize retrieval,feature-store\n" in text
    assert re.search(r"p99 +2\.10 s → 1\.35 s +1\.20–1\.56 s +−35\.8% .* −28\.5%", text)
    assert "The bottleneck moves from llm to retrieval." in text
    assert "- queue waits are kept as recorded" in text


def test_a_check_shows_the_verdict_first_and_why(examples: ModuleType) -> None:
    text = draw(examples.check_report(), "table", Screen())
    assert text.startswith("✗ regression: 1 of 5 checks failed\n")
    assert re.search(r"✓ latency\.p95 +≤ 1\.50 s +1\.31 s", text)
    assert "the model's part is −4 ms" in text


def test_a_warning_does_not_look_like_a_failure(examples: ModuleType) -> None:
    report = examples.check_report()
    warnings = tuple(replace(check, level="warn") for check in report.checks)
    text = draw(replace(report, verdict="pass", checks=warnings), "table", Screen())
    assert text.startswith("✓ pass: 5 checks, 1 could not be decided, 1 only warned\n")
    assert "! non-model.path.p95" in text


def test_components_come_with_rules_to_paste(examples: ModuleType) -> None:
    text = draw(examples.listing(), "table", Screen())
    assert '\n[[rules]]\nname = "rank_documents"\ncomponent = "rerank"\n' in text


@pytest.mark.parametrize("width", [60, 80, 100])
def test_a_metric_is_never_shortened(examples: ModuleType, width: int) -> None:
    text = draw(examples.check_report(), "table", Screen(width, cut=True))
    for check in examples.check_report().checks:
        assert re.search(rf"^. {re.escape(check.metric)} ", text, re.MULTILINE)


def test_a_gain_if_free_is_never_called_just_a_gain(examples: ModuleType) -> None:
    for width in (60, 80, 100, 140):
        head = next(
            line
            for line in draw(examples.analysis(), "table", Screen(width, cut=True)).splitlines()
            if "path time" in line and "─" in line
        )
        assert "if free" in head


def test_what_was_skipped_is_said_by_a_check(examples: ModuleType) -> None:
    doubts = (*input_doubts({"line cut off": 2}), *input_doubts({"duplicate span": 1_000}, "baseline: "))
    report = replace(examples.check_report(), doubts=doubts)
    for format in ("table", "md", "json"):
        text = " ".join(draw(report, format, Screen()).split())
        assert "skipped: line cut off 2" in text
        assert "baseline: skipped: duplicate span 1,000" in text


def test_examples_of_a_rule_are_cut_between_words(examples: ModuleType) -> None:
    listing = examples.listing()
    hit = RuleHit("gen_ai.operation.name=chat", 2050, "chat completion of a rather long-winded model")
    listing = replace(listing, components=(replace(listing.components[0], rules=(hit,)),))
    text = draw(listing, "table", Screen(80, cut=True))
    assert "gen_ai.operation.name=chat" in text
    assert "chat completion…" in text
