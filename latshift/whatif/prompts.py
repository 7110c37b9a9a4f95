"""The edit prompt-cache: a share of the input tokens needs no prefill.

Prefill takes a + b·(tokens that are not cached); a and b come from the calls themselves (whatif.md §2.8).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from latshift.components.inherit import nearest
from latshift.components.tables import PHASES
from latshift.errors import EditError
from latshift.selectors import Selection, Selector
from latshift.spans import NULL, Bool, Float64, Int64
from latshift.whatif.fits import robust_line
from latshift.whatif.parsing import parse_share, split_value
from latshift.whatif.picking import path_time
from latshift.whatif.plan import Edit, Plan
from latshift.whatif.scaling import scale

PREFILL, FIRST_TOKEN = PHASES[1], PHASES[4]
"""What reading the prompt is called where the engine tells, and where only the first token's time is known."""

FEWEST = 10
"""Calls that a line needs; with fewer all of the time is taken to be in proportion to the tokens."""

WIDENING = 0.2
"""Correlation of the scatter with the fitted time above which the scatter is taken to be a factor, not a sum."""


@dataclass
class _Calls:
    """Calls whose prefill is known, (k,) each.

    Attributes:
        cut: Index into the bounds of `Phases`. time: ns that the prefill took as recorded.
        tokens: Input tokens. uncached: Those of them that were not cached; NULL where unknown, both.
        model: Code of the model's name.
    """

    cut: Int64
    time: Int64
    tokens: Int64
    uncached: Int64
    model: Int64


@dataclass
class PromptCache(Edit):
    """A share of the input tokens of the selected calls needs no prefill."""

    selector: Selector
    cached: float

    @classmethod
    def parse(cls, text: str) -> PromptCache:
        """Parse `SEL=80%`."""
        selector, value = split_value(text, "prompt-cache", "llm=80%")
        return cls(selector, parse_share(value, f"--prompt-cache {text}", "share of cached tokens"))

    def apply(self, plan: Plan) -> None:
        """Shorten the prefill of what is selected, as the fit of the recorded calls says."""
        selection = plan.select(self.selector)
        phases, graph = plan.model.classified.phases, plan.graph
        part = [name.rpartition(".")[2] for name in phases.names]
        allowed = range(len(part)) if selection.phase is None else phases.covers(selection.phase)
        found = [(word, [index for index in allowed if part[index] == word]) for word in (PREFILL, FIRST_TOKEN)]
        calls = {word: _calls(plan, selection.rows, indices) for word, indices in found}
        self._check(calls)
        for word, indices in found:
            here = calls[word]
            known = here.tokens != NULL
            if not known.any():
                continue
            share = np.ones(len(here.cut))
            share[known] = self._shares(plan, here, known)
            per_cut = np.ones(len(phases.bounds))
            per_cut[here.cut] = share
            chosen = selection.rows[graph.worker] & np.isin(graph.phase, indices)
            scale(plan, np.where(chosen, graph.own, 0), np.append(per_cut, 1.0)[phases.row[graph.worker]])
            left = float((here.time * share).sum() / max(here.time.sum(), 1))
            for index in indices:
                plan.save(path_time(plan, Selection(selection.rows, phases.names[index])) * (1 - left))
            self._note(plan, word, known, left)

    def _check(self, calls: dict[str, _Calls]) -> None:
        where = f"--prompt-cache {self.selector.text}"
        if not any(len(here.cut) for here in calls.values()):
            raise EditError(
                f"{where}: the traces do not show how long prefill takes",
                "record the engine's prefill time or the time to the first token of each call",
            )
        if not any((here.tokens != NULL).any() for here in calls.values()):
            raise EditError(
                f"{where}: the traces do not show how many input tokens the calls have",
                "record gen_ai.usage.input_tokens on each call",
            )

    def _shares(self, plan: Plan, calls: _Calls, known: Bool) -> Float64:
        """Return how much of the prefill is left for the calls with known tokens, float64 (k,)."""
        time, before = calls.time[known].astype(np.float64), calls.uncached[known].astype(np.float64)
        after = np.minimum(before, calls.tokens[known] * (1 - self.cached))
        left = np.ones(len(time))
        model = calls.model[known]
        for code in np.unique(model).tolist():
            here = model == code
            left[here] = self._left(plan, time[here], before[here], after[here])
        return left

    def _left(self, plan: Plan, time: Float64, before: Float64, after: Float64) -> Float64:
        text = self.selector.text
        if len(time) < FEWEST or np.ptp(before) == 0:
            plan.notes.append(
                f"prefill of '{text}' is taken to be in proportion to its uncached tokens: too few calls, or all with "
                "as many tokens, to tell"
            )
            return np.divide(after, before, out=np.ones(len(before)), where=before > 0)
        base, slope = robust_line(before, time)
        fitted = base + slope * before
        factor = slope > 0 and (fitted > 0).all() and _widens(np.abs(time - fitted), fitted)
        if factor:
            base, slope = robust_line(before, time, fitted)
            fitted = np.maximum(base + slope * before, 1.0)
        if slope <= 0:
            plan.notes.append(f"prefill of '{text}' does not grow with the uncached tokens: caching them saves nothing")
            return np.ones(len(time))
        plan.notes.append(
            f"prefill of '{text}' is fitted as {base / 1e6:.3g} ms + {slope / 1e3:.3g} ms per 1,000 uncached tokens"
        )
        left = (base + slope * after) / fitted if factor else 1 - slope * (before - after) / np.maximum(time, 1.0)
        return np.clip(left, 0.0, 1.0)

    def _note(self, plan: Plan, word: str, known: Bool, left: float) -> None:
        text = self.selector.text
        if word == FIRST_TOKEN:
            plan.notes.append(f"prefill of '{text}' is taken to be the wait for the first token, queueing included")
        if not known.all():
            plan.notes.append(
                f"{int((~known).sum()):,} of {len(known):,} calls of '{text}' tell no input tokens and stay as they are"
            )
        plan.notes.append(f"{1 - left:.0%} of the prefill time of '{text}' is saved")


def _widens(residual: Float64, fitted: Float64) -> bool:
    """Return whether the scatter grows with the fitted value: noise that is a factor."""
    if len(residual) <= 2 * FEWEST or np.ptp(residual) == 0 or np.ptp(fitted) == 0:
        return False
    return float(np.corrcoef(residual, fitted)[0, 1]) > WIDENING


def _calls(plan: Plan, rows: Bool, indices: list[int]) -> _Calls:
    """Return the calls among the rows that have time in the phases with the given indices."""
    forest, phases = plan.model.forest, plan.model.classified.phases
    selected = np.flatnonzero(rows & (phases.row >= 0))
    cut, first = np.unique(phases.row[selected], return_index=True)
    time = np.where(np.isin(phases.kinds[cut], indices), np.diff(phases.bounds[cut], axis=1), 0).sum(axis=1)
    cut, row, time = cut[time > 0].astype(np.int64), selected[first][time > 0], time[time > 0]
    table = forest.spans
    tokens = table.array("input_tokens")
    # A piece drawn as a span of its own has its tokens on the call around it.
    source = nearest(forest.parent, tokens != NULL)[row]
    known = source >= 0
    tokens = np.where(known, tokens[source], NULL)
    cached = np.where(known, np.maximum(table.array("cached_tokens")[source], 0), 0)
    model = table.text("model").codes[np.where(known, source, row)].astype(np.int64)
    uncached = np.where(known, np.maximum(tokens - cached, 0), NULL)
    return _Calls(cut, time, tokens, uncached, model)
