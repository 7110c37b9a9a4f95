"""`latshift whatif`: what a change would do to the latency."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

import typer

from latshift.cli.commands import ORDER
from latshift.cli.options import FORMAT, LastOrTraces, ReadOptions, ShowOptions
from latshift.cli.output import deliver, plan
from latshift.cli.reading import read_or_last
from latshift.errors import EditError

EXAMPLES = """
Examples:
  latshift whatif --speedup llm=2x
  latshift whatif traces.jsonl --speedup 'class:non-model=inf'
  latshift whatif --parallelize retrieval,feature-store --add-latency database=20ms
  latshift whatif --remove 'name:audit*&service:gateway'

SEL is a component (llm), a phase (llm.decode), class:NAME, name:GLOB, service:GLOB or attr:KEY=GLOB, several
joined by &; SEL/** takes in all beneath. Edits are applied in the order given.
"""

FORMATS = ("table", "json", "md")

VERBS = {"speedup": "speedup", "add_latency": "add-latency", "parallelize": "parallelize", "remove": "remove"}
"""Parameter of the command to the verb of the edit."""

EDITS = "Changes"


def _edit(verb: str, metavar: str, help: str) -> object:
    return typer.Option(f"--{verb}", metavar=metavar, help=help, rich_help_panel=EDITS, show_default=False)


def command(
    context: typer.Context,
    paths: LastOrTraces = None,
    *,
    speedup: Annotated[
        list[str] | None, _edit("speedup", "SEL=2x", "Make it so many times faster; 0.5x is slower, inf takes no time.")
    ] = None,
    add_latency: Annotated[
        list[str] | None, _edit("add-latency", "SEL=100ms", "Make each call so much slower.")
    ] = None,
    parallelize: Annotated[
        list[str] | None, _edit("parallelize", "A,B[,C]", "Start them together instead of one after the other.")
    ] = None,
    remove: Annotated[list[str] | None, _edit("remove", "SEL", "Take it away.")] = None,
    format: Annotated[Literal["table", "json", "md"] | None, FORMAT] = None,
    read_options: ReadOptions,
    show: ShowOptions,
) -> int:
    """Predict latency after a change, by replay of each request."""
    given = {"speedup": speedup, "add_latency": add_latency, "parallelize": parallelize, "remove": remove}
    edits = in_order(context.meta.get(ORDER, ()), given)
    if not edits:
        raise EditError("no change to predict", "add one, for example --speedup llm=2x")
    targets = plan(format, show, FORMATS, paths or [])
    from latshift import api

    traces = read_or_last(paths, read_options, show, [text for _, text in edits])
    deliver(targets, api.whatif(traces, edits), show)
    return 0


def in_order(order: Sequence[str], given: Mapping[str, Sequence[str] | None]) -> list[tuple[str, str]]:
    """Return the edits as (verb, text), in the order in which they stand on the command line.

    Args:
        order: Names of the given options in order, repeats included. given: Option to its texts, each in order.
    """
    texts = {name: iter(values or ()) for name, values in given.items()}
    return [(VERBS[name], next(texts[name])) for name in order if name in texts]
