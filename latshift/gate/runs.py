"""From traces to what the gate compares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from latshift.errors import InputError
from latshift.gate.baseline import is_sample_file, load_sample
from latshift.gate.budgets import Budget
from latshift.gate.check import check
from latshift.gate.sample import Sample

if TYPE_CHECKING:
    from latshift.results import CheckReport
    from latshift.traceset import TraceSet


def sample_of(traces: TraceSet) -> Sample:
    """Return the requests that the statistics of a trace set stand on."""
    chosen = traces.chosen
    forest = traces.forest
    roots = forest.root[chosen]
    ids = forest.spans.text("trace").texts(roots)
    return Sample(
        group=traces.labels.take(chosen),
        start=forest.spans.array("start")[roots],
        duration=traces.attribution.duration[chosen],
        parts=traces.attribution.parts,
        time=traces.attribution.time[chosen],
        trace_ids=[text or "" for text in ids],
        skipped=dict(traces.input.skipped),
    )


def gate(
    traces: TraceSet,
    baseline: TraceSet | str | Path | Sequence[str | Path] | None = None,
    *,
    on_inconclusive: Literal["pass", "fail"] = "fail",
) -> CheckReport:
    """Hold traces against a baseline and the budgets of their configuration.

    Args:
        traces: The run that is judged.
        baseline: Other traces, a file saved by `latshift analyze --save`, or trace files.
        on_inconclusive: Whether too little evidence lets the build go on.

    Raises:
        InputError: If the baseline cannot be read. ConfigError: If there is nothing to check.
    """
    earlier = None if baseline is None else _baseline(traces, baseline)
    return check(sample_of(traces), earlier, _budgets(traces), on_inconclusive=on_inconclusive)


def _baseline(traces: TraceSet, source: TraceSet | str | Path | Sequence[str | Path]) -> Sample:
    from latshift.traceset import TraceSet

    if isinstance(source, TraceSet):
        return sample_of(source)
    paths = [source] if isinstance(source, (str, Path)) else list(source)
    saved = [path for path in paths if is_sample_file(path)]
    if not saved:
        return sample_of(_read_alike(traces, paths))
    if len(paths) > 1:
        raise InputError(f"{saved[0]}: a saved baseline cannot be joined with other files", "give it alone")
    return load_sample(saved[0])


def _read_alike(traces: TraceSet, paths: Sequence[str | Path]) -> TraceSet:
    """Read traces as the others were read: the same rules, the same filter, but of any time."""
    from latshift.forest import build
    from latshift.ingest import read_spans

    table, summary = read_spans(paths, keep=traces.config.keep)
    forest = build(table, summary)
    return replace(traces, forest=forest, input=summary, filter=replace(traces.filter, since=None, until=None))


def _budgets(traces: TraceSet) -> list[Budget]:
    return [
        Budget(
            metric=written.metric,
            group=written.group or written.root,
            percentiles=tuple(written.percentile or ()),
            max_ms=written.max_ms,
            max_share=written.max_share,
            tolerance=written.tolerance,
            tolerance_ms=written.tolerance_ms,
            level=written.level,
            raw=written.raw,
            min_requests=written.min_requests,
        )
        for written in traces.config.budgets
    ]
