"""Who belongs to whom: a POST under a model call is the model call.

Spans that carry a call (HTTP, RPC, DNS, sockets, servers) and pieces of model calls inherit the component of the span
above them that has a meaning of its own. Parents are followed by pointer doubling: O(n log depth), no recursion.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from latshift.components.board import Board, Role
from latshift.spans import CLIENT, CONSUMER, Bool, Coded, Forest, Int32

NOT_INHERITED = frozenset({"app", "gateway"})
"""Components that carriers beneath do not inherit: what these call is somebody else's work."""

PLAIN = frozenset({"app", "http", "rpc"})
"""Components that say nothing about what a carrier is for."""


def nearest(parent: Int32, stop: Bool) -> Int32:
    """Return for every row the nearest row at or above it that is a stop.

    Args:
        parent: int32 (n,), row of the parent, -1 for roots.
        stop: bool (n,).

    Returns:
        int32 (n,); -1 where no row at or above is a stop.
    """
    n = len(parent)
    target = np.append(np.where(stop, np.arange(n, dtype=np.int32), parent), np.int32(-1))
    moving = np.flatnonzero(~stop)
    while len(moving):
        # Row -1 points at itself (the last element), so chains that run off the root come to rest there.
        further = target[target[moving]]
        changed = further != target[moving]
        target[moving] = further
        moving = moving[changed]
    return np.asarray(target[:n], np.int32)


@dataclass
class Inheritance:
    """What every span is in the end.

    Attributes:
        owner: int32 (n,), row of the span whose component a span has; itself where it inherits nothing.
        inherits: bool (n,), owner is another span.
    """

    owner: Int32
    inherits: Bool


def inherit(forest: Forest, board: Board, component: Coded, model: Bool) -> Inheritance:
    """Find the owner of every span.

    Args:
        forest: The spans and their parents.
        board: Their verdicts.
        component: Their components as decided one by one.
        model: bool (n,), the component is of class model.
    """
    role = board.lookup([verdict.role for verdict in board.verdicts], np.int8)
    own, part = role == Role.OWN, role == Role.PART
    lends = own & _lends(forest, component)
    owner = _owner(forest.parent, own, lends)
    # A piece of a model call belongs to a model call or stands for itself.
    alone = part & (owner >= 0) & ~model[owner]
    if alone.any():
        own, lends = own | alone, lends | alone
        owner = _owner(forest.parent, own, lends)
    # Carriers with nothing above: one that gives itself away (by host, path or name) lends to those beneath it.
    weak = ~own & (owner < 0) & ~component.lookup([word in PLAIN for word in component.words], True)
    lends_weakly = weak & _lends(forest, component)
    if weak.any():
        second = _owner(forest.parent, own | weak | (owner >= 0), lends_weakly)
        owner = np.where((owner < 0) & (second >= 0) & ~weak, second, owner)
    rows = np.arange(forest.n, dtype=np.int32)
    owner = np.where(owner < 0, rows, owner).astype(np.int32)
    return Inheritance(owner, owner != rows)


def _owner(parent: Int32, stop: Bool, lends: Bool) -> Int32:
    """Return the nearest stop above every row that is none itself, -1 where there is none or it does not lend."""
    found = nearest(parent, stop)
    return np.where(~stop & (found >= 0) & lends[found], found, np.int32(-1))


def _lends(forest: Forest, component: Coded) -> Bool:
    """Return which spans may own what is beneath them, bool (n,)."""
    kind = forest.spans.array("kind")
    base = [word.partition("/")[0] for word in component.words]
    lends = ~component.lookup([word in NOT_INHERITED for word in base], True)
    # An agent here is orchestration: only a call to a remote agent owns its transport. A consumer processes by itself.
    local_agent = component.lookup([word == "agent" for word in base], False) & (kind != CLIENT)
    return np.asarray(lends & ~local_agent & (kind != CONSUMER))
