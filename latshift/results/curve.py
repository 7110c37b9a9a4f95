"""Gain against speed-up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from latshift.results.base import Doubt, Latency, Points, Result, Spread


@dataclass(frozen=True)
class CurvePoint:
    """The latency at one speed-up.

    Attributes:
        speedup: "2x" or "inf". factor: The same as a number; infinite (null in JSON) for "inf".
        predicted_ms: Latency. gain: Fraction of it saved. share: Mean share of the latency of what is selected.
        bottleneck: What has the largest mean share.
    """

    speedup: str
    factor: float
    predicted_ms: Spread
    gain: Spread
    share: float
    bottleneck: str


@dataclass(frozen=True)
class Knee:
    """Where more speed stops paying.

    Attributes:
        factor: The smaller of both below; nan when neither exists. reason: "bottleneck moves", "gain flattens" or "".
        moves_at: Speed-up beyond which something else has the largest mean share; nan if it never has it, or
            always keeps it. moves_to: What that is.
        flattens_at: Speed-up beyond which a ms of work saved gains less than a fifth of what the first one gained,
            at each percentile; nan where that never happens.
    """

    factor: float
    reason: str
    moves_at: float
    moves_to: str
    flattens_at: Points


@dataclass(frozen=True)
class Curve(Result):
    """Gain against the speed-up of what a selector means (`latshift whatif --curve SEL`).

    Attributes:
        selector: As written. baseline: Latency as recorded. points: By speed-up, "1x" first and "inf" last.
        knee: Where more speed stops paying. asymptote: Gain at infinite speed-up. assumptions: One sentence each.
    """

    schema: ClassVar[str] = "latshift/curve/1"
    selector: str
    baseline: Latency
    points: tuple[CurvePoint, ...]
    knee: Knee
    asymptote: Spread
    assumptions: tuple[str, ...] = ()
    doubts: tuple[Doubt, ...] = ()
