"""`latshift check`: the gate for CI."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from latshift.cli.options import FORMAT, LastOrTraces, ReadOptions, ShowOptions
from latshift.cli.output import deliver, plan
from latshift.cli.reading import read_or_last

EXAMPLES = """
Examples:
  latshift check new.jsonl --baseline old.jsonl
  latshift check new.jsonl --baseline baseline.latshift --format md -o summary.md
  latshift check new.jsonl                   (budgets from latshift.toml)

Exit codes: 0 pass, 1 regression, 2 bad input or configuration, 3 inconclusive (see --on-inconclusive).
"""

FORMATS = ("table", "json", "md")

GATE = "What is compared"


def command(
    paths: LastOrTraces = None,
    *,
    baseline: Annotated[
        list[str] | None,
        typer.Option(
            "--baseline",
            metavar="PATH",
            rich_help_panel=GATE,
            help="Traces to compare with, or what analyze --save wrote; may be repeated.",
            show_default=False,
        ),
    ] = None,
    on_inconclusive: Annotated[
        Literal["pass", "fail"],
        typer.Option(
            "--on-inconclusive", rich_help_panel=GATE, help="Exit code when there is too little data: 0 or 3."
        ),
    ] = "fail",
    format: Annotated[Literal["table", "json", "md"] | None, FORMAT] = None,
    read_options: ReadOptions,
    show: ShowOptions,
) -> int:
    """Fail if latency is worse than a baseline or a budget.

    The time that is not the model's is looked at on its own, so a faster model hides nothing.
    """
    targets = plan(format, show, FORMATS, [*(paths or []), *(baseline or [])])
    from latshift import api

    traces = read_or_last(paths, read_options, show)
    report = api.check(traces, baseline=baseline, on_inconclusive=on_inconclusive)
    deliver(targets, report, show)
    return report.exit_code
