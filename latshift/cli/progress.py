"""How far reading has come: on standard error, on a terminal only, and only when it takes a while."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any

PATIENCE = 0.5
"""Seconds without a word; nobody needs a bar for less."""


class Meter:
    """Shows bytes read; call it with (done, total). It is a context manager: the bar goes away at the end."""

    def __init__(self, quiet: bool = False) -> None:
        self._shown = not quiet and sys.stderr.isatty()
        self._begin = time.monotonic()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Meter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, done: int, total: int) -> None:
        """Show that `done` of `total` bytes are read; `total` is 0 when it is not known."""
        if not self._shown or time.monotonic() - self._begin < PATIENCE:
            return
        if self._bar is None:
            self._bar = _bar()
            self._task = self._bar.add_task("reading", total=total or None)
            self._bar.start()
        self._bar.update(self._task, completed=done, total=total or None)


def _bar() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True, markup=False, emoji=False, highlight=False)
    columns = TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn(), TimeRemainingColumn()
    return Progress(*columns, console=console, transient=True)
