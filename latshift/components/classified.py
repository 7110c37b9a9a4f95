"""Every span's component, class, phases and retries: the result of the room."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from latshift.components.board import Board
from latshift.components.classify import coded, verdicts_of
from latshift.components.globs import in_use
from latshift.components.inherit import inherit
from latshift.components.phases import Phases, find_phases
from latshift.components.retries import Retries, find_retries
from latshift.components.rules import Rule
from latshift.components.tables import MODEL_COMPONENTS, PHASES, QUEUE
from latshift.spans import Array, Bool, Coded, Forest, Int32


@dataclass
class Classified:
    """What every span is.

    Attributes:
        component: Component of every span. rule: Which rule decided, in a few words.
        owner: int32 (n,), row of the span whose component a span inherits; itself where it inherits nothing.
        call: bool (n,), the span is one call of its component: the top of a connected run of the same component.
        known: bool (n,), False where no rule knew the span and only a default was left.
        klass: Component to class ("model", "queue", "non-model"), for every word of `component`.
        phases: Where model calls are cut.
        retries: Attempts beyond the first.
    """

    component: Coded
    rule: Coded
    owner: Int32
    call: Bool
    known: Bool
    klass: dict[str, str]
    phases: Phases
    retries: Retries

    @property
    def inherits(self) -> Bool:
        """Spans that belong to the call of another span, bool (n,)."""
        return np.asarray(self.owner != np.arange(len(self.owner)))

    @property
    def level(self) -> Array:
        """Evidence level of model calls, int8 (n,): 0 to 3, -1 for spans that are none."""
        return self.phases.level

    @property
    def retry(self) -> Array:
        """int8 (n,): 0 no retry, 1 first attempt that failed, 2 attempt beyond the first."""
        return self.retries.state

    def class_of(self, component: str, phase: str | None = None) -> str:
        """Return the class of a component, or of one of its phases: waiting is of class `queue`, whoever waits.

        Args:
            component: A component's name.
            phase: A phase's name, such as "llm.queue".
        """
        if phase is not None and phase.rpartition(".")[2] == PHASES[0]:
            return QUEUE
        return self.klass[component]

    @cached_property
    def warnings(self) -> list[str]:
        """Sentences on what is doubtful here, already counted."""
        count = self.phases.impossible
        if not count:
            return []
        values = "1 time of a model call is" if count == 1 else f"{count:,} times of model calls are"
        return [f"{values} impossible (negative, or longer than the call) and not used"]


def class_of(component: str, model_components: Collection[str], declared: dict[str, str]) -> str:
    """Return the class of a component.

    Args:
        component: Its name; "llm/openai" is of the class of "llm" unless it is named itself.
        model_components: Components of class model.
        declared: Classes stated by rules.
    """
    base = component.partition("/")[0]
    for name in (component, base):
        if name in declared:
            return declared[name]
        if name in model_components:
            return "model"
    return QUEUE if base == QUEUE else "non-model"


def classify(
    forest: Forest, rules: Sequence[Rule] = (), model_components: Collection[str] = MODEL_COMPONENTS
) -> Classified:
    """Give every span its component, class and phases, and find the retries.

    Args:
        forest: The spans and their parents.
        rules: The person's own rules, in order; they come before all built-in ones.
        model_components: Components of class model.
    """
    board = verdicts_of(forest, rules)
    single = coded(board, [verdict.component for verdict in board.verdicts])
    declared = {rule.component: rule.klass for rule in rules if rule.klass is not None}
    klass = {word: class_of(word, model_components, declared) for word in single.words}
    inheritance = inherit(forest, board, single, _of_model(single, klass))
    component = in_use(Coded(single.codes[inheritance.owner], single.words))
    parent = forest.parent
    call = (parent < 0) | (component.codes[parent] != component.codes)
    return Classified(
        component=component,
        rule=_rules(board, component, inheritance.inherits),
        owner=inheritance.owner,
        call=np.asarray(call),
        known=board.lookup([verdict.known for verdict in board.verdicts], np.bool_),
        klass={word: klass[word] for word in component.words},
        phases=find_phases(forest, board, component, inheritance, _of_model(component, klass)),
        retries=find_retries(forest, component),
    )


def _of_model(component: Coded, klass: dict[str, str]) -> Bool:
    return np.asarray(component.lookup([klass[word] == "model" for word in component.words], False))


def _rules(board: Board, component: Coded, inherits: Bool) -> Coded:
    """Return the rule of every span: its own, or that it belongs to the call above."""
    own = coded(board, [verdict.rule for verdict in board.verdicts])
    words = [*own.words, *(f"part of the {word} call above" for word in component.words)]
    return in_use(Coded(np.where(inherits, len(own.words) + component.codes, own.codes).astype(np.int32), words))
