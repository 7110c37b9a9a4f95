from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from latshift.shares import describe, merge_parts, quantiles, requests_needed, share_table, tail_excess
from latshift.shares.bands import band, band_rows
from latshift.shares.correlation import correlation_time, fitting_block_length
from latshift.shares.intervals import interval, stretch
from latshift.shares.quantiles import percentile_name, weighted_quantiles
from latshift.shares.ranked import Ranked
from latshift.shares.resamples import RESAMPLES, block_length, draw

MS = 1_000_000

# Small whole numbers make ties, large ones make times of real size.
TIMES = st.lists(st.one_of(st.integers(0, 5), st.integers(0, 10**13)), min_size=1, max_size=120)


def test_a_quantile_lies_between_its_neighbours():
    # Positions 0..4; p95 is at 0.95·4 = 3.8, between 40 and 100.
    assert quantiles(np.array([100, 10, 30, 20, 40]), (0.5, 0.95, 1.0)).tolist() == pytest.approx([30, 88, 100])


def test_quantiles_of_nothing_are_unknown():
    assert np.isnan(quantiles(np.empty(0))).all()
    assert np.isnan(weighted_quantiles(np.empty(0), np.empty(0, np.int64))).all()


def test_a_count_of_two_is_the_same_as_the_value_twice():
    values, counts = np.array([10, 20, 30]), np.array([1, 2, 1])
    assert weighted_quantiles(values, counts, (0.5, 0.95)) == pytest.approx(
        quantiles(np.array([10, 20, 20, 30]), (0.5, 0.95))
    )


@pytest.mark.parametrize(("fraction", "needed"), [(None, 20), (0.5, 20), (0.95, 59), (0.99, 299), (0.999, 2995)])
def test_requests_needed_are_those_of_order_statistics(fraction, needed):
    assert requests_needed(fraction) == needed


def test_percentiles_are_named_as_people_write_them():
    assert [percentile_name(at) for at in (None, 0.5, 0.95, 0.999)] == ["mean", "p50", "p95", "p99.9"]


@pytest.mark.parametrize(
    ("n", "fraction", "expected"),
    [
        (1000, 0.50, (475, 525, False)),  # 5 % of 1,000 around rank 499.5
        (1000, 0.95, (925, 975, False)),  # around rank 949.05
        (1000, 0.99, (965, 1000, True)),  # around rank 989.01, cut at the end
        (200, 0.50, (90, 110, False)),  # 20 are more than 5 %
        (10, 0.50, (0, 10, True)),
    ],
)
def test_a_band_is_centred_on_its_percentile_and_cut_at_the_end(n, fraction, expected):
    assert tuple(band(n, fraction)) == expected


def test_ties_in_a_band_are_broken_by_the_order_of_the_requests():
    rows, cut = band_rows(np.full(100, 7), 0.5)
    assert rows.tolist() == list(range(40, 60))
    assert not cut


def test_shares_and_path_times_of_a_hand_made_run():
    # Twenty requests; the slower ten spend their extra time in the model.
    database = np.full(20, 10 * MS)
    model = np.array([10 * MS] * 10 + [90 * MS] * 10)
    table = share_table(np.stack([database, model], axis=1), database + model)
    assert table.share[:, 0].tolist() == [1 / 6, 5 / 6]  # 10 of 60 on average
    assert table.share[0, 1] == pytest.approx(1 / 6)  # the band at p50 holds all 20
    assert table.share[0, 3] == pytest.approx(110 / 1020)  # the band at p99 holds ranks 9 to 19: one fast, ten slow
    assert table.path_ms[1].tolist() == [50, 50, 90, 90]
    assert table.requests.tolist() == [20, 20]


@given(TIMES, TIMES, TIMES)
def test_shares_add_up_to_one_at_every_percentile(first, second, third):
    n = min(map(len, (first, second, third)))
    time = np.array([first[:n], second[:n], third[:n]], np.int64).T
    table = share_table(time, time.sum(axis=1))
    assert all(total == pytest.approx(1) or total == 0 for total in table.share.sum(axis=0))
    assert (table.share >= 0).all()
    total, parts = tail_excess(time, time.sum(axis=1))
    assert parts.sum() == pytest.approx(total, abs=1e-6)
    assert total >= -1e-9


def test_a_part_that_is_nowhere_has_no_share():
    table = share_table(np.array([[5, 0], [7, 0]]), np.array([5, 7]))
    assert table.share[1].tolist() == [0, 0, 0, 0]
    assert table.requests.tolist() == [2, 0]


def test_too_few_requests_and_cut_bands_are_doubts():
    def codes(n):
        return [doubt.code for doubt in share_table(np.ones((n, 1), np.int64), np.ones(n, np.int64)).doubts]

    assert codes(58) == ["too-few-requests"]
    assert (
        "p95 needs 59, p99 needs 299" in share_table(np.ones((30, 1), np.int64), np.ones(30, np.int64)).doubts[0].text
    )
    assert codes(300) == ["band-cut"]


def test_parts_with_one_label_are_added_up():
    merged, labels = merge_parts(np.array([[1, 2, 4], [8, 16, 32]]), ["llm", "app", "llm"])
    assert labels == ["llm", "app"]
    assert merged.tolist() == [[5, 2], [40, 16]]


def test_the_tail_excess_names_whose_time_it_is():
    model = np.array([100 * MS] * 95 + [300 * MS] * 5)
    rest = np.full(100, 50 * MS)
    total, parts = tail_excess(np.stack([model, rest], axis=1), model + rest)
    assert total == pytest.approx(190)  # 350 − 160
    assert parts == pytest.approx([190, 0])


@given(TIMES, st.integers(0, RESAMPLES - 1), st.sampled_from([0.0, 0.3, 0.5, 0.95, 0.99, 1.0]))
def test_quantiles_of_resamples_are_those_of_the_resamples_written_out(times, resample, fraction):
    values = np.array(times, np.int64)
    resamples = draw(len(values))
    count = np.repeat(resamples.counts[resample], np.diff(resamples.edges)).astype(int)
    written_out = np.quantile(np.repeat(values, count), fraction)
    assert Ranked(values, resamples).quantile(fraction)[resample] == pytest.approx(written_out, rel=1e-12)


@pytest.mark.parametrize("n", [1, 7, 60, 1000])
@pytest.mark.parametrize("fraction", [0.5, 0.95, 0.99])
def test_bands_of_resamples_are_those_of_the_resamples_written_out(n, fraction):
    random = np.random.default_rng(n)
    values, amount = random.integers(0, 50, n), random.integers(0, 1000, n)
    resamples = draw(n)
    means = Ranked(values, resamples).band_means(fraction, (amount,))[0]
    for resample in (0, 5, 399):
        count = np.repeat(resamples.counts[resample], np.diff(resamples.edges)).astype(int)
        order = np.repeat(np.argsort(values, kind="stable"), count[np.argsort(values, kind="stable")])
        low, high, _ = band(len(order), fraction)
        assert means[resample] == pytest.approx(amount[order[int(low) : int(high)]].mean())


def test_weights_that_are_whole_numbers_repeat_requests():
    values, weights = np.array([10, 20, 30, 40, 50]), np.array([1.0, 3.0, 0.0, 2.0, 1.0])
    resamples = draw(5)
    ranked = Ranked(values, type(resamples)(np.ones((1, 5)), np.arange(6), 5), weights)
    assert ranked.quantile(0.5)[0] == weighted_quantiles(values, weights.astype(int), (0.5,))[0]


def test_the_same_requests_always_give_the_same_intervals():
    values = np.random.default_rng(3).integers(1, 10**9, 700)
    assert describe(values) == describe(values.copy())
    assert not np.array_equal(draw(700, stream=1).counts, draw(700, stream=2).counts)


def test_blocks_are_two_roots_long_and_cover_as_many_requests_as_there_are():
    assert [block_length(n) for n in (1, 20, 50, 10_000)] == [1, 5, 14, 200]
    for n in (1, 2, 3, 49, 50, 333, 10_000):
        resamples = draw(n)
        size = (resamples.counts * np.diff(resamples.edges)).sum(axis=1)
        assert resamples.n == n
        assert abs(size.mean() / n - 1) < 0.1


def test_describe_marks_what_stands_on_too_few_requests():
    assert describe(np.arange(1, 101) * MS).thin == ("p99_ms",)
    few = describe(np.arange(1, 31) * MS)
    assert few.thin == ("p95_ms", "p99_ms")
    assert few.interval["p50_ms"][0] < few.p50_ms == 15.5 < few.interval["p50_ms"][1]
    assert describe(np.array([5 * MS])).p99_ms == 5
    assert describe(np.empty(0, np.int64)).n == 0


def test_fewer_blocks_stretch_an_interval_more():
    assert stretch(9) == pytest.approx(np.sqrt(9 / 8) * 2.306 / 1.96, rel=0.01)  # t(0.975; 8) = 2.306
    assert 1 < stretch(1000) < stretch(20) < stretch(5)
    assert stretch(20, 0.99) > stretch(20, 0.95)


def test_an_interval_holds_its_point_and_unknown_stays_unknown():
    assert interval(np.array([1.0, 2.0, 3.0]), 9.0, 10)[1] == 9
    assert np.isnan(interval(np.array([1.0, np.nan]), 1.0, 10)).all()


def autocorrelated(n: int, memory: float, random: np.random.Generator) -> np.ndarray:
    noise = random.normal(size=n + 50)
    series = np.zeros(n + 50)
    for at in range(1, n + 50):
        series[at] = memory * series[at - 1] + np.sqrt(1 - memory**2) * noise[at]
    return series[50:]


def test_correlated_requests_need_longer_blocks():
    random = np.random.default_rng(1)
    assert correlation_time(random.normal(size=5000)) < 1.3
    assert correlation_time(autocorrelated(5000, 0.6, random)) == pytest.approx(4, rel=0.25)  # (1 + 0.6) ÷ (1 − 0.6)
    assert fitting_block_length(np.ones(400)) == 7
    assert fitting_block_length(np.arange(400)) == block_length(400)
    assert fitting_block_length(np.empty(0)) == 1


@pytest.mark.parametrize("fraction", [0.5, 0.95])
def test_intervals_cover_the_truth_of_autocorrelated_latency(fraction):
    random = np.random.default_rng(11)
    truth = np.exp({0.5: 0.0, 0.95: 0.5 * 1.6449}[fraction])
    covered = 0
    for _ in range(60):
        values = np.exp(0.5 * autocorrelated(400, 0.5, random))
        resamples = draw(400)
        low, high = interval(
            Ranked(values, resamples).quantile(fraction), float(np.quantile(values, fraction)), resamples.blocks
        )
        covered += low <= truth <= high
    assert covered >= 51  # 57 are meant
