"""The program: its commands and the options before them."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from latshift.cli import analyze, check, components, dependencies, path, rank, whatif
from latshift.cli.commands import Command, Program, with_option_groups

EXAMPLES = """
Examples:
  latshift analyze traces.jsonl
  latshift path --slowest 3
  latshift rank --by p99
  latshift whatif --speedup llm=2x
  latshift check new.jsonl --baseline old.jsonl

Exit codes: 0 ok, 1 gate failed, 2 usage, configuration or unreadable input,
3 inconclusive, 101 internal error, 130 interrupted.
"""

COMMANDS = (analyze, path, rank, whatif, check, components, dependencies)


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import PackageNotFoundError, version

        try:
            typer.echo(f"latshift {version('latshift')}")
        except PackageNotFoundError:
            typer.echo("latshift (not installed)")
        raise typer.Exit


def _before_commands(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback when something goes wrong.")] = False,
) -> None:
    """Find out from traces what bounds the latency of your requests, what a change would gain, and guard it in CI."""
    # `--debug` is taken out of the arguments by `main`, so that it may stand anywhere; it is declared for the help.
    del version, debug


def program() -> Any:
    """Return the program as a command object."""
    settings = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
    app = typer.Typer(
        cls=Program,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        no_args_is_help=True,
        context_settings=settings,
        epilog=EXAMPLES,
    )
    app.callback()(_before_commands)
    for module in COMMANDS:
        name = module.__name__.rpartition(".")[2]
        run = with_option_groups(module.command)
        app.command(name, cls=Command, context_settings=settings, epilog=module.EXAMPLES)(run)
    return typer.main.get_command(app)
