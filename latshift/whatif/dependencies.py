"""Who waits for whom among the children of a span, inferred from all requests at once.

Start from "B waits for A wherever A had ended when B began", and let one counter-example refute it: a request in which
B began before A ended (Chow et al., The Mystery Machine, OSDI 2014, section 3). Calls are compared by what they are
(operation under operation), by their run (first round of a loop, second round, ...) and inside a run by position.

Two rules on top, for loops (a kind of call that has several runs under some parent; see `evidence`):

- The numbers of runs shift where an early round skips a step. Between runs of which either is a step of a loop, the
  reverse order without overlap is therefore no counter-example; only overlap is.
- Late rounds begin after work beside the loop merely because it is over. Where the two kinds overlap anywhere, exactly
  one of them loops, and the first was the last to end before the second in under 5 % of the requests that show the
  order, the others count as counter-examples.

And one for fan-outs under a limit of their own: positions do not tell which end freed the slot of a late call, so that
no order survives. Where the limit shows (see `slots`), the call waits for the one that ended just before it began.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from latshift.spans import Bool, Int64
from latshift.whatif.evidence import Evidence, gather
from latshift.whatif.patterns import Patterns, find_patterns
from latshift.whatif.siblings import Siblings
from latshift.whatif.slots import slot_edges, without

WIDE = 96
"""Spans with more children than this are replayed in the observed order, without looking for counter-examples."""

FEW = 10
"""A dependency seen in fewer requests than this is assumed rather than inferred."""


@dataclass
class Declared:
    """Dependencies stated by the configuration, as member kinds.

    Attributes:
        always: bool (kinds, kinds) or None; [a, b] is True where b waits for a whatever the traces show.
        never: the same for pairs where b does not wait for a.
    """

    always: Bool
    never: Bool


DECLARED = 2**31 - 1
"""The support of a dependency that the configuration states."""


@dataclass
class Refuted:
    """Observed orders that are no dependency: in each of these pairs the source had ended when the target began.

    Attributes:
        source, target: int64 (k,), member indices.
        support: int64 (k,), how often the order was seen. against: int64 (k,), how often it was contradicted; 0 where
            the configuration denies it.
    """

    source: Int64
    target: Int64
    support: Int64
    against: Int64


@dataclass
class Dependencies:
    """Edges between members: `target` waits for `source`; among narrow spans only (see WIDE).

    Attributes:
        source, target: int64 (e,), member indices.
        support: int64 (e,), requests that showed the order. assumed: bool (e,), support below FEW.
        refuted: int64, number of observed orders that other requests refuted, before slots are looked at.
        wide: bool (m,), members of spans too wide to infer for.
        denied: The refuted orders one by one; None unless they were asked for.
    """

    source: Int64
    target: Int64
    support: Int64
    assumed: Bool
    refuted: int
    wide: Bool
    denied: Refuted | None = None


def infer(siblings: Siblings, declared: Declared | None = None, keep_refuted: bool = False) -> Dependencies:
    """Infer the dependencies between the members of every span.

    Args:
        siblings: The children of all spans, of all requests that count as evidence.
        declared: What the configuration states; it beats inference.
        keep_refuted: Return the refuted orders, too; a replay has no use for them.
    """
    width = siblings.last - siblings.first
    wide = width > WIDE
    narrow = np.flatnonzero(~wide)
    if not len(narrow):
        empty = np.empty(0, np.int64)
        denied = Refuted(empty, empty, empty, empty) if keep_refuted else None
        return Dependencies(empty, empty, empty, np.empty(0, bool), 0, wide, denied)
    patterns = find_patterns(siblings, narrow)
    shown = narrow if keep_refuted else patterns.members
    times = patterns.times if not keep_refuted else np.ones(len(shown), np.int64)
    found = _edges(siblings, shown, gather(siblings, shown, times), declared, wide, keep_refuted, times)
    return _with_slots(found if keep_refuted else _everywhere(found, patterns), siblings, narrow, declared)


def _with_slots(found: Dependencies, siblings: Siblings, narrow: Int64, declared: Declared | None) -> Dependencies:
    """Let calls under a limit wait for the one that freed their slot, unless the configuration denies it."""
    source, target, runs = slot_edges(siblings, narrow)
    new = without(source, target, found.source, found.target)
    if declared is not None:
        kind = siblings.kind[target[new]]
        new = new[~declared.never[kind, kind]]
    if not len(new):
        return found
    source, target, runs = source[new], target[new], runs[new]
    denied = found.denied
    if denied is not None:
        left = without(denied.source, denied.target, source, target)
        denied = Refuted(denied.source[left], denied.target[left], denied.support[left], denied.against[left])
    return replace(
        found,
        source=np.concatenate([found.source, source]),
        target=np.concatenate([found.target, target]),
        support=np.concatenate([found.support, runs]),
        assumed=np.concatenate([found.assumed, runs < FEW]),
        denied=denied,
    )


def _everywhere(found: Dependencies, patterns: Patterns) -> Dependencies:
    """Repeat the edges between the members of one example under every parent that looks like it."""
    which, source, target = patterns.spread(found.source, found.target)
    return replace(found, source=source, target=target, support=found.support[which], assumed=found.assumed[which])


def _edges(
    siblings: Siblings,
    narrow: Int64,
    evidence: Evidence,
    declared: Declared | None,
    wide: Bool,
    keep_refuted: bool,
    times: Int64,
) -> Dependencies:
    """Turn the evidence into edges between members, leaving out those that follow from others."""
    start, end, kind = siblings.start[narrow], siblings.end[narrow], siblings.kind[narrow]
    width = int((siblings.last - siblings.first)[narrow].max())
    holds = np.zeros((len(narrow), max(width, 1)), bool)
    support = np.zeros((len(narrow), max(width, 1)), np.int32)
    refuted = 0
    denied: list[tuple[Int64, Int64, Int64, Int64]] = []
    for a, b in evidence.pairs:
        observed = end[a] <= start[b]
        a, b = a[observed], b[observed]
        seen, against = evidence.of(a, b)
        waits = against == 0
        if declared is not None:
            waits = (waits | declared.always[kind[a], kind[b]]) & ~declared.never[kind[a], kind[b]]
            seen = np.where(declared.always[kind[a], kind[b]], np.int64(DECLARED), seen)
        refuted += int(np.sum(times[b[~waits]]))
        if keep_refuted:
            denied.append((a[~waits], b[~waits], seen[~waits], against[~waits]))
        lag = b - a
        holds[b[waits], lag[waits]] = True
        support[b[waits], lag[waits]] = np.minimum(seen[waits], DECLARED)
    target, lag = np.nonzero(holds)
    source = target - lag
    # The latest source of a target stands for everything it waited for itself.
    nearest = holds.argmax(axis=1)
    middle = target - nearest[target]
    implied = (lag > nearest[target]) & holds[middle, np.maximum(lag - nearest[target], 0)]
    target, source, lag = target[~implied], source[~implied], lag[~implied]
    counts = support[target, lag].astype(np.int64)
    found = Dependencies(narrow[source], narrow[target], counts, counts < FEW, refuted, wide)
    if keep_refuted:
        found.denied = _join(narrow, denied)
    return found


def _join(narrow: Int64, parts: list[tuple[Int64, Int64, Int64, Int64]]) -> Refuted:
    """Join refuted pairs of narrow members, lag by lag, into pairs of members."""
    empty = np.empty(0, np.int64)
    early, late, seen, against = (np.concatenate(column) for column in zip((empty,) * 4, *parts, strict=True))
    return Refuted(narrow[early], narrow[late], seen, against)
