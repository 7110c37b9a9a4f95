"""`analyze`: where the latency of the requests goes."""

from __future__ import annotations

import numpy as np

from latshift.components.retries import DIRECT
from latshift.errors import EditError, InternalError
from latshift.measure import NAMES, gain
from latshift.results import (
    Analysis,
    ClassShare,
    Component,
    Doubt,
    Group,
    PhaseShare,
    Points,
    RetryTime,
    Spread,
    TailExcess,
)
from latshift.shares import describe, merge_parts, share_table, tail_excess
from latshift.spans import Bool, Coded, Int64
from latshift.traceset import TraceSet

CLASS_ORDER = ("model", "queue", "non-model")
LARGEST_GROUPS = 20
"""Groups listed; the rest is summed up in a doubt."""


def analyze(traces: TraceSet, group_by: str | None = None) -> Analysis:
    """Say where the latency goes, at p50, p95 and p99.

    Args:
        traces: The requests.
        group_by: "root" (service and operation, the default), "service", or "attr:KEY".

    Raises:
        InputError: If no request is left to look at.
        EditError: If `group_by` is none of these.
    """
    chosen = traces.chosen
    duration = traces.attribution.duration[chosen]
    time = traces.attribution.time[chosen]
    classes = _classes(traces, time, duration)
    _check_sums(classes, duration)
    doubts = [*share_table(time, duration).doubts, *_doubts(traces)]
    groups, more = _groups(traces, group_by)
    total, parts = _tail(traces, time, duration)
    return Analysis(
        input=traces.input,
        latency=describe(duration),
        classes=classes,
        components=_components(traces, time, duration),
        groups=groups,
        tail_excess=TailExcess(total, parts),
        doubts=(*doubts, *more),
    )


def _check_sums(classes: tuple[ClassShare, ...], duration: Int64) -> None:
    """Withhold shares that do not add up to 1."""
    if not duration.any():
        return
    for name in NAMES:
        total = sum(getattr(part.share, name) for part in classes)
        if abs(total - 1) > 1e-9 and not np.isnan(total):
            raise InternalError(f"the shares at {name} add up to {total}", "please report this with the traces")


def _classes(traces: TraceSet, time: Int64, duration: Int64) -> tuple[ClassShare, ...]:
    totals, names = merge_parts(time, [part.klass for part in traces.attribution.parts])
    table = share_table(totals, duration)
    found = {name: (table.share_spread(at), table.path_spread(at)) for at, name in enumerate(names)}
    nothing = (Spread(0.0, 0.0, 0.0, 0.0),) * 2
    return tuple(ClassShare(name, *found.get(name, nothing)) for name in CLASS_ORDER)


def _components(traces: TraceSet, time: Int64, duration: Int64) -> tuple[Component, ...]:
    """Return all components that occur in the chosen requests, the largest mean share first."""
    totals, labels = merge_parts(time, [part.component for part in traces.attribution.parts])
    table = share_table(totals, duration)
    inside = traces.model.rows_of_requests & ~traces.forest.placeholder
    column = traces.classified.component
    found = []
    for code, name in enumerate(column.words):
        rows = inside & (column.codes == code)
        spans = int(rows.sum())
        nothing = Spread(0.0, 0.0, 0.0, 0.0)
        at = labels.index(name) if name in labels else -1
        if not spans and (at < 0 or not table.requests[at]):
            continue
        found.append(
            Component(
                name, traces.classified.klass[name], _requests_with(traces, rows), spans,
                int((rows & traces.classified.call).sum()),
                table.share_spread(at) if at >= 0 else nothing,
                table.path_spread(at) if at >= 0 else nothing,
                _ceiling(traces, name), _phases(traces, name, time, duration), _retries(traces, name),
            )
        )  # fmt: skip
    return tuple(sorted(found, key=lambda item: (-item.share.mean, -item.spans, item.name)))


def _requests_with(traces: TraceSet, rows: Bool) -> int:
    return len(np.unique(traces.forest.request[rows]))


def _phases(traces: TraceSet, component: str, time: Int64, duration: Int64) -> tuple[PhaseShare, ...]:
    columns = [
        (index, part.phase)
        for index, part in enumerate(traces.attribution.parts)
        if part.component == component and part.phase is not None
    ]
    if not columns:
        return ()
    table = share_table(time[:, [index for index, _ in columns]], duration)
    return tuple(
        PhaseShare(phase, table.share_spread(at), table.path_spread(at))
        for at, (_, phase) in enumerate(columns)
        if table.requests[at]
    )


def _ceiling(traces: TraceSet, component: str) -> Points:
    """Return the gain if the component's own work took no time, by replay of every request."""
    model = traces.model
    component_column = traces.classified.component
    rows = component_column.lookup([word == component for word in component_column.words], False).astype(bool)
    saved = gain(model.duration, model.without(rows, 0.0))
    return Points(saved.p50, saved.p95, saved.p99)


def _retries(traces: TraceSet, component: str) -> RetryTime | None:
    """Return what attempts beyond the first and the back-off between them cost this component."""
    column, retries = traces.classified.component, traces.classified.retries
    if component not in column.words:
        return None
    own = column.codes == column.words.index(component)
    attempts = retries.attempts & own & traces.model.rows_of_requests
    if not attempts.any():
        return None
    forest, path = traces.forest, traces.path
    again = retries.beneath(forest.parent) & own
    waited = np.where(attempts & path.on_path, retries.back_off, 0)
    time = np.zeros(len(forest.root), np.int64)
    np.add.at(time, forest.request, np.where(again, path.own, 0) + waited)
    table = share_table(time[traces.chosen][:, None], traces.attribution.duration[traces.chosen])
    direct = bool((retries.evidence[attempts] == DIRECT).all())
    requests = _requests_with(traces, attempts)
    evidence = "direct" if direct else "heuristic"
    return RetryTime(requests, int(attempts.sum()), evidence, table.path_spread(0))


def _tail(traces: TraceSet, time: Int64, duration: Int64) -> tuple[float, dict[str, float]]:
    totals, names = merge_parts(time, [part.component for part in traces.attribution.parts])
    total, parts = tail_excess(totals, duration)
    named = zip((str(name) for name in names), parts.tolist(), strict=True)
    ranked = sorted(named, key=lambda item: (-item[1], item[0]))
    return total, dict(ranked)


def _group_labels(traces: TraceSet, group_by: str | None) -> Coded:
    if group_by in (None, "root"):
        return traces.labels
    spans, root = traces.forest.spans, traces.forest.root
    if group_by == "service":
        return spans.text("service").take(root)
    if group_by and group_by.startswith("attr:") and group_by != "attr:":
        key = group_by.removeprefix("attr:")
        for name in (group_by, key):
            if isinstance(spans.columns.get(name), Coded):
                return spans.text(name).take(root)
        raise EditError(
            f"--group-by {group_by}: no root span has this attribute",
            "attributes with text values can be used; content of prompts and answers is never kept",
        )
    raise EditError(f"--group-by {group_by}: unknown", "use root, service, or attr:KEY")


def _groups(traces: TraceSet, group_by: str | None) -> tuple[tuple[Group, ...], tuple[Doubt, ...]]:
    chosen = traces.chosen
    labels = _group_labels(traces, group_by).take(chosen)
    duration = traces.attribution.duration[chosen]
    time = traces.attribution.time[chosen]
    counts = np.bincount(labels.codes + 1, minlength=len(labels.words) + 1)
    words = ["(none)", *labels.words]
    order = sorted((code for code in range(len(words)) if counts[code]), key=lambda code: (-counts[code], words[code]))
    groups = []
    for code in order[:LARGEST_GROUPS]:
        rows = np.flatnonzero(labels.codes == code - 1)
        classes = _classes(traces, time[rows], duration[rows])
        groups.append(Group(words[code], len(rows), describe(duration[rows]), classes))
    left = len(order) - len(groups)
    doubts = (
        (Doubt("more-groups", f"{left} smaller groups are not listed", "--root shows one of them"),) if left else ()
    )
    return tuple(groups), doubts


def _doubts(traces: TraceSet) -> list[Doubt]:
    """Return what weakens the figures, beyond the input's own warnings."""
    doubts = [Doubt("classification", warning) for warning in traces.classified.warnings]
    if traces.only_incomplete:
        doubts.append(
            Doubt("only-incomplete", "every request lost its root; the figures stand on the parts that are there")
        )
    elif not traces.filter.include_incomplete and traces.input.incomplete:
        text = f"{traces.input.incomplete} incomplete requests are left out of the figures"
        doubts.append(Doubt("incomplete", text, "--include-incomplete counts them"))
    return doubts
