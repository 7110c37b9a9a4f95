"""Why a check came out as it did, in one or two plain sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from latshift.critical_path.attribution import Part
from latshift.gate.budgets import Plan
from latshift.gate.compare import Pair
from latshift.gate.figures import made_of
from latshift.gate.metrics import Metric
from latshift.shares.quantiles import percentile_name

NAMED = 3
"""How many components a sentence names."""

_WHOSE = {"model": "the model's part", "queue": "waiting in queues", "non-model": "the rest's part"}
"""What the classes are called in a sentence."""


def milliseconds(value: float, signed: bool = False) -> str:
    """Return "1,310 ms", "12.3 ms", "0.42 ms"; with a sign "+12.3 ms" or "−4 ms", and "±0 ms" for nothing."""
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 1 else 2
    number = f"{abs(value):,.{digits}f}"
    if not signed:
        return f"{'−' if value < 0 else ''}{number} ms"
    if float(number.replace(",", "")) == 0:
        return "±0 ms"
    return f"{'−' if value < 0 else '+'}{number} ms"


def percent(value: float, digits: int = 1) -> str:
    """Return "12.5 %" for 0.125."""
    return f"{'−' if value < 0 else ''}{abs(value) * 100:.{digits}f} %"


def too_few(n: int, needed: int, metric: Metric) -> str:
    """Say that a figure stands on too few requests."""
    return f"Only {n:,} request{'' if n == 1 else 's'}; {percentile_name(metric.fraction)} needs {needed:,}."


def unsure(low: float, tolerance: float, metric: Metric) -> str:
    """Say that a rise is above the tolerance, but not surely."""
    unit = " of the latency" if metric.share else ""
    return f"The rise is above the accepted {percent(tolerance)}{unit}, but may be as little as {percent(low)}."


def noise(ends: tuple[float, float], tolerance: float) -> str:
    """Say that a rise above the tolerance passed because it may be none."""
    low, high = ends
    return f"Above the accepted {percent(tolerance)}, but it may be chance ({percent(low)} to {percent(high)})."


def change(plan: Plan, pair: Pair) -> str:
    """Say which components made the change of a time, and how much of it is the model's.

    The contributions add up to the change of the mean over the requests behind the figure.
    """
    moved = _contributions(plan, pair)
    if plan.metric.kind != "latency":
        columns = plan.metric.columns([*moved])
        moved = {part: by for (part, by), mine in zip(moved.items(), columns.tolist(), strict=True) if mine}
    total = sum(moved.values())
    text = f"{_requests(plan.metric)}: {milliseconds(total, signed=True)}"
    named = _by_component(moved)
    if len(named) > 1 and any(named.values()):
        text += f", of which {_listed(named)}"
    elif named:
        text += f", all of it {next(iter(named))}"
    classes = _by_class(moved)
    if plan.metric.kind == "latency" and len(classes) > 1:
        split = ", ".join(f"{_WHOSE[name]} {milliseconds(by, signed=True)}" for name, by in classes.items())
        text += f" ({split})"
    return f"{text}."


def share(plan: Plan, pair: Pair, before: float, now: float, path: tuple[float, float], rose: bool) -> str:
    """Say why a share moved: because of its own time, or because of everything else.

    Args:
        plan: The check.
        pair: Its requests.
        before: The share in the baseline.
        now: The share in the current run.
        path: Path time of the same thing over all requests, ms, before and now.
        rose: Whether that rose.
    """
    moved = _contributions(plan, pair)
    mine = plan.metric.columns([*moved]).tolist()
    others = _by_class({part: by for (part, by), own in zip(moved.items(), mine, strict=True) if not own})
    name = plan.metric.name
    text = f"The share of {name} {'rose' if now > before else 'fell'} from {percent(before)} to {percent(now)}"
    own = f"its own path time went from {milliseconds(path[0])} to {milliseconds(path[1])}"
    rest = ", ".join(f"{_WHOSE[klass]} {milliseconds(by, signed=True)}" for klass, by in others.items())
    if now > before and not rose:
        return f"{text} because the others got faster ({rest}), not because {name} got slower: {own}."
    return f"{text}: {own}; {rest}." if rest else f"{text}: {own}."


def level(plan: Plan, pair: Pair) -> str:
    """Say what a value that has only a limit is made of."""
    found = made_of(pair.whole, plan.metric, pair.parts)
    if plan.metric.kind != "latency" and not plan.metric.share:
        columns = plan.metric.columns([*found]).tolist()
        found = {part: time for (part, time), mine in zip(found.items(), columns, strict=True) if mine}
    named = _by_component(found)
    top = [f"{name} {milliseconds(time)}" for name, time in list(named.items())[:NAMED] if time > 0]
    return f"{_requests(plan.metric)} spend {', '.join(top)}." if top else ""


def _contributions(plan: Plan, pair: Pair) -> dict[Part, float]:
    assert pair.baseline is not None
    now = made_of(pair.current, plan.metric, pair.parts)
    before = made_of(pair.baseline, plan.metric, pair.parts)
    return {part: now[part] - before[part] for part in now}


def _requests(metric: Metric) -> str:
    of = "" if metric.kind == "latency" or metric.share else f" of {metric.name} path time"
    if metric.fraction is None:
        return f"Mean{of or ' latency'}"
    return f"Requests around {percentile_name(metric.fraction)}{of}"


def _by_component(moved: Mapping[Part, float]) -> dict[str, float]:
    """Add up by component, the largest change first."""
    total: dict[str, float] = {}
    for part, by in moved.items():
        total[part.component] = total.get(part.component, 0.0) + by
    return dict(sorted(total.items(), key=lambda item: (-abs(item[1]), item[0])))


def _by_class(moved: Mapping[Part, float]) -> dict[str, float]:
    total: dict[str, float] = {}
    for name in _WHOSE:
        times = [by for part, by in moved.items() if part.klass == name]
        if times:
            total[name] = sum(times)
    return total


def _listed(named: Mapping[str, float]) -> str:
    items: Sequence[tuple[str, float]] = list(named.items())
    text = ", ".join(f"{name} {milliseconds(by, signed=True)}" for name, by in items[:NAMED])
    rest = sum(by for _, by in items[NAMED:])
    return f"{text}, others {milliseconds(rest, signed=True)}" if len(items) > NAMED else text
