"""The options of `latshift whatif` that are changes: one for each edit, each as often as wanted, in any order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

EDITS = "Changes"


def _edit(verb: str, metavar: str, help: str) -> object:
    return typer.Option(f"--{verb}", metavar=metavar, help=help, rich_help_panel=EDITS, show_default=False)


@dataclass(frozen=True)
class EditOptions:
    """What to change; the name of a field is its verb with underscores."""

    speedup: Annotated[
        list[str] | None, _edit("speedup", "SEL=2x", "Make it so many times faster; 0.5x is slower, inf takes no time.")
    ] = None
    add_latency: Annotated[list[str] | None, _edit("add-latency", "SEL=100ms", "Make each call so much slower.")] = None
    parallelize: Annotated[
        list[str] | None, _edit("parallelize", "A,B[,C]", "Start them together instead of one after the other.")
    ] = None
    remove: Annotated[list[str] | None, _edit("remove", "SEL", "Take it away.")] = None
    insert: Annotated[
        list[str] | None,
        _edit("insert", "NAME=60ms,before=SEL", "Put something new before each call, or after=SEL after it."),
    ] = None
    replace: Annotated[
        list[str] | None,
        _edit("replace", "SEL=FILE", "Let it take times measured elsewhere: a list of ms, one a line, JSON or CSV."),
    ] = None
    prefetch: Annotated[
        list[str] | None,
        _edit("prefetch", "SEL[=80%]", "Start it with the request; the share is how often the guess is right."),
    ] = None
    cache: Annotated[
        list[str] | None,
        _edit("cache", "SEL=30%:5ms", "Answer so many calls from a cache; each call pays the time to look there."),
    ] = None
    retry_rate: Annotated[
        list[str] | None, _edit("retry-rate", "SEL=0.5x", "Try so many times as many calls again; 0x none.")
    ] = None
    hedge: Annotated[
        list[str] | None,
        _edit("hedge", "SEL=p95", "Send a call again when it takes longer than its p95 (or 300ms); the first counts."),
    ] = None
    spec_decode: Annotated[
        list[str] | None,
        _edit(
            "spec-decode",
            "SEL=alpha:0.8,gamma:4,cost:0.1",
            "Draft gamma tokens, each at cost of a step; a share alpha is accepted. verify:1.25 makes checks dearer.",
        ),
    ] = None
    prompt_cache: Annotated[
        list[str] | None, _edit("prompt-cache", "SEL=80%", "Let that share of the input tokens need no prefill.")
    ] = None
    route: Annotated[
        list[str] | None,
        _edit("route", "SEL=70%:FILE", "Send that share of the calls to a model with these latencies (ms)."),
    ] = None
    pool: Annotated[
        list[str] | None,
        _edit(
            "pool",
            "SEL=4[->8][,queue=SEL]",
            "Simulate the wait for one of 4 slots, first come, first served; or for 8 instead.",
        ),
    ] = None
    load: Annotated[
        list[str] | None, _edit("load", "1.5x", "Let requests arrive so many times as often; pools get fuller.")
    ] = None

    def in_order(self, order: Sequence[str]) -> list[tuple[str, str]]:
        """Return the edits as (verb, text), in the order in which they stand on the command line.

        Args:
            order: Names of the given options in order, repeats included.
        """
        texts = {name: iter(values or ()) for name, values in vars(self).items()}
        return [(name.replace("_", "-"), next(texts[name])) for name in order if name in texts]
