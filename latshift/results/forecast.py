"""What a change would do to the latency."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from latshift.results.base import Doubt, Interval, Latency, Result, Spread


@dataclass(frozen=True)
class Bottleneck:
    """The component with the largest share, before and after the edits."""

    before: str
    after: str


@dataclass(frozen=True)
class ShareShift:
    """How a component's share moves."""

    name: str
    share_before: Spread
    share_after: Spread


@dataclass(frozen=True)
class Forecast(Result):
    """What would happen to the latency (`latshift whatif`).

    Attributes:
        edits: The edits in the order they were applied, as the person wrote them ("--speedup llm=2x").
        gain: Fraction of the baseline saved, by replay; negative when it gets slower. amdahl: What Amdahl's law on
            the shares would have said.
        requests_changed: Requests whose latency changes. assumptions: One sentence each.
        optimistic, pessimistic: The better and the worse figure of the replays with and without the assumed
            dependencies; None when they do not differ.
        gain_interval: "p50" to the 95 % interval of the gain, from the same resampled requests before and after.
    """

    schema: ClassVar[str] = "latshift/whatif/1"
    edits: tuple[str, ...]
    baseline: Latency
    predicted: Latency
    gain: Spread
    amdahl: Spread
    bottleneck: Bottleneck
    requests_changed: int
    assumptions: tuple[str, ...]
    components: tuple[ShareShift, ...]
    optimistic: Latency | None = None
    pessimistic: Latency | None = None
    gain_interval: Mapping[str, Interval] = field(default_factory=dict)
    doubts: tuple[Doubt, ...] = ()
