"""The public functions, as people call them."""

from pathlib import Path

import pytest

import latshift

SAMPLES = Path(__file__).resolve().parents[1] / "sample_traces"


@pytest.fixture(scope="module")
def traces() -> latshift.TraceSet:
    return latshift.read(SAMPLES / "2026.jaeger.json")


def test_everything_public_exists() -> None:
    for name in latshift.__all__:
        assert callable(getattr(latshift, name)), name


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = latshift.nothing


def test_whatif_is_callable_before_and_after_its_package_is_imported(traces: latshift.TraceSet) -> None:
    analysis = latshift.analyze(traces)
    forecast = latshift.whatif(traces, [("speedup", "llm=2x")])
    assert forecast.baseline.p50_ms == analysis.latency.p50_ms
    assert forecast.predicted.p50_ms < forecast.baseline.p50_ms
    assert latshift.whatif(traces, [("speedup", "llm=1x")]).requests_changed == 0


def test_results_are_the_contract(traces: latshift.TraceSet) -> None:
    found = latshift.analyze(traces).to_dict()
    assert found["schema"] == "latshift/analyze/1"
    assert sum(part["share"]["p95"] for part in found["components"]) == pytest.approx(1)
    path = latshift.find_paths(traces, slowest=1).to_dict()["requests"][0]
    lengths = [segment["end_ns"] - segment["start_ns"] for segment in path["segments"]]
    assert sum(lengths) == round(path["duration_ms"] * 1e6)


def test_frames(traces: latshift.TraceSet) -> None:
    requests, spans = traces.requests, traces.spans
    assert requests.height == traces.input.requests
    assert spans.height == traces.input.spans
    parts = [name for name in requests.columns if name.endswith("_ns") and name not in ("start_ns", "duration_ns")]
    assert (requests.select(parts).sum_horizontal() == requests["duration_ns"]).all()
    assert spans["own_ns"].sum() == requests["duration_ns"].sum()


def test_a_baseline_of_itself_passes(traces: latshift.TraceSet, tmp_path: Path) -> None:
    latshift.save_baseline(traces, tmp_path / "baseline.latshift")
    report = latshift.check(traces, tmp_path / "baseline.latshift")
    assert report.verdict in ("pass", "inconclusive")


def test_remembered_traces_are_the_same(
    traces: latshift.TraceSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from latshift import api

    monkeypatch.setenv("LATSHIFT_CACHE_DIR", str(tmp_path))
    api.save_last(traces, tmp_path)
    again = api.load_last(tmp_path)
    assert again.input == traces.input
    assert latshift.analyze(again).to_dict() == latshift.analyze(traces).to_dict()


@pytest.mark.parametrize("edits", ["llm=2x", [("speedup",)], [("speedup", 2)]])
def test_what_is_no_edit_is_an_edit_error(traces: latshift.TraceSet, edits: object) -> None:
    with pytest.raises(latshift.EditError):
        latshift.whatif(traces, edits)


def test_what_is_no_path_is_an_input_error() -> None:
    with pytest.raises(latshift.InputError):
        latshift.read([5])


def test_a_model_component_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(latshift.ConfigError) as caught:
        latshift.read(SAMPLES / "2026.jaeger.json", model_components=["lmm"])
    assert "llm" in caught.value.hint


def test_filters_that_leave_nothing_name_what_there_is() -> None:
    traces = latshift.read(SAMPLES / "2026.jaeger.json", since=2_000_000_000_000_000_000)
    with pytest.raises(latshift.InputError, match="no request matches --since") as caught:
        latshift.analyze(traces)
    assert "2026-" in caught.value.hint


def test_a_prefix_of_a_trace_id_is_enough(traces: latshift.TraceSet) -> None:
    whole = latshift.find_paths(traces, slowest=1).requests[0].trace_id
    assert latshift.find_paths(traces, whole[:8]).requests[0].trace_id == whole


def test_a_declared_dependency_that_matches_nothing_is_said(traces: latshift.TraceSet, tmp_path: Path) -> None:
    config = tmp_path / "latshift.toml"
    config.write_text('[[dependency]]\nbefore = "name:nosuch"\nafter = "llm"\n')
    declared = latshift.read(SAMPLES / "2026.jaeger.json", config=config)
    said = latshift.whatif(declared, [("speedup", "llm=2x")]).assumptions
    assert any("name:nosuch" in sentence for sentence in said)
