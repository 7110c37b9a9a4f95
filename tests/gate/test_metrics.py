from __future__ import annotations

import pytest

from latshift.critical_path.attribution import Part
from latshift.errors import ConfigError
from latshift.gate.budgets import Budget, plans_of
from latshift.gate.metrics import parse_metric

PARTS = [
    Part("app", None, "non-model"),
    Part("database/postgresql", None, "non-model"),
    Part("llm", "llm.decode", "model"),
    Part("llm", "llm.queue", "queue"),
    Part("queue", None, "queue"),
]


@pytest.mark.parametrize(
    ("text", "name", "columns"),
    [
        ("latency", "latency.mean", [0, 1, 2, 3, 4]),
        ("latency.p99.9", "latency.p99.9", [0, 1, 2, 3, 4]),
        ("non-model", "non-model.path.mean", [0, 1]),
        ("class:non-model", "non-model.path.mean", [0, 1]),
        ("share:class:non-model", "non-model.share.mean", [0, 1]),
        ("non-model.share.p50", "non-model.share.p50", [0, 1]),
        ("llm.path.p95", "llm.path.p95", [2, 3]),
        ("component:llm", "llm.path.mean", [2, 3]),
        ("llm.decode", "llm.decode.path.mean", [2]),
        ("phase:llm.queue.share.p95", "llm.queue.share.p95", [3]),
        ("queue", "queue.path.mean", [3, 4]),
        ("component:queue", "component:queue.path.mean", [4]),
        ("database", "database.path.mean", [1]),
        ("database/postgresql", "database/postgresql.path.mean", [1]),
    ],
)
def test_names_of_metrics(text, name, columns):
    metric, _ = parse_metric(text, [part.component for part in PARTS])
    assert metric.text == name
    assert [at for at, mine in enumerate(metric.columns(PARTS)) if mine] == columns
    assert parse_metric(metric.text, ["database/postgresql"])[0] == metric


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("latnecy", "did you mean 'latency'"),
        ("non_model", "did you mean 'non-model'"),
        ("llm.decoding", "did you mean 'llm.decode'"),
        ("class:llm", "such as"),
        ("latency.share", "such as"),
        ("latency.p0", "such as"),
        ("", "such as"),
        ("component:", "such as"),
    ],
)
def test_what_is_no_metric_is_an_error_with_a_hint(text, hint):
    with pytest.raises(ConfigError) as raised:
        parse_metric(text)
    assert hint in raised.value.hint or "did you mean" in raised.value.hint


def test_a_budget_is_one_check_for_each_percentile_and_limit():
    plans = plans_of(Budget("llm", percentiles=(50, 99), max_ms=100, max_share=0.6, tolerance=0.2), ())
    assert [(plan.metric.text, plan.limit, plan.tolerance, plan.needed) for plan in plans] == [
        ("llm.path.p50", 100, 0.2, 20),
        ("llm.share.p50", 0.6, 0.2, 20),
        ("llm.path.p50", None, 0.2, 20),
        ("llm.path.p99", 100, 0.2, 299),
        ("llm.share.p99", 0.6, 0.2, 299),
        ("llm.path.p99", None, 0.2, 299),
    ]
    assert plans_of(Budget("latency"), ())[0].metric.text == "latency.p95"
    assert plans_of(Budget("latency.mean"), ())[0].metric.text == "latency.mean"


def test_limits_that_do_not_fit_the_metric_are_errors():
    with pytest.raises(ConfigError, match="max_ms for a share"):
        plans_of(Budget("llm.share", max_ms=10), ())
    with pytest.raises(ConfigError, match="max_share"):
        plans_of(Budget("latency", max_share=0.5), ())
