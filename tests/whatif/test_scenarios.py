"""Scenario files: what is read, what is refused, and that a scenario is the forecast of its edits."""

from __future__ import annotations

from pathlib import Path

import pytest

from latshift.errors import ConfigError, EditError
from latshift.forest import build
from latshift.spans import InputSummary
from latshift.traceset import TraceSet
from latshift.whatif.forecast import forecast
from latshift.whatif.scenarios import Scenario, compare, load
from tests.tiny import spans

PLAN = """
[[scenario]]
name = "faster model"
edits = ["--speedup llm=2x"]

[[scenario]]
name = "both"
edits = ["--speedup  llm=2x", "--parallelize auth,llm"]
"""


@pytest.fixture
def traces() -> TraceSet:
    summary = InputSummary()
    text = ";".join(
        f"r{q} 0-100 trace=t{q} name=POST server;a{q}<r{q} 0-40 trace=t{q} name=auth.check client;"
        f"l{q}<r{q} 40-100 trace=t{q} name=chat operation=chat client"
        for q in range(5)
    )
    return TraceSet(build(spans(text, 1_000_000), summary), summary)


def written(folder: Path, text: str) -> Path:
    file = folder / "plan.toml"
    file.write_text(text, "utf-8")
    return file


def test_edits_are_composed_in_order(tmp_path: Path, traces: TraceSet) -> None:
    found = compare(traces, load(written(tmp_path, PLAN)))
    assert [item.name for item in found.scenarios] == ["faster model", "both"]
    both = found.scenarios[1].forecast
    assert both == forecast(traces, [("speedup", "llm=2x"), ("parallelize", "auth,llm")])
    assert both.edits == ("--speedup llm=2x", "--parallelize auth,llm")
    assert both.predicted.p50_ms == pytest.approx(40)
    assert found.baseline == both.baseline
    value = found.to_dict()
    assert value["schema"] == "latshift/scenarios/1"
    assert value["scenarios"][0]["forecast"]["gain"]["p95"] == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("", "holds no scenario", "[[scenario]]"),
        ("[[scenarios]]\nname='a'\nedits=['--remove a']", "unknown key 'scenarios'", "did you mean 'scenario'?"),
        ("[[scenario]]\nname='a'\nedit=['--remove a']", "unknown key 'scenario[0].edit'", "did you mean 'edits'?"),
        ("[[scenario]]\nname='a'", "missing required field `edits`", ""),
        ("[[scenario]]\nname='a'\nedits=[]", "scenario[0].edits: is empty", "--speedup"),
        ("[[scenario]]\nname='a'\nedits='--remove a'", "expected `array`, got `str`", ""),
        ("[[scenario]]\nname=' '\nedits=['--remove a']", "scenario[0].name: is empty", ""),
        ("[[scenario]]\nname='a'\nedits=['speedup llm=2x']", "'speedup llm=2x' is not an edit", "command line"),
        ("[[scenario]]\nname='a'\nedits=['--speedup']", "'--speedup' is not an edit", "command line"),
        ("[[scenario]]\nname='a'\nedits=['--sped llm=2x']", "there is no edit '--sped'", "did you mean --speedup?"),
        ("[[scenario]]\nname='a'\nedits=['--zzz llm=2x']", "there is no edit '--zzz'", "edits are --speedup"),
        (PLAN + PLAN, "'faster model' is taken", ""),
        ("name = ", "not TOML", ""),
    ],
)
def test_bad_files_are_refused(tmp_path: Path, text: str, message: str, hint: str) -> None:
    with pytest.raises(ConfigError) as error:
        load(written(tmp_path, text))
    assert message.lower() in error.value.message.lower()
    assert "plan.toml" in error.value.message
    assert hint in error.value.hint


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.toml: cannot be read"):
        load(tmp_path / "none.toml")


def test_an_edit_without_effect_names_its_scenario(tmp_path: Path, traces: TraceSet) -> None:
    file = written(tmp_path, PLAN + '[[scenario]]\nname = "odd"\nedits = ["--remove lmm"]')
    with pytest.raises(EditError, match=r"plan\.toml: scenario\[2\] 'odd': .*matches no span"):
        compare(traces, load(file))
    with pytest.raises(EditError, match="scenario 'x': "):
        compare(traces, [Scenario("x", (("speedup", "llm=0x"),))])
    with pytest.raises(EditError, match="no scenario"):
        compare(traces, [])
