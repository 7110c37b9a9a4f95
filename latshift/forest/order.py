"""The canonical order of rows, so that nothing that follows depends on the order of the input."""

from __future__ import annotations

import numpy as np

from latshift.forest.identity import column_key
from latshift.forest.parents import roots_of
from latshift.forest.sorting import order_by
from latshift.spans import Bool, Forest, Int64, SpanTable


def text_rank(table: SpanTable) -> Int64:
    """Return numbers that order spans as the texts of their ids do, int64 of shape (n,).

    The text of a hex id sorts as its number does, so no sorting is needed unless some ids are not hex.
    """
    ids = table.array("span_id")
    if not table.odd_ids:
        return (ids ^ np.uint64(1 << 63)).view(np.int64)
    distinct, inverse = np.unique(ids, return_inverse=True)
    texts = [table.id_text(number) for number in distinct.tolist()]
    rank = np.empty(distinct.shape[0], np.int64)
    rank[sorted(range(len(texts)), key=texts.__getitem__)] = np.arange(len(texts))
    return rank[inverse]


def arrange(table: SpanTable, parent: Int64, orphan: Bool, placeholder: Bool, rank: Int64) -> Forest:
    """Put rows in canonical order and number the requests.

    Args:
        table: The spans, stand-ins for lost roots included.
        parent: int64 (n,), row of the parent, -1 for roots.
        orphan: bool (n,), the span's parent is missing from the input.
        placeholder: bool (n,), the row is a stand-in for a lost root.
        rank: int64 (n,), order of the span ids' texts.

    Returns:
        The forest; rows by request, start, end descending, span id; requests by start, trace id, span id of the root.
    """
    start, end = table.array("start"), table.array("end")
    tie_breaks = [column_key(table, name) for name in ("kind", "service", "name", "host", "parent_id")]
    roots = np.flatnonzero(parent < 0)
    trace_key = column_key(table, "trace")
    by_root = [lambda at: start[at], trace_key, lambda at: rank[at], lambda at: -end[at], *tie_breaks]
    roots = roots[order_by(np.zeros(roots.shape[0], np.int64), [lambda at, key=key: key(roots[at]) for key in by_root])]  # type: ignore[misc]

    number = np.empty(table.n, np.int64)
    number[roots] = np.arange(roots.shape[0])
    request = number[roots_of(parent)]
    # Times relative to the root keep the packed sort keys short.
    base = start[roots][request] if table.n else start
    order = order_by(
        request, [lambda at: start[at] - base[at], lambda at: base[at] - end[at], lambda at: rank[at], *tie_breaks]
    )
    place = np.empty(table.n + 1, np.int32)
    place[order] = np.arange(table.n, dtype=np.int32)
    place[-1] = -1
    return Forest(
        spans=table.take(order),
        parent=place[parent[order]],
        request=request[order].astype(np.int32),
        root=place[roots],
        complete=~(orphan | placeholder)[roots],
        placeholder=placeholder[order],
        rank=rank[order],
    )
