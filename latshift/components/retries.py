"""Retries: attempts beyond the first, and the back-off before them (llm_conventions.md section 4.1).

Direct evidence: an attribute counts the attempts. Heuristic: of two siblings of the same name and component the earlier
one failed and the later one starts within 130 s after it ended; several POSTs under one model call are such siblings.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from latshift.components.inherit import nearest
from latshift.spans import ERROR, NULL, Array, Bool, Coded, Forest, Int32, Int64

LONGEST_BACK_OFF_NS = 130 * 1_000_000_000
"""OpenAI's client honours Retry-After up to 120 s; some slack on top."""

FAILED_STATUS = (408, 409, 425, 429)
"""HTTP status codes below 500 after which clients try again."""

NO_RETRY, FIRST_FAILED, ATTEMPT = range(3)
HEURISTIC, DIRECT = 1, 2

ALIKE = ("name", "model", "tool", "http_host", "http_route")
"""Two attempts of one call agree in these columns."""


@dataclass
class Retries:
    """What is a retry.

    Attributes:
        state: int8 (n,), 0 no retry, 1 first attempt that failed, 2 attempt beyond the first.
        evidence: int8 (n,), 0 none, 1 heuristic, 2 direct.
        previous: int32 (n,), row of the failed attempt before an attempt; -1 where unknown.
        back_off: int64 (n,), ns between the end of that attempt and the start of this one; 0 where unknown.
    """

    state: Array
    evidence: Array
    previous: Int32
    back_off: Int64

    @property
    def attempts(self) -> Bool:
        """Attempts beyond the first, bool (n,)."""
        return np.asarray(self.state == ATTEMPT)

    def beneath(self, parent: Int32) -> Bool:
        """Return the attempts beyond the first and everything under them, bool (n,); `parent` is the forest's."""
        return nearest(parent, self.attempts) >= 0


def find_retries(forest: Forest, component: Coded) -> Retries:
    """Find attempts beyond the first.

    Args:
        forest: The spans.
        component: Their components.
    """
    n, table = forest.n, forest.spans
    retries = Retries(np.zeros(n, np.int8), np.zeros(n, np.int8), np.full(n, -1, np.int32), np.zeros(n, np.int64))
    failed = failures(forest)
    first, later = _pairs(forest, component, failed)
    retries.previous[later] = first
    retries.back_off[later] = table.array("start")[later] - table.array("end")[first]
    retries.state[first] = FIRST_FAILED
    retries.state[later] = ATTEMPT
    retries.evidence[first] = HEURISTIC
    retries.evidence[later] = HEURISTIC
    counted = (table.array("resend_count") > 0) | (table.array("attempt") > 0)
    retries.state[counted] = ATTEMPT
    retries.evidence[counted] = DIRECT
    begun = (table.array("attempt") == 0) & failed
    retries.state[begun & (retries.state == NO_RETRY)] = FIRST_FAILED
    retries.evidence[begun] = DIRECT
    # The attempt before a counted one is as sure as that one.
    before = retries.previous[counted]
    retries.evidence[before[before >= 0]] = DIRECT
    return retries


def failures(forest: Forest) -> Bool:
    """Return which spans ended in an error or in an HTTP status that clients retry, bool (n,)."""
    table = forest.spans
    status = table.array("http_status")
    by_status = np.isin(status, FAILED_STATUS) | ((status >= 500) & (status != 501))
    return np.asarray((table.array("status") == ERROR) | by_status)


def _pairs(forest: Forest, component: Coded, failed: Bool) -> tuple[Int64, Int64]:
    """Return rows (failed attempt, next attempt)."""
    table, parent = forest.spans, forest.parent
    start, end = table.array("start"), table.array("end")
    troubled = np.zeros(forest.n + 1, np.bool_)
    no_answer = _without_answer(forest)
    troubled[parent[(failed | no_answer) & (parent >= 0)]] = True
    troubled[-1] = False
    rows = np.flatnonzero(troubled[parent])
    if not len(rows):
        return rows, rows
    group = _groups(forest, component, rows)
    order = np.lexsort((rows, start[rows], group))
    rows, group = rows[order], group[order]
    # Ranks of starts and ends in one order, so that (group, time) becomes one sortable number.
    moments = np.unique(np.concatenate([start[rows], end[rows]]))
    width = len(moments) + 1
    begin = group * width + np.searchsorted(moments, start[rows])
    finish = group * width + np.searchsorted(moments, end[rows])
    after = np.searchsorted(begin, finish, side="left")
    position = np.arange(len(rows))
    after = np.maximum(after, position + 1)  # a span of no length does not follow itself
    inside = after < len(rows)
    after = np.minimum(after, len(rows) - 1)
    answered = table.array("http_status")[rows[after]] != NULL
    broken = failed[rows] | (no_answer[rows] & answered)
    near = start[rows[after]] - end[rows] <= LONGEST_BACK_OFF_NS
    found = inside & (group[after] == group) & broken & near
    return rows[found], rows[after[found]]


def _without_answer(forest: Forest) -> Bool:
    """Return which HTTP calls have no status code: they failed if a sibling after them has one."""
    table = forest.spans
    return np.asarray((table.text("http_method").codes >= 0) & (table.array("http_status") == NULL))


def _groups(forest: Forest, component: Coded, rows: Int64) -> Int64:
    """Return the ordinal of the group of like siblings that each of the given rows belongs to, int64 (k,)."""
    group = forest.parent[rows].astype(np.int64)
    for column in (component, *(forest.spans.text(name) for name in ALIKE)):
        if column.words:
            group = group * (len(column.words) + 1) + column.codes[rows] + 1
            group = np.unique(group, return_inverse=True)[1].reshape(-1)
    return np.asarray(np.unique(group, return_inverse=True)[1].reshape(-1), np.int64)
