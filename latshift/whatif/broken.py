"""What a parallelization breaks: the calls that the moved one used to wait for."""

from __future__ import annotations

import numpy as np

from latshift.spans import Int64
from latshift.whatif.model import ReplayModel

SHOWN = 6
"""Broken dependencies named one by one; more are counted."""


def describe_broken(model: ReplayModel, anchors: Int64, moved: Int64) -> list[str]:
    """Name every dependency that starting `moved` together with `anchors` breaks, with the number of requests.

    Args:
        model: The requests as recorded.
        anchors: int64 (p,), rows, pair by pair.
        moved: Likewise.
    """
    siblings, edges = model.siblings, model.dependencies
    anchor_start = np.full(model.forest.n, np.iinfo(np.int64).max)
    anchor_start[moved] = model.path.start[anchors]
    late = siblings.row[edges.target]
    # A source that had ended before the anchor starts is still waited for.
    broken = siblings.end[edges.source] > anchor_start[late]
    labels = model.forest.spans.text("name").texts
    counts: dict[tuple[str, str], int] = {}
    sources = labels(siblings.row[edges.source[broken]])
    targets = labels(late[broken])
    for source, target in zip(sources, targets, strict=True):
        pair = (target or "(no name)", source or "(no name)")
        counts[pair] = counts.get(pair, 0) + 1
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    lines = [
        f"breaks a dependency: '{target}' would no longer wait for '{source}' ({count} times)"
        for (target, source), count in ranked[:SHOWN]
    ]
    if len(ranked) > SHOWN:
        lines.append(f"breaks {len(ranked) - SHOWN} more dependencies")
    apart = int(np.sum(model.forest.parent[anchors] != model.forest.parent[moved]))
    if apart:
        lines.append(
            f"{apart} calls start before their caller does: the caller must be able to hand over what they need"
        )
    return lines
