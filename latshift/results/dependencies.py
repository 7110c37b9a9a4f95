"""Who waits for whom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from latshift.results.base import Doubt, Result

Verdict = Literal["waits", "assumed", "refuted", "declared", "denied"]
"""waits: seen often and never contradicted. assumed: never contradicted, but seen too seldom to be sure. refuted: at
least one request shows the opposite. declared, denied: the configuration says that it waits, or that it does not."""


@dataclass(frozen=True)
class Order:
    """One kind of call that runs after another under one caller.

    Attributes:
        source, target: Names of the calls; `target` runs after `source`. source_component, target_component: Likewise.
        verdict: Whether `target` waits for `source`. calls: Pairs of calls it was seen in. requests: Requests likewise.
        support: How many requests showed the order; the largest number where rounds or positions are told apart.
        counter_examples: How often the opposite was seen; likewise.
    """

    source: str
    target: str
    source_component: str
    target_component: str
    verdict: Verdict
    calls: int
    requests: int
    support: int
    counter_examples: int


@dataclass(frozen=True)
class Operation:
    """What runs after what under one sort of caller. requests: Requests in which it calls anything."""

    service: str
    name: str
    component: str
    requests: int
    orders: tuple[Order, ...]


@dataclass(frozen=True)
class ComponentLink:
    """Two components: `target` waits for `source` under some caller, or `source` calls `target`.

    Attributes:
        verdict: Of a waiting ("waits", "assumed", "refuted", "declared", "denied"); "calls" for a call.
        calls: Pairs of calls; for a call, calls. requests: Requests likewise. support, counter_examples: See `Order`.
    """

    source: str
    target: str
    verdict: Verdict | Literal["calls"]
    calls: int
    requests: int
    support: int
    counter_examples: int


@dataclass(frozen=True)
class DependencyGraph(Result):
    """Who waits for whom (`latshift dependencies`).

    Attributes:
        requests: Requests looked at. components: Links between components. operations: Orders under each sort of
            caller, the callers in most requests first.
    """

    schema: ClassVar[str] = "latshift/dependencies/1"
    requests: int
    components: tuple[ComponentLink, ...]
    operations: tuple[Operation, ...]
    doubts: tuple[Doubt, ...] = ()
