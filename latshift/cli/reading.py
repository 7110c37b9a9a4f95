"""From the options of a command to the requests it works on."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from latshift.cli.output import STDOUT, remark
from latshift.cli.progress import Meter
from latshift.cli.values import duration_ms, time_ns
from latshift.errors import LatshiftError

if TYPE_CHECKING:
    from latshift.cli.options import ReadOptions, ShowOptions
    from latshift.traceset import TraceSet

STDIN = STDOUT

ATTRIBUTE = re.compile(r"attr:([^=&,]+)")
"""An attribute that a selector or `--group-by` names."""

ONLY_WHEN_READING = {
    "--model-components": ("model_components", None),
    "--fix-skew": ("fix_skew", None),
    "--async": ("asynchronous", "otel"),
    "--async-overflow": ("overflow", "clamp"),
}
"""Options that shape the requests while they are read, their fields and defaults."""


def read(
    paths: Sequence[str] | None, options: ReadOptions, show: ShowOptions, mentions: Sequence[str] = ()
) -> TraceSet:
    """Read traces; without paths from standard input if something is piped there.

    Args:
        paths: Files, folders, globs, or - for standard input.
        options: Which requests count, and how traces are read.
        show: Whether progress is shown.
        mentions: Texts such as edits; the attributes they name (`attr:KEY`) are kept.

    Raises:
        LatshiftError: If there is nothing to read.
    """
    from latshift import api

    sources = list(paths or (STDIN,))
    if STDIN in sources and sys.stdin.isatty():
        raise LatshiftError("no traces given", "name files, directories or globs, or pipe traces in: "
                            "latshift analyze traces.jsonl")  # fmt: skip
    listed = options.model_components
    with Meter(show.quiet) as meter:
        return api.read(
            sources,
            include_incomplete=options.include_incomplete,
            fix_skew_ms=duration_ms(options.fix_skew, "--fix-skew") if options.fix_skew else None,
            asynchronous=options.asynchronous,
            overflow=options.overflow,
            config=options.config,
            root=options.root,
            service=options.service,
            since=time_ns(options.since, "--since") if options.since else None,
            until=time_ns(options.until, "--until") if options.until else None,
            model_components=[name.strip() for name in listed.split(",") if name.strip()] if listed else None,
            keep=[key for text in mentions for key in ATTRIBUTE.findall(text)],
            workers=options.workers,
            progress=meter,
        )


def read_or_last(
    paths: Sequence[str] | None, options: ReadOptions, show: ShowOptions, mentions: Sequence[str] = ()
) -> TraceSet:
    """Read traces; without paths take those that were last analysed in this directory.

    Raises:
        LatshiftError: If nothing was analysed here, or an option would need the traces to be read again.
    """
    if paths:
        return read(paths, options, show, mentions)
    for option, (field, default) in ONLY_WHEN_READING.items():
        if getattr(options, field) != default:
            hint = "name the trace files, or give the option to latshift analyze"
            raise LatshiftError(f"{option} has no effect on traces that are already read", hint)
    from latshift import api

    traces = api.load_last(Path.cwd(), config=options.config)
    changes: dict[str, object] = {"root": options.root, "service": options.service}
    changes = {name: value for name, value in changes.items() if value is not None}
    for name, text in (("since", options.since), ("until", options.until)):
        if text:
            changes[name] = time_ns(text, f"--{name}")
    if options.include_incomplete:
        changes["include_incomplete"] = True
    return traces.narrowed(**changes) if changes else traces


def remember(traces: TraceSet, show: ShowOptions) -> None:
    """Keep the traces for commands that name none; it is only a convenience, so a full disk is no failure."""
    from latshift import api

    try:
        api.save_last(traces, Path.cwd())
    except OSError as error:
        reason = error.strerror or str(error)
        remark(f"the traces could not be kept for later commands: {reason} (--no-cache avoids this)", show)


def is_source(text: str) -> bool:
    """Whether an argument names something to read: a path that exists, a glob that matches, or standard input."""
    from glob import glob

    return text == STDIN or Path(text).exists() or bool(glob(text, recursive=True))
