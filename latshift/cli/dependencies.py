"""`latshift dependencies`: who waits for whom."""

from __future__ import annotations

from typing import Annotated, Literal

from latshift.cli.options import FORMAT, LastOrTraces, ReadOptions, ShowOptions
from latshift.cli.output import deliver, plan
from latshift.cli.reading import read_or_last

EXAMPLES = """
Examples:
  latshift dependencies traces.jsonl
  latshift dependencies traces.jsonl --format dot | dot -Tsvg > dependencies.svg
  latshift dependencies traces.jsonl -o dependencies.graphml -o dependencies.mmd

Without PATH it shows the traces that were last analysed in this directory. What traces cannot know is said in
latshift.toml: [[dependency]] with after and either before or never.
"""

FORMATS = ("table", "json", "dot", "mermaid", "graphml")


def command(
    paths: LastOrTraces = None,
    *,
    format: Annotated[Literal["table", "json", "dot", "mermaid", "graphml"] | None, FORMAT] = None,
    read_options: ReadOptions,
    show: ShowOptions,
) -> int:
    """Show which calls wait for which, and the evidence.

    A what-if keeps these dependencies; one request that shows the opposite refutes one.
    """
    targets = plan(format, show, FORMATS, paths or [])
    from latshift import api

    traces = read_or_last(paths, read_options, show)
    deliver(targets, api.dependencies(traces), show)
    return 0
