"""The gate: every check, and the verdict over all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from latshift.errors import ConfigError
from latshift.gate.budgets import Budget, Plan, default_plans, plans_of
from latshift.gate.compare import Pair, pair_up
from latshift.gate.sample import Sample
from latshift.gate.verdicts import judge
from latshift.results.base import Doubt
from latshift.results.check import Check, CheckReport, Verdict
from latshift.skipped import input_doubts

FAMILY_ERROR = 0.05
"""How often at most a gate of several checks would see a rise where there is none, were nothing tolerated."""


def check(
    current: Sample,
    baseline: Sample | None = None,
    budgets: Sequence[Budget] = (),
    *,
    on_inconclusive: Literal["pass", "fail"] = "fail",
    min_requests: int | None = None,
) -> CheckReport:
    """Hold a run against a baseline and budgets.

    Args:
        current: The run that is judged.
        baseline: What it is compared with. Where no budget needs it, the default checks are made.
        budgets: What it is held to.
        on_inconclusive: Whether too little evidence lets the build go on.
        min_requests: Requests that are enough for a verdict; None takes what each percentile needs.

    Raises:
        ConfigError: If there is nothing to check, or a budget makes no sense.
    """
    current = current.in_order()
    baseline = baseline.in_order() if baseline else None
    pairs: dict[str | None, Pair] = {None: pair_up(current, baseline)}
    plans = _plans(pairs[None], budgets, min_requests)
    for plan in plans:
        if plan.group not in pairs:
            pairs[plan.group] = pair_up(current, baseline, plan.group)
    level = 1 - min(0.05, 2 * FAMILY_ERROR / len(plans))
    checks = tuple(judge(plan, pairs[plan.group], level) for plan in plans)
    doubts = (
        *input_doubts(current.skipped),
        *(input_doubts(baseline.skipped, "baseline: ") if baseline else ()),
        *_doubts(plans, pairs),
    )
    return CheckReport(overall(checks), checks, doubts, inconclusive_passes=on_inconclusive == "pass")


def overall(checks: Sequence[Check]) -> Verdict:
    """Return the verdict over all checks that may fail a build: the worst one."""
    verdicts = {check.verdict for check in checks if check.level == "fail"}
    order: tuple[Verdict, ...] = ("regression", "inconclusive")
    return next((verdict for verdict in order if verdict in verdicts), "pass")


def _plans(every: Pair, budgets: Sequence[Budget], min_requests: int | None) -> list[Plan]:
    """Return the checks to make, given the requests of all groups."""
    components = {part.component for part in every.parts}
    plans = [plan for budget in budgets for plan in plans_of(budget, components, min_requests)]
    if every.baseline and not any(budget.relative for budget in budgets):
        plans = default_plans(min(every.current.n, every.baseline.n), min_requests) + plans
    if not plans:
        raise ConfigError(
            "nothing to check: there is neither a baseline nor a budget",
            "give --baseline PATH, or write a [[budget]] into latshift.toml",
        )
    return plans


def _doubts(plans: Sequence[Plan], pairs: dict[str | None, Pair]) -> tuple[Doubt, ...]:
    found = [doubt for plan in plans for doubt in pairs[plan.group].doubts]
    return tuple(dict.fromkeys(found))
