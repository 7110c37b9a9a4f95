"""latshift: where a request's time goes, what a change would gain, and whether a change made it slower.

    import latshift

    traces = latshift.read("traces.jsonl")
    print(latshift.analyze(traces).latency.p95_ms)
    print(latshift.whatif(traces, [("speedup", "llm=2x")]).gain.p95)

Everything is imported when first used, so that `import latshift` costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from latshift.api import (
        analyze,
        check,
        curve,
        dependencies,
        find_paths,
        rank,
        read,
        save_baseline,
        scenarios,
        whatif,
    )
    from latshift.errors import ConfigError, EditError, InputError, LatshiftError
    from latshift.traceset import TraceSet

_HOMES = {
    "read": "latshift.api",
    "analyze": "latshift.api",
    "find_paths": "latshift.api",
    "whatif": "latshift.api",
    "rank": "latshift.api",
    "curve": "latshift.api",
    "scenarios": "latshift.api",
    "dependencies": "latshift.api",
    "check": "latshift.api",
    "save_baseline": "latshift.api",
    "TraceSet": "latshift.traceset",
    "LatshiftError": "latshift.errors",
    "InputError": "latshift.errors",
    "ConfigError": "latshift.errors",
    "EditError": "latshift.errors",
}

__all__ = [
    "ConfigError",
    "EditError",
    "InputError",
    "LatshiftError",
    "TraceSet",
    "analyze",
    "check",
    "curve",
    "dependencies",
    "find_paths",
    "rank",
    "read",
    "save_baseline",
    "scenarios",
    "whatif",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'latshift' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return __all__
