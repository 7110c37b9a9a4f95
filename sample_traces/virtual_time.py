"""An asyncio event loop on a virtual clock: sleeping takes no real time, and every run has the same timing."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from typing import Any


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """An event loop that jumps to its next timer where the ordinary one would wait for it."""

    def __init__(self) -> None:
        self._now = 0.0
        super().__init__(_JumpingSelector(self))

    def time(self) -> float:
        """Return the virtual seconds since the loop was made."""
        return self._now

    def jump(self, seconds: float) -> None:
        """Move the clock forward."""
        self._now += seconds


class _JumpingSelector(selectors.DefaultSelector):
    """Hands the time it should have waited to the loop's clock."""

    def __init__(self, loop: VirtualTimeLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise RuntimeError("every task waits for another one: nothing would ever happen")
        self._loop.jump(max(timeout, 0.0))
        return super().select(0)


def run(main: Callable[[VirtualTimeLoop], Coroutine[Any, Any, None]]) -> None:
    """Run a coroutine to its end on a fresh virtual clock."""
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        loop = runner.get_loop()
        assert isinstance(loop, VirtualTimeLoop)
        runner.run(main(loop))
