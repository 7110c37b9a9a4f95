"""Read spans kept on disk as Parquet: what was last analysed in a directory, so that a what-if need not read again.

The file holds the canonical columns of the forest (see `latshift.spans.COLUMNS` and `latshift.ingest.conventions`), and
so no prompt, completion or query text. It lives in the user's cache folder, never beside the input.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from latshift.errors import InputError
from latshift.spans import COLUMNS, Array, Coded, Forest, InputSummary, SpanTable

if TYPE_CHECKING:
    import polars

SCHEMA = "latshift/spans/1"
_FOREST_COLUMNS = ("forest.parent", "forest.request", "forest.placeholder", "forest.rank")
_TEXT = {column.name for column in COLUMNS if column.storage == "text"}


def cache_folder() -> Path:
    """Return the folder for cached spans: $LATSHIFT_CACHE_DIR, or latshift's own in the user's cache folder."""
    chosen = os.environ.get("LATSHIFT_CACHE_DIR")
    if chosen:
        return Path(chosen)
    from platformdirs import user_cache_path

    return user_cache_path("latshift", appauthor=False)


def cache_file(directory: Path) -> Path:
    """Return where the spans last analysed in a directory are kept."""
    key = hashlib.blake2b(str(directory.resolve()).encode("utf-8", "surrogateescape"), digest_size=12).hexdigest()
    return cache_folder() / f"last-{key}.parquet"


def coded_series(name: str, column: Coded) -> polars.Series:
    """Return a text column as a Polars series of strings."""
    import polars

    words = polars.Series(name, [*column.words, None], dtype=polars.String)
    return words.gather(np.where(column.codes >= 0, column.codes, len(column.words)))


def _coded(series: polars.Series) -> Coded:
    """Turn a series of strings back into a text column."""
    import polars

    words = series.drop_nulls().unique(maintain_order=True)
    codes = series.cast(polars.Enum(words)).to_physical().cast(polars.Int32).fill_null(-1)
    return Coded(codes.to_numpy().astype(np.int32), words.to_list())


def save(forest: Forest, summary: InputSummary, path: Path) -> None:
    """Write spans and their forest to a Parquet file, atomically.

    Args:
        forest: What to keep.
        summary: Kept with it.
        path: The file to write; its folder is made if need be.
    """
    import polars

    series: list[polars.Series] = []
    for name, column in forest.spans.columns.items():
        series.append(coded_series(name, column) if isinstance(column, Coded) else polars.Series(name, column))
    for name, array in zip(
        _FOREST_COLUMNS, (forest.parent, forest.request, forest.placeholder, forest.rank), strict=True
    ):
        series.append(polars.Series(name, np.asarray(array)))
    header = {
        "schema": SCHEMA,
        "odd_ids": {str(number): text for number, text in forest.spans.odd_ids.items()},
        "root": forest.root.tolist(),
        "complete": forest.complete.astype(int).tolist(),
        "summary": asdict(summary),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".latshift-", suffix=".tmp")
    os.close(handle)
    try:
        frame = polars.DataFrame(series)
        frame.write_parquet(temporary, compression="lz4", metadata={"latshift": json.dumps(header)})
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def load(path: Path) -> tuple[Forest, InputSummary]:
    """Read spans and their forest back.

    Raises:
        InputError: If the file is not one that this version of latshift wrote.
    """
    import polars

    hint = "run `latshift analyze` again"
    try:
        header: dict[str, Any] = json.loads(polars.read_parquet_metadata(path).get("latshift", "{}"))
        if header.get("schema") != SCHEMA:
            raise InputError(f"{path}: not spans kept by this version of latshift", hint)
        frame = polars.read_parquet(path)
        columns: dict[str, Array | Coded] = {}
        for series in frame:
            text = series.dtype == polars.String
            columns[series.name] = _coded(series) if text else series.to_numpy()
        parent, request, placeholder, rank = (columns.pop(name) for name in _FOREST_COLUMNS)
        odd_ids = {int(number): str(word) for number, word in header["odd_ids"].items()}
        table = SpanTable(frame.height, columns, odd_ids)
        for name in _TEXT:
            table.columns[name] = table.text(name)
        forest = Forest(
            table, np.asarray(parent), np.asarray(request), np.asarray(header["root"], np.int32),
            np.asarray(header["complete"], bool), np.asarray(placeholder), np.asarray(rank),
        )  # fmt: skip
        return forest, InputSummary(**header["summary"])
    except InputError:
        raise
    except Exception as error:  # Polars raises many kinds for a damaged file; all mean the same to the user.
        raise InputError(f"{path}: cannot be read ({type(error).__name__})", hint) from error
