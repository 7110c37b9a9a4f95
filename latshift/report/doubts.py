"""What was skipped or is doubtful, in one line where it fits: every view ends with it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.text import Text

from latshift.report import units
from latshift.report.console import Screen
from latshift.report.escape import visible
from latshift.report.layout import wrapped
from latshift.results import Doubt
from latshift.skipped import skipped_text

if TYPE_CHECKING:
    from latshift.spans import InputSummary


def doubt_clauses(doubts: Iterable[Doubt], source: InputSummary | None = None) -> list[str]:
    """Return the doubts as clauses, those about the input first; each is said once."""
    clauses = []
    if source is not None:
        if source.skipped:
            clauses.append(skipped_text(source.skipped))
        if source.incomplete:
            clauses.append(f"{units.plural(source.incomplete, 'incomplete request')} of {units.count(source.requests)}")
        clauses += [visible(warning, 300) for warning in source.warnings]
    for doubt in doubts:
        hint = f" ({visible(doubt.hint, 300)})" if doubt.hint else ""
        clauses.append(visible(doubt.text, 300) + hint)
    return list(dict.fromkeys(clause.rstrip(".") for clause in clauses))


def doubt_lines(doubts: Iterable[Doubt], screen: Screen, source: InputSummary | None = None) -> list[Text]:
    """Return the doubts as a paragraph with a blank line before it; nothing if there is no doubt."""
    clauses = doubt_clauses(doubts, source)
    if not clauses:
        return []
    return [Text(), *wrapped("Note: " + " · ".join(clauses), screen.width, indent="  ", style="yellow")]
