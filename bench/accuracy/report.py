"""The outcome as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

import numpy as np

from bench.accuracy.measure import BOUNDS, NOT_YET, Outcome

Triple = tuple[float, float, float]

SMALL = 0.5
"""Changes of less than this many percent have no sign worth getting right."""


def table(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Return the lines of the table of all cases."""
    yield "| program | change | truth % | latshift error % | Amdahl error % | frozen queues error % | |"
    yield "|---|---|--:|--:|--:|--:|---|"
    for outcome in outcomes:
        yield f"| {outcome.program.name} | {_edit(outcome)} | {_three(outcome.change)} | {_predictions(outcome)} |"


def _edit(outcome: Outcome) -> str:
    text = outcome.case.text.replace("{folder}/", "").replace("|", "\\|")
    return f"`{text}`" + (" (dependency declared)" if outcome.case.given else "")


def _predictions(outcome: Outcome) -> str:
    prediction = outcome.prediction
    if prediction is None:
        return f"{outcome.problem} | | | "
    amdahl = prediction.amdahl.against(outcome.truth)
    frozen = _three(prediction.frozen.against(outcome.truth)) if prediction.frozen else "same"
    note = "cannot be seen" if outcome.case.beyond else "**misses**" if outcome.missed else ""
    return f"{_three(outcome.errors)} | {_three(amdahl)} | {frozen} | {note}"


def _three(values: Triple) -> str:
    return " / ".join(f"{value:+.1f}".replace("-", "−") for value in values)


def summary(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Return the lines of the summaries."""
    predicted = [outcome for outcome in outcomes if outcome.prediction is not None]
    visible = [outcome for outcome in predicted if not outcome.case.beyond]
    waiting = sum(outcome.problem == NOT_YET for outcome in outcomes)
    failed = len(outcomes) - len(predicted) - waiting
    programs = len({outcome.program.name for outcome in outcomes})
    hidden = len(predicted) - len(visible)
    yield f"{programs} programs, {len(outcomes)} changes: {len(visible)} predicted, {hidden} that the traces cannot"
    yield f"show, {waiting} with verbs not there yet, {failed} failed."
    yield ""
    if not visible:
        return
    yield "| mean absolute error % (worst) | changes | p50 | p95 | p99 |"
    yield "|---|--:|--:|--:|--:|"
    yield _errors("latshift", visible, lambda outcome: outcome.errors)
    yield _errors("Amdahl's law on the shares", visible, _amdahl)
    yield _errors("replay with frozen queues", visible, _frozen)
    for verb, of_verb in _by_verb(visible):
        yield _errors(f"latshift, {verb}", of_verb, lambda outcome: outcome.errors)
    bounds = ", ".join(f"{bound:g} %" for bound in BOUNDS)
    yield ""
    yield f"Beyond {bounds} at p50, p95, p99: {sum(outcome.missed for outcome in visible)} of {len(visible)} changes."
    yield from _decisions(visible)
    yield from _coverage(visible)


def _amdahl(outcome: Outcome) -> Triple:
    assert outcome.prediction is not None
    return outcome.prediction.amdahl.against(outcome.truth)


def _frozen(outcome: Outcome) -> Triple:
    assert outcome.prediction is not None
    return (outcome.prediction.frozen or outcome.prediction.latshift).against(outcome.truth)


def _errors(name: str, outcomes: Sequence[Outcome], errors: Callable[[Outcome], Triple]) -> str:
    absolute = np.abs([errors(outcome) for outcome in outcomes])
    cells = [
        f"{mean:.2f} ({worst:.1f})" for mean, worst in zip(absolute.mean(axis=0), absolute.max(axis=0), strict=True)
    ]
    return f"| {name} | {len(outcomes)} | " + " | ".join(cells) + " |"


def _by_verb(outcomes: Sequence[Outcome]) -> list[tuple[str, list[Outcome]]]:
    def verb(outcome: Outcome) -> str:
        return " + ".join(sorted({verb for verb, _ in outcome.case.edits}))

    ordered = sorted(outcomes, key=verb)
    return [(name, list(group)) for name, group in groupby(ordered, key=verb)]


def _decisions(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Say how often the direction and the best edit come out right, at p95."""
    for label, index in (("p50", 0), ("p95", 1), ("p99", 2)):
        signs, best, programs = [], 0, 0
        for _, group in groupby(outcomes, key=lambda outcome: outcome.program.name):
            cases = list(group)
            truth = np.array([case.truth.values[index] for case in cases])
            said = np.array([case.prediction.latshift.values[index] for case in cases if case.prediction])
            before = cases[0].before.values[index]
            clear = np.abs(truth / before - 1) > SMALL / 100
            signs += list(np.sign(said - before)[clear] == np.sign(truth - before)[clear])
            if len(cases) > 1:
                programs += 1
                best += int(truth[np.argmin(said)] <= truth.min() * 1.001)
        yield (
            f"At {label}: direction right in {sum(signs)} of {len(signs)} changes of more than {SMALL} %; "
            f"best edit of the program named in {best} of {programs}."
        )


def _coverage(outcomes: Sequence[Outcome]) -> Iterator[str]:
    weeks = [week for outcome in outcomes for week in outcome.covered]
    if not weeks:
        return
    single = np.mean(weeks, axis=0)
    together = np.mean([outcome.covered_together for outcome in outcomes], axis=0)
    yield ""
    yield "| fresh traffic: truth inside the 95 % interval | p50 | p95 | p99 |"
    yield "|---|--:|--:|--:|"
    yield "| one week of the same length | " + " | ".join(f"{100 * share:.0f} %" for share in single) + " |"
    yield "| all fresh weeks together | " + " | ".join(f"{100 * share:.0f} %" for share in together) + " |"
