"""`latshift components`: which span was put where, and by which rule."""

from __future__ import annotations

from typing import Annotated, Literal

from latshift.cli.options import FORMAT, LastOrTraces, ReadOptions, ShowOptions
from latshift.cli.output import deliver, plan
from latshift.cli.reading import read_or_last

EXAMPLES = """
Examples:
  latshift components traces.jsonl
  latshift components traces.jsonl --config latshift.toml --format json
"""

FORMATS = ("table", "json")


def command(
    paths: LastOrTraces = None,
    *,
    format: Annotated[Literal["table", "json"] | None, FORMAT] = None,
    read_options: ReadOptions,
    show: ShowOptions,
) -> int:
    """List which span went where, and by which rule.

    For names that no rule knew there are rules to paste.
    """
    targets = plan(format, show, FORMATS, paths or [])
    from latshift import api

    traces = read_or_last(paths, read_options, show)
    deliver(targets, api.components(traces), show)
    return 0
