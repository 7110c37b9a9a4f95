"""What of the input could not be used, as a doubt about the result: no view keeps silent about it."""

from __future__ import annotations

from collections.abc import Mapping

from latshift.report import units
from latshift.report.escape import visible
from latshift.results.base import Doubt


def skipped_text(skipped: Mapping[str, int]) -> str:
    """Return what was skipped as one clause ("skipped: duplicate span 12"), or "" where nothing was.

    Args:
        skipped: Reason to count.
    """
    listed = [f"{visible(reason, 60)} {units.count(number)}" for reason, number in sorted(skipped.items())]
    return "skipped: " + ", ".join(listed) if listed else ""


def input_doubts(skipped: Mapping[str, int], whose: str = "") -> tuple[Doubt, ...]:
    """Return the doubt that something of the input was skipped, if anything was.

    Args:
        skipped: Reason to count, as in `InputSummary.skipped`.
        whose: Words before it, where there are several inputs ("baseline: ").
    """
    text = skipped_text(skipped)
    return (Doubt("skipped", whose + text),) if text else ()
