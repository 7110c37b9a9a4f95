"""`latshift analyze`: where the latency goes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from latshift.cli.options import FORMAT, OUTPUT, REQUESTS, ReadOptions, ShowOptions, Traces
from latshift.cli.output import deliver, plan, refuse_bad_target, remark
from latshift.cli.reading import read, remember

if TYPE_CHECKING:
    from latshift.results import Analysis

EXAMPLES = """
Examples:
  latshift analyze traces.jsonl
  latshift analyze 'exports/**/*.json.gz' --root 'gateway POST /answer'
  latshift analyze traces.jsonl -o report.md -o report.json
  kubectl exec collector -- cat /traces.jsonl | latshift analyze -
  latshift analyze main.jsonl --save baseline.latshift
"""

FORMATS = ("table", "json", "md", "csv")


def command(
    paths: Traces = None,
    *,
    format: Annotated[Literal["table", "json", "md", "csv"] | None, FORMAT] = None,
    group_by: Annotated[
        str | None,
        typer.Option(
            "--group-by", metavar="KEY", rich_help_panel=REQUESTS, help="Group by root (default), service, or attr:KEY."
        ),
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option("--save", metavar="FILE", rich_help_panel=OUTPUT, help="Save a baseline for latshift check."),
    ] = None,
    no_cache: Annotated[
        bool,
        typer.Option("--no-cache", rich_help_panel=OUTPUT, help="Do not keep the traces for commands without PATH."),
    ] = False,
    read_options: ReadOptions,
    show: ShowOptions,
) -> int:
    """Show what bounds latency at p50, p95 and p99."""
    targets = plan(format, show, FORMATS, paths or [])
    if save:
        refuse_bad_target(str(save), paths or [])
    from latshift import api

    traces = read(paths, read_options, show, [group_by or ""])
    analysis = api.analyze(traces, group_by=group_by)
    if save:
        api.save_baseline(traces, save)
        remark(f"saved the baseline {save}", show)
    if not no_cache:
        remember(traces, show)
    deliver(targets, analysis, show)
    if any(target.format == "csv" for target in targets):
        _say_doubts(analysis, show)
    return 0


def _say_doubts(analysis: Analysis, show: ShowOptions) -> None:
    """Say on standard error what a CSV file has no place for."""
    from latshift.report.doubts import doubt_clauses

    clauses = doubt_clauses(analysis.doubts, analysis.input)
    if clauses:
        remark("; ".join(clauses), show)
