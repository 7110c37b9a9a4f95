"""Files to the pieces in which they are decoded: compression and encoding as the bytes say, cuts between lines only."""

from __future__ import annotations

import codecs
import sys
import zlib
from collections.abc import Callable, Iterator
from typing import IO, Any

import msgspec

from latshift.ingest.decode import BOM, TRAILING, Part
from latshift.ingest.sources import STDIN, File

PIECE = 4 << 20
"""Bytes of a piece: enough to forget what starting one costs, few enough to share the work evenly."""

BLOCK = 1 << 18
BUFFER = 1 << 20
"""Bytes read ahead: a document of one line can be all of a large file, and small reads make that slow."""

HEAD = 1 << 16

GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_SKIPPABLE = tuple(bytes([low]) + b"\x2a\x4d\x18" for low in range(0x50, 0x60))
_UTF_16 = {
    codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16",
    b"{\0": "utf-16-le", b"[\0": "utf-16-le", b"\0{": "utf-16-be", b"\0[": "utf-16-be",
}  # fmt: skip
_BINARY = {
    b"PAR1": "a Parquet file", b"PK\x03\x04": "a zip archive", b"BZh": "compressed with bzip2",
    b"\xfd7zXZ": "compressed with xz", b"\x04\x22\x4d\x18": "compressed with lz4", b"SQLite format": "a database",
}  # fmt: skip
_SKIM = msgspec.json.Decoder(msgspec.Raw)


class BinaryError(Exception):
    """A file is known, but cannot be read; the message says what it is."""


Report = Callable[[str, str], None]
"""Called with the reason and a text when the end of a file is missing."""


def parts_of(number: int, file: File, report: Report) -> Iterator[Part]:
    """Return the pieces of a file.

    Args:
        number: The file's number.
        file: The file.
        report: Told when compressed data end too early.

    Raises:
        OSError: If it cannot be opened or read.
        BinaryError: If it is in a binary format.
    """
    stream = sys.stdin.buffer if file.path == STDIN else open(file.path, "rb", BUFFER)  # noqa: PTH123, SIM115 (closed below)
    try:
        head = _filled(stream, HEAD)
        _refuse_binary(head)
        if file.seekable and not _is_stream(head):
            yield from _ranges(number, file, stream, head)
        else:
            yield from _pieces(number, _decompressed(stream, head, report))
    finally:
        if file.path != STDIN:
            stream.close()


def _is_stream(head: bytes) -> bool:
    """Return whether bytes must pass through a decoder before they are JSON."""
    return head.startswith((GZIP, ZSTD, *_SKIPPABLE, *_UTF_16))


def _refuse_binary(head: bytes) -> None:
    for magic, name in _BINARY.items():
        if head.startswith(magic):
            raise BinaryError(name)
    if head[4:8] == ZSTD:
        raise BinaryError("compressed messages with their lengths between (the Collector's old zstd format)")
    length = int.from_bytes(head[:4], "big")
    if head[4:5] == b"\n" and head[:1] == b"\0" and length:
        raise BinaryError("binary OTLP (protobuf)")


def _ranges(number: int, file: File, stream: IO[bytes], head: bytes) -> Iterator[Part]:
    """Cut an ordinary file at line ends near every `PIECE` bytes."""
    if b"\n" not in head.strip() and file.size > PIECE:
        stream.seek(0)
        head = stream.readline()
    if len(head) < file.size and b"\n" not in head.rstrip():
        head += stream.read(HEAD)
    if not _one_document_a_line(head):
        yield Part(number, file.path, 0, file.size, whole=True)
        return
    if len(head) >= file.size:
        yield Part(number, file.path, 0, file.size)
        return
    start = 0
    while start < file.size:
        end = min(start + PIECE, file.size)
        if end < file.size:
            stream.seek(end)
            end += len(stream.readline())
        yield Part(number, file.path, start, end)
        start = end


def _one_document_a_line(data: bytes) -> bool:
    """Return whether some data hold a document a line, to judge from the first two lines, so that they may be cut."""
    lines = data.removeprefix(BOM).lstrip().split(b"\n", 2)
    if len(lines) == 1 or not b"".join(lines[1:]).strip():
        return True  # `decode` reads on behind a line that is no whole document.
    if lines[0].strip() in (b"[", b"{"):
        return False
    return any(map(_holds_documents, lines[:2]))


def _holds_documents(line: bytes) -> bool:
    """Return whether a line is a document, or begins with one that is followed by another."""
    line = line.strip()
    if not line.startswith((b"{", b"[")):
        return False
    try:
        _SKIM.decode(line)
    except (msgspec.DecodeError, RecursionError) as error:
        found = TRAILING.search(str(error))
        return found is not None and line[int(found.group(1)) - 1 :].startswith((b"{", b"["))
    return True


def _pieces(number: int, blocks: Iterator[bytes]) -> Iterator[Part]:
    """Cut a stream at line ends; all of it is one piece if its documents run over lines."""
    waiting: list[bytes] = []
    size = start = lines = 0
    whole: bool | None = None
    for block in blocks:
        waiting.append(block)
        size += len(block)
        if size < HEAD:
            continue
        cut = block.rfind(b"\n") + 1
        if whole is None and (cut or len(waiting) > 1):
            data = b"".join(waiting)
            whole = not _one_document_a_line(data) if b"\n" in data.strip() else None
            waiting = [data]
        if whole or whole is None or size < PIECE or not cut:
            continue
        cut += size - len(block)
        data = b"".join(waiting)
        yield Part(number, "", start, start + cut, data=data[:cut], lines=lines)
        start += cut
        lines += data.count(b"\n", 0, cut)
        waiting = [data[cut:]]
        size = len(waiting[0])
    data = b"".join(waiting)
    if data:
        whole = not _one_document_a_line(data) if whole is None else whole
        yield Part(number, "", start, start + len(data), whole, data, lines)


def _decompressed(stream: IO[bytes], head: bytes, report: Report) -> Iterator[bytes]:
    """Return the bytes of a stream, decompressed and as UTF-8; compression within compression is undone too."""
    blocks = _blocks(stream, head)
    for _ in range(3):
        if head.startswith(GZIP):
            blocks = _gunzip(blocks, report)
        elif head.startswith((ZSTD, *_SKIPPABLE)):
            blocks = _unzstd(blocks, report)
        else:
            break
        first = next(blocks, b"")
        head, blocks = first, _chained(first, blocks)
    encoding = _UTF_16.get(head[:2])
    return blocks if encoding is None else _transcoded(blocks, encoding)


def _chained(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from rest


def _blocks(stream: IO[bytes], head: bytes) -> Iterator[bytes]:
    while head:
        yield head
        head = stream.read(BLOCK)


def _filled(stream: IO[bytes], size: int) -> bytes:
    """Read so many bytes, from a pipe too; fewer only at the end."""
    blocks: list[bytes] = []
    while size > 0 and (block := stream.read(size)):
        blocks.append(block)
        size -= len(block)
    return b"".join(blocks)


def _gunzip(blocks: Iterator[bytes], report: Report) -> Iterator[bytes]:
    return _inflated(blocks, lambda: zlib.decompressobj(wbits=31), (zlib.error,), "gzip", report)


def _unzstd(blocks: Iterator[bytes], report: Report) -> Iterator[bytes]:
    import zstandard

    options = zstandard.ZstdDecompressor(max_window_size=1 << 31)
    return _inflated(blocks, options.decompressobj, (zstandard.ZstdError,), "Zstandard", report)


def _inflated(
    blocks: Iterator[bytes], begin: Callable[[], Any], errors: tuple[type[Exception], ...], name: str, report: Report
) -> Iterator[bytes]:
    """Decompress members or frames one behind the other; what comes before damage is used."""
    member, started = begin(), False
    for block in blocks:
        rest = block
        while rest and (started or rest.strip(b"\0")):  # Zeros behind the last member are padding.
            started = True
            try:
                data = member.decompress(rest)
            except errors:
                report("compressed data that are damaged", f"damaged {name} data")
                return
            if data:
                yield data
            rest = b""
            if member.eof:
                rest = member.unused_data
                member, started = begin(), False
    if started:
        report("compressed data that end too early", f"{name} data that end in the middle")


def _transcoded(blocks: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    for block in blocks:
        yield decoder.decode(block).encode()
    yield decoder.decode(b"", final=True).encode()
