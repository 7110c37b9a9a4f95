"""`latshift whatif`: what a change would do to the latency."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from latshift.cli.commands import ORDER
from latshift.cli.edit_options import EditOptions
from latshift.cli.options import FORMAT, LastOrTraces, ReadOptions, ShowOptions
from latshift.cli.output import deliver, plan
from latshift.cli.reading import read_or_last
from latshift.errors import EditError

if TYPE_CHECKING:
    from latshift.results import Result

EXAMPLES = """
Examples:
  latshift whatif --speedup llm=2x
  latshift whatif traces.jsonl --speedup 'class:non-model=inf'
  latshift whatif --parallelize retrieval,feature-store --add-latency database=20ms
  latshift whatif --remove 'name:audit*&service:gateway'
  latshift whatif --cache llm=30%:5ms --insert reranker=60ms,before=llm --hedge retrieval=p95
  latshift whatif --pool 'llm=4->8' --load 1.5x --route llm=70%:small_model.csv
  latshift whatif traces.jsonl --curve llm.decode
  latshift whatif traces.jsonl --scenario plan.toml

SEL is a component (llm), a phase (llm.decode), class:NAME, name:GLOB, service:GLOB or attr:KEY=GLOB, several
joined by &; SEL/** takes in all beneath. Edits are applied in the order given.

plan.toml holds sets of edits, to compare them side by side:
  [[scenario]]
  name = "faster model"
  edits = ["--speedup llm=2x", "--parallelize auth,retrieval"]
"""

FORMATS = ("table", "json", "md")

QUESTIONS = "Other questions"


def command(
    context: typer.Context,
    paths: LastOrTraces = None,
    *,
    changes: EditOptions,
    curve: Annotated[
        str | None,
        typer.Option(
            "--curve",
            metavar="SEL",
            help="Show the gain against its speed-up, and where more speed stops paying.",
            rich_help_panel=QUESTIONS,
            show_default=False,
        ),
    ] = None,
    scenario: Annotated[
        Path | None,
        typer.Option(
            "--scenario",
            metavar="FILE",
            help="Compare the sets of changes in a TOML file.",
            rich_help_panel=QUESTIONS,
            show_default=False,
        ),
    ] = None,
    format: Annotated[Literal["table", "json", "md"] | None, FORMAT] = None,
    read_options: ReadOptions,
    show: ShowOptions,
) -> int:
    """Predict latency after a change, by replay of each request."""
    edits = changes.in_order(context.meta.get(ORDER, ()))
    _refuse_mixture(edits, curve, scenario)
    targets = plan(format, show, FORMATS, [*(paths or []), *([str(scenario)] if scenario else [])])
    from latshift import api

    result: Result
    if scenario is not None:
        sets = api.load_scenarios(scenario)
        mentions = [text for item in sets for _, text in item.edits]
        result = api.scenarios(read_or_last(paths, read_options, show, mentions), sets)
    elif curve is not None:
        result = api.curve(read_or_last(paths, read_options, show, [curve]), curve)
    else:
        result = api.whatif(read_or_last(paths, read_options, show, [text for _, text in edits]), edits)
    deliver(targets, result, show)
    return 0


def _refuse_mixture(edits: Sequence[tuple[str, str]], curve: str | None, scenario: Path | None) -> None:
    """Raise unless there is exactly one question: changes, a curve, or a file of scenarios."""
    given = [
        name
        for name, is_given in (("a change", edits), ("--curve", curve is not None), ("--scenario", scenario))
        if is_given
    ]
    if not given:
        raise EditError("no change to predict", "add one, for example --speedup llm=2x")
    if len(given) > 1:
        raise EditError(f"{' and '.join(given)} are two questions", "ask one at a time")
