"""Random small requests: many ties, spans outside their parents, several traces, all kinds."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.tiny import KINDS

TIME = st.integers(0, 24)


@st.composite
def rows(draw: st.DrawFn, *, orphans: bool = False, coarse: bool = False) -> list[dict[str, Any]]:
    """Return rows for `tiny.table`; ids are distinct, parents come from the same trace.

    Args:
        draw: Given by hypothesis.
        orphans: Some spans name a parent that does not exist.
        coarse: Times are multiples of 10,000 plus 0 or 1, so that neighbours overlap by less than the tolerance.
    """
    size = draw(st.integers(1, 20))
    ids = draw(st.permutations([f"s{number:02}" for number in range(size)]))
    spread = draw(st.integers(1, 3))
    result: list[dict[str, Any]] = []
    for number, span in enumerate(ids):
        above = [row for row in result if row["trace"] == f"t{number % spread}"]
        parent = draw(st.sampled_from([row["id"] for row in above])) if above and draw(st.integers(0, 9)) else None
        if orphans and parent is None and draw(st.booleans()):
            parent = draw(st.sampled_from(["lost", "gone"]))
        start, end = sorted((draw(TIME), draw(TIME)))
        if coarse:
            start, end = start * 10_000, end * 10_000 + draw(st.integers(0, 1))
        row = {"id": span, "parent": parent, "trace": f"t{number % spread}", "start": start, "end": end}
        result.append(row | {"kind": draw(st.sampled_from(KINDS)), "service": draw(st.sampled_from("abc"))})
    return result
