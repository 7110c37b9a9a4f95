"""The functions behind both the command line and `import latshift`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from latshift import config as configuration
from latshift import store
from latshift.analysis import analyze
from latshift.critical_path import PathOptions
from latshift.errors import InputError
from latshift.forest import ForestOptions, build
from latshift.ingest import read_spans
from latshift.traceset import RequestFilter, TraceSet

if TYPE_CHECKING:
    from latshift.results import (
        CheckReport,
        ComponentListing,
        Curve,
        DependencyGraph,
        Forecast,
        Paths,
        Ranking,
        Scenarios,
    )
    from latshift.whatif.scenarios import Scenario

__all__ = [
    "analyze",
    "check",
    "components",
    "curve",
    "dependencies",
    "find_paths",
    "load_last",
    "load_scenarios",
    "rank",
    "read",
    "save_baseline",
    "save_last",
    "scenarios",
    "whatif",
]

Source = str | Path
Progress = Callable[[int, int], None]


def read(
    paths: Source | Sequence[Source],
    *,
    include_incomplete: bool = False,
    fix_skew_ms: float | None = None,
    asynchronous: Literal["otel", "follows-from", "none"] = "otel",
    overflow: Literal["clamp", "drop"] = "clamp",
    config: Source | configuration.Config | None = None,
    root: str | None = None,
    service: str | None = None,
    since: int | None = None,
    until: int | None = None,
    model_components: Sequence[str] | None = None,
    keep: Sequence[str] = (),
    workers: int | None = None,
    progress: Progress | None = None,
) -> TraceSet:
    """Read exported traces.

    Args:
        paths: Files, directories, globs, or "-" for standard input.
        include_incomplete: Count requests whose root is missing.
        fix_skew_ms: Shift spans of other hosts into their callers, by at most so many ms.
        asynchronous: Which children nobody waits for.
        overflow: What becomes of a span that ends after its parent.
        config: A configuration, or its file; None takes the nearest `latshift.toml` or `pyproject.toml`.
        root: Globs for the requests that count.
        service: Likewise.
        since: ns since the epoch, for their start.
        until: Likewise.
        model_components: Components of class model, in place of the configured ones.
        keep: Attribute keys to keep beyond the known ones, for selectors and grouping by `attr:KEY`.
        workers: Processes that decode; None for one each core.
        progress: Called with bytes read and bytes in all.

    Returns:
        The requests; nothing is computed before it is asked for.

    Raises:
        InputError: If the input holds nothing usable; names the file and the place.
        ConfigError: If the configuration cannot be used.
    """
    sources = [paths] if isinstance(paths, (str, Path)) else list(paths)
    if not all(isinstance(source, (str, Path)) for source in sources):
        raise InputError(f"{paths!r} is no path and no list of paths", 'for example latshift.read("traces.jsonl")')
    settings = _settings(config)
    if model_components is not None:
        configuration.check_components(model_components, settings.rules, "--model-components")
        settings = replace(settings, model_components=tuple(model_components))
    table, summary = read_spans(sources, keep={*settings.keep, *keep}, workers=workers, progress=progress)
    skew = None if fix_skew_ms is None else round(fix_skew_ms * 1e6)
    forest = build(table, summary, ForestOptions(fix_skew_ns=skew))
    return TraceSet(
        forest,
        summary,
        RequestFilter(root, service, since, until, include_incomplete),
        settings,
        PathOptions(asynchronous=asynchronous, overflow=overflow),
    )


def _settings(config: Source | configuration.Config | None) -> configuration.Config:
    if isinstance(config, configuration.Config):
        return config
    return configuration.load(Path(config) if config else None)


def find_paths(traces: TraceSet, trace_id: str | None = None, slowest: int | None = None) -> Paths:
    """Return the critical path of the requests of a trace, or of the slowest requests.

    Args:
        traces: The requests.
        trace_id: Any usual spelling of a trace id.
        slowest: How many of the slowest, if no trace is named.

    Raises:
        InputError: If there is no such trace.
    """
    from latshift import paths

    return paths.find_paths(traces, trace_id, slowest)


def whatif(traces: TraceSet, edits: Sequence[tuple[str, str]]) -> Forecast:
    """Predict what edits would do to the latency, by replay of every request.

    Args:
        traces: The requests.
        edits: Verb and value in order, such as [("speedup", "llm=2x"), ("remove", "rerank")].

    Raises:
        EditError: If an edit makes no sense or selects nothing.
    """
    from latshift.whatif.forecast import forecast

    return forecast(traces, edits)


def rank(traces: TraceSet, by: str = "p95") -> Ranking:
    """Rank all components and phases, and pairs of components, by what improving them gains.

    Args:
        traces: The requests.
        by: The percentile whose gain decides: "p50", "p95" or "p99".

    Raises:
        EditError: If `by` is none of these.
    """
    from latshift.whatif.ranking import rank

    return rank(traces, by)


def curve(traces: TraceSet, selector: str, factors: Sequence[float] | None = None) -> Curve:
    """Say what speed-ups of one thing gain, and where more speed stops paying.

    Args:
        traces: The requests.
        selector: What gets faster, such as "llm" or "llm.decode".
        factors: Speed-ups to show; `math.inf` takes all of its time away.

    Raises:
        EditError: If the selector or a factor makes no sense.
    """
    from latshift.whatif.curves import FACTORS, curve

    return curve(traces, selector, FACTORS if factors is None else factors)


def load_scenarios(path: Source) -> tuple[Scenario, ...]:
    """Read named sets of edits from a file.

    Raises:
        ConfigError: If the file cannot be used; names the place and what may have been meant.
    """
    from latshift.whatif.scenarios import load

    return load(Path(path))


def scenarios(
    traces: TraceSet, plan: Source | Sequence[Scenario] | Mapping[str, Sequence[tuple[str, str]]]
) -> Scenarios:
    """Compare named sets of edits on the same requests.

    Args:
        traces: The requests.
        plan: A file, what `load_scenarios` returns, or name to edits as `whatif` takes them.

    Raises:
        ConfigError: If the file cannot be used.
        EditError: If an edit makes no sense or selects nothing.
    """
    from latshift.whatif.scenarios import Scenario, compare

    if isinstance(plan, (str, Path)):
        plan = load_scenarios(plan)
    elif isinstance(plan, Mapping):
        plan = [Scenario(name, tuple(edits)) for name, edits in plan.items()]
    return compare(traces, plan)


def dependencies(traces: TraceSet) -> DependencyGraph:
    """Say which calls wait for which, with the evidence for and against."""
    from latshift.whatif.orders import dependency_graph

    return dependency_graph(traces)


def check(
    traces: TraceSet,
    baseline: TraceSet | Source | Sequence[Source] | None = None,
    *,
    on_inconclusive: Literal["pass", "fail"] = "fail",
) -> CheckReport:
    """Hold requests against a baseline, and against the budgets of the configuration.

    Args:
        traces: The requests.
        baseline: Earlier requests, trace files, or a file saved with `save_baseline`.
        on_inconclusive: Whether too little evidence lets the build go on.

    Raises:
        ConfigError: If there is neither a baseline nor a budget, or a budget names an unknown metric.
    """
    from latshift.gate import gate

    return gate(traces, baseline, on_inconclusive=on_inconclusive)


def components(traces: TraceSet) -> ComponentListing:
    """List what was put into which component and by which rule."""
    from latshift.components.explain import list_components, list_unclassified
    from latshift.results import ComponentListing

    forest, classified, own = traces.forest, traces.classified, traces.path.own
    return ComponentListing(
        traces.input, list_components(forest, classified, own), list_unclassified(forest, classified, own)
    )


def save_baseline(traces: TraceSet, path: Source) -> None:
    """Save what later runs are compared with: latency and path times per request, no names of users, no content."""
    from latshift.gate import sample_of, save_sample

    save_sample(sample_of(traces), Path(path))


def save_last(traces: TraceSet, directory: Path) -> None:
    """Keep the requests as those last analysed in a directory."""
    store.save(traces.forest, traces.input, store.cache_file(directory))


def load_last(directory: Path, config: Source | None = None) -> TraceSet:
    """Return the requests last analysed in a directory.

    Raises:
        InputError: If there are none.
    """
    file = store.cache_file(directory)
    if not file.is_file():
        raise InputError(
            "nothing was analysed in this directory yet", "name trace files, or run `latshift analyze PATH`"
        )
    forest, summary = store.load(file)
    return TraceSet(forest, summary, config=_settings(config))
