"""Stand-ins for roots that are missing from the input, so that what is left of such a trace is still one request."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from latshift.forest.identity import column_key
from latshift.forest.parents import Links
from latshift.forest.sorting import order_by
from latshift.spans import INTERNAL, UNSET, Array, Coded, Int64, SpanTable, join_tables

NAME = "(missing root)"


def stand_ins(table: SpanTable, links: Links, groups: Sequence[Int64]) -> tuple[SpanTable, Links]:
    """Put one stand-in above each group of orphans.

    It reaches from the first start to the last end of its orphans, and takes trace, service, host and its id (that of
    the missing parent) from the earliest of them.

    Args:
        table: The spans.
        links: Their parents.
        groups: Rows of the orphans of each trace that lost its root.

    Returns:
        The table with one row more per group, and its links; the orphans now hang under their stand-in.
    """
    start, end, missing = table.array("start"), table.array("end"), table.array("parent_id")
    earliest = _earliest(table, groups)
    count = len(groups)
    columns: dict[str, Array | Coded] = {
        "trace": table.text("trace").take(earliest),
        "span_id": missing[earliest],
        "parent_id": np.zeros(count, np.uint64),
        "name": Coded(np.zeros(count, np.int32), [NAME]),
        "service": table.text("service").take(earliest),
        "host": table.text("host").take(earliest),
        "scope": Coded(np.full(count, -1, np.int32), []),
        "kind": np.full(count, INTERNAL, np.uint8),
        "status": np.full(count, UNSET, np.uint8),
        "start": start[earliest],
        "end": np.array([end[group].max() for group in groups], np.int64),
        "follows": np.zeros(count, np.bool_),
    }
    parent = np.concatenate((links.parent, np.full(count, -1, np.int64)))
    orphan = np.concatenate((links.orphan, np.zeros(count, np.bool_)))
    for number, group in enumerate(groups):
        parent[group] = table.n + number
    return join_tables([table, SpanTable(count, columns, table.odd_ids)]), Links(parent, orphan, links.cut)


def _earliest(table: SpanTable, groups: Sequence[Int64]) -> Int64:
    """Return the row of the earliest orphan of each group (then latest end, then ids and name, which settle it)."""
    rows = np.concatenate(groups)
    number = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    keys = [column_key(table, name) for name in ("start", "-end", "parent_id", "span_id", "name")]
    order = order_by(number, [lambda at, key=key: key(rows[at]) for key in keys])  # type: ignore[misc]
    first = np.concatenate(([True], np.diff(number) > 0))  # order keeps the groups where they are
    return rows[order[first]]
