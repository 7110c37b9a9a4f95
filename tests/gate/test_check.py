from __future__ import annotations

import json

import numpy as np
import pytest

from latshift.errors import ConfigError
from latshift.gate import Budget, Sample, check
from latshift.gate.compare import pair_up
from latshift.results import CheckReport
from tests.gate.traffic import fixed, join, traffic


def found(report: CheckReport, metric: str):
    return next(check for check in report.checks if check.metric == metric)


def shuffled(sample: Sample) -> Sample:
    return sample.take(np.random.default_rng(5).permutation(sample.n))


def test_a_run_passes_against_itself():
    report = check(traffic(300), traffic(300))
    assert report.verdict == "pass"
    assert report.exit_code == 0
    assert {check.change for check in report.checks} == {0.0}


def test_the_report_is_the_contract():
    document = check(traffic(300, 1, rest=1.3), traffic(300, 2)).to_dict()
    assert document["schema"] == "latshift/check/1"
    assert document["verdict"] == "regression"
    keys = {"metric", "baseline", "current", "change", "interval", "tolerance", "verdict", "explanation"}
    assert all(keys <= set(item) for item in document["checks"])
    json.dumps(document, allow_nan=False)


def test_fifty_comparisons_of_the_same_program_raise_hardly_any_alarm():
    verdicts = [check(traffic(300, 2 * seed + 100), traffic(300, 2 * seed + 101)).verdict for seed in range(50)]
    assert verdicts.count("regression") == 0
    assert verdicts.count("inconclusive") <= 3


def test_a_model_twice_as_fast_passes_although_the_other_share_rises():
    reports = [check(traffic(300, 2 * seed, model=0.5), traffic(300, 2 * seed + 1)) for seed in range(10)]
    assert [report.verdict for report in reports] == ["pass"] * 10
    share = found(reports[0], "non-model.share.p50")
    assert share.change > share.tolerance
    assert "because the others got faster (the model's part −" in share.explanation


def test_a_raw_budget_fails_on_the_share_alone():
    before, now = traffic(300, 1), traffic(300, 2, model=0.5)
    budget = Budget("non-model.share", percentiles=(50,))
    assert check(now, before, [budget]).verdict == "pass"
    raw = Budget("non-model.share", percentiles=(50,), raw=True)
    assert check(now, before, [raw]).verdict == "regression"


def test_a_slower_model_is_a_latency_regression_that_names_the_model():
    report = check(traffic(2000, 1, model=1.15), traffic(2000, 2))
    latency = found(report, "latency.p50")
    assert report.exit_code == 1
    assert latency.verdict == "regression"
    assert "of which llm +" in latency.explanation
    assert "the model's part +" in latency.explanation
    assert found(report, "non-model.path.mean").verdict == "pass"


def test_ten_percent_more_outside_the_model_is_found_in_300_requests():
    reports = [check(traffic(300, 2 * seed, rest=1.1), traffic(300, 2 * seed + 1)) for seed in range(20)]
    assert sum(report.verdict == "regression" for report in reports) >= 17
    assert "database +" in found(reports[0], "non-model.path.mean").explanation


def test_both_slower_fails_on_the_share_as_well():
    share = found(check(traffic(2000, 1, rest=1.5), traffic(2000, 2)), "non-model.share.p50")
    assert share.verdict == "regression"
    assert "its own path time went from" in share.explanation


def test_p95_of_58_requests_is_inconclusive_and_of_59_is_not():
    few = check(traffic(58), traffic(58), [Budget("latency.p95")])
    assert (few.verdict, few.exit_code) == ("inconclusive", 3)
    assert few.checks[0].explanation.startswith("Only 58 requests; p95 needs 59.")
    assert check(traffic(59), traffic(59), [Budget("latency.p95")]).verdict == "pass"
    assert check(traffic(58), traffic(58), [Budget("latency.p95")], on_inconclusive="pass").exit_code == 0
    assert check(traffic(58), traffic(58), [Budget("latency.p95", min_requests=30)]).verdict == "pass"
    assert check(traffic(58), traffic(58), min_requests=30).verdict == "pass"


def test_p99_only_warns_by_default_where_there_are_too_few_requests():
    report = check(traffic(100), traffic(100))
    assert report.verdict == "pass"
    p99 = found(report, "latency.p99")
    assert (p99.verdict, p99.level) == ("inconclusive", "warn")


def test_a_rise_that_may_be_small_is_inconclusive_if_the_person_chose_the_tolerance():
    # Twenty requests of 100 ms against twenty of which one is much slower: +10 % that a single request makes.
    now = fixed({"app": [100.0] * 19 + [300.0]}, first=100)
    before = fixed({"app": [100.0] * 20})
    report = check(now, before, [Budget("latency.mean", tolerance=0.05)])
    assert report.checks[0].change == pytest.approx(0.1)
    assert report.verdict == "inconclusive"
    assert "but may be as little as" in report.checks[0].explanation


def test_contributions_add_up_to_the_change_of_the_mean():
    before = fixed({"app": [10.0] * 60, "database": [20.0] * 60, "llm.decode": [70.0] * 60})
    now = fixed({"app": [10.0] * 60, "database": [50.0] * 60, "llm.decode": [60.0] * 60}, first=100)
    latency = check(now, before, [Budget("latency.mean")]).checks[0]
    assert (latency.baseline, latency.current, latency.change) == (100, 120, pytest.approx(0.2))
    assert latency.interval == pytest.approx((0.2, 0.2))
    assert latency.explanation == (
        "Mean latency: +20.0 ms, of which database +30.0 ms, llm −10.0 ms, app ±0 ms "
        "(the model's part −10.0 ms, waiting in queues ±0 ms, the rest's part +30.0 ms)."
    )


def test_absolute_tolerances_hold_for_times_that_hardly_matter():
    before, now = fixed({"app": [1.0] * 60}), fixed({"app": [1.5] * 60}, first=100)
    assert check(now, before, [Budget("app", tolerance_ms=1)]).verdict == "pass"
    assert check(now, before, [Budget("app", tolerance=0.05)]).verdict == "regression"
    assert check(now, before).verdict == "pass"  # below what anybody would notice


def test_fixed_limits_need_no_baseline():
    run = fixed({"app": [40.0] * 100, "llm.decode": [60.0] * 100})
    limits = [Budget("latency", max_ms=120), Budget("llm", max_ms=50), Budget("non-model", max_share=0.5)]
    latency, llm, share = check(run, None, limits).checks
    assert (latency.verdict, latency.change) == ("pass", pytest.approx(100 / 120 - 1))
    assert (llm.verdict, llm.current, llm.budget) == ("regression", 60, 50)
    assert llm.explanation == "Requests around p95 of llm path time spend llm 60.0 ms."
    assert (share.metric, share.verdict, share.current) == ("non-model.share.p95", "pass", 0.4)
    assert np.isnan(latency.baseline)


def test_a_limit_that_is_not_surely_broken_is_inconclusive():
    run = traffic(300, 4)
    limit = float(np.quantile(run.duration, 0.95)) / 1e6 - 1
    assert check(run, None, [Budget("latency.p95", max_ms=limit)]).verdict == "inconclusive"
    assert check(run, None, [Budget("latency.p95", max_ms=limit / 2)]).verdict == "regression"
    assert check(run, None, [Budget("latency.p95", max_ms=limit * 2)]).verdict == "pass"
    assert check(traffic(30), None, [Budget("latency.p95", max_ms=1e9)]).verdict == "inconclusive"


def test_a_share_over_its_limit_passes_only_if_the_model_got_faster_since_the_baseline():
    before = fixed({"app": [40.0] * 100, "llm.decode": [60.0] * 100})
    now = fixed({"app": [40.0] * 100, "llm.decode": [20.0] * 100}, first=1000)
    limit = Budget("non-model", max_share=0.5)
    assert check(now, before, [limit]).checks[-1].verdict == "pass"
    assert check(now, None, [limit]).verdict == "regression"
    assert check(now, now, [limit]).verdict == "regression"  # it was over the limit before
    assert check(now, before, [Budget("non-model", max_share=0.5, raw=True)]).verdict == "regression"


def test_fixed_limits_come_on_top_of_the_defaults_if_there_is_a_baseline():
    metrics = [item.metric for item in check(traffic(300), traffic(300), [Budget("latency", max_ms=5000)]).checks]
    assert len(metrics) == 8
    only = check(traffic(300), traffic(300), [Budget("llm", tolerance=0.2)]).checks
    assert [item.metric for item in only] == ["llm.path.p95"]


def test_a_warning_never_fails_a_run():
    report = check(traffic(300, 1, rest=1.5), traffic(300, 2), [Budget("non-model", level="warn")])
    assert report.checks[0].verdict == "regression"
    assert report.exit_code == 0


def test_a_regression_outweighs_what_is_inconclusive():
    slow, before = fixed({"app": [90.0] * 30}), fixed({"app": [50.0] * 30}, first=100)
    report = check(slow, before, [Budget("latency.p95"), Budget("latency.p50")])
    assert [item.verdict for item in report.checks] == ["inconclusive", "regression"]
    assert report.exit_code == 1


def test_nothing_to_check_is_an_error_and_a_missing_baseline_is_inconclusive():
    with pytest.raises(ConfigError, match="nothing to check"):
        check(traffic(300))
    report = check(traffic(300), None, [Budget("latency", tolerance=0.1)])
    assert (report.verdict, report.checks[0].explanation) == ("inconclusive", "No baseline was given to compare with.")


def test_a_budget_for_a_root_looks_at_its_requests_only():
    now = join(fixed({"app": [50.0] * 60}, root="a GET /x"), fixed({"app": [99.0] * 60}, root="a GET /[y]", first=900))
    inside = check(
        now, None, [Budget("latency", group="* /x", max_ms=60), Budget("latency", group="a GET /[y]", max_ms=60)]
    )
    assert [(item.verdict, item.n) for item in inside.checks] == [("pass", 60), ("regression", 60)]
    missing = check(now, None, [Budget("latency", group="* /z", max_ms=60)])
    assert (missing.verdict, missing.exit_code) == ("inconclusive", 3)
    assert "There are no requests of '* /z' in this run." in missing.checks[0].explanation


def test_a_changed_mix_is_reported_and_compared_at_the_baselines_mix():
    # Nothing got slower, but there are more of the slow requests now.
    before = join(fixed({"app": [10.0] * 300}, "a fast"), fixed({"app": [100.0] * 100}, "a slow", first=1000))
    now = join(fixed({"app": [10.0] * 100}, "a fast", first=2000), fixed({"app": [100.0] * 300}, "a slow", first=3000))
    report = check(now, before)
    assert report.verdict == "pass"
    assert found(report, "latency.p50").current == 10
    assert found(report, "non-model.path.mean").current == pytest.approx(32.5)
    assert [doubt.code for doubt in report.doubts] == ["mix-changed"]
    assert "75% → 25%" in report.doubts[0].text


def test_groups_on_one_side_only_are_named_and_left_out():
    before = join(fixed({"app": [10.0] * 60}, "a old"), fixed({"app": [20.0] * 60}, "a both", first=1000))
    now = join(fixed({"app": [500.0] * 60}, "a new", first=2000), fixed({"app": [20.0] * 60}, "a both", first=3000))
    report = check(now, before, [Budget("latency.p50"), Budget("latency.p50", max_ms=100)])
    assert [item.verdict for item in report.checks] == ["pass", "inconclusive"]  # a limit looks at all requests
    assert [doubt.text.split(" are ")[0] for doubt in report.doubts] == ["requests of a new", "requests of a old"]


def test_nothing_in_common_is_inconclusive():
    report = check(
        fixed({"app": [10.0] * 60}, "a x"), fixed({"app": [10.0] * 60}, "a y", first=100), [Budget("latency")]
    )
    assert report.verdict == "inconclusive"
    assert np.isnan(report.checks[0].change)


def test_requests_with_the_same_trace_ids_are_compared_one_by_one():
    before = traffic(300, 7)
    now = Sample(before.group, before.start, before.duration + 0, before.parts, before.time.copy(), before.trace_ids)
    now.time[:, 1] += 8_000_000  # + 8 ms in the database, some 8 % of the path time outside the model
    now.duration = now.time.sum(axis=1)
    assert pair_up(now, before).paired
    path = found(check(now, before), "non-model.path.mean")
    assert path.verdict == "regression"
    assert path.interval[1] - path.interval[0] < 0.005
    assert not pair_up(traffic(300, 8), before).paired


def test_the_order_of_the_requests_does_not_matter():
    now, before = traffic(200, 1), traffic(200, 2)
    assert check(shuffled(now), shuffled(before)).to_dict() == check(now, before).to_dict()


def test_a_component_that_was_not_there_before_is_a_rise_of_all_of_it():
    before, now = fixed({"app": [50.0] * 60}), fixed({"app": [50.0] * 60, "database": [30.0] * 60}, first=100)
    database = check(now, before, [Budget("database")]).checks[0]
    assert (database.baseline, database.current, database.change, database.verdict) == (0, 30, 1, "regression")
