"""What the gate compares: a run as a table of requests, with nothing left of the spans."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from latshift.critical_path.attribution import Part
from latshift.spans import Array, Coded, Int64


@dataclass
class Sample:
    """The requests of a run, in canonical order: by start, then trace id.

    Attributes:
        group: Root ("service operation") of each request, length r.
        start: int64 (r,), ns since the epoch.
        duration: int64 (r,), ns.
        parts: What the critical path was divided into.
        time: int64 (r, parts), ns, path time; every row adds up to the duration.
        trace_ids: Trace id of each request.
        provenance: Where the run comes from, as the person stated it (commit, model, load): plain JSON values.
        skipped: Reason to count of what could not be used when the run was read.
    """

    group: Coded
    start: Int64
    duration: Int64
    parts: list[Part]
    time: Int64
    trace_ids: list[str]
    provenance: Mapping[str, Any] = field(default_factory=dict)
    skipped: Mapping[str, int] = field(default_factory=dict)

    @property
    def n(self) -> int:
        """Number of requests."""
        return len(self.duration)

    def take(self, rows: Array) -> Sample:
        """Return the run at the given rows (ascending indices)."""
        return Sample(
            self.group.take(rows),
            self.start[rows],
            self.duration[rows],
            self.parts,
            self.time[rows],
            [self.trace_ids[row] for row in rows.tolist()],
            self.provenance,
            self.skipped,
        )

    def in_order(self) -> Sample:
        """Return the run in canonical order, whatever order it came in."""
        order = sorted(range(self.n), key=lambda row: (int(self.start[row]), self.trace_ids[row]))
        rows = np.asarray(order, np.int64)
        return self if np.array_equal(rows, np.arange(self.n)) else self.take(rows)

    def group_names(self) -> list[str]:
        """Return the names of the groups that occur, in alphabetical order."""
        used = np.unique(self.group.codes)
        return sorted(self.group.words[code] if code >= 0 else "" for code in used.tolist())
