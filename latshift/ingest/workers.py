"""Runs chunks in this process and, if there is much to do, in worker processes beside it.

Workers are plain child processes that import msgspec and nothing heavier, and that take chunks whenever they are free.
They are not started by `multiprocessing`, which would run the caller's script once more in each, and whose results
would compete with this process's own decoding for the interpreter: here a worker keeps its results until this process
has nothing left to decode.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import IO, Any

from latshift.errors import InternalError, LatshiftError
from latshift.ingest.decode import Decoded, Part, decode

ENOUGH = 16 << 20
"""Bytes for which starting a worker pays."""

AHEAD = 2
"""Chunks that a worker has been given but not finished: the one at hand, and the next."""

_START = "import sys; sys.path[:] = {path!r}; from latshift.ingest.workers import serve; serve()"
_DONE, _FAILED = b".", b"!"

Task = tuple[int, Sequence[Part]]
Progress = Callable[[int], None]


def usable_cores() -> int:
    """Return the number of cores that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def decode_all(
    chunks: Iterator[Sequence[Part]], keep: Collection[str], workers: int, size: int, progress: Progress
) -> list[Decoded]:
    """Decode chunks.

    Args:
        chunks: The chunks.
        keep: Attribute keys to keep beside the canonical ones.
        workers: Processes to use, this one included.
        size: Bytes to expect, as far as is known.
        progress: Called now and then with the number of bytes that are done.

    Returns:
        What came out of each chunk, in the order of the chunks, whoever decoded it.

    Raises:
        LatshiftError: If a worker process ends unexpectedly.
    """
    queue = _Queue(chunks)
    if workers > 1 and sys.executable:
        queue.fill(2)
    results: dict[int, Decoded] = {}
    team: list[_Worker] = []
    try:
        while True:
            if not team and workers > 1 and sys.executable and max(size, queue.taken) >= ENOUGH and queue.fill(2):
                useful = max(size, queue.taken) // ENOUGH
                team = [_Worker(queue, keep) for _ in range(min(workers - 1, useful))]
            task = queue.take()
            if task is None or any(worker.error for worker in team):
                break
            results[task[0]] = decode(task[1], keep)
            queue.finished(task)
            progress(queue.done)
        for worker in team:
            results.update(worker.results())
            progress(queue.done)
    finally:
        for worker in team:
            worker.stop()
    return [results[number] for number in sorted(results)]


class _Queue:
    """Chunks that wait for somebody; safe to use from several threads.

    Attributes:
        taken, done: Bytes of the chunks handed out, and of those decoded.
    """

    def __init__(self, chunks: Iterator[Sequence[Part]]) -> None:
        self.taken = 0
        self.done = 0
        self._chunks = chunks
        self._waiting: list[Sequence[Part]] = []
        self._number = 0
        self._lock = threading.Lock()

    def fill(self, count: int) -> bool:
        """Return whether so many chunks are still waiting."""
        with self._lock:
            while len(self._waiting) < count and (chunk := next(self._chunks, None)) is not None:
                self._waiting.append(chunk)
            return len(self._waiting) >= count

    def take(self) -> Task | None:
        """Return the next chunk with its number; None if there are no more."""
        with self._lock:
            chunk = self._waiting.pop(0) if self._waiting else next(self._chunks, None)
            if chunk is None:
                return None
            self._number += 1
            self.taken += _size(chunk)
            return self._number - 1, chunk

    def finished(self, task: Task) -> None:
        """Count a chunk as decoded."""
        with self._lock:
            self.done += _size(task[1])


def _size(chunk: Sequence[Part]) -> int:
    return sum(part.end - part.start for part in chunk)


class _Worker:
    """A worker process, and the thread that feeds it.

    Attributes:
        error: Why the worker failed; None while all is well.
    """

    def __init__(self, queue: _Queue, keep: Collection[str]) -> None:
        self.error: LatshiftError | None = None
        self._queue = queue
        self._results: list[tuple[int, Decoded]] = []
        self._nothing_left = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self._thread = threading.Thread(target=self._run, args=(list(keep),), daemon=True)
        self._thread.start()

    def results(self) -> list[tuple[int, Decoded]]:
        """Wait for the worker's results.

        Raises:
            LatshiftError: If it failed.
        """
        self._nothing_left.set()
        self._thread.join()
        if self.error is not None:
            raise self.error
        return self._results

    def stop(self) -> None:
        """End the worker, whatever it is doing."""
        self._nothing_left.set()
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._thread.join()
        if self._process is not None:
            for pipe in (self._process.stdin, self._process.stdout):
                if pipe is not None:
                    pipe.close()

    def _run(self, keep: list[str]) -> None:
        try:
            process = subprocess.Popen(
                [sys.executable, "-c", _START.format(path=sys.path)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0,
            )  # fmt: skip
        except OSError:
            return  # No worker, then; the work gets done without.
        self._process = process
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            self._feed(process.stdin, process.stdout, keep)
        except (OSError, EOFError, pickle.UnpicklingError):
            code = process.wait()
            how = f"killed by signal {-code}" if code < 0 else f"exit code {code}"
            self.error = LatshiftError(
                f"a worker process ended while it was reading ({how})",
                "perhaps memory ran out: read fewer files at once, or only with one process (workers=1)",
            )
        except Exception as error:  # Raised again, with this text, in the main thread.
            self.error = InternalError(f"reading failed: {type(error).__name__}: {error}")

    def _feed(self, to_worker: IO[bytes], from_worker: IO[bytes], keep: list[str]) -> None:
        _send(to_worker, keep)
        given: list[Task] = []
        while True:
            while len(given) < AHEAD and (task := self._queue.take()) is not None:
                _send(to_worker, task)
                given.append(task)
            if not given:
                break
            answer = from_worker.read(1)
            if answer == _FAILED:
                self.error = InternalError(f"a worker process failed: {_receive(from_worker)}")
                return
            if answer != _DONE:
                raise EOFError
            self._queue.finished(given.pop(0))
        self._nothing_left.wait()
        _send(to_worker, None)
        self._results = _receive(from_worker)


def serve() -> None:
    """Be a worker: decode chunks from standard input until there are no more, then write all results."""
    try:
        with open(0, "rb", buffering=0) as source, open(1, "wb", buffering=0) as sink:
            _serve(source, sink)
    except (EOFError, OSError, KeyboardInterrupt):
        return  # Nobody waits for the results any more.


def _serve(source: IO[bytes], sink: IO[bytes]) -> None:
    keep = _receive(source)
    results: list[tuple[int, Decoded]] = []
    while (task := _receive(source)) is not None:
        number, parts = task
        try:
            results.append((number, decode(parts, keep)))
        except Exception as error:  # The text of whatever went wrong is all that can cross the pipe.
            sink.write(_FAILED)
            _send(sink, f"{type(error).__name__}: {error}")
            return
        sink.write(_DONE)
    _send(sink, results)


def _send(pipe: IO[bytes], message: Any) -> None:
    data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    rest = memoryview(len(data).to_bytes(8, "big") + data)
    while rest:
        rest = rest[pipe.write(rest) :]


def _receive(pipe: IO[bytes]) -> Any:
    data = bytearray(int.from_bytes(_exactly(pipe, 8), "big"))
    rest = memoryview(data)
    while rest:
        count = pipe.readinto(rest)  # type: ignore[attr-defined]
        if not count:
            raise EOFError
        rest = rest[count:]
    return pickle.loads(data)


def _exactly(pipe: IO[bytes], size: int) -> bytes:
    data = b""
    while len(data) < size:
        block = pipe.read(size - len(data))
        if not block:
            raise EOFError
        data += block
    return data
