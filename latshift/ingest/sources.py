"""Paths to files: globs, folders, standard input; and what stands in the way of reading some of them.

Globs are expanded here too, for shells that do not. Folders are read with all that is beneath them; hidden entries,
pipes, sockets and links that lead in circles are left out and counted.
"""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from latshift.errors import InputError
from latshift.spans import InputSummary

STDIN = "-"


@dataclass(frozen=True)
class File:
    """A file to read.

    Attributes:
        name: As people see it. path: What to open; "-" is standard input.
        size: Bytes; 0 where only reading tells. seekable: It is an ordinary file.
        named: The person named it, itself or by a glob; it was not merely found in a folder.
    """

    name: str
    path: str
    size: int
    seekable: bool
    named: bool = True


def find_files(paths: Sequence[str | Path], summary: InputSummary) -> list[File]:
    """Return the files that paths stand for, each once.

    Args:
        paths: Files, folders, globs, or "-".
        summary: Counts what is left out.

    Raises:
        InputError: If a path does not exist, a glob matches nothing, or a folder holds no files.
    """
    if not paths:
        raise InputError("no path was given", "name trace files, folders or globs, or `-` for standard input")
    files: list[File] = []
    seen: set[tuple[int, int] | str] = set()
    for path in paths:
        for name in _expanded(os.fspath(path)):
            files.extend(_unseen(_files_of(name, summary), seen, summary))
    if not files:
        raise InputError(f"{_listed(paths)}: no files in there", "name the files, or another folder")
    return files


def _expanded(path: str) -> list[str]:
    # A name that exists is that file, even with brackets in it.
    if path == STDIN or os.path.lexists(path) or not glob.has_magic(path):
        return [path]
    # Not Path.glob, which takes no absolute patterns.
    found = sorted(glob.glob(str(Path(path).expanduser()), recursive=True))
    if not found:
        raise InputError(f"{path}: no file matches", "check the pattern; `**` stands for any folders")
    return found


def _files_of(name: str, summary: InputSummary) -> Iterator[tuple[tuple[int, int] | str, File]]:
    if name == STDIN:
        yield STDIN, File("standard input", STDIN, 0, seekable=False)
        return
    path = name if os.path.lexists(name) else str(Path(name).expanduser())
    try:
        status = Path(path).stat()
    except OSError as error:
        raise InputError(f"{name}: {_why(error)}", "check the path") from error
    if stat.S_ISDIR(status.st_mode):
        yield from _walk(path, {(status.st_dev, status.st_ino)}, summary)
    elif stat.S_ISREG(status.st_mode):
        yield (status.st_dev, status.st_ino), File(name, path, status.st_size, seekable=True)
    elif stat.S_ISFIFO(status.st_mode) or stat.S_ISCHR(status.st_mode):
        yield path, File(name, path, 0, seekable=False)  # A shell's <(…) is a pipe.
    else:
        raise InputError(f"{name}: not a file, a folder or a pipe", "name trace files or folders")


def _walk(folder: str, above: set[tuple[int, int]], summary: InputSummary) -> Iterator[tuple[tuple[int, int], File]]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        summary.skip("folder that cannot be opened")
        return
    for entry in entries:
        if entry.name.startswith("."):
            summary.skip("hidden file or folder")
            continue
        try:
            status = entry.stat()
        except OSError:
            summary.skip("link that leads nowhere")
            continue
        identity = (status.st_dev, status.st_ino)
        if stat.S_ISDIR(status.st_mode):
            if identity in above:
                summary.skip("link that leads in a circle")
            else:
                yield from _walk(entry.path, above | {identity}, summary)
        elif stat.S_ISREG(status.st_mode):
            yield identity, File(entry.path, entry.path, status.st_size, seekable=True, named=False)
        else:
            summary.skip("pipe, socket or device in a folder")


def _unseen(
    found: Iterator[tuple[tuple[int, int] | str, File]], seen: set[tuple[int, int] | str], summary: InputSummary
) -> Iterator[File]:
    for identity, file in found:
        if identity in seen:
            summary.skip("file named twice")
        else:
            seen.add(identity)
            yield file


def _why(error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "no such file or folder"
    return (error.strerror or type(error).__name__).lower()


def _listed(paths: Sequence[str | Path]) -> str:
    names = [os.fspath(path) for path in paths]
    return ", ".join(names[:3]) + (", …" if len(names) > 3 else "")
