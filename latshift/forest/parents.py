"""Hanging spans under their parents: look-up, self-parents, cycles, orphans, and which spans become roots."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from latshift.forest.identity import SharedIds, SpanIndex
from latshift.forest.sorting import order_by
from latshift.spans import Array, Bool, Int64, SpanTable


@dataclass
class Links:
    """The parent of every span, and what had to be decided on the way.

    Attributes:
        parent: int64 (n,), row of the parent, -1 for roots.
        orphan: bool (n,), the span names a parent that is not in the input.
        cut: Number of parent references that were cut because they closed a cycle (a span naming itself included).
    """

    parent: Int64
    orphan: Bool
    cut: int


def hang(table: SpanTable, index: SpanIndex, shared: SharedIds | None, rank: Int64) -> Links:
    """Look up the parent of every span and cut what closes a cycle.

    Args:
        table: The spans, without copies.
        index: Where each (trace, span id) is.
        shared: Ids that several spans share, None if there are none.
        rank: int64 (n,), order of the span ids' texts.

    Returns:
        The links; following `parent` from any span ends at a root.
    """
    parent = np.full(table.n, -1, np.int64)
    orphan = np.zeros(table.n, np.bool_)
    named = np.flatnonzero(table.array("parent_id"))
    found = index.find(table.text("trace").codes[named], table.array("parent_id")[named])
    orphan[named] = found < 0
    itself = found == index.owner[named]
    parent[named] = np.where(itself, -1, found)
    cut = int(itself.sum())
    if shared is not None:
        _choose_halves(table, shared, parent)
        received = shared.sender >= 0
        parent[received] = shared.sender[received]
        orphan &= ~received
    return Links(parent, orphan, cut + _cut_cycles(table, parent, rank))


def roots_of(parent: Int64) -> Int64:
    """Follow every span's parents to the end by pointer doubling.

    Args:
        parent: int64 (n,), row of the parent, -1 for roots.

    Returns:
        int64 (n,), the row of the root; a row on a cycle for the spans that reach no root.
    """
    ahead = np.where(parent < 0, np.arange(parent.shape[0]), parent)
    for _ in range(parent.shape[0].bit_length() + 1):
        further = ahead[ahead]
        if np.array_equal(further, ahead):
            break
        ahead = further
    return ahead


def lost_roots(trace: Array, links: Links) -> list[Int64]:
    """Return the groups of orphans, one for each trace that has several and no real root; earliest trace code first.

    Such a trace is one request whose root was lost; a stand-in is put above its orphans.
    """
    orphans = np.flatnonzero(links.orphan & (links.parent < 0))
    if not orphans.shape[0]:
        return []
    size = int(trace.max()) + 2
    rooted = np.zeros(size, np.bool_)
    rooted[trace[(links.parent < 0) & ~links.orphan]] = True
    alone = orphans[~rooted[trace[orphans]]]
    alone = alone[np.argsort(trace[alone], kind="stable")]
    several = alone[np.bincount(trace[alone] + 1, minlength=size)[trace[alone] + 1] > 1]
    if not several.shape[0]:
        return []
    return np.split(several, np.flatnonzero(np.diff(trace[several])) + 1)


def _choose_halves(table: SpanTable, shared: SharedIds, parent: Int64) -> None:
    """Move each child of a shared id to the right half.

    It belongs to the receiving half if it is of that half's service and not of the sender's; where the service does
    not tell (equal services, or a third one), if it lies inside the receiving half.
    """
    children = np.flatnonzero(parent >= 0)
    receiver, first = shared.receiver[parent[children]], shared.first[parent[children]]
    service, start, end = table.text("service").codes, table.array("start"), table.array("end")
    own, theirs, senders = service[children], service[receiver], service[first]
    inside = (start[children] >= start[receiver]) & (end[children] <= end[receiver])
    tells = (theirs != senders) & ((own == theirs) | (own == senders))
    below = (receiver >= 0) & np.where(tells, own == theirs, inside)
    parent[children] = np.where(below, receiver, first)


def _cut_cycles(table: SpanTable, parent: Int64, rank: Int64) -> int:
    """Cut each cycle above its earliest span (then latest end, then smallest id); return how many were cut."""
    ends = roots_of(parent)
    stuck = np.flatnonzero(parent[ends] >= 0)
    if not stuck.shape[0]:
        return 0
    ahead = np.where(parent < 0, np.arange(parent.shape[0]), parent)
    hops = range(parent.shape[0].bit_length())
    for _ in hops:
        ahead = ahead[ahead]
    ring = np.unique(ahead[stuck])  # after n hops or more, exactly the spans on cycles
    label, ahead = np.arange(parent.shape[0]), parent.copy()
    for _ in hops:
        label[ring] = np.minimum(label[ring], label[ahead[ring]])
        ahead[ring] = ahead[ahead[ring]]
    start, end = table.array("start"), table.array("end")
    order = order_by(label[ring], [lambda at: start[ring[at]], lambda at: -end[ring[at]], lambda at: rank[ring[at]]])
    ring = ring[order]
    earliest = np.concatenate(([True], np.diff(label[ring]) != 0))
    parent[ring[earliest]] = -1
    return int(earliest.sum())
