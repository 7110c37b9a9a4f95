"""Measures latshift on generated traces: `make bench`, or `python -m bench.run [RUNS]`.

Prints Markdown. Whole processes are measured, from start to exit; see bench/README.md.
"""

from __future__ import annotations

import os
import platform
import statistics
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TextIO

from bench import generate, measure

DATA = Path(__file__).parent / "data"
OTLP = DATA / "otlp-20000x19.jsonl"
JAEGER = DATA / "jaeger-1000x50.json"

YARDSTICK = "orjson.loads of every line"
ON_OTLP = "latshift analyze, OTLP JSON lines"
ON_JAEGER = "latshift analyze, Jaeger JSON"

COMMANDS = {
    YARDSTICK: [sys.executable, str(Path(__file__).with_name("loads_lines.py")), str(OTLP)],
    ON_OTLP: [sys.executable, "-m", "latshift", "analyze", str(OTLP), "--format", "json", "--no-cache"],
    ON_JAEGER: [sys.executable, "-m", "latshift", "analyze", str(JAEGER), "--format", "json", "--no-cache"],
}
READS = {YARDSTICK: OTLP, ON_OTLP: OTLP, ON_JAEGER: JAEGER}


def make(path: Path, write: Callable[[TextIO], None]) -> None:
    """Generate a file, unless it is there."""
    if path.exists():
        return
    print(f"generating {path.name}", file=sys.stderr)
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".part")
    with unfinished.open("w", encoding="utf-8") as out:
        write(out)
    unfinished.rename(path)


def megabytes(count: int | None) -> str:
    """Return a number of bytes as people read it."""
    return "not measured" if count is None else f"{count / 1e6:,.0f} MB"


def table(times: dict[str, list[float]], memory: dict[str, int | None]) -> str:
    """Return the measurements as a Markdown table."""
    yardstick = statistics.median(times[YARDSTICK])
    rows = ["| process | reads | wall time: median (range) | ÷ orjson | peak memory |", "|---|--:|--:|--:|--:|"]
    for name, seconds in times.items():
        ratio = f"{statistics.median(seconds) / yardstick:.2f}" if READS[name] == OTLP else ""
        size = megabytes(READS[name].stat().st_size)
        rows.append(f"| {name} | {size} | {measure.spread(seconds)} | {ratio} | {megabytes(memory[name])} |")
    return "\n".join(rows)


def main(arguments: Sequence[str]) -> None:
    """Generate what is missing, measure, and print."""
    runs = int(arguments[0]) if arguments else 5
    make(OTLP, lambda out: generate.write_otlp(20_000, out))
    make(JAEGER, lambda out: generate.write_jaeger(1_000, 50, out))
    times = measure.wall_times(COMMANDS, runs)
    memory = {name: measure.peak_memory(command) for name, command in COMMANDS.items()}
    print(f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores, {runs} runs in turn\n")
    print(table(times, memory))


if __name__ == "__main__":
    main(sys.argv[1:])
