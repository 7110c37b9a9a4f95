"""Made-up traffic for the tests of the gate: a model, a queue before it, a database and an application around them.

Load drifts: neighbouring requests share it (an AR(1) process), and it is what the queue follows. So percentiles of the
latency are autocorrelated, as in real runs (whatif.md §3).
"""

from __future__ import annotations

import numpy as np

from latshift.critical_path.attribution import Part
from latshift.gate.sample import Sample
from latshift.spans import Coded

MS = 1_000_000
PARTS = [
    Part("app", None, "non-model"),
    Part("database", None, "non-model"),
    Part("llm", "llm.decode", "model"),
    Part("llm", "llm.queue", "queue"),
]


def traffic(
    n: int, seed: int = 0, model: float = 1.0, rest: float = 1.0, spread: float = 0.25, root: str = "api POST /chat"
) -> Sample:
    """A run of n requests; `model` and `rest` scale the time of the model and of the application and its database."""
    random = np.random.default_rng(seed)
    load = np.zeros(n)
    noise = random.normal(size=n)
    for at in range(1, n):
        load[at] = 0.6 * load[at - 1] + 0.8 * noise[at]
    columns = [
        rest * 20.0 * random.lognormal(0, spread, n),
        rest * 80.0 * random.lognormal(0, spread, n),
        model * 200.0 * random.lognormal(0, 0.4, n),
        model * 15.0 * np.exp(load),
    ]
    time = np.stack([(column * MS).astype(np.int64) for column in columns], axis=1)
    start = np.cumsum(random.exponential(70 * MS, n)).astype(np.int64) + seed
    ids = [f"{seed:08x}{at:024x}" for at in range(n)]
    return Sample(Coded(np.zeros(n, np.int32), [root]), start, time.sum(axis=1), PARTS, time, ids)


def fixed(milliseconds: dict[str, list[float]], root: str = "api GET /", first: int = 0) -> Sample:
    """A run of requests whose parts take exactly these times: one list per part of `PARTS`, by name."""
    columns = [np.asarray(milliseconds.get(part.name, [0.0]), np.float64) for part in PARTS]
    n = max(len(column) for column in columns)
    time = np.stack([np.broadcast_to(column * MS, n).astype(np.int64) for column in columns], axis=1)
    start = np.arange(n, dtype=np.int64) * MS
    ids = [f"{first + at:032x}" for at in range(n)]
    return Sample(Coded(np.zeros(n, np.int32), [root]), start, time.sum(axis=1), PARTS, time, ids)


def join(*runs: Sample) -> Sample:
    """Several runs as one."""
    words = [word for run in runs for word in run.group.words]
    codes, offset = [], 0
    for run in runs:
        codes.append(run.group.codes + offset)
        offset += len(run.group.words)
    return Sample(
        Coded(np.concatenate(codes).astype(np.int32), words),
        np.concatenate([run.start for run in runs]),
        np.concatenate([run.duration for run in runs]),
        PARTS,
        np.concatenate([run.time for run in runs]),
        [trace_id for run in runs for trace_id in run.trace_ids],
    ).in_order()
