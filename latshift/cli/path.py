"""`latshift path`: one request and its critical path."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from latshift.cli.options import FORMAT, ReadOptions, ShowOptions
from latshift.cli.output import deliver, plan
from latshift.cli.reading import is_source, read_or_last

EXAMPLES = """
Examples:
  latshift path 4bf92f3577b34da6a3ce929d0e0e4736 traces.jsonl
  latshift path --slowest 3 traces.jsonl
  latshift path --slowest 1 --format json

Without PATH it shows the traces that were last analysed in this directory.
"""

FILE_ENDINGS = (".json", ".jsonl", ".ndjson", ".txt", ".gz", ".zst")
"""What ends so is a file that is missing, not a trace id."""

FORMATS = ("table", "json")


def command(
    items: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TRACE_ID] [PATH...]",
            help="A trace id, then what to read; else what was last analysed in this directory.",
            show_default=False,
        ),
    ] = None,
    *,
    slowest: Annotated[
        int | None,
        typer.Option("--slowest", min=1, metavar="N", help="Show the N slowest requests.", show_default=False),
    ] = None,
    format: Annotated[Literal["table", "json"] | None, FORMAT] = None,
    read_options: ReadOptions,
    show: ShowOptions,
) -> int:
    """Show a request as a waterfall, its critical path marked.

    Without a trace id it is the slowest one.
    """
    trace_id, paths = split(items or [])
    targets = plan(format, show, FORMATS, paths)
    from latshift import api

    traces = read_or_last(paths, read_options, show)
    if trace_id is None and slowest is None:
        slowest = 1
    deliver(targets, api.find_paths(traces, trace_id=trace_id, slowest=slowest), show)
    return 0


def split(items: list[str]) -> tuple[str | None, list[str]]:
    """Tell the trace id from the paths: the first argument is one, unless it names a file or seems to."""
    if not items or is_source(items[0]) or "/" in items[0] or items[0].endswith(FILE_ENDINGS):
        return None, items
    return items[0], items[1:]
