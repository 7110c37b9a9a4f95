"""Edits of pools and of the load on them: `--pool llm=4->8` and `--load 1.5x`.

They are applied before all others, wherever they stand, since they take the waiting out of the work that others change;
the waiting itself is simulated at the end, on the work as edited.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from latshift import selectors
from latshift.components.tables import PHASES, QUEUE
from latshift.errors import EditError
from latshift.selectors import Selection, Selector
from latshift.whatif.plan import Edit, Plan
from latshift.whatif.pools import declare

_QUEUE = re.compile(r",\s*queue\s*=")
_ARROW = re.compile(r"\s*(?:->|→)\s*")
_LOAD = re.compile(r"^(\d+(?:\.\d+)?)x?$")
_EXAMPLE = "for example --pool 'llm=4->8', or --pool 'database=10,queue=name:pool.acquire'"


@dataclass
class Pool(Edit):
    """The selected calls share a number of slots, first come, first served; the number may change.

    Attributes:
        selector: The calls. size: Slots at present, None for the cap that the calls show. new_size: Slots then.
        queue: What is waiting, None to look for it. text: As it was written.
    """

    selector: Selector
    size: int | None
    new_size: int | None
    queue: Selector | None
    text: str

    @classmethod
    def parse(cls, text: str) -> Pool:
        """Parse `SEL[=4[->8]][,queue=SEL]`."""
        target, *rest = _QUEUE.split(text)
        if len(rest) > 1:
            raise EditError(f"--pool {text}: 'queue=' stands there twice", _EXAMPLE)
        queue = selectors.parse(rest[0]) if rest else None
        name, equals, sizes = target.rpartition("=")
        # In `attr:tier=gold` the equals sign belongs to the selector.
        if equals and name.rpartition("&")[2].strip().startswith("attr:") and "=" not in name.rpartition("&")[2]:
            name, equals = target, ""
        if not equals:
            return cls(selectors.parse(target), None, None, queue, text)
        now, *then = _ARROW.split(sizes.strip())
        if len(then) > 1:
            raise EditError(f"--pool {text}: expected one size, or two with -> between", _EXAMPLE)
        size = _size(now, text)
        return cls(selectors.parse(name), size, _size(then[0], text) if then else size, queue, text)

    def apply(self, plan: Plan) -> None:
        """Take the waiting out of the graph and remember the pool."""
        if self.selector.phase is not None:
            raise EditError(
                f"--pool {self.text}: '{self.selector}' is a phase, and a call holds its slot until it ends",
                f"name the calls: --pool {self.selector.phase.rpartition('.')[0]}={self.size or 4}",
            )
        selection = plan.select(self.selector)
        name = self.selector.text
        plan.graph, pool = declare(plan.model, plan.graph, selection, self._waiting(plan), name, self.size)
        pool.new_size = self.new_size or pool.size
        plan.pools.append(pool)

    def _waiting(self, plan: Plan) -> Selection | None:
        """Return what is waiting, if the person says so."""
        if self.queue is None:
            return None
        if self.queue.phase is None:
            return plan.select(self.queue)
        if self.queue.phase.rpartition(".")[2] != PHASES[0]:
            raise EditError(f"--pool {self.text}: {self.queue.phase} is not waiting", "for example queue=llm.queue")
        if plan.model.classified.phases.covers(self.queue.phase):
            return plan.select(self.queue)
        # A queue time alone makes no phases; it is found by itself.
        return Selection(np.zeros(plan.model.forest.n, bool), self.queue.phase)


def _size(text: str, whole: str) -> int:
    if not re.fullmatch(r"\d+", text):
        raise EditError(f"--pool {whole}: '{text}' is not a number of slots", _EXAMPLE)
    if int(text) < 1:
        raise EditError(f"--pool {whole}: a pool needs at least one slot", _EXAMPLE)
    return int(text)


@dataclass
class Load(Edit):
    """Requests arrive at another rate; what changes is how long they wait in the pools."""

    factor: float

    @classmethod
    def parse(cls, text: str) -> Load:
        """Parse `1.5x`."""
        match = _LOAD.match(text.strip().lower())
        if not match or float(match[1]) <= 0:
            raise EditError(f"--load {text}: not a factor above 0", "for example --load 1.5x, half as many again")
        return cls(float(match[1]))

    def apply(self, plan: Plan) -> None:
        """Change the rate; look for pools if none was declared."""
        if not plan.pools:
            _find_pools(plan)
        if not plan.pools:
            raise EditError(
                f"--load {self.factor:g}x: more load means more waiting, but no pool is declared and no calls show one",
                f"declare what they wait for, {_EXAMPLE.removeprefix('for example ')}",
            )
        plan.load *= self.factor


def _find_pools(plan: Plan) -> None:
    """Declare the pools that show by themselves: components whose calls wait, and run no more than so many at once."""
    model = plan.model
    component = model.classified.component
    for word in component.words:
        if model.classified.klass[word] == QUEUE:
            continue
        rows = np.asarray(component.codes == component.words.index(word)) & model.rows_of_requests
        if not rows.any() or rows[model.forest.root].any():
            continue
        try:
            graph, pool = declare(model, plan.graph, Selection(rows), None, word, None)
        except EditError:
            continue
        if pool.waits.shown.any():
            plan.graph = graph
            plan.pools.append(pool)


def pools_first(edits: Sequence[Edit]) -> list[Edit]:
    """Return the edits in the order in which to apply them: pools, the load on them, and the rest as it stands."""
    return sorted(edits, key=lambda edit: 0 if isinstance(edit, Pool) else 1 if isinstance(edit, Load) else 2)
