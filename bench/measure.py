"""Runs whole processes and measures them: wall time in one run, peak memory in another."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

Command = Sequence[str]


def wall_times(commands: Mapping[str, Command], runs: int) -> dict[str, list[float]]:
    """Run the commands in turn, again and again, so that a disturbance meets them all.

    Returns:
        The seconds of each run, by name of the command. One more run goes before, so that the files are in memory.
    """
    times: dict[str, list[float]] = {name: [] for name in commands}
    for turn in range(runs + 1):
        for name, command in commands.items():
            begun = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            if turn:
                times[name].append(time.perf_counter() - begun)
    return times


def spread(times: Sequence[float]) -> str:
    """Return the median of some seconds, and their range."""
    return f"{statistics.median(times):.2f} s ({min(times):.2f} to {max(times):.2f})"


def peak_memory(command: Command) -> int | None:
    """Run a command and return the bytes it and its child processes held at most, pages they share counted once.

    Sampled, so peaks shorter than a few ms are missed; None where there is no /proc to sample.
    """
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    peak = 0
    while process.poll() is None:
        peak = max(peak, sum(_held(number) for number in _tree(process.pid)))
        time.sleep(0.01)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return peak if sys.platform == "linux" else None


def _tree(number: int) -> Iterator[int]:
    yield number
    for children in Path(f"/proc/{number}/task").glob("*/children"):
        for child in _read(children).split():
            yield from _tree(int(child))


def _held(number: int) -> int:
    for line in _read(Path(f"/proc/{number}/smaps_rollup")).splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1_024
    return 0


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:  # the process has just ended
        return ""
