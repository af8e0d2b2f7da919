"""The rows of docs/linalg_specification.md, for qad: right, or raising where factors do not determine derivatives."""

import numpy as np
import pytest

from benchmarks.linalg_rows import ROWS
from benchmarks.linalg_table import library_of_qad, verdict

QAD = library_of_qad()
RAISE = {  # row: orders that raise
    "Frobenius, at zero": (2,),
}


@pytest.mark.parametrize("row", ROWS, ids=[f"{row[0]}: {row[1]}" for row in ROWS])
def test_row(row):
    _, name, f, z = row
    for order in (1, 2):
        expected = "raises" if order in RAISE.get(name, ()) else "ok"
        with np.errstate(all="ignore"):
            assert verdict(QAD, lambda x: f(QAD, x), lambda x: f(QAD, x), z, order) == expected
