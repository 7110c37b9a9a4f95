"""Where results go: standard output or files, in which format; files are written whole or not at all."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from latshift.errors import LatshiftError

if TYPE_CHECKING:
    from latshift.cli.options import ShowOptions
    from latshift.results import Result

STDOUT = "-"

ENDINGS = {
    ".json": "json", ".md": "md", ".markdown": "md", ".csv": "csv", ".txt": "table",
    ".dot": "dot", ".gv": "dot", ".mmd": "mermaid", ".graphml": "graphml",
}  # fmt: skip
"""Which format a file's ending stands for."""


@dataclass(frozen=True)
class Target:
    """A place a result goes to: "-" or a file's path, and the format."""

    place: str
    format: str


def plan(chosen: str | None, show: ShowOptions, formats: Collection[str], inputs: Sequence[str]) -> list[Target]:
    """Decide, before any work is done, where results go.

    Args:
        chosen: The format that `--format` names, if given.
        show: With the files of `-o`.
        formats: What the command can write; the first is the default on standard output.
        inputs: Paths that are read, and never overwritten.

    Raises:
        LatshiftError: If a file's format is unknown or not that of `--format`, or a file cannot or must not be written.
    """
    fallback = chosen or next(iter(formats))
    places = show.output or [STDOUT]
    targets = [Target(place, _format_of(place, chosen, fallback, formats)) for place in places]
    for target in targets:
        # Beside "-o -" the chosen format is that of standard output.
        if chosen and target.format != chosen and STDOUT not in places:
            raise LatshiftError(
                f"-o {target.place}: its ending says {target.format}, and --format says {chosen}",
                "leave one of them out",
            )
    for target in targets:
        if target.place != STDOUT:
            refuse_bad_target(target.place, inputs)
    return targets


def _format_of(place: str, chosen: str | None, fallback: str, formats: Collection[str]) -> str:
    guessed = ENDINGS.get(Path(place).suffix.lower())
    if place == STDOUT or (guessed is None and (chosen or _is_device(place))):
        return fallback
    if guessed in formats:
        return str(guessed)
    endings = ", ".join(ending for ending, name in ENDINGS.items() if name in formats)
    raise LatshiftError(f"-o {place}: cannot tell the format from its ending", f"end it in {endings}, or add --format")


def _is_device(place: str) -> bool:
    """Whether a place is there but is no file and no directory: a pipe, or /dev/null."""
    path = Path(place)
    return path.exists() and not path.is_file() and not path.is_dir()


def refuse_bad_target(place: str, inputs: Sequence[str]) -> None:
    """Raise if a file cannot be written, or is an input or lies in a directory that is read."""
    target = Path(os.path.realpath(place))
    if target.is_dir():
        raise LatshiftError(f"{place} is a directory", "name a file in it")
    if not target.parent.is_dir():
        raise LatshiftError(f"{place}: there is no directory {target.parent}", "make it first")
    if not os.access(target if target.exists() else target.parent, os.W_OK):
        raise LatshiftError(f"{place} cannot be written", "choose another place, or change its permissions")
    if target.exists() and any(_reads(pattern, target) for pattern in inputs):
        raise LatshiftError(f"{place} is one of the inputs and is not overwritten", "choose another name")


def _reads(pattern: str, target: Path) -> bool:
    from glob import glob

    for name in {pattern, *glob(pattern, recursive=True)} - {STDOUT}:
        path = Path(os.path.realpath(name))
        if path.is_dir() and path in target.parents:
            return True
        if path.is_file() and path.samefile(target):
            return True
    return False


def deliver(targets: Sequence[Target], result: Result, show: ShowOptions) -> None:
    """Draw a result and write it to every target."""
    from latshift.report.console import Screen, screen_for
    from latshift.report.views import draw

    for target in targets:
        if target.place == STDOUT:
            write_stdout(draw(result, target.format, screen_for(sys.stdout, show.color)))
        else:
            write_file(target.place, draw(result, target.format, Screen()))
            remark(f"wrote {target.place}", show)


def write_stdout(text: str) -> None:
    """Write to standard output; a reader that goes away early (`| head`) is no error."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        # Nobody reads any more. Python would complain once more when it flushes at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        raise LatshiftError(f"cannot write to standard output: {error.strerror}") from None


def write_file(place: str, text: str) -> None:
    """Write a file in one step: what was there before stays until the new text is complete."""
    import tempfile

    target = Path(os.path.realpath(place))
    data = text.encode("utf-8", "backslashreplace")
    try:
        if target.exists() and not target.is_file():  # a pipe or a device
            target.write_bytes(data)
            return
        handle, name = tempfile.mkstemp(prefix=f".{target.name[:40]}.", dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            temporary = Path(name)
            temporary.chmod(_mode(target))
            temporary.replace(target)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise LatshiftError(f"cannot write {place}: {error.strerror}") from None


def _mode(target: Path) -> int:
    """Return the permissions of a file that is there, or those a new one would get."""
    if target.exists():
        return target.stat().st_mode & 0o7777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def remark(text: str, show: ShowOptions) -> None:
    """Say something on standard error, unless `--quiet`."""
    if not show.quiet:
        from latshift.report.escape import visible

        sys.stderr.write(f"latshift: {visible(text, 2000)}\n")
