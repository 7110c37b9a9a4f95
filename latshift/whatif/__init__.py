"""What a change would do to the latency, by replay of every request.

1. `siblings`: the children of every span side by side. 2. `patterns`, `dependencies`: who waits for whom among them.
3. `graph`, `barriers`: requests as moments that wait for others. 4. `replay`: when each moment comes.
5. `edits` and the modules it lists: what can be changed. 6. `forecast`: all of it, and how sure that is.

The package has the name of the function people call, so it can be called itself: `latshift.whatif(traces, edits)`.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _CallablePackage(ModuleType):
    """The package, callable as `latshift.api.whatif`; importing the package must not hide the function."""

    def __call__(self, *args: Any, **named: Any) -> Any:
        from latshift.api import whatif

        return whatif(*args, **named)


sys.modules[__name__].__class__ = _CallablePackage
