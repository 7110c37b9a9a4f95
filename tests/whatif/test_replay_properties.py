"""What must hold for a replay of any requests."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from latshift.critical_path import find
from latshift.forest import build
from latshift.spans import Forest, InputSummary
from latshift.whatif import dependencies, graph, siblings
from latshift.whatif.replay import Schedule
from tests.tiny import table

NAMES = ("auth", "sql", "llm", "tool")
KINDS = ("internal", "client", "server", "producer", "consumer")


@st.composite
def forests(draw: st.DrawFn) -> Forest:
    """Random requests: any nesting, overlaps, overflows, zero durations and repeated names."""
    rows = []
    for trace in range(draw(st.integers(1, 4))):
        for number in range(draw(st.integers(1, 9))):
            start = draw(st.integers(0, 40))
            row = {
                "trace": f"t{trace}",
                "id": f"{trace}.{number}",
                "name": draw(st.sampled_from(NAMES)),
                "kind": draw(st.sampled_from(KINDS)),
                "start": start,
                "end": start + draw(st.integers(0, 40)),
            }
            if number:
                row["parent"] = f"{trace}.{draw(st.integers(0, number - 1))}"
            rows.append(row)
    return build(table(rows), InputSummary())


@pytest.fixture(params=["narrow", "wide"])
def _width(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a property for both ways of replaying a span's children, whatever their number."""
    if request.param == "wide":
        monkeypatch.setattr(dependencies, "WIDE", 1)


def prepare(forest: Forest, assumed: bool = True) -> tuple[graph.Graph, Schedule]:
    path = find(forest)
    rows = graph.replayable(path, np.ones(forest.n, bool))
    members = siblings.lay_out(forest, path, rows)
    moments = graph.build(forest, path, rows, members, dependencies.infer(members), assumed)
    return moments, Schedule(moments.nodes, moments.source, moments.target)


@pytest.mark.usefixtures("_width")
@given(forests(), st.booleans())
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_unchanged_replay_gives_every_time_as_recorded(forest: Forest, assumed: bool) -> None:
    path = find(forest)
    moments, schedule = prepare(forest, assumed)
    value = schedule.run(moments.own + moments.beside)
    origin = path.start[forest.root][forest.request][moments.rows]
    at = np.arange(len(moments.rows))
    assert (value[2 * at] == path.start[moments.rows] - origin).all()
    assert (value[2 * at + 1] == path.end[moments.rows] - origin).all()


@pytest.mark.usefixtures("_width")
@given(forests())
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_work_is_never_negative_and_less_work_is_never_slower(forest: Forest) -> None:
    moments, schedule = prepare(forest)
    assert (moments.own >= 0).all()
    assert (moments.beside >= 0).all()
    ends = moments.end_of(forest.root)
    before = schedule.run(moments.own + moments.beside)[ends]
    for share in (0.5, 0.0):
        after = schedule.run(np.rint(moments.own * share).astype(np.int64) + moments.beside)[ends]
        assert (after <= before).all()


@pytest.mark.usefixtures("_width")
@given(forests(), st.randoms(use_true_random=False))
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_vectorised_kernel_agrees_with_a_plain_recursion(forest: Forest, random: object) -> None:
    moments, schedule = prepare(forest)
    work = moments.own * 2 + moments.beside
    sources: dict[int, list[int]] = {}
    for source, target in zip(moments.source.tolist(), moments.target.tolist(), strict=True):
        sources.setdefault(target, []).append(source)

    def moment(node: int) -> int:
        return int(work[node]) + max((moment(source) for source in sources.get(node, [])), default=0)

    assert schedule.run(work).tolist() == [moment(node) for node in range(moments.nodes)]


@given(forests())
@settings(max_examples=200, deadline=None)
def test_inference_from_examples_of_each_pattern_is_that_from_all_requests(forest: Forest) -> None:
    path = find(forest)
    members = siblings.lay_out(forest, path, graph.replayable(path, np.ones(forest.n, bool)))
    quick = dependencies.infer(members)
    full = dependencies.infer(members, keep_refuted=True)
    assert edges_of(quick) == edges_of(full)
    assert quick.refuted == full.refuted


def edges_of(found: dependencies.Dependencies) -> list[tuple[int, int, int]]:
    return sorted(zip(found.source.tolist(), found.target.tolist(), found.support.tolist(), strict=True))
