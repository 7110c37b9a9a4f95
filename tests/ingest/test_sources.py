"""Where bytes come from: files, folders, globs, standard input, pipes; compressed or not, whatever the name."""

from __future__ import annotations

import gzip
import io
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import zstandard

from latshift.errors import InputError
from latshift.ingest import parts, read_spans
from latshift.ingest.decode import decode
from latshift.ingest.sources import File
from tests.ingest.exports import CHILD, REPOSITORY, compact, jaeger, jaeger_span, many, otlp, read, rows, span, write

LINES = "\n".join(map(compact, many(6))).encode()
FIRST, SECOND = LINES[: LINES.index(b"\n") + 1], LINES[LINES.index(b"\n") + 1 :]


def zst(data: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(data)


def zst_of_unknown_size(data: bytes) -> bytes:
    compressor = zstandard.ZstdCompressor().compressobj()
    return compressor.compress(data) + compressor.flush()


COMPRESSED = {
    "gzip": gzip.compress(LINES),
    "gzip members": gzip.compress(FIRST) + gzip.compress(SECOND),
    "gzip, cut within a line": gzip.compress(LINES[:100]) + gzip.compress(LINES[100:]),
    "gzip with padding": gzip.compress(LINES) + bytes(500),
    "zstd": zst(LINES),
    "zstd frames": zst(FIRST) + zst_of_unknown_size(SECOND),
    "zstd with a skippable frame": b"\x50\x2a\x4d\x18\x04\x00\x00\x00abcd" + zst(LINES),
    "gzip in zstd": zst(gzip.compress(LINES)),
    "UTF-16 in gzip": gzip.compress(LINES.decode().encode("utf-16")),
}


@pytest.mark.parametrize("kind", COMPRESSED)
@pytest.mark.parametrize("name", ["traces.json", "traces.json.gz", "traces"])
def test_compression_is_told_from_the_bytes(tmp_path, kind, name):
    table, summary = read(write(tmp_path / name, COMPRESSED[kind]))
    assert rows(table) == rows(read(write(tmp_path / "plain", LINES))[0])
    assert (summary.bytes, summary.warnings) == (len(COMPRESSED[kind]), [])


@pytest.mark.parametrize("compress", [gzip.compress, zst])
def test_compressed_data_that_end_too_early(tmp_path, compress):
    data = compress(LINES) + compress(os.urandom(1_000))[:-500]
    table, summary = read(write(tmp_path / "a.gz", data))
    assert table.n == 24
    assert summary.skipped["compressed data that end too early"] == 1
    assert any(f"{tmp_path / 'a.gz'}: " in warning and "in the middle" in warning for warning in summary.warnings)


def test_several_files_make_one_trace(tmp_path):
    first = write(tmp_path / "a", otlp(span()))
    second = write(tmp_path / "b.gz", gzip.compress(compact(otlp(span(spanId=CHILD))).encode()))
    third = write(tmp_path / "c", jaeger(jaeger_span(spanID="1" * 16)))
    table, summary = read_spans([first, str(second), third])
    assert (table.n, summary.files, table.text("trace").words) == (3, 3, [rows(table)[0]["trace"]])


def tree(tmp_path: Path) -> Path:
    """Make a folder with two trace files and much else."""
    folder = tmp_path / "tree"
    (folder / "deep" / "er").mkdir(parents=True)
    write(folder / "a.json", otlp(span()))
    write(folder / "deep" / "er" / "b", otlp(span(spanId=CHILD)))
    write(folder / "README.md", "# Traces\n\nThey are {nice}.\n")
    write(folder / "make.py", "import os\n\nprint({'a': 1})\n")
    write(folder / "package.json", {"name": "x", "version": "1"})
    write(folder / "empty.json", "")
    write(folder / "picture.png", b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
    write(folder / ".hidden.json", otlp(span(spanId="1" * 16)))
    (folder / ".git").mkdir()
    os.mkfifo(folder / "pipe")
    (folder / "deep" / "loop").symlink_to(folder)
    (folder / "nowhere").symlink_to(folder / "absent")
    (folder / "again.json").symlink_to(folder / "a.json")
    return folder


def test_folders(tmp_path):
    folder = tree(tmp_path)
    with socket.socket(socket.AF_UNIX) as server:
        os.chdir(folder)
        server.bind("socket")
        table, summary = read(folder)
    assert table.n == 2
    assert summary.files == 2
    assert summary.skipped == {
        "file without traces": 5,
        "hidden file or folder": 2,
        "pipe, socket or device in a folder": 2,
        "link that leads in a circle": 1,
        "link that leads nowhere": 1,
        "file named twice": 1,
    }
    assert summary.warnings == []


def test_globs_are_expanded_here_too(tmp_path):
    folder = tree(tmp_path)
    assert read(f"{folder}/*.json")[0].n == 1
    assert read(f"{folder}/**/b")[0].n == 1
    odd = write(tmp_path / "a[1].json", otlp(span()))
    assert read(odd)[0].n == 1
    with pytest.raises(InputError, match="no file matches"):
        read(f"{folder}/*.xml")


def test_a_path_named_twice_counts_once(tmp_path):
    path = write(tmp_path / "a.json", otlp(span()))
    table, summary = read_spans([path, tmp_path, f"{tmp_path}/*"])
    assert (table.n, summary.files, summary.skipped) == (1, 1, {"file named twice": 2})


@pytest.mark.parametrize("data", [LINES, gzip.compress(LINES), zst(LINES)])
def test_standard_input(monkeypatch, data):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    table, summary = read("-")
    assert (table.n, summary.files) == (24, 1)
    assert summary.bytes == len(LINES)


def test_a_pipe_that_is_named_is_read(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(LINES,))
    writer.start()
    table, _ = read(pipe)
    writer.join()
    assert table.n == 24


def test_places_in_streams_are_lines(tmp_path, monkeypatch):
    monkeypatch.setattr(parts, "PIECE", 1_000)
    monkeypatch.setattr(parts, "HEAD", 100)
    monkeypatch.setattr(parts, "BLOCK", 300)
    text = LINES + b"\nbroken\n" + LINES
    _, summary = read(write(tmp_path / "a.gz", gzip.compress(text)))
    assert f"first at {tmp_path / 'a.gz'}:7: " in summary.warnings[0]


@pytest.mark.parametrize("piece", [1, 100, 1_000, 3_000, 1 << 20])
@pytest.mark.parametrize("content", [LINES, gzip.compress(LINES), gzip.compress(LINES[:-1] + b" }\n\n")])
def test_pieces_hold_whole_lines_and_all_of_them(tmp_path, monkeypatch, piece, content):
    monkeypatch.setattr(parts, "PIECE", piece)
    monkeypatch.setattr(parts, "HEAD", 64)
    monkeypatch.setattr(parts, "BLOCK", 128)
    path = write(tmp_path / "a", content)
    file = File("a", str(path), len(content), seekable=True)
    made = list(parts.parts_of(0, file, lambda reason, text: pytest.fail(text)))
    assert sum(decode([part], ()).columns.n for part in made) == 24
    assert all(part.read()[-1:] == b"\n" for part in made[:-1])
    assert [part.start for part in made[1:]] == [part.end for part in made[:-1]]


def test_a_long_first_line_that_is_no_document(tmp_path, monkeypatch):
    monkeypatch.setattr(parts, "PIECE", 2_000)
    monkeypatch.setattr(parts, "HEAD", 100)
    traces = [compact(jaeger(jaeger_span(spanID=f"{number:016x}", traceID=""))) for number in range(1, 20)]
    text = '{"data":[' + ",\n".join(traces) + "]}\n"
    assert read(write(tmp_path / "a", text))[0].n == 19
    assert read(write(tmp_path / "b", gzip.compress(text.encode())))[0].n == 19


def test_nothing_heavy_is_imported_before_reading():
    code = (
        "import sys, latshift.ingest.workers; "
        "print(sorted({'numpy', 'polars', 'pathlib', 'zstandard', 'multiprocessing', 'hashlib'} & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
