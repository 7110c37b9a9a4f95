"""Every edit on requests small enough to check by hand; those left to chance against their closed forms."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from latshift.errors import EditError
from latshift.forest import build
from latshift.spans import InputSummary
from latshift.traceset import TraceSet
from latshift.whatif.draws import Outcome, replay
from latshift.whatif.edits import VERBS, parse_edit
from latshift.whatif.forecast import forecast
from latshift.whatif.scaling import speculative_speedup
from tests.tiny import forest_of, table

MS = 1_000_000

# R |--------------------------------------------------|  0-100
# A   |---------|                                         10-30, with C inside
# C     |---|                                             15-25
# B                   |--------------|                    40-80
# D                   |------|                            40-60, beside B
SMALL = "R 0-100; A<R 10-30; C<A 15-25; B<R 40-80; D<R 40-60"

# R |-----------------------------|  0-100
# A1  |--| fails    10-20, then 10 of back-off
# A2        |----|  30-60
RETRIED = "R 0-100; A1<R 10-20 name=A error; A2<R 30-60 name=A"


def traces(text: str) -> TraceSet:
    return TraceSet(forest_of(text, MS), InputSummary())


def outcome(source: TraceSet, *edits: tuple[str, str]) -> Outcome:
    return replay(source.model, [parse_edit(verb, text) for verb, text in edits])


def after(text: str, *edits: tuple[str, str]) -> float:
    """Return how long the only request takes then, in ms; the draws must agree."""
    found = np.unique(outcome(traces(text), *edits).durations)
    assert len(found) == 1
    return float(found[0]) / MS


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ("speedup name:A=2x", 95),
        ("speedup name:A/**=2x", 90),
        ("speedup name:B=4x", 80),  # D, beside it, takes over
        ("speedup name:B=0.5x", 140),
        ("add-latency name:B=5ms", 105),
        ("add-latency name:D=5ms", 100),
        ("parallelize name:A,name:B", 80),  # B runs 10-50, D 40-60 as before, and R's 20 after both stay
        ("remove name:A", 80),
        # R 0-10, new 10-17, A 17-37, ...
        ("insert new=7ms,before=name:A", 107),
        ("insert new=7ms,after=name:A", 107),
        ("insert new=7ms,before=name:C", 107),
        ("insert new=7ms,before=name:D", 100),
        ("insert new=25ms,after=name:D", 105),  # D ends at 60, the new one at 85: 5 after B
        ("insert new=7ms,before=name:R", 107),
        ("insert new=7ms,after=name:R", 107),
        # B runs 0-40 and is done when R calls it, but D runs 40-60 as before, and R's 20 after both stay
        ("prefetch name:B", 80),
        ("prefetch name:B=100%", 80),
        ("prefetch name:B=0%", 100),
        ("prefetch name:C", 90),  # C runs 0-10; A, which starts at 10, waits no more, and keeps its own 5 + 5
        ("cache name:B=100%:5ms", 80),  # D takes over
        ("cache name:A=100%:5ms", 85),
        ("cache name:A=0%:5ms", 105),
        ("cache name:R=100%:5ms", 5),
        # in the order given
        ("speedup name:A/**=2x cache name:A=0%:5ms", 95),
        ("insert new=7ms,before=name:A remove name:A", 87),
        ("insert new=7ms,before=name:C remove name:A", 80),
        ("insert new=7ms,before=name:A speedup name:R=inf", 67),
        ("prefetch name:B insert new=7ms,after=name:B", 80),
        ("insert new=7ms,before=name:A insert old=3ms,before=name:A", 110),
    ],
)
def test_a_small_request(edits: str, expected: float) -> None:
    words = edits.split()
    assert after(SMALL, *zip(words[::2], words[1::2], strict=True)) == expected


def test_prefetch_of_all_children_ends_with_the_longest() -> None:
    # A 0-20 and B 0-50 both start with R; R reaches A's place at 10, B's place 10 after A's end, and keeps its tail.
    assert after("R 0-100; A<R 10-30; B<R 40-90", ("prefetch", "name:A"), ("prefetch", "name:B")) == 50 + 10


@pytest.mark.parametrize(("edit", "expected"), [("0x", 100 - 10 - 10), ("1x", 100)])
def test_the_attempt_that_is_left_is_one_that_answers(edit: str, expected: float) -> None:
    # The failed attempt takes 10 and an answer 30: failing is another thing than answering here.
    assert after(RETRIED, ("retry-rate", f"name:A={edit}")) == expected


def test_where_failing_takes_as_long_as_answering_the_first_attempt_is_left() -> None:
    # A1 takes 30, A2 31: without the retry A2 and the back-off are gone.
    text = "R 0-100; A1<R 10-40 name=A error; A2<R 50-81 name=A; C<A2 60-70"
    assert after(text, ("retry-rate", "name:A=0x")) == 100 - 31 - 10


def test_a_chain_of_attempts_goes_whole() -> None:
    text = "R 0-100; A1<R 0-10 name=A error; A2<R 20-30 name=A error; A3<R 50-61 name=A"
    assert after(text, ("retry-rate", "name:A=0x")) == 100 - (10 + 10) - (20 + 11)


def many(count: int, seed: int = 1, **shares: float) -> TraceSet:
    """Requests of auth (20 ms), then a model call (lognormal, 300 ms in the median), then 10 ms; some are retried."""
    chance = np.random.default_rng(seed)
    rows: list[dict[str, Any]] = []
    for number in range(count):
        length = [round(float(value)) for value in chance.lognormal(math.log(300 * MS), 0.5, 2)]
        base = number * 10**10
        here = {"trace": f"{number:06}", "service": "svc"}
        moment = base + 20 * MS
        rows.append({**here, "id": f"a{number}", "parent": f"r{number}", "name": "auth", "start": base, "end": moment})
        retried = chance.random() < shares.get("retried", 0)
        for turn, spent in enumerate(length if retried else length[:1]):
            moment += 50 * MS if turn else 0
            status = "error" if retried and not turn else "ok"
            call = {**here, "id": f"c{number}.{turn}", "parent": f"r{number}", "name": "chat", "operation": "chat"}
            rows.append({**call, "status": status, "kind": "client", "start": moment, "end": moment + spent})
            moment += spent
        root = {**here, "id": f"r{number}", "name": "R", "kind": "server", "start": base, "end": moment + 10 * MS}
        rows.append(root)
    return TraceSet(build(table(rows), InputSummary()), InputSummary())


@pytest.fixture(scope="module")
def plain() -> TraceSet:
    return many(600)


def test_cache_against_its_closed_form(plain: TraceSet) -> None:
    # E[T] = lookup + (1 - h)·E[call]; quantiles: q of the new is (q - h)/(1 - h) of the misses (whatif.md §2.6).
    recorded = plain.model.duration
    call = recorded - 30 * MS
    found = outcome(plain, ("cache", "llm=30%:5ms"))
    assert found.durations.mean() == pytest.approx(35 * MS + 0.7 * call.mean(), rel=0.003)
    for q in (0.5, 0.95, 0.99):
        expected = 35 * MS + np.quantile(call, (q - 0.3) / 0.7)
        assert np.quantile(found.pooled, q) == pytest.approx(expected, rel=0.03)


def test_hedge_against_its_closed_form(plain: TraceSet) -> None:
    # F_h(t) = 1 - (1 - F(t))·(1 - F(t - d)) (whatif.md §2.3)
    call = np.sort(plain.model.duration - 30 * MS)
    delay = np.quantile(call, 0.9)

    def above(moment: float) -> float:
        return 1 - float(np.searchsorted(call, moment, side="right")) / len(call)

    found = outcome(plain, ("hedge", "llm=p90"))
    hedged = found.pooled - 30 * MS
    for moment in np.quantile(call, [0.5, 0.92, 0.96, 0.985]):
        assert np.mean(hedged > moment) == pytest.approx(above(moment) * above(moment - delay), abs=0.003)
    assert any("60 calls of 'llm' a second time (10.0% more calls)" in note for note in found.plan.notes)


def test_prefetch_hits_as_often_as_said(plain: TraceSet) -> None:
    # A hit saves the 20 ms of auth that the call no longer waits for.
    found = outcome(plain, ("prefetch", "llm=40%"))
    saved = plain.model.duration - found.durations
    assert set(np.unique(saved).tolist()) == {0, 20 * MS}
    assert saved.mean() == pytest.approx(0.4 * 20 * MS, rel=0.002)


def test_draws_spread_as_independent_ones_would(plain: TraceSet) -> None:
    found = outcome(plain, ("prefetch", "llm=40%"))
    shares = (found.durations != plain.model.duration).mean(axis=1)
    assert found.draws == 20
    assert 0.5 < shares.std(ddof=1) / math.sqrt(0.4 * 0.6 / 600) < 1.6
    # ... and yet each call is a hit in 40 % of the draws.
    per_call = (found.durations != plain.model.duration).mean(axis=0)
    assert set(np.unique(per_call).tolist()) == {0.4}


@pytest.mark.parametrize("factor", [0.5, 0.25])
def test_fewer_retries(factor: float) -> None:
    source = many(1500, seed=2, retried=0.2)
    calls = 1500 + int(source.classified.retries.attempts.sum())
    share = calls / 1500 - 1
    found = outcome(source, ("retry-rate", f"llm={factor:g}x"))
    spans = source.forest.spans
    mean = (spans.array("end") - spans.array("start"))[np.asarray(spans.text("name").texts()) == "chat"].mean()
    expected = source.model.duration.mean() - share * (1 - factor) * (mean + 50 * MS)
    assert found.durations.mean() == pytest.approx(expected, rel=0.01)


def test_more_retries() -> None:
    source = many(1500, seed=2, retried=0.1)
    share = int(source.classified.retries.attempts.sum()) / 1500
    found = outcome(source, ("retry-rate", "llm=2x"))
    failed = source.classified.retries.state == 1
    mean = (source.forest.spans.array("end") - source.forest.spans.array("start"))[failed].mean()
    expected = source.model.duration.mean() + share * (mean + 50 * MS)
    assert found.durations.mean() == pytest.approx(expected, rel=0.005)
    truth = many(6000, seed=3, retried=2 * share).model.duration
    for q in (0.5, 0.95):
        assert np.quantile(found.pooled, q) == pytest.approx(np.quantile(truth, q), rel=0.05)


def test_replace_and_route(plain: TraceSet, tmp_path: Path) -> None:
    times = np.random.default_rng(5).gamma(4, 20, 400)
    file = tmp_path / "small.txt"
    file.write_text("\n".join(f"{value:.6f}" for value in times))
    call = plain.model.duration - 30 * MS
    replaced = outcome(plain, ("replace", f"llm={file}")).pooled / MS - 30
    for q in (0.1, 0.5, 0.95):
        assert np.quantile(replaced, q) == pytest.approx(np.quantile(times, q), rel=0.02)
    routed = outcome(plain, ("route", f"llm=70%:{file}")).durations / MS
    assert routed.mean() == pytest.approx(30 + 0.7 * times.mean() + 0.3 * call.mean() / MS, rel=0.005)


@pytest.mark.parametrize(
    "content",
    [
        "5\n5\n\n5.0\n",
        json.dumps([5, 5.0]),
        "latency_ms\n5\n5\n",
        "model,latency_ms,tokens\nsmall,5,100\nsmall,5,90\n",
        "\ufeffms\n5\n",
    ],
)
def test_files_of_latencies(tmp_path: Path, content: str) -> None:
    file = tmp_path / "measured.csv"
    file.write_text(content, encoding="utf-8")
    assert after(SMALL, ("replace", f"name:A={file}")) == 100 - 20 + 5


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("fast\nslow", "no column of numbers"),
        ("5\n-1", "holds -1"),
        ("5\nnan", "holds nan"),
        ("[1, true]", "not a list of numbers"),
        ("{", "not valid JSON"),
        ("a,b\n1,2", "2 columns of numbers"),
        (None, "cannot read"),
    ],
)
def test_files_that_are_none(tmp_path: Path, content: str | None, message: str) -> None:
    file = tmp_path / "measured.csv"
    if content is not None:
        file.write_text(content)
    for verb, text in (("replace", f"llm={file}"), ("route", f"llm=50%:{file}")):
        with pytest.raises(EditError, match=message) as caught:
            parse_edit(verb, text)
        assert caught.value.hint and "\n" not in caught.value.message


@pytest.mark.parametrize(
    ("alpha", "gamma", "cost", "verify", "expected"),
    [
        (0.8, 4, 0.1, 1, (1 - 0.8**5) / (0.2 * 1.4)),
        (1.0, 4, 0.0, 1, 5),
        (0.0, 3, 0.1, 1, 1 / 1.3),
        (0.40, 4, 0.1, 1.25, 1.0),  # whatif.md §2.10: break-even
        (0.29, 4, 0.1, 1, 1.0),
        (0.60, 4, 0.2, 1.5, 1.0),
    ],
)
def test_leviathan(alpha: float, gamma: float, cost: float, verify: float, expected: float) -> None:
    assert speculative_speedup(alpha, gamma, cost, verify) == pytest.approx(expected, rel=0.01)


# R 0-130, call 10-110: queue 10, prefill 20, decode 50, other 20
ENGINE = (
    f"R 0-130; call<R 10-110 name=llm_request server queue_time={10 * MS} prefill_time={20 * MS} "
    f"decode_time={50 * MS} input_tokens=1000"
)
STREAM = f"R 0-130; call<R 10-110 operation=chat client ttft={40 * MS} input_tokens=1000"


@pytest.mark.parametrize(
    ("text", "edits", "expected"),
    [
        (ENGINE, "spec-decode llm=alpha:1,gamma:4,cost:0", 130 - 40),
        (ENGINE, "spec-decode llm.decode=alpha:1,gamma:4,cost:0", 130 - 40),
        (ENGINE, "spec-decode llm=alpha:0,gamma:1,cost:1", 180),
        (STREAM, "spec-decode llm=alpha:1,gamma:4,cost:0", 130 - 48),
        (ENGINE, "speedup llm.decode=2x speedup llm.decode=2x", 130 - 37.5),
        (ENGINE, "speedup llm=2x speedup llm.decode=2x", 130 - 50 - 12.5),
        (ENGINE, "speedup llm=2x speedup llm.prefill=inf", 130 - 50 - 10),
        (ENGINE, "speedup llm.decode=inf speedup llm=2x", 130 - 50 - 25),
        (ENGINE, "add-latency llm=10ms speedup llm.other=inf", 130 + 10 - 20),
        # one call: all of the prefill is taken to be in proportion to its tokens
        (ENGINE, "prompt-cache llm=75%", 130 - 15),
        (STREAM, "prompt-cache llm=75%", 130 - 30),
    ],
)
def test_phases_of_a_call(text: str, edits: str, expected: float) -> None:
    words = edits.split()
    assert after(text, *zip(words[::2], words[1::2], strict=True)) == pytest.approx(expected, abs=1e-6)


def test_speculative_decoding_says_when_it_hurts() -> None:
    notes = outcome(traces(ENGINE), ("spec-decode", "llm=alpha:0.2,gamma:4,cost:0.1")).plan.notes
    assert any("hurts here" in note and "0.89 times" in note for note in notes)


@pytest.mark.parametrize("noise", ["none", "sum", "factor"])
def test_prompt_cache_finds_the_line_in_the_calls(noise: str) -> None:
    # prefill = 30 ms + 0.2 ms for each token that is not cached
    chance = np.random.default_rng(3)
    lines, truth = [], []
    for number in range(400):
        tokens, cached = int(chance.integers(200, 4000)), int(chance.integers(0, 200))
        factor = float(chance.lognormal(0, 0.1)) if noise == "factor" else 1.0
        extra = float(chance.normal(0, 5)) if noise == "sum" else 0.0

        def prefill(uncached: float, factor: float = factor, extra: float = extra) -> int:
            return round(((30 + 0.2 * uncached) * factor + extra) * MS)

        before, then = prefill(tokens - cached), prefill(min(tokens - cached, 0.2 * tokens))
        base = number * 10**11
        lines.append(f"R{number} {base}-{base + before + 50 * MS} trace=t{number} name=R")
        lines.append(
            f"c{number}<R{number} {base}-{base + before + 50 * MS} trace=t{number} name=llm_request server "
            f"queue_time=0 prefill_time={before} decode_time={50 * MS} input_tokens={tokens} cached_tokens={cached}"
        )
        truth.append(then + 50 * MS)
    source = TraceSet(forest_of(";".join(lines)), InputSummary())
    found = outcome(source, ("prompt-cache", "llm=80%")).durations[0]
    wanted = np.asarray(truth)
    assert found.mean() == pytest.approx(wanted.mean(), rel=0.01 if noise != "none" else 1e-4)
    for q in (0.5, 0.95):
        assert np.quantile(found, q) == pytest.approx(np.quantile(wanted, q), rel=0.02)


WRONG: list[tuple[str, str, str]] = [
    ("speedup", "llm=0x", "endless"),
    ("speedup", "llm=-2x", "not a factor"),
    ("speedup", "llm", "expected SELECTOR=VALUE"),
    ("add-latency", "llm=-5ms", "not a duration"),
    ("add-latency", "llm=5", "not a duration"),
    ("parallelize", "llm‖llm", "beside itself"),
    ("parallelize", "llm", "two or more"),
    ("insert", "new=60ms", "expected NAME=DURATION"),
    ("insert", "new=60ms,beside=llm", "is no place"),
    ("insert", "new=-60ms,before=llm", "not a duration"),
    ("prefetch", "llm=120%", "cannot be"),
    ("cache", "llm=130%:5ms", "a hit rate of 130% cannot be"),
    ("cache", "llm=-3%:5ms", "cannot be"),
    ("cache", "llm=30%:-5ms", "not a duration"),
    ("cache", "llm=30%", "lacks a part"),
    ("cache", "llm=0.3:5ms", "not a percentage"),
    ("retry-rate", "llm=-1x", "not a factor"),
    ("retry-rate", "llm=inf", "without end"),
    ("hedge", "llm=p100", "not a percentile"),
    ("hedge", "llm=often", "not a duration"),
    ("spec-decode", "llm=alpha:0.8", "gamma and cost must be given"),
    ("spec-decode", "llm=alpha:1.8,gamma:4,cost:0.1", "alpha is the share"),
    ("spec-decode", "llm=alpha:0.8,gamma:0,cost:0.1", "gamma is the number"),
    ("spec-decode", "llm=alpha:0.8,gamma:4,cost:-1", "cost is the time"),
    ("spec-decode", "llm=alpha:0.8,beta:4,cost:0.1", "'beta:4' is not understood"),
    ("spec-decode", "llm=alpha:0.8,alpha:0.8,gamma:4,cost:0.1", "given twice"),
    ("spec-decode", "llm=alpha:nan,gamma:4,cost:0.1", "alpha is the share"),
    ("prompt-cache", "llm=80", "not a percentage"),
    ("prompt-cache", "llm=101%", "cannot be"),
    ("route", "llm=70%", "expected SELECTOR=SHARE:FILE"),
    ("faster", "llm=2x", "there is no edit 'faster'"),
]


@pytest.mark.parametrize(("verb", "text", "message"), WRONG)
def test_nonsense_is_refused_in_one_line(verb: str, text: str, message: str) -> None:
    with pytest.raises(EditError) as caught:
        parse_edit(verb, text)
    assert message in caught.value.message and "\n" not in caught.value.message


@pytest.mark.parametrize(
    ("text", "verb", "value", "message"),
    [
        (SMALL, "retry-rate", "name:A=0.5x", "is tried again in the traces"),
        (RETRIED, "retry-rate", "name:A=3x", "more than all"),
        (SMALL, "spec-decode", "name:A=alpha:0.8,gamma:4,cost:0.1", "do not show how long decoding takes"),
        (SMALL, "prompt-cache", "name:A=80%", "do not show how long prefill takes"),
        (STREAM.replace("input_tokens=1000", ""), "prompt-cache", "llm=80%", "how many input tokens"),
        (ENGINE, "cache", "llm.decode=30%:5ms", "a phase is no call"),
        (ENGINE, "hedge", "llm.decode=p95", "a phase is no call"),
        (ENGINE, "insert", "new=5ms,before=llm.decode", "a phase is no call"),
        (SMALL, "prefetch", "name:R", "the requests themselves"),
        (SMALL, "remove", "name:R", "the requests themselves"),
        (SMALL, "parallelize", "name:A,name:C", "contains the other"),
    ],
)
def test_what_the_traces_do_not_bear_is_refused(text: str, verb: str, value: str, message: str) -> None:
    with pytest.raises(EditError) as caught:
        outcome(traces(text), (verb, value))
    assert message in caught.value.message and "\n" not in caught.value.message


EXAMPLES: dict[str, Callable[[Path], str]] = {
    "speedup": lambda _: "nosuch=2x",
    "add-latency": lambda _: "nosuch=5ms",
    "parallelize": lambda _: "nosuch,name:A",
    "remove": lambda _: "nosuch",
    "insert": lambda _: "new=5ms,before=nosuch",
    "replace": lambda file: f"nosuch={file}",
    "prefetch": lambda _: "nosuch=50%",
    "cache": lambda _: "nosuch=30%:5ms",
    "retry-rate": lambda _: "nosuch=0.5x",
    "hedge": lambda _: "nosuch=p95",
    "spec-decode": lambda _: "nosuch=alpha:0.8,gamma:4,cost:0.1",
    "prompt-cache": lambda _: "nosuch=80%",
    "route": lambda file: f"nosuch=50%:{file}",
    "pool": lambda _: "nosuch=4",
    "load": lambda _: "2x",
}


@pytest.mark.parametrize("verb", VERBS)
def test_a_selector_without_a_match_is_refused(verb: str, tmp_path: Path) -> None:
    file = tmp_path / "times.txt"
    file.write_text("5")
    with pytest.raises(EditError, match="nosuch" if verb != "load" else "no pool"):
        outcome(traces(SMALL), (verb, EXAMPLES[verb](file)))


def test_a_forecast_of_chance_says_so_and_is_the_same_each_time(plain: TraceSet) -> None:
    edits = [("cache", "llm=30%:5ms"), ("hedge", "llm=p95")]
    first, second = forecast(plain, edits), forecast(plain, edits)
    assert first.to_dict() == second.to_dict()
    assert first.predicted.n == 600
    assert any("20 draws" in sentence for sentence in first.assumptions)
    assert first.predicted.interval["p50_ms"][0] < first.predicted.p50_ms < first.predicted.interval["p50_ms"][1]
    assert first.gain_interval["p50"][0] < first.gain.p50 < first.gain_interval["p50"][1]
    shares = sum(shift.share_after.mean for shift in first.components)
    assert shares == pytest.approx(1)


@pytest.mark.parametrize(
    ("verb", "text", "saved"),
    [
        ("cache", "llm=30%:5ms", lambda call: 0.3 * call - 5 * MS),
        ("prefetch", "llm=40%", lambda call: 0.4 * call),
        ("insert", "new=7ms,before=llm", lambda call: -7 * MS + 0 * call),
        ("hedge", "llm=p95", None),
    ],
)
def test_amdahl_takes_the_expected_share(
    plain: TraceSet, verb: str, text: str, saved: Callable[[Any], Any] | None
) -> None:
    found = outcome(plain, (verb, text)).plan.saved
    call = plain.model.duration - 30 * MS
    if saved is None:
        assert (found >= 0).all()
    else:
        assert found == pytest.approx(saved(call), abs=1)


def test_chance_that_changes_nothing_gains_exactly_nothing() -> None:
    # A hedge nobody needs, on so few requests that p99 lies between the two slowest.
    found = forecast(many(150), [("hedge", "llm=60s")])
    assert (found.gain.mean, found.gain.p50, found.gain.p95, found.gain.p99) == (0, 0, 0, 0)
    assert found.requests_changed == 0
