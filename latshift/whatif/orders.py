"""`dependencies`: who waits for whom, added up over all requests, with the evidence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from latshift.results import ComponentLink, DependencyGraph, Doubt, Operation, Order
from latshift.results.dependencies import Verdict
from latshift.skipped import input_doubts
from latshift.spans import Array, Bool, Int64
from latshift.traceset import TraceSet
from latshift.whatif.declared import declare
from latshift.whatif.dependencies import DECLARED, FEW, WIDE, Refuted, infer
from latshift.whatif.siblings import Siblings, operation_codes, starts_of_runs


def dependency_graph(traces: TraceSet) -> DependencyGraph:
    """Return who waits for whom, among components and under every sort of caller.

    Args:
        traces: The requests; all that count are evidence.

    Raises:
        InputError: If no request is left to look at.
    """
    model, siblings = traces.model, traces.model.siblings
    declared, _ = declare(traces.forest, traces.classified, siblings, traces.config.dependencies)
    found = infer(siblings, declared, keep_refuted=True)
    nothing = np.zeros(len(found.source), np.int64)
    kept = Refuted(found.source, found.target, found.support, nothing)
    denied = found.denied
    assert denied is not None
    request = traces.forest.request[siblings.parent].astype(np.int64)
    pairs = _Pairs(
        source=np.concatenate([kept.source, denied.source]),
        target=np.concatenate([kept.target, denied.target]),
        support=np.concatenate([kept.support, denied.support]),
        against=np.concatenate([kept.against, denied.against]),
        waits=np.concatenate([np.ones(len(kept.source), bool), np.zeros(len(denied.source), bool)]),
        request=request,
    )
    return DependencyGraph(
        requests=len(model.requests),
        components=_component_links(traces, siblings, pairs),
        operations=_operations(traces, siblings, pairs),
        doubts=(*input_doubts(traces.input.skipped), *_doubts(siblings, found.wide)),
    )


@dataclass
class _Pairs:
    """Pairs of members seen one after the other; arrays of shape (k,), but request (m,) per member."""

    source: Int64
    target: Int64
    support: Int64
    against: Int64
    waits: Bool
    request: Int64

    def added_up(self, source_key: Int64, target_key: Int64) -> list[tuple[int, Verdict, int, int, int, int]]:
        """Add up pairs that have equal keys.

        Args:
            source_key: int64 (m,), key of every member as a source.
            target_key: int64 (m,), likewise as a target.

        Returns:
            Index of one of the pairs, verdict, pairs, requests, support, counter-examples.
        """
        if not len(self.source):
            return []
        wide = int(target_key.max()) + 1
        key = (source_key[self.source] * wide + target_key[self.target]) * 2 + self.waits
        _, example, code = np.unique(key, return_index=True, return_inverse=True)
        code = code.reshape(-1)
        count = np.bincount(code)
        requests = _distinct(code, self.request[self.target], len(count))
        stated = np.bincount(code, weights=self.support == DECLARED) > 0
        support, against = np.zeros(len(count), np.int64), np.zeros(len(count), np.int64)
        np.maximum.at(support, code, np.where(self.support == DECLARED, 0, self.support))
        np.maximum.at(against, code, self.against)
        return [
            (
                int(example[at]),
                _verdict(bool(self.waits[example[at]]), bool(stated[at]), int(support[at]), int(against[at])),
                int(count[at]),
                int(requests[at]),
                int(requests[at]) if stated[at] else int(support[at]),
                int(against[at]),
            )
            for at in range(len(count))
        ]


def _distinct(code: Int64, request: Int64, size: int) -> Int64:
    """Return in how many different requests each code occurs."""
    width = int(request.max(initial=0)) + 1
    both = np.sort(code * width + request)
    return np.bincount(both[starts_of_runs(both)] // width, minlength=size)


def _verdict(waits: bool, stated: bool, support: int, against: int) -> Verdict:
    if not waits:
        return "refuted" if against else "denied"
    if stated:
        return "declared"
    return "assumed" if support < FEW else "waits"


def _component_links(traces: TraceSet, siblings: Siblings, pairs: _Pairs) -> tuple[ComponentLink, ...]:
    column = traces.classified.component
    words, codes = column.words, column.codes.astype(np.int64)
    own, above = codes[siblings.row], codes[siblings.parent]
    links: list[ComponentLink] = []
    for at, verdict, calls, requests, support, against in pairs.added_up(own, own):
        ends = words[own[pairs.source[at]]], words[own[pairs.target[at]]]
        links.append(ComponentLink(*ends, verdict, calls, requests, support, against))
    crossing = np.flatnonzero(own != above)
    if len(crossing):
        keys, code = np.unique(above[crossing] * len(words) + own[crossing], return_inverse=True)
        code = code.reshape(-1)
        count = np.bincount(code)
        seen = _distinct(code, pairs.request[crossing], len(keys))
        for at, key in enumerate(keys.tolist()):
            caller, called = divmod(key, len(words))
            links.append(ComponentLink(words[caller], words[called], "calls", int(count[at]), int(seen[at]), 0, 0))
    return tuple(sorted(links, key=_place_of))


def _place_of(link: ComponentLink) -> tuple[bool, int, int, str, str, str]:
    """Return where a link stands: those that wait before those that call, the most frequent first."""
    return link.verdict == "calls", -link.requests, -link.calls, link.source, link.target, link.verdict


def _operations(traces: TraceSet, siblings: Siblings, pairs: _Pairs) -> tuple[Operation, ...]:
    """Return the orders under every sort of caller, each in the order of time."""
    if not siblings.m:
        return ()
    caller = operation_codes(traces.forest)[siblings.parent]
    _, example, code = np.unique(caller, return_index=True, return_inverse=True)
    code = code.reshape(-1)
    requests = _distinct(code, pairs.request, len(example))
    orders: list[list[tuple[float, float, Order]]] = [[] for _ in example]
    moment = _mean_by(siblings.kind, siblings.since_parent)
    describe = _Names(traces)
    for at, verdict, calls, seen, support, against in pairs.added_up(siblings.kind, siblings.kind):
        source, target = int(pairs.source[at]), int(pairs.target[at])
        names = [describe.of(int(siblings.row[member])) for member in (source, target)]
        order = Order(names[0][1], names[1][1], names[0][2], names[1][2], verdict, calls, seen, support, against)
        when = float(moment[siblings.kind[target]]), float(moment[siblings.kind[source]])
        orders[code[target]].append((*when, order))
    operations = [
        Operation(
            *describe.of(int(siblings.parent[example[at]])),
            int(requests[at]),
            tuple(item[2] for item in sorted(orders[at], key=lambda item: (item[0], item[1], item[2].verdict))),
        )
        for at in range(len(example))
        if orders[at]
    ]
    return tuple(sorted(operations, key=lambda item: (-item.requests, item.service, item.name)))


class _Names:
    """Service, name and component of a row."""

    def __init__(self, traces: TraceSet) -> None:
        spans = traces.forest.spans
        self.columns = (spans.text("service"), spans.text("name"), traces.classified.component)

    def of(self, row: int) -> tuple[str, str, str]:
        """Return them; "" where one is absent."""
        codes = [int(column.codes[row]) for column in self.columns]
        service, name, component = (
            column.words[code] if code >= 0 else "" for column, code in zip(self.columns, codes, strict=True)
        )
        return service, name, component


def _mean_by(code: Int64, value: Int64) -> Array:
    """Return the mean value of each code."""
    return np.bincount(code, weights=value) / np.maximum(np.bincount(code), 1)


def _doubts(siblings: Siblings, wide: Bool) -> tuple[Doubt, ...]:
    callers = len(np.unique(siblings.parent[wide]))
    if not callers:
        return ()
    text = f"{callers:,} spans have more than {WIDE} children: these are replayed in the recorded order, not shown here"
    return (Doubt("wide", text),)
