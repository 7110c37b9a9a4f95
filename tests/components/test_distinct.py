"""Numbering rows by what they hold, through a table or by sorting."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from latshift.components import distinct as module
from latshift.components.distinct import distinct


@pytest.mark.parametrize("dense", [1, 2**21])
@given(rows=st.lists(st.tuples(st.integers(-1, 4), st.integers(-1, 900), st.integers(-1, 0)), max_size=40))
def test_rows_share_a_number_just_if_they_agree(dense: int, rows: list[tuple[int, int, int]]) -> None:
    columns = [(np.array([row[i] for row in rows], np.int32), size) for i, size in enumerate((5, 901, 1))]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "DENSE", dense)
        number, example = distinct(len(rows), columns)
    assert len(example) == len(set(rows))
    assert [rows[row] for row in example[number].tolist()] == rows
