"""The only part that knows latshift: what it, Amdahl's law, and a replay with frozen queues say."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from bench.accuracy.truth import Percentiles
from bench.accuracy.world import Case
from latshift import api
from latshift.config import Config, load
from latshift.results import Forecast, Latency
from latshift.traceset import TraceSet
from latshift.whatif.edits import VERBS

QUEUE_VERBS = ("pool", "load")
"""Edits that only a re-simulated queue can follow."""


@dataclass(frozen=True)
class Prediction:
    """Percentiles in ms as predicted, and their 95 % intervals (p50, p95, p99)."""

    latshift: Percentiles
    amdahl: Percentiles
    frozen: Percentiles | None
    intervals: tuple[tuple[float, float], ...]


def known(case: Case) -> bool:
    """Return whether latshift has all the verbs that a case needs."""
    return all(verb in VERBS for verb, _ in case.edits)


def read(file: Path, given: str) -> TraceSet:
    """Read traces with the configuration a case gives, and with no other one."""
    config = Config()
    if given:
        written = file.with_suffix(".toml")
        written.write_text(given)
        config = load(written)
    return api.read(file, config=config, workers=1)


def predict(traces: TraceSet, case: Case, folder: Path) -> Prediction:
    """Predict what a case would do to the requests."""
    edits = [(verb, value.format(folder=folder)) for verb, value in case.edits]
    forecast = api.whatif(traces, edits)
    without_queues = [edit for edit in edits if edit[0] not in QUEUE_VERBS]
    frozen: Percentiles | None = None
    if len(without_queues) < len(edits):
        frozen = _of(forecast.baseline)
        if without_queues:
            frozen = _of(api.whatif(traces, without_queues).predicted)
    interval = forecast.predicted.interval
    return Prediction(
        _of(forecast.predicted),
        _amdahl(forecast),
        frozen,
        tuple(interval[name] for name in ("p50_ms", "p95_ms", "p99_ms") if name in interval),
    )


def _of(latency: Latency) -> Percentiles:
    return Percentiles(latency.p50_ms, latency.p95_ms, latency.p99_ms)


def _amdahl(forecast: Forecast) -> Percentiles:
    before, gain = forecast.baseline, forecast.amdahl
    return Percentiles(before.p50_ms * (1 - gain.p50), before.p95_ms * (1 - gain.p95), before.p99_ms * (1 - gain.p99))


def by_command(file: Path, case: Case) -> Percentiles:
    """Predict through the command line."""
    options = [part for verb, value in case.edits for part in (f"--{verb}", value.format(folder=file.parent))]
    command = [sys.executable, "-m", "latshift", "whatif", str(file), *options, "--format", "json"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    predicted = json.loads(printed)["predicted"]
    return Percentiles(predicted["p50_ms"], predicted["p95_ms"], predicted["p99_ms"])
