"""An asyncio event loop on a virtual clock: waiting takes no real time, and every run has the same timing."""

from __future__ import annotations

import asyncio
import selectors


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop that jumps to its next timer where the ordinary one would wait for it."""

    def __init__(self) -> None:
        self._seconds = 0.0
        super().__init__(_JumpingSelector(self))

    def time(self) -> float:
        """Return the virtual seconds since the loop was made."""
        return self._seconds

    def jump(self, seconds: float) -> None:
        """Move the clock forward."""
        self._seconds += seconds


class _JumpingSelector(selectors.DefaultSelector):
    def __init__(self, loop: VirtualLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise RuntimeError("every task waits for another one: nothing would ever happen")
        if timeout <= 0:
            # Nothing is ever written to the loop from outside: asking the kernel each time would be most of the run.
            return []
        self._loop.jump(timeout)
        return []
