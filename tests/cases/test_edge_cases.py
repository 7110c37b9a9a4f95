"""The edge cases in which known tools are wrong or disagree: the sensible answers of critical_path.md §2.3."""

from __future__ import annotations

import pytest

from latshift.critical_path import PathOptions, find
from latshift.forest import ForestOptions, build
from latshift.spans import Forest, InputSummary
from tests.tiny import CASES, parents, path_text, read_case

FOLDER = CASES / "edge"
pytestmark = pytest.mark.skipif(not FOLDER.exists(), reason="the shared cases are not beside the repository")


DEFAULT = ForestOptions()


def load(name: str, options: ForestOptions = DEFAULT) -> tuple[Forest, InputSummary]:
    (path,) = FOLDER.glob(f"{name}_*.json")
    summary = InputSummary()
    return build(read_case(path)[0], summary, options), summary


def path_of(forest: Forest, options: PathOptions | None = None) -> str:
    """Return the path in µs since the second at which the cases start."""
    return path_text(forest, options, unit=1000).replace("-1000", "-").replace(" 1000", " ")


EXPECTED = {
    "p01": "R 000-010, B 010-040, C 040-080, R 080-100",
    "p02": "A 000-030, B 030-060, C 060-100",
    "p04": "R 000-010, B 010-040, R 040-060, C 060-080, R 080-100",
    "p06": "R1 000-010, A 010-030, R1 030-050 | R2 060-070, B 070-080, R2 080-100",
    "p07": "A 000-010, B 010-060, A 060-100",
    "p11": "R 000-020, F 020-080, R 080-100",
    "p13": "R 000-060, B 060-080, R 080-100",
    "p14": "R 000-010, X 010-020, X 020-025, D 025-045, X 045-060, X 060-070, R 070-100",
    "p15": "A 000-010, B 010-060, A 060-100",
    "p17": "R 000-010, A 010-060, R 060-100",
    "p20b": "foo2 000-200, main 200-201, foo3 201-501",
    "p22": "R 000-040, D 040-045, S 045-050, C 050-080, R 080-100",
    "p23": "R 000-040, C 040-080, R 080-100",
}


@pytest.mark.parametrize("name", EXPECTED)
def test_path(name: str) -> None:
    assert path_of(load(name)[0]) == EXPECTED[name]


def test_p03b_an_overlap_of_1_us_in_10_000_keeps_the_earlier_span() -> None:
    forest, _ = load("p03b")
    assert path_text(forest, unit=1000) == "R 1000000-1001000, B 1001000-1004000, C 1004000-1008000, R 1008000-1010000"


def test_p05_times_may_start_at_zero() -> None:
    assert path_text(load("p05")[0], unit=1000) == "A 0-30, R 30-40, B 40-80, R 80-100"


def test_p07_a_lost_root_makes_the_request_incomplete() -> None:
    forest, summary = load("p07")
    assert forest.complete.tolist() == [False]
    assert summary.incomplete == 1
    assert summary.warnings == ["1 span names a parent that is not in the input; 1 request is incomplete"]


def test_p10_all_of_10_000_children_are_on_the_path() -> None:
    path = find(load("p10")[0])
    assert path.on_path.sum() == 10_001


def test_p11_following_spans_can_be_left_out() -> None:
    assert path_of(load("p11")[0], PathOptions(asynchronous="follows-from")) == "R 000-100"


def test_p13_a_negative_duration_is_counted() -> None:
    assert load("p13")[1].warnings == ["1 span ends before it started; taken as 0 ms long"]


def test_p14_the_server_half_hangs_under_the_client_half() -> None:
    forest, summary = load("p14")
    kinds, services = forest.spans.array("kind").tolist(), forest.spans.text("service").texts()
    assert [(kinds[up], services[up]) if up >= 0 else None for up in forest.parent.tolist()] == [
        None,
        (0, "svc1"),
        (3, "svc1"),
        (2, "svc2"),
    ]
    assert summary.warnings == []


def test_p15_the_cycle_is_cut_above_its_earliest_span() -> None:
    forest, summary = load("p15")
    assert parents(forest) == {"A": None, "B": "A"}
    assert summary.warnings == ["1 parent reference closed a cycle; cut there"]


def test_p22_a_clock_that_runs_behind_is_reported_and_put_right_on_request() -> None:
    assert load("p22")[1].warnings == ["1 span sticks out of its parent; 0.02 ms were cut"]
    forest, summary = load("p22", ForestOptions(fix_skew_ns=1_000_000))
    # S (30 µs) is centred in C (40-80), D moves along.
    assert path_of(forest) == "R 000-040, C 040-045, S 045-050, D 050-070, S 070-075, C 075-080, R 080-100"
    assert summary.warnings == ["1 call was moved into the caller's time, by at most 0.025 ms"]
