"""Moving calls into their caller's time: when, by how much, and what moves along."""

from __future__ import annotations

from latshift.forest import ForestOptions, build
from latshift.spans import InputSummary
from tests.tiny import spans

MS = 1_000_000


def times(text: str, bound: int = 1_000) -> tuple[dict[str, tuple[int, int]], list[str]]:
    """Return span id -> (start, end) after fixing the skew, and the warnings; all in ms."""
    summary = InputSummary()
    forest = build(spans(text, unit=MS), summary, ForestOptions(fix_skew_ns=bound * MS))
    starts, ends = (forest.spans.array("start") // MS).tolist(), (forest.spans.array("end") // MS).tolist()
    return {forest.spans.span_id_text(row): (starts[row], ends[row]) for row in range(forest.n)}, summary.warnings


CALL = "C 100-200 client host=web"


def test_the_network_time_is_split_evenly() -> None:
    found, warnings = times(f"{CALL}; S<C 20-100 server host=api")
    assert found["S"] == (110, 190)
    assert warnings == ["1 call was moved into the caller's time, by at most 90 ms"]


def test_a_call_inside_its_caller_stays() -> None:
    assert times(f"{CALL}; S<C 105-120 server host=api")[0]["S"] == (105, 120)


def test_a_longer_call_only_moves_up_to_its_callers_start() -> None:
    assert times(f"{CALL}; S<C 50-300 server host=api")[0]["S"] == (100, 350)
    assert times(f"{CALL}; S<C 110-300 server host=api")[0]["S"] == (110, 300)


def test_what_ran_on_the_moved_host_moves_along_with_its_points_in_time() -> None:
    found, _ = times(f"{CALL}; S<C 20-100 server host=api; D<S 30-40 host=api service=lib")
    assert found["D"] == (120, 130)
    summary = InputSummary()
    table = spans(f"{CALL}; S<C 20-100 server host=api first_token_at=30")
    forest = build(table, summary, ForestOptions(fix_skew_ns=1_000))
    assert forest.spans.array("first_token_at")[1] == 120


def test_the_callers_own_move_counts_for_the_next_hop() -> None:
    # S moves by +90 and its call K along with it; T, on a third host, is measured against where K is now.
    found, _ = times(f"{CALL}; S<C 20-100 server host=api; K<S 30-90 client host=api; T<K 40-80 server host=db")
    assert found["K"] == (120, 180)
    assert found["T"] == (130, 170)


def test_never_a_consumer_nor_what_starts_after_its_parent_nor_under_another_kind() -> None:
    for text in (
        f"{CALL}; S<C 20-100 consumer host=api",
        f"{CALL}; S<C 220-300 server host=api",
        "C 100-200 internal host=web; S<C 20-100 server host=api",
        f"{CALL}; S<C 20-100 server host=web service=other",
    ):
        start = 220 if "220" in text else 20
        assert times(text)[0]["S"][0] == start


def test_without_hosts_the_services_tell_the_clocks_apart() -> None:
    assert times("C 100-200 client service=a; S<C 20-100 server service=b")[0]["S"] == (110, 190)
    assert times("C 100-200 client service=a; S<C 20-100 server service=a")[0]["S"] == (20, 100)


def test_never_by_more_than_the_bound() -> None:
    found, warnings = times(f"{CALL}; S<C 20-100 server host=api", bound=50)
    assert found["S"] == (20, 100)
    assert warnings == [
        "1 call was left outside the caller's time: that is more than 50 ms away",
        "1 span sticks out of its parent; 80 ms were cut",
    ]
