"""Forests for the tests of components: rows by hand, names free of the mini language's limits."""

from typing import Any

from latshift.components import Classified, Rule, classify
from latshift.forest import build
from latshift.spans import Forest, InputSummary
from tests.tiny import row_of, table

MS = 1_000_000


def forest(*rows: dict[str, Any]) -> Forest:
    """Build a forest; `start` and `end` are in ms, a row's id is its name unless given."""
    full = [{"start": 0, "end": 100, **row} for row in rows]
    times = [{**row, "start": int(row["start"] * MS), "end": int(row["end"] * MS)} for row in full]
    return build(table(times), InputSummary())


def single(**columns: Any) -> tuple[str, str]:
    """Classify one span under an application's root; return its component and the rule."""
    spans = forest(
        {"id": "root", "name": "handle", "kind": "server"}, {"id": "x", "parent": "root", "name": "work", **columns}
    )
    result = classify(spans)
    row = row_of(spans, "x")
    return result.component.texts()[row] or "", result.rule.texts()[row] or ""


def components(spans: Forest, *rules: Rule) -> dict[str, str | None]:
    """Return span id -> component."""
    return by_id(spans, classify(spans, rules).component.texts())


def by_id(spans: Forest, values: Any) -> dict[str, Any]:
    """Return span id -> value of a column."""
    listed = values if isinstance(values, list) else values.tolist()
    return {spans.spans.span_id_text(row): value for row, value in enumerate(listed)}


def owners(spans: Forest, result: Classified) -> dict[str, str]:
    """Return span id -> id of the span whose component it has."""
    return {name: spans.spans.span_id_text(row) for name, row in by_id(spans, result.owner).items()}
