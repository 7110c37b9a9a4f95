"""The whole way from paths to one table: find files, decode them, join the columns, and say what was left out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from latshift.errors import InputError
from latshift.ingest.assemble import assemble
from latshift.ingest.columns import RawColumns
from latshift.ingest.conventions import allowed
from latshift.ingest.decode import UNREADABLE, Decoded, Finding, Part
from latshift.ingest.parts import PIECE, BinaryError, parts_of
from latshift.ingest.sniff import READABLE, SIGNALS
from latshift.ingest.sources import File, find_files
from latshift.ingest.workers import decode_all, usable_cores
from latshift.spans import InputSummary, Int64, SpanTable

COMPRESSION = 8
"""By how much traces are assumed to shrink when compressed."""

NOWHERE = -1
"""The line of what is wrong with a file as a whole."""

WITHOUT_TRACES = "file without traces"


@dataclass
class Report:
    """What became of a file.

    Attributes:
        file: The file. documents: Documents that were read. bytes: As stored. findings: What was left out.
    """

    file: File
    documents: int = 0
    bytes: int = 0
    findings: list[Finding] = field(default_factory=list)

    def trouble(self) -> str:
        """Return the first thing that is wrong with the file, with its place."""
        if not self.findings:
            return f"{self.file.name}: the file is empty"
        first = min(self.findings, key=lambda finding: finding.offset)
        return f"{place_of(self.file, first.offset, first.line)}: {first.detail}"


def read(
    paths: Sequence[str | Path], keep: Collection[str], workers: int | None, progress: Callable[[int, int], None] | None
) -> tuple[SpanTable, InputSummary]:
    """Read traces; see `latshift.ingest.read_spans`."""
    summary = InputSummary()
    files = find_files(paths, summary)
    refused = sorted(set(keep) - set(allowed(keep)))
    if refused:
        summary.warnings.append(f"never kept, for they hold content: {', '.join(refused)}")
    reports = [Report(file, bytes=file.size) for file in files]
    total = sum(file.size for file in files)

    def advance(done: int) -> None:
        if progress is not None:
            progress(min(done, total) if total else done, total)

    workers = usable_cores() if workers is None else max(workers, 1)
    decoded = decode_all(_chunks(reports), keep, workers, total, advance)
    for chunk in decoded:
        for finding in chunk.findings:
            reports[finding.file].findings.append(finding)
        for number, count in chunk.documents.items():
            reports[number].documents += count
    _judge_files(reports, summary)
    return _table(decoded, reports, summary), summary


def _chunks(reports: Sequence[Report]) -> Iterator[Sequence[Part]]:
    """Return the pieces of all files, small ones together."""
    waiting: list[Part] = []
    size = 0
    for number, report in enumerate(reports):

        def note(reason: str, text: str, number: int = number, report: Report = report) -> None:
            report.findings.append(Finding(number, reason, report.file.size, NOWHERE, text))

        try:
            for part in parts_of(number, report.file, note):
                report.bytes += 0 if report.file.seekable else part.end - part.start
                waiting.append(part)
                size += part.end - part.start
                if size >= PIECE:
                    yield tuple(waiting)
                    waiting, size = [], 0
        except OSError as error:
            note(UNREADABLE, (error.strerror or type(error).__name__).lower())
        except BinaryError as error:
            note("binary file", f"{error}, which latshift does not read")
    if waiting:
        yield tuple(waiting)


def _judge_files(reports: Sequence[Report], summary: InputSummary) -> None:
    """Count what was read and what was left out.

    Raises:
        InputError: If no file holds traces.
    """
    useless = [report for report in reports if not report.documents]
    if len(useless) == len(reports):
        if len(reports) == 1:
            raise InputError(reports[0].trouble(), READABLE)
        worst = next((report for report in useless if report.findings), useless[0])
        raise InputError(f"none of {len(reports):,} files holds traces; for example {worst.trouble()}", READABLE)
    summary.skip(WITHOUT_TRACES, len(useless))
    named = [report for report in useless if report.file.named]
    if named:
        examples = "; ".join(report.trouble() for report in named[:3])
        more = f"; and {len(named) - 3:,} more" if len(named) > 3 else ""
        summary.warnings.append(f"{_count(len(named), 'file holds', 'files hold')} no traces: {examples}{more}")
    used = [report for report in reports if report.documents]
    summary.files = len(used)
    summary.bytes = sum(report.bytes for report in used)
    first: dict[str, tuple[Report, Finding]] = {}
    for report in used:
        for finding in sorted(report.findings, key=lambda finding: finding.offset):
            first.setdefault(finding.reason, (report, finding))
            summary.skip(finding.reason, finding.count)
    for reason, (report, finding) in first.items():
        if reason not in SIGNALS.values():
            place = place_of(report.file, finding.offset, finding.line)
            count = summary.skipped[reason]
            summary.warnings.append(f"{reason}, left out {_times(count)}; first at {place}: {finding.detail}")


def _table(decoded: Sequence[Decoded], reports: Sequence[Report], summary: InputSummary) -> SpanTable:
    columns = [chunk.columns for chunk in decoded]
    table, faults = assemble(columns, summary)
    bad = np.zeros(table.n, np.bool_)
    for reason, rows in faults.items():
        place = _place_of_row(int(rows[0]), columns, reports)
        summary.skip(reason, rows.shape[0])
        summary.warnings.append(f"{reason}, left out {_times(rows.shape[0])}; first at {place}")
        bad[rows] = True
    if bad.any():
        table = table.take(np.flatnonzero(~bad))
    if not table.n and summary.skipped:
        reasons = [warning for warning in summary.warnings if ", left out " in warning]
        if reasons:
            raise InputError(f"no span can be used: {reasons[0]}", READABLE)
    _check_units(table.array("start"), summary)
    summary.spans = table.n
    return table


def _check_units(start: Int64, summary: InputSummary) -> None:
    """Warn if all times are of 1970, but would be of our days in another unit."""
    if not start.shape[0]:
        return
    first, last = int(start.min()), int(start.max())
    for factor in (1_000, 1_000_000, 1_000_000_000):
        if first * factor >= 10**18 and last * factor <= 4 * 10**18:
            summary.warnings.append(
                f"all spans start in 1970: their times seem to be {factor:,} times too small (written in a larger unit "
                "than the format's); nothing was converted"
            )


def _place_of_row(row: int, columns: Sequence[RawColumns], reports: Sequence[Report]) -> str:
    for chunk in columns:
        if row < chunk.n:
            mark = int(np.searchsorted(np.frombuffer(chunk.mark_rows, np.int64), row, side="right")) - 1
            return place_of(reports[chunk.mark_files[mark]].file, chunk.mark_offsets[mark], 0)
        row -= chunk.n
    raise IndexError(row)


def place_of(file: File, offset: int, line: int) -> str:
    """Return "file:line" for people.

    Args:
        file: The file.
        offset: Byte in it.
        line: The line, if known; 0 to count the lines of the file; `NOWHERE`.
    """
    if line == NOWHERE:
        return file.name
    if line:
        return f"{file.name}:{line}"
    if not file.seekable:
        return f"{file.name}, byte {offset}"
    lines = 1
    try:
        with open(file.path, "rb") as stream:  # noqa: PTH123 (a name of the system's, as it stands)
            while offset > 0 and (block := stream.read(min(offset, 1 << 20))):
                lines += block.count(b"\n")
                offset -= len(block)
    except OSError:
        return file.name
    return f"{file.name}:{lines}"


def _count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number:,} times"
