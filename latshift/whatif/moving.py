"""Edits that let calls start earlier: parallelize, prefetch."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from latshift import selectors
from latshift.errors import EditError
from latshift.selectors import Selector
from latshift.spans import Bool, Int64
from latshift.whatif.broken import describe_broken
from latshift.whatif.model import ReplayModel
from latshift.whatif.parsing import parse_share
from latshift.whatif.picking import is_ancestor, path_time, top_calls
from latshift.whatif.plan import Edit, Plan
from latshift.whatif.rewire import move_beside

_WITH_SHARE = re.compile(r"^(.+)=\s*([^=&]*%)\s*$")


@dataclass
class Parallelize(Edit):
    """The later of the selected calls start together with the earliest."""

    members: tuple[Selector, ...]
    text: str

    @classmethod
    def parse(cls, text: str) -> Parallelize:
        """Parse `A,B[,C]`, also `A‖B` and `A||B`."""
        names = [name.strip() for name in re.split(r"‖|\|\||,", text)]
        if len(names) < 2 or not all(names):
            raise EditError(
                f"--parallelize {text}: expected two or more selectors", "for example --parallelize auth,retrieval"
            )
        if len(set(names)) != len(names):
            raise EditError(f"--parallelize {text}: a call cannot run beside itself", "name two different selectors")
        return cls(tuple(selectors.parse(name) for name in names), text)

    def apply(self, plan: Plan) -> None:
        """Pair the calls in order of start and move the later ones to the earliest."""
        model = plan.model
        calls = []
        times = []
        for selector in self.members:
            selection = plan.select(selector)
            if selection.phase is not None:
                raise EditError(f"--parallelize {self.text}: '{selector.text}' is a phase, not a call")
            calls.append(top_calls(model.forest, selection.rows) & (plan.graph.place >= 0))
            times.append(path_time(plan, selection))
        anchors, moved = _pairs(model, calls, self.text)
        plan.notes.extend(describe_broken(model, anchors, moved))
        # Plain Amdahl on the shares would hide all but the longest of them.
        plan.save(np.sum(times, axis=0) - np.max(times, axis=0))
        plan.graph = move_beside(plan.graph, plan.begins(anchors), plan.begins(moved), moved)


def _pairs(model: ReplayModel, calls: Sequence[Bool], text: str) -> tuple[Int64, Int64]:
    """Pair the calls of one request by their order of start: first with first, second with second.

    Returns:
        Rows of the earliest call of each pair, and rows of the later ones.
    """
    start = model.path.start
    request = model.forest.request
    chosen = []
    for mask in calls:
        rows = np.flatnonzero(mask)
        rows = rows[np.lexsort((rows, start[rows], request[rows]))]
        begins = np.ones(len(rows), bool)
        begins[1:] = request[rows[1:]] != request[rows[:-1]]
        heads = np.flatnonzero(begins)
        number = np.arange(len(rows)) - np.repeat(heads, np.diff(np.append(heads, len(rows))))
        chosen.append({(int(request[row]), int(turn)): int(row) for row, turn in zip(rows, number, strict=True)})
    anchors, moved = [], []
    for key in sorted(set().union(*chosen)):
        rows_here = sorted({c[key] for c in chosen if key in c}, key=lambda row: (int(start[row]), row))
        anchors.extend([rows_here[0]] * (len(rows_here) - 1))
        moved.extend(rows_here[1:])
    if not moved:
        raise EditError(
            f"--parallelize {text}: no request has calls of both", "see `latshift components` for what there is"
        )
    first, later = np.asarray(anchors, np.int64), np.asarray(moved, np.int64)
    if np.any(is_ancestor(model.forest, first, later)) or np.any(is_ancestor(model.forest, later, first)):
        raise EditError(
            f"--parallelize {text}: one of the calls contains the other", "a call cannot run beside its own caller"
        )
    return first, later


@dataclass
class Prefetch(Edit):
    """On a hit a call starts with its request; its caller awaits it in the old place. On a miss nothing changes."""

    selector: Selector
    hit: float

    @property
    def random(self) -> bool:
        """Whether hits differ from draw to draw."""
        return 0 < self.hit < 1

    @classmethod
    def parse(cls, text: str) -> Prefetch:
        """Parse `SEL` or `SEL=80%`."""
        match = _WITH_SHARE.match(text)
        if not match:
            return cls(selectors.parse(text.strip()), 1.0)
        hit = parse_share(match[2], f"--prefetch {text}", "hit rate")
        return cls(selectors.parse(match[1].strip()), hit)

    def apply(self, plan: Plan) -> None:
        """Move the calls that are hits to the start of their requests."""
        rows = plan.calls(self.selector, "prefetch")
        forest = plan.model.forest
        roots = forest.root[forest.request[rows]].astype(np.int64)
        if np.any(rows == roots):
            raise EditError(
                f"--prefetch {self.selector.text}: this selects the requests themselves",
                "select calls inside a request",
            )
        hit = plan.random(len(rows)) < self.hit
        if hit.any():
            plan.graph = move_beside(plan.graph, roots[hit], plan.begins(rows[hit]), rows[hit])
        plan.save(self.hit * plan.path_beneath(rows))
        wasted = f", and {1 - self.hit:.0%} of the prefetched calls are made in vain" if self.hit < 1 else ""
        plan.notes.append(
            f"'{self.selector.text}' starts with the request: what it needs is known, or guessed, by then{wasted}"
        )
