"""Worker processes: the same result as without, and a clear error when one dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from latshift.errors import InternalError, LatshiftError
from latshift.ingest import parts, read_spans, reading, workers
from latshift.spans import Coded
from tests.ingest.exports import REPOSITORY, compact, jaeger, jaeger_span, many, write


@pytest.fixture
def small(monkeypatch):
    """Make pieces so small that workers have something to do."""
    monkeypatch.setattr(parts, "PIECE", 5_000)
    monkeypatch.setattr(reading, "PIECE", 5_000)
    monkeypatch.setattr(workers, "ENOUGH", 1)


@pytest.fixture
def folder(tmp_path):
    lines = list(map(compact, many(300)))
    write(tmp_path / "a.jsonl", "\n".join(lines[:200]) + "\nbroken\n" + compact(jaeger(jaeger_span(spanID="R"))))
    write(tmp_path / "b.jsonl", "\n".join(lines[200:]) + "\n" + lines[0][:50])
    return tmp_path


def assert_same(one, other):
    assert one[1] == other[1]
    assert list(one[0].columns) == list(other[0].columns)
    assert one[0].odd_ids == other[0].odd_ids
    for name, column in one[0].columns.items():
        twin = other[0].columns[name]
        if isinstance(column, Coded):
            assert column.words == twin.words
            column, twin = column.codes, twin.codes
        assert column.dtype == twin.dtype
        np.testing.assert_array_equal(column, twin)


@pytest.mark.parametrize("count", [2, 3])
def test_the_result_does_not_depend_on_the_number_of_workers(small, folder, count):
    alone = read_spans([folder], workers=1, keep=["thread.id"])
    assert alone[0].n == 1_201
    assert sum(alone[1].skipped.values()) == 2
    assert_same(alone, read_spans([folder], workers=count, keep=["thread.id"]))


def test_nor_on_the_size_of_pieces(small, folder, monkeypatch):
    alone = read_spans([folder], workers=1)
    monkeypatch.setattr(parts, "PIECE", 1 << 22)
    monkeypatch.setattr(reading, "PIECE", 1 << 22)
    assert_same(alone, read_spans([folder], workers=1))


def test_progress(small, folder):
    calls: list[tuple[int, int]] = []
    read_spans([folder], workers=2, progress=lambda done, total: calls.append((done, total)))
    size = sum(path.stat().st_size for path in folder.iterdir())
    assert calls[-1] == (size, size)
    assert [done for done, _ in calls] == sorted(done for done, _ in calls)


def test_small_input_starts_no_worker(folder, monkeypatch):
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: pytest.fail("a worker was started"))
    assert read_spans([folder], workers=8)[0].n == 1_201


def test_without_processes_the_work_gets_done_all_the_same(small, folder, monkeypatch):
    def refuse(*_: object, **__: object) -> None:
        raise OSError("no more processes")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    assert read_spans([folder], workers=2)[0].n == 1_201


def test_a_worker_that_dies_is_an_error(small, folder, monkeypatch):
    monkeypatch.setattr(workers, "_START", f"import os; os.kill(os.getpid(), {signal.SIGKILL:d})")
    with pytest.raises(LatshiftError, match="killed by signal 9"):
        read_spans([folder], workers=2)
    monkeypatch.setattr(workers, "_START", "raise SystemExit(3)")
    with pytest.raises(LatshiftError, match="exit code 3"):
        read_spans([folder], workers=2)


def test_a_worker_that_fails_says_why(small, folder, monkeypatch):
    broken = "import latshift.ingest.workers as w; w.decode = lambda *_: 1 / 0; w.serve()"
    monkeypatch.setattr(workers, "_START", broken)
    with pytest.raises(InternalError, match="ZeroDivisionError"):
        read_spans([folder], workers=2)


def test_scripts_need_no_guard(small, folder, tmp_path):
    """With `multiprocessing`, a script that reads at its top level would be run again by each worker."""
    script = tmp_path / "script.py"
    script.write_text(
        "from latshift.ingest import parts, read_spans, reading, workers\n"
        "parts.PIECE = reading.PIECE = 5_000\nworkers.ENOUGH = 1\n"
        f"print(read_spans([{str(folder / 'a.jsonl')!r}], workers=2)[0].n)\n"
    )
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY)}
    found = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True, env=environment)
    assert (found.stdout, found.stderr) == ("801\n", "")
