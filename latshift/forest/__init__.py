"""Spans -> requests: every span hung under its parent, every doubt counted.

What happens, in order: noise is dropped (Logfire's pending and log spans), copies are counted once, negative durations
become 0, parents are looked up (shared ids, orphans, cycles), clocks are compared, lost roots get a stand-in, and rows
are put in canonical order. The rules are those of semantics.md §1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from latshift.forest.identity import SpanIndex, find_copies, find_shared
from latshift.forest.order import arrange, text_rank
from latshift.forest.parents import Links, hang, lost_roots
from latshift.forest.placeholders import stand_ins
from latshift.forest.skew import fix_skew, overhang
from latshift.spans import Forest, InputSummary, SpanTable

__all__ = ["ForestOptions", "build"]

NOISE = {"pending_span": "pending span (Logfire)", "log": "log written as a span (Logfire)"}
"""Values of `span_type` whose spans are no work of the request, and the reason they are skipped for."""


@dataclass(frozen=True)
class ForestOptions:
    """How to repair what is broken.

    Attributes:
        fix_skew_ns: Move children that lie outside their CLIENT parent by at most this many ns; None leaves them.
    """

    fix_skew_ns: int | None = None


def build(table: SpanTable, summary: InputSummary, options: ForestOptions = ForestOptions()) -> Forest:
    """Hang spans under their parents and number the requests.

    Args:
        table: Spans in any order; not changed.
        summary: Counts of the input; spans, traces, requests, incomplete, skipped and warnings are filled in here.
        options: How to repair what is broken.

    Returns:
        The forest, rows in canonical order.
    """
    table = _drop_noise(table, summary)
    table, index = _drop_copies(table, summary)
    table = _clamp_durations(table, summary)
    rank = text_rank(table)
    shared = find_shared(table, index)
    links = hang(table, index, shared, rank)
    _warn_links(links, shared.unexplained if shared else 0, summary)
    _compare_clocks(table, links, summary, options)

    summary.spans = table.n
    groups = lost_roots(table.text("trace").codes, links)
    placeholder = np.zeros(table.n + len(groups), np.bool_)
    placeholder[table.n :] = True
    if groups:
        table, links = stand_ins(table, links, groups)
        rank = text_rank(table)
    forest = arrange(table, links.parent, links.orphan, placeholder, rank)
    _count(forest, summary, int(links.orphan.sum()))
    return forest


def _drop_noise(table: SpanTable, summary: InputSummary) -> SpanTable:
    if "span_type" not in table.columns:
        return table
    kind = table.text("span_type")
    drop = np.zeros(table.n, np.bool_)
    for word, reason in NOISE.items():
        if word in kind.words:
            hit = kind.codes == kind.words.index(word)
            summary.skip(reason, int(hit.sum()))
            drop |= hit
    return table.take(np.flatnonzero(~drop)) if drop.any() else table


def _drop_copies(table: SpanTable, summary: InputSummary) -> tuple[SpanTable, SpanIndex]:
    index = SpanIndex(table.text("trace").codes, table.array("span_id"))
    copies = find_copies(table, index)
    summary.skip("duplicate span", copies.duplicates)
    summary.skip("updated span", copies.updates)
    if not copies.keep.all():
        table = table.take(np.flatnonzero(copies.keep))
        index = SpanIndex(table.text("trace").codes, table.array("span_id"))
    return table, index


def _clamp_durations(table: SpanTable, summary: InputSummary) -> SpanTable:
    start, end = table.array("start"), table.array("end")
    negative = int((end < start).sum())
    if not negative:
        return SpanTable(table.n, dict(table.columns), table.odd_ids)
    ended = _count_of(negative, "span ends before it", "spans end before they")
    summary.warnings.append(f"{ended} started; taken as 0 ms long")
    return SpanTable(table.n, {**table.columns, "end": np.maximum(start, end)}, table.odd_ids)


def _warn_links(links: Links, unexplained: int, summary: InputSummary) -> None:
    if links.cut:
        summary.warnings.append(f"{_count_of(links.cut, 'parent reference')} closed a cycle; cut there")
    if unexplained:
        summary.warnings.append(
            f"{_count_of(unexplained, 'span id')} stood for several different spans; children went to the earliest"
        )


def _compare_clocks(table: SpanTable, links: Links, summary: InputSummary, options: ForestOptions) -> None:
    if options.fix_skew_ns is not None:
        fix = fix_skew(table, links.parent, options.fix_skew_ns)
        if fix.moved:
            moved = _count_of(fix.moved, "call was", "calls were")
            summary.warnings.append(f"{moved} moved into the caller's time, by at most {_milliseconds(fix.largest_ns)}")
        if fix.beyond:
            left, bound = _count_of(fix.beyond, "call was", "calls were"), _milliseconds(options.fix_skew_ns)
            summary.warnings.append(f"{left} left outside the caller's time: that is more than {bound} away")
    found = overhang(table, links.parent)
    if found.spans:
        outside = _count_of(found.spans, "span sticks out of its parent", "spans stick out of their parent")
        summary.warnings.append(f"{outside}; {_milliseconds(found.cut_ns)} were cut")


def _count(forest: Forest, summary: InputSummary, orphans: int) -> None:
    traces = forest.spans.text("trace").codes
    summary.traces = int(np.count_nonzero(np.bincount(traces + 1))) if forest.n else 0
    summary.requests = int(forest.root.shape[0])
    summary.incomplete = int((~forest.complete).sum())
    if orphans:
        missing = _count_of(orphans, "span names", "spans name")
        incomplete = _count_of(summary.incomplete, "request is", "requests are")
        summary.warnings.append(f"{missing} a parent that is not in the input; {incomplete} incomplete")
    lost = int(forest.placeholder.sum())
    if lost:
        rootless = _count_of(lost, "trace lost its root", "traces lost their root")
        summary.warnings.append(f"{rootless}; a stand-in holds the parts together")


def _count_of(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def _milliseconds(nanoseconds: int) -> str:
    if nanoseconds < 1_000:
        return "less than 0.001 ms"
    return f"{nanoseconds / 1e6:.3g} ms" if nanoseconds < 1e9 else f"{nanoseconds / 1e6:,.0f} ms"
