"""Where the latency goes, and which span went into which component."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from latshift.results.base import CLASS, Doubt, Latency, Points, Result, Spread

if TYPE_CHECKING:
    from latshift.spans import InputSummary


@dataclass(frozen=True)
class ClassShare:
    """Share and path time of a class of components: model, queue or non-model."""

    name: str
    share: Spread
    path_ms: Spread


@dataclass(frozen=True)
class PhaseShare:
    """Share and path time of one phase of a component (`llm.prefill`); the phases add up to the component."""

    name: str
    share: Spread
    path_ms: Spread


@dataclass(frozen=True)
class RetryTime:
    """What attempts beyond the first, and the back-off between them, cost; it is part of the component's time.

    Attributes:
        requests: Requests with a retry. attempts: Attempts beyond the first.
        evidence: "direct" (an attribute says so) or "heuristic". path_ms: Their path time.
    """

    requests: int
    attempts: int
    evidence: str
    path_ms: Spread


@dataclass(frozen=True)
class Component:
    """One component's part of the latency.

    Attributes:
        name, klass: Component and its class. requests: Requests it occurs in. spans: Its spans. calls: Its calls,
            counted over all requests.
        share: Of end-to-end latency at each percentile; shares of all components add up to 1.
        path_ms: Path time; the percentiles are over all requests and do not add up.
        ceiling: Gain if the component took no time, by replay; None when it was not computed.
    """

    name: str
    klass: str = field(metadata=CLASS)
    requests: int
    spans: int
    calls: int
    share: Spread
    path_ms: Spread
    ceiling: Points | None = None
    phases: tuple[PhaseShare, ...] = ()
    retries: RetryTime | None = None


@dataclass(frozen=True)
class Group:
    """The requests of one root (service and operation), or of one value of `--group-by`."""

    root: str
    n: int
    latency: Latency
    classes: tuple[ClassShare, ...] = ()


@dataclass(frozen=True)
class TailExcess:
    """How much slower requests at and beyond p95 are than the mean request, and whose time that is.

    Attributes:
        total_ms: E[T | T >= p95] − E[T]. parts_ms: Component to its contribution; they add up to `total_ms`.
    """

    total_ms: float
    parts_ms: Mapping[str, float]


@dataclass(frozen=True)
class Analysis(Result):
    """Where the latency of the requests goes (`latshift analyze`)."""

    schema: ClassVar[str] = "latshift/analyze/1"
    input: InputSummary
    latency: Latency
    classes: tuple[ClassShare, ...]
    components: tuple[Component, ...]
    groups: tuple[Group, ...] = ()
    tail_excess: TailExcess | None = None
    doubts: tuple[Doubt, ...] = ()


@dataclass(frozen=True)
class RuleHit:
    """A rule that put spans into a component, and how many; `example` is one span's name."""

    rule: str
    spans: int
    example: str = ""


@dataclass(frozen=True)
class ListedComponent:
    """What was put into one component. `path_share`: its mean share of the latency."""

    name: str
    klass: str = field(metadata=CLASS)
    spans: int
    calls: int
    path_share: float
    rules: tuple[RuleHit, ...]


@dataclass(frozen=True)
class Unclassified:
    """A name that only fell to `app`. `suggestion`: a rule to paste into latshift.toml."""

    name: str
    service: str
    spans: int
    path_share: float
    suggestion: str


@dataclass(frozen=True)
class ComponentListing(Result):
    """Which span went where, and by which rule (`latshift components`)."""

    schema: ClassVar[str] = "latshift/components/1"
    input: InputSummary
    components: tuple[ListedComponent, ...]
    unclassified: tuple[Unclassified, ...] = ()
    doubts: tuple[Doubt, ...] = ()
