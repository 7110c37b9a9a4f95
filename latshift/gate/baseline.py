"""A run kept in one small file, to compare later runs with: `latshift analyze --save FILE`.

The file is Parquet, one row a request: trace_id, group, start_ns, duration_ns, and a column "path_ns.I" for every part
I of the critical path. Its metadata has one key, "latshift", with JSON: schema, parts (component, phase, class),
provenance and skipped (reason to count). It holds neither spans nor attributes, so no prompt, completion or query can
be in it.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from latshift.critical_path.attribution import Part
from latshift.errors import InputError
from latshift.gate.sample import Sample
from latshift.spans import Coded

if TYPE_CHECKING:
    import polars

FAMILY = "latshift/sample/"
SCHEMA = f"{FAMILY}1"
_MAGIC = b"PAR1"
_KEY = "latshift"
_AGAIN = "write it again with `latshift analyze PATH --save FILE`"


def is_sample_file(path: str | Path) -> bool:
    """Return whether a file is (or once was) a saved run rather than traces: whether it is a Parquet file.

    A damaged one counts, so that `load_sample` can say what is wrong with it.
    """
    try:
        with Path(path).open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


def save_sample(sample: Sample, path: str | Path) -> None:
    """Write a run to a file, replacing what was there at once or not at all.

    Args:
        sample: The run.
        path: The file to write.

    Raises:
        InputError: If the file cannot be written.
    """
    target = Path(path)
    header = {
        "schema": SCHEMA,
        "parts": [{"component": part.component, "phase": part.phase, "class": part.klass} for part in sample.parts],
        "provenance": dict(sample.provenance),
        "skipped": dict(sample.skipped),
    }
    # Beside the target and by a plain name: it gets the permissions that the target would have got.
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        _frame(sample.in_order()).write_parquet(temporary, compression="zstd", metadata={_KEY: json.dumps(header)})
        temporary.replace(target)
    except OSError as error:
        raise InputError(f"{target}: cannot be written ({error.strerror or error})", "choose another place") from error
    finally:
        temporary.unlink(missing_ok=True)


def _frame(sample: Sample) -> polars.DataFrame:
    import polars

    groups = [_storable(text or "") for text in sample.group.texts()]
    columns = [
        polars.Series("trace_id", [_storable(text) for text in sample.trace_ids], dtype=polars.String),
        polars.Series("group", groups, dtype=polars.String),
        polars.Series("start_ns", sample.start),
        polars.Series("duration_ns", sample.duration),
    ]
    columns += [polars.Series(f"path_ns.{index}", sample.time[:, index]) for index in range(len(sample.parts))]
    return polars.DataFrame(columns)


def _storable(text: str) -> str:
    """Return a text that UTF-8 can hold: lone surrogates, which JSON may smuggle in, are written out."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def load_sample(path: str | Path) -> Sample:
    """Read a run that `save_sample` wrote.

    Raises:
        InputError: If there is no such file, it is damaged, it holds something else, or another version wrote it.
    """
    if not Path(path).is_file():
        raise InputError(f"{path}: no such file", "give traces, or a file written by `latshift analyze --save`")
    try:
        header = _header(path)
        sample = _sample(path, header)
    except InputError:
        raise
    except Exception as error:  # Polars raises many kinds for a damaged file; all mean the same to the person.
        raise InputError(f"{path}: a damaged baseline ({type(error).__name__})", _AGAIN) from error
    if not np.array_equal(sample.time.sum(axis=1), sample.duration):
        raise InputError(f"{path}: a damaged baseline (path times do not add up to the durations)", _AGAIN)
    return sample.in_order()


def _header(path: str | Path) -> dict[str, Any]:
    import polars

    header = json.loads(polars.read_parquet_metadata(path).get(_KEY, "{}"))
    schema = str(header.get("schema", "")) if isinstance(header, dict) else ""
    if not schema.startswith(FAMILY):
        raise InputError(f"{path}: a Parquet file, but not a run saved by latshift", _AGAIN)
    if schema != SCHEMA:
        raise InputError(f"{path}: has schema {schema}, and this latshift reads {SCHEMA}", _AGAIN)
    return dict(header)


def _sample(path: str | Path, header: dict[str, Any]) -> Sample:
    import polars

    frame = polars.read_parquet(path)
    parts = [Part(part["component"], part["phase"], part["class"]) for part in header["parts"]]
    time = np.zeros((frame.height, len(parts)), np.int64)
    for index in range(len(parts)):
        time[:, index] = frame[f"path_ns.{index}"].to_numpy()
    groups = frame["group"].to_list()
    words = sorted(set(groups))
    codes = {word: code for code, word in enumerate(words)}
    return Sample(
        Coded(np.asarray([codes[word] for word in groups], np.int32), words),
        frame["start_ns"].to_numpy().astype(np.int64),
        frame["duration_ns"].to_numpy().astype(np.int64),
        parts,
        time,
        frame["trace_id"].to_list(),
        header["provenance"],
        header.get("skipped", {}),
    )
