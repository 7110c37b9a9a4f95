"""`latshift rank`: what to improve first."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from latshift.cli.options import FORMAT, LastOrTraces, ReadOptions, ShowOptions
from latshift.cli.output import deliver, plan
from latshift.cli.reading import read_or_last

EXAMPLES = """
Examples:
  latshift rank traces.jsonl
  latshift rank traces.jsonl --by p99 --root 'gateway POST /answer'
  latshift rank --format json

Without PATH it ranks the traces that were last analysed in this directory.
"""

FORMATS = ("table", "json", "md")


def command(
    paths: LastOrTraces = None,
    *,
    by: Annotated[
        Literal["p50", "p95", "p99"], typer.Option("--by", help="The percentile whose gain puts them in order.")
    ] = "p95",
    format: Annotated[Literal["table", "json", "md"] | None, FORMAT] = None,
    read_options: ReadOptions,
    show: ShowOptions,
) -> int:
    """Rank what could be improved by what it would gain.

    Every component and phase is replayed faster, and pairs of components side by side.
    """
    targets = plan(format, show, FORMATS, paths or [])
    from latshift import api

    traces = read_or_last(paths, read_options, show)
    deliver(targets, api.rank(traces, by=by), show)
    return 0
