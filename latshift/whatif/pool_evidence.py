"""How well the size of a pool fits what its calls show: a cap on concurrency, waiting explained, order of service."""

from __future__ import annotations

import numpy as np

from latshift.errors import EditError
from latshift.report.units import duration, percent
from latshift.spans import Int64
from latshift.whatif import fifo
from latshift.whatif.waits import Waits

CLOCK_NS = 1_000_000
"""A slot may be given back this much before the call's span ends ..."""

CLOCK_SHARE = 0.02
"""... or by this share of the span."""

TOO_MANY = 0.01
"""A size is refused when more than this share of the calls ran beyond it."""

EXPLAINED = 0.8
"""Below this share of the waiting, a pool does not explain what was recorded."""

OUT_OF_TURN = 0.02
"""Above this share of calls served before an earlier one, the pool is not first come, first served."""


def _leaves(waits: Waits) -> Int64:
    """Return when each slot may have been given back at the earliest."""
    held = waits.released - waits.granted
    slack = np.minimum(CLOCK_NS, np.rint(held * CLOCK_SHARE).astype(np.int64))
    return np.asarray(waits.released - slack)


def peak(waits: Waits) -> int:
    """Return how many calls run at once at most."""
    return int(fifo.concurrency(waits.granted, _leaves(waits)).max())


def observed_cap(waits: Waits) -> int | None:
    """Return how many calls run at once at most, if that looks like a cap rather than like chance.

    It does where calls wait only while exactly so many run; or, where no waiting is shown, where they are at the peak
    at least a third as often as one below it.
    """
    taken = fifo.concurrency(waits.granted, _leaves(waits))
    waited = waits.granted - waits.arrived > CLOCK_NS
    if np.sum(waited) >= 10:
        levels = np.bincount(taken[waited])
        cap = int(levels.argmax())
        return cap if levels[cap] >= 0.9 * levels.sum() and np.mean(taken > cap) <= TOO_MANY else None
    levels = np.bincount(taken)
    most = len(levels) - 1
    flat = levels[most] >= 10 and 3 * levels[most] >= levels[most - 1]
    return most if flat and most > 0 else None


def check_size(waits: Waits, name: str, size: int) -> list[str]:
    """Return what is odd about a size; refuse it if the calls cannot have run with it."""
    taken = fifo.concurrency(waits.granted, _leaves(waits))
    beyond = taken > size
    most = int(taken.max())
    if beyond.mean() > TOO_MANY:
        raise EditError(
            f"--pool {name}={size}: up to {most} of these calls ran at once, so the pool has more than {size}",
            f"--pool {name}={most}, or another selector, or queue=SEL to say which spans are waiting",
        )
    if beyond.any():
        return [f"pool {name}: {int(beyond.sum()):,} calls ran beyond its {size} slots (up to {most} at once)"]
    cap = observed_cap(waits)
    if cap is not None and cap < size and np.any(waits.granted > waits.arrived):
        return [f"pool {name}: no more than {cap} calls ever ran at once, and they waited: is {cap} its size?"]
    return []


def understanding(waits: Waits, explained: Int64, name: str, size: int) -> list[str]:
    """Say where the recorded waiting is not what such a pool would do."""
    notes = []
    waited = waits.granted - waits.arrived
    total = int(waited.sum())
    if waited.mean() > CLOCK_NS and np.minimum(explained, waited).sum() < EXPLAINED * total:
        notes.append(
            f"pool {name}: calls waited {duration(waited.mean() / 1e6)} on average, of which {size} slots explain "
            f"{duration(np.minimum(explained, waited).mean() / 1e6)}; the rest is kept as recorded (are all users of "
            "the pool in the traces, and is its size right?)"
        )
    latest = np.maximum.accumulate(waits.arrived)
    jumped = np.mean(latest - waits.arrived > CLOCK_NS)
    if jumped > OUT_OF_TURN:
        notes.append(
            f"pool {name}: {percent(float(jumped))} of the calls were served after a later one; "
            "the simulation serves first come, first served"
        )
    return notes
