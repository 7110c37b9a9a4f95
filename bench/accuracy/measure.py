"""Runs one program as it is and with every change made, and puts the predictions beside what really happened."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from pathlib import Path

from bench.accuracy import predict
from bench.accuracy.programs import PROGRAMS
from bench.accuracy.truth import Percentiles, changed, percentiles
from bench.accuracy.world import Case, Program, forget_draws, run

NOT_YET = "not yet"
BOUNDS = (1.0, 2.0, 3.0)
"""Error in percent that a case should stay under, at p50, p95 and p99."""

WEEKLY_DRAWS = 4
"""Fresh weeks differ so much that more draws of what the change leaves to chance add nothing."""


@dataclass(frozen=True)
class Outcome:
    """A case with its truth and its predictions.

    Attributes:
        problem: Why there is no prediction: NOT_YET, or latshift's message; empty where there is one.
        covered: For each fresh week whether the 95 % interval held p50, p95 and p99; then the same for all weeks
            taken together.
    """

    program: Program
    case: Case
    before: Percentiles
    truth: Percentiles
    prediction: predict.Prediction | None
    problem: str = ""
    covered: tuple[tuple[bool, ...], ...] = ()
    covered_together: tuple[bool, ...] = ()

    @property
    def change(self) -> tuple[float, float, float]:
        """What the change really did, in percent."""
        return self.truth.against(self.before)

    @property
    def errors(self) -> tuple[float, float, float]:
        """Errors of latshift in percent."""
        assert self.prediction is not None
        return self.prediction.latshift.against(self.truth)

    @property
    def missed(self) -> bool:
        """Whether an error is beyond its bound."""
        return any(abs(error) > bound for error, bound in zip(self.errors, BOUNDS, strict=True))


def measure(name: str, folder: Path, share: float, weeks: int) -> list[Outcome]:
    """Measure all cases of a program.

    Args:
        name: The program's.
        folder: Where its traces are written.
        share: Share of its requests to run.
        weeks: Weeks of fresh traffic in which the intervals are tested.
    """
    program = next(program for program in PROGRAMS if program.name == name)
    requests = max(100, round(program.requests * share))
    forget_draws()
    file = folder / f"{program.name}.jsonl"
    before = percentiles(run(program, requests=requests, export=file))
    _write_measured(program, folder)
    return [_case(program, case, before, requests, file, weeks) for case in program.cases]


def _write_measured(program: Program, folder: Path) -> None:
    """Write the latencies that someone measured elsewhere, in ms, one a line."""
    for name, step in program.measured.items():
        chance = random.Random(f"measured {name}")
        lines = [f"{1_000 * program.steps[step].draw(chance):.3f}\n" for _ in range(4000)]
        (folder / name).write_text("".join(lines))


def _case(program: Program, case: Case, before: Percentiles, requests: int, file: Path, weeks: int) -> Outcome:
    truth = percentiles(changed(program, case, requests))
    if not predict.known(case):
        return Outcome(program, case, before, truth, None, NOT_YET)
    try:
        prediction = predict.predict(predict.read(file, case.given), case, file.parent)
    except Exception as error:  # one case that fails must not hide the others
        return Outcome(program, case, before, truth, None, f"{type(error).__name__}: {error}")
    fresh = replace(case, draws=min(case.draws, WEEKLY_DRAWS))
    weekly = [changed(program, fresh, requests, week) for week in range(1, weeks + 1)]
    covered = tuple(_inside(percentiles(latency), prediction) for latency in weekly)
    together = _inside(percentiles([time for latency in weekly for time in latency]), prediction) if weekly else ()
    return Outcome(program, case, before, truth, prediction, "", covered, together)


def _inside(truth: Percentiles, prediction: predict.Prediction) -> tuple[bool, ...]:
    pairs = zip(truth.values, prediction.intervals, strict=True)
    return tuple(low <= real <= high for real, (low, high) in pairs)
