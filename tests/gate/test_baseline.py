from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars
import pytest

from latshift.errors import InputError
from latshift.gate import Sample, check, is_sample_file, load_sample, save_sample
from latshift.spans import Coded
from tests.gate.traffic import PARTS, fixed, join, traffic


def test_a_saved_run_comes_back_as_it_was(tmp_path: Path):
    run = join(traffic(40, 1), fixed({"app": [3.0] * 5}, root="other GET /[id]"))
    run.provenance = {"commit": "abc", "load": 14.5}
    file = tmp_path / "baseline.latshift"
    save_sample(run, file)
    back = load_sample(file)
    assert is_sample_file(file)
    assert back.parts == PARTS
    assert back.provenance == run.provenance
    assert back.trace_ids == run.trace_ids
    assert back.group.texts() == run.group.texts()
    for name in ("start", "duration", "time"):
        assert np.array_equal(getattr(back, name), getattr(run, name))
    assert check(run, back).to_dict() == check(run, run).to_dict()
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


def test_requests_are_saved_in_canonical_order(tmp_path: Path):
    run = traffic(30)
    save_sample(run.take(np.arange(30)[::-1]), tmp_path / "b")
    assert load_sample(tmp_path / "b").trace_ids == run.trace_ids


def test_names_that_no_file_can_hold_are_written_out(tmp_path: Path):
    run = fixed({"app": [1.0]}, root="lone \ud800")
    save_sample(run, tmp_path / "b")
    assert load_sample(tmp_path / "b").group_names() == ["lone \\ud800"]


def test_an_empty_run_can_be_saved(tmp_path: Path):
    none = np.empty(0, np.int64)
    save_sample(
        Sample(Coded(np.empty(0, np.int32), []), none, none, [], np.empty((0, 0), np.int64), []), tmp_path / "b"
    )
    assert load_sample(tmp_path / "b").n == 0


@pytest.mark.parametrize("keep", [4, 100, -8])
def test_a_damaged_file_is_an_input_error(tmp_path: Path, keep: int):
    file = tmp_path / "b"
    save_sample(traffic(50), file)
    file.write_bytes(file.read_bytes()[:keep])
    assert is_sample_file(file)
    with pytest.raises(InputError, match="damaged") as raised:
        load_sample(file)
    assert raised.value.exit_code == 2
    assert "--save" in raised.value.hint


def test_a_changed_number_is_noticed(tmp_path: Path):
    file = tmp_path / "b"
    save_sample(traffic(50), file)
    header = polars.read_parquet_metadata(file)["latshift"]
    frame = polars.read_parquet(file).with_columns(polars.col("duration_ns") + 1)
    frame.write_parquet(file, metadata={"latshift": header})
    with pytest.raises(InputError, match="do not add up"):
        load_sample(file)


def test_foreign_files_and_other_versions_are_told_apart(tmp_path: Path):
    foreign, newer, text = tmp_path / "foreign", tmp_path / "newer", tmp_path / "text"
    polars.DataFrame({"a": [1]}).write_parquet(foreign)
    polars.DataFrame({"a": [1]}).write_parquet(
        newer, metadata={"latshift": json.dumps({"schema": "latshift/sample/2"})}
    )
    text.write_text("{}")
    with pytest.raises(InputError, match="not a run saved by latshift"):
        load_sample(foreign)
    with pytest.raises(InputError, match="has schema latshift/sample/2, and this latshift reads latshift/sample/1"):
        load_sample(newer)
    with pytest.raises(InputError, match="no such file"):
        load_sample(tmp_path / "missing")
    assert not is_sample_file(text)
    assert not is_sample_file(tmp_path)


def test_a_place_that_cannot_be_written_is_an_error(tmp_path: Path):
    with pytest.raises(InputError, match="cannot be written"):
        save_sample(traffic(5), tmp_path / "missing" / "b")
