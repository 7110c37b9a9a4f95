"""Predictions against really changed programs: `python -m bench.accuracy [--quick] [--case NAME] [--weeks N]`.

Prints Markdown. Programs run on a virtual clock, so nothing depends on the machine; every run prints the same.
"""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from fnmatch import fnmatch
from functools import partial
from pathlib import Path

from bench.accuracy import predict, report
from bench.accuracy.measure import Outcome, measure
from bench.accuracy.programs import PROGRAMS

QUICK = 0.3
"""Share of the requests that a quick run serves."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.accuracy", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer requests")
    parser.add_argument("--case", default="*", metavar="NAME", help="only programs of this name (a glob)")
    parser.add_argument("--weeks", type=int, default=0, metavar="N", help="test the intervals on N weeks of traffic")
    parser.add_argument("--workers", type=int, default=2, metavar="N", help="processes")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the traces there")
    chosen = parser.parse_args(arguments)
    names = [program.name for program in PROGRAMS if fnmatch(program.name, chosen.case)]
    if not names:
        parser.error(f"there is no program {chosen.case}; there are {', '.join(program.name for program in PROGRAMS)}")
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as temporary:
        folder = chosen.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        share = QUICK if chosen.quick else 1.0
        outcomes = _measure(names, folder, share, chosen.weeks, chosen.workers)
        lines = [*report.table(outcomes), "", *report.summary(outcomes), *_same_by_command(outcomes, folder)]
    print("\n".join(lines))
    print(f"\n{time.monotonic() - begun:.0f} s.")


def _measure(names: Sequence[str], folder: Path, share: float, weeks: int, workers: int) -> list[Outcome]:
    work = partial(measure, folder=folder, share=share, weeks=weeks)
    if workers < 2 or len(names) < 2:
        return [outcome for name in names for outcome in work(name)]
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context) as pool:
        return [outcome for group in pool.map(work, names) for outcome in group]


def _same_by_command(outcomes: Sequence[Outcome], folder: Path) -> list[str]:
    """Check on one case that the command line says the same."""
    for outcome in outcomes:
        if outcome.prediction is not None and not outcome.case.given:
            printed = predict.by_command(folder / f"{outcome.program.name}.jsonl", outcome.case)
            assert printed == outcome.prediction.latshift, (printed, outcome.prediction.latshift)
            return [f"`latshift whatif … {outcome.case.text} --format json` prints the same as the API."]
    return []


if __name__ == "__main__":
    main()
