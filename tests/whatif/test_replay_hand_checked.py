"""Replays checked by hand, each drawn; the values are the "right" column of critical_path.md §1.5."""

import numpy as np
import pytest

from latshift.critical_path import find
from latshift.whatif import dependencies, graph, siblings
from latshift.whatif.replay import Schedule
from tests.tiny import forest_of


class Replay:
    """The requests of a text, ready to be replayed with the own work of some names scaled."""

    def __init__(self, text: str, assumed: bool = True, unit: int = 1) -> None:
        self.forest = forest_of(text, unit)
        self.path = find(self.forest)
        rows = graph.replayable(self.path, np.ones(self.forest.n, bool))
        members = siblings.lay_out(self.forest, self.path, rows)
        self.dependencies = dependencies.infer(members)
        self.graph = graph.build(self.forest, self.path, rows, members, self.dependencies, assumed)

    def durations(self, scale: dict[str, float]) -> list[int]:
        names = self.forest.spans.text("name").texts()
        share = np.asarray([scale.get(name or "", 1.0) for name in names])
        own = np.rint(self.graph.own * share[self.graph.worker]).astype(np.int64)
        schedule = Schedule(self.graph.nodes, self.graph.source, self.graph.target)
        moments = schedule.run(own + self.graph.beside)
        return moments[self.graph.end_of(self.forest.root)].tolist()


@pytest.mark.parametrize(
    ("text", "target", "expected"),
    [
        # R |-----------------------|      A gap B: the gap is R's own work and stays
        # A   |--------|
        # B              |-----|
        ("R 0-100; A<R 10-50; B<R 60-90", "A", 80),
        # A and B touch: B still waits for A
        ("R 0-100; A<R 10-50; B<R 50-80", "A", 80),
        # A beside B: B takes over
        ("R 0-100; A<R 10-90; B<R 10-70", "A", 80),
        # B off the path: nothing is gained
        ("R 0-100; A<R 10-90; B<R 10-70", "B", 100),
        # three calls in a row
        ("R 0-100; A1<R 10-30 name=A; A2<R 30-50 name=A; A3<R 60-80 name=A", "A", 70),
        # A, then B beside C, then D: D waits for both, so C takes over
        ("R 0-200; A<R 0-10; B<R 10-90; C<R 10-70; D<R 90-200", "B", 180),
        # the kind of the span does not matter
        ("R 0-100; A<R 10-90 client", "A", 60),
        ("R 0-100; A<R 10-90 internal", "A", 60),
        # only A's own half gets faster; C inside it stays as it was
        ("R 0-100; A<R 10-90; C<A 10-50", "A", 80),
    ],
)
def test_half_the_own_work(text: str, target: str, expected: int) -> None:
    assert Replay(text).durations({target: 0.5}) == [expected]


def test_everything_beneath_gets_faster_too() -> None:
    assert Replay("R 0-100; A<R 10-90; C<A 10-50").durations({"A": 0.5, "C": 0.5}) == [60]


def test_own_work_beside_a_child_is_kept_and_becomes_the_limit() -> None:
    # A starts at once, B only at 30: R worked beside A until then.
    # R |----------|   A |-------|  B    |------|
    replay = Replay("R 0-100; A<R 0-50; B<R 30-100")
    assert replay.durations({"A": 0.0}) == [100]
    assert replay.durations({"R": 0.0}) == [100]


def test_what_outlives_its_parent_is_not_waited_for() -> None:
    replay = Replay("R 0-100; A<R 10-60; publish<R 60-250", unit=1_000_000)
    assert replay.durations({"publish": 5.0}) == [100_000_000]
    assert replay.durations({"A": 0.0}) == [50_000_000]


def test_a_server_that_ends_after_its_client_is_waited_for() -> None:
    text = "R 0-100000; C<R 0-90000 client; S<C 10000-95000 server"
    assert Replay(text).durations({"S": 0.5}) == [100_000 - 40_000]


AUTH_BESIDE_EVERYTHING = """
    R1 0-200 trace=a name=R; a1<R1 0-50 trace=a name=auth; r1<R1 0-60 trace=a name=retrieve
    l1<R1 65-180 trace=a name=llm
    R2 0-200 trace=b name=R; a2<R2 0-80 trace=b name=auth; r2<R2 0-60 trace=b name=retrieve
    l2<R2 65-180 trace=b name=llm
"""


def test_one_counter_example_refutes_a_dependency() -> None:
    # In request a auth ended before llm began; request b shows that llm does not wait for it.
    replay = Replay(AUTH_BESIDE_EVERYTHING)
    assert replay.dependencies.refuted == 1
    assert replay.durations({"auth": 3.0}) == [200, 260]
    assert replay.durations({"retrieve": 2.0}) == [260, 260]


def test_rounds_of_a_loop_are_told_apart() -> None:
    # Request a calls two tools in its first round, request b one tool in each of two rounds.
    text = """
        R1 0-100 trace=a name=R; m1<R1 0-10 trace=a name=llm; t1<R1 10-40 trace=a name=tool
        t2<R1 12-30 trace=a name=tool
        n1<R1 40-90 trace=a name=llm
        R2 0-100 trace=b name=R; m2<R2 0-10 trace=b name=llm; t3<R2 10-30 trace=b name=tool
        n2<R2 30-50 trace=b name=llm; t4<R2 50-80 trace=b name=tool; o2<R2 80-100 trace=b name=llm
    """
    replay = Replay(text)
    assert replay.dependencies.refuted == 0
    assert replay.durations({"tool": 0.0}) == [72, 50]


def test_without_assumed_dependencies_starts_stay_where_they_were() -> None:
    assert Replay("R 0-100; A<R 10-50; B<R 60-90", assumed=False).durations({"A": 0.5}) == [100]


@pytest.mark.parametrize("shape", ["deep", "wide"])
def test_a_hundred_thousand_spans_in_one_request(shape: str) -> None:
    count = 100_000
    if shape == "deep":
        text = ";".join(["s0 0-300000"] + [f"s{i}<s{i - 1} {i}-{300_000 - i} name=c" for i in range(1, count)])
    else:
        text = ";".join(["s0 0-300000"] + [f"s{i}<s0 {2 * i}-{2 * i + 1} name=c" for i in range(1, count)])
    replay = Replay(text)
    assert replay.durations({}) == [300_000]
    expected = 2 if shape == "deep" else 300_000 - (count - 1)
    assert replay.durations({"c": 0.0}) == [expected]
