"""Bytes to spans: finds files, tells their format from what is in them, and fills the canonical columns.

What happens to a file, step by step: `sources` finds it; `parts` undoes compression and cuts it between lines;
`workers` hands the pieces to processes; `decode` finds the documents in a piece, `documents` their format; `otlp` and
`jaeger` hold the formats, and `lenient` reads what deviates from them; `columns` collects the spans, keeping only the
attributes that `conventions` lists (`converters` know the units); `assemble` joins the pieces to one table; `reading`
says what was left out, and why.

Nothing heavy is imported here, for every worker process imports this room.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from latshift.spans import InputSummary, SpanTable

__all__ = ["read_spans"]


def read_spans(
    paths: Sequence[str | Path],
    *,
    keep: Collection[str] = (),
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[SpanTable, InputSummary]:
    """Read the spans of OTLP and Jaeger JSON, whatever the files are called.

    Args:
        paths: Files (also gzip or Zstandard), folders (with all beneath them), globs, or "-" for standard input.
        keep: Attribute keys to keep beside the canonical columns, as text columns "attr:KEY". Attributes that may hold
            content of prompts, answers or queries are never kept.
        workers: Processes to use, this one included; None for as many as there are cores. The result does not depend
            on it.
        progress: Called now and then with (bytes done, bytes in all; 0 where unknown).

    Returns:
        The spans, times in ns since the epoch; and what was read, skipped (by reason) and doubtful.

    Raises:
        InputError: If a path does not exist, or nothing in the input can be used; it names file and place.
        LatshiftError: If a worker process ends unexpectedly.
    """
    from latshift.ingest.reading import read

    return read(paths, keep, workers, progress)
