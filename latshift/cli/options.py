"""Options that several commands share, as groups (see `latshift.cli.commands`)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

Color = Literal["auto", "always", "never"]

REQUESTS = "Which requests"
READING = "How traces are read"
OUTPUT = "Output"

Traces = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[PATH...]", help="Trace files, directories, globs, or - for standard input.", show_default=False
    ),
]

LastOrTraces = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[PATH...]",
        help="Trace files, directories, globs, or - for standard input; else what was last analysed in this directory.",
        show_default=False,
    ),
]


def _option(names: str, panel: str, help: str, metavar: str | None = None) -> object:
    return typer.Option(*names.split(), help=help, metavar=metavar, rich_help_panel=panel)


@dataclass(frozen=True)
class ReadOptions:
    """Which requests count, and how traces are read."""

    root: Annotated[
        str | None,
        _option("--root", REQUESTS, "Only requests whose root matches: 'service operation' or the operation.", "GLOB"),
    ] = None
    service: Annotated[
        str | None, _option("--service", REQUESTS, "Only requests that pass through such a service.", "GLOB")
    ] = None
    since: Annotated[
        str | None, _option("--since", REQUESTS, "Only requests that start then or later (ISO 8601 or epoch).", "TIME")
    ] = None
    until: Annotated[str | None, _option("--until", REQUESTS, "Only requests that start before.", "TIME")] = None
    include_incomplete: Annotated[
        bool, _option("--include-incomplete", REQUESTS, "Count requests whose root is missing, too.")
    ] = False
    config: Annotated[
        Path | None,
        _option("--config", READING, "Rules and budgets; else the nearest latshift.toml or pyproject.toml.", "FILE"),
    ] = None
    model_components: Annotated[
        str | None,
        _option("--model-components", READING, "Components that count as the model, with commas between.", "LIST"),
    ] = None
    fix_skew: Annotated[
        str | None,
        _option(
            "--fix-skew", READING, "Shift spans of other hosts into their callers by at most so much, e.g. 5ms.", "MAX"
        ),
    ] = None
    asynchronous: Annotated[
        Literal["otel", "follows-from", "none"],
        _option("--async", READING, "What nobody waits for: otel takes producer to consumer, and FOLLOWS_FROM."),
    ] = "otel"
    overflow: Annotated[
        Literal["clamp", "drop"],
        _option("--async-overflow", READING, "What ends after its caller is cut there, or taken as not awaited."),
    ] = "clamp"
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers",
            min=1,
            metavar="N",
            help="Processes that read files; else one for each core.",
            rich_help_panel=READING,
        ),
    ] = None


@dataclass(frozen=True)
class ShowOptions:
    """Where the result goes, and what else is said."""

    output: Annotated[
        list[str] | None,
        _option(
            "-o --output",
            OUTPUT,
            "Write to a file, its ending says in which format; may be repeated; - is standard output.",
            "FILE",
        ),
    ] = None
    color: Annotated[
        Color, _option("--color", OUTPUT, "Colours; auto heeds the terminal, NO_COLOR and FORCE_COLOR.")
    ] = "auto"
    quiet: Annotated[bool, _option("-q --quiet", OUTPUT, "No progress and no remarks on standard error.")] = False


FORMAT: object = typer.Option(
    "--format", help="How the result is written; else as a table.", rich_help_panel=OUTPUT, show_default=False
)
"""The `--format` option; each command says which formats it has."""
