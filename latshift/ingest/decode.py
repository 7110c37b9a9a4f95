"""Pieces of files to columns: finds where documents begin and end. This is what workers run."""

from __future__ import annotations

import gc
import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import msgspec

from latshift.ingest.columns import Builder, RawColumns
from latshift.ingest.documents import Documents, problem_of

BOM = b"\xef\xbb\xbf"
UNREADABLE = "file that cannot be read"

_SKIM = msgspec.json.Decoder(msgspec.Raw)
_BLANK = re.compile(rb"\s*")
_NEXT_DOCUMENT = re.compile(rb"\n[{\[]")
TRAILING = re.compile(r"trailing characters \(byte (\d+)\)")
"""What msgspec says about something behind a document; the number is that of the byte after the next."""

_TOLERANT = json.JSONDecoder(strict=False)


@dataclass(frozen=True)
class Part:
    """A piece of a file.

    Attributes:
        file: Number of the file. path: Where it is; "" if `data` is given. start, end: Bytes of the piece.
        whole: Documents may run over several lines, and the piece is all of the file.
        data: The bytes themselves, of a stream. lines: Lines of the stream before the piece.
    """

    file: int
    path: str
    start: int
    end: int
    whole: bool = False
    data: bytes | None = None
    lines: int = 0

    def read(self) -> bytes:
        """Return the bytes."""
        if self.data is not None:
            return self.data
        with open(self.path, "rb") as file:  # noqa: PTH123 (workers would need pathlib, 10 ms to import, for nothing else)
            file.seek(self.start)
            return file.read(self.end - self.start)


@dataclass
class Finding:
    """Something in a file that was left out.

    Attributes:
        file: Number of the file. reason: Why, as counted. count: How often.
        offset: Byte of the file where first. line: Likewise, 1-based, in streams; 0 in files. detail: What was there.
    """

    file: int
    reason: str
    offset: int
    line: int
    detail: str
    count: int = 1


@dataclass
class Decoded:
    """What came out of a chunk.

    Attributes:
        columns: The spans. findings: What was left out. documents: File to the number of its documents that were read.
    """

    columns: RawColumns
    findings: list[Finding]
    documents: dict[int, int]


def decode(parts: Sequence[Part], keep: Collection[str]) -> Decoded:
    """Decode the pieces of a chunk.

    Args:
        parts: Pieces of files.
        keep: Attribute keys to keep beside the canonical ones.

    Returns:
        Their spans, in order.
    """
    builder = Builder(keep)
    findings: list[Finding] = []
    counts: dict[int, int] = {}
    collecting = gc.isenabled()
    # Decoding makes millions of objects without cycles; looking for cycles among them takes longer than decoding.
    gc.disable()
    try:
        for part in parts:
            try:
                data = part.read()
            except OSError as error:
                findings.append(Finding(part.file, UNREADABLE, part.start, 0, error.strerror or "cannot be read"))
                continue
            documents = Documents(builder, part.file)
            _read(data, part, documents)
            builder.flush(force=True)
            findings.extend(_findings(documents, part, data))
            counts[part.file] = counts.get(part.file, 0) + documents.count
    finally:
        if collecting:
            gc.enable()
    return Decoded(builder.finish(), findings, counts)


def _read(data: bytes, part: Part, documents: Documents) -> None:
    position = len(BOM) if part.start == 0 and data.startswith(BOM) else 0
    read = _read_whole if part.whole else _read_lines
    read(data, position, part.start, documents)


def _read_lines(data: bytes, position: int, start: int, documents: Documents) -> None:
    size, view = len(data), memoryview(data)
    while position < size:
        end = data.find(b"\n", position)
        end = size if end < 0 else end
        documents.offset = start + position
        try:
            documents.read_quickly(view[position:end])
            position = end + 1
        except (msgspec.DecodeError, RecursionError):
            blank = not data[position:end].strip()
            position = end + 1 if blank else _read_odd_line(data, position, end, documents)


def _read_odd_line(data: bytes, position: int, end: int, documents: Documents) -> int:
    """Read what begins in a line but is not that line: several documents, or a longer one; return what comes next."""
    if data.startswith(BOM, position):
        return position + len(BOM)  # Files with byte order marks, one behind the other.
    stop = _end_of_document(data, position)
    if stop is None or stop == end:
        documents.read(data[position:end])
        return end + 1
    documents.read(memoryview(data)[position:stop])
    return stop


def _read_whole(data: bytes, position: int, start: int, documents: Documents) -> None:
    while (position := _after_blank(data, position)) < len(data):
        documents.offset = start + position
        stop = _end_of_document(data, position)
        if stop is None:
            stop = _read_broken(data, position, documents)
        else:
            documents.read(memoryview(data)[position:stop])
        position = stop


def _read_broken(data: bytes, position: int, documents: Documents) -> int:
    """Read a document that is no strict JSON, or report it; return what comes next."""
    error = _error(data, position)
    found = _NEXT_DOCUMENT.search(data, position)
    following = found.start() + 1 if found else len(data)
    if "truncated" not in str(error):
        text = data[position:following].decode("utf-8", "surrogateescape")
        try:
            parsed, length = _TOLERANT.raw_decode(text)
        except (ValueError, RecursionError):
            pass
        else:
            documents.read_parsed(parsed)
            return position + len(text[:length].encode("utf-8", "surrogateescape"))
    documents.report(*problem_of(error or ValueError()))
    return following


def _end_of_document(data: bytes, position: int) -> int | None:
    """Return where the document that begins at a position ends; None if it does not, or is no strict JSON."""
    error = _error(data, position)
    if error is None:
        return len(data)
    found = TRAILING.search(str(error))
    return position + int(found.group(1)) - 1 if found else None


def _error(data: bytes, position: int) -> Exception | None:
    """Return what keeps the rest of the data from being one document."""
    try:
        _SKIM.decode(memoryview(data)[position:])
    except (msgspec.DecodeError, RecursionError) as error:
        return error
    return None


def _after_blank(data: bytes, position: int) -> int:
    found = _BLANK.match(data, position)
    return found.end() if found else position


def _findings(documents: Documents, part: Part, data: bytes) -> list[Finding]:
    """Return one finding for each reason, at its first place."""
    findings: dict[str, Finding] = {}
    for reason, offset, detail in documents.found:
        finding = findings.get(reason)
        if finding is not None:
            finding.count += 1
            continue
        line = part.lines + data.count(b"\n", 0, offset - part.start) + 1 if part.data is not None else 0
        findings[reason] = Finding(part.file, reason, offset, line, detail)
    return list(findings.values())
