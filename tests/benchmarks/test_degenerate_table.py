"""The rows of the table in docs/notebooks/degenerate_spectra.ipynb, for qad: right to rounding at every gap."""

import numpy as np
import pytest

from benchmarks.degenerate_table import GAPS, at_gap, at_orthogonal, cell
from benchmarks.linalg_table import library_of_qad


@pytest.mark.parametrize("gap", GAPS)
def test_projector(gap):
    assert max(at_gap(library_of_qad(), gap)) < 1e-12


def test_product():
    assert max(at_orthogonal(library_of_qad())) < 1e-14


def test_what_is_not_finite_is_counted():
    assert cell([0.1, 0.3, 0.2, np.nan, np.inf]) == "2e-01, at most 3e-01, 2 NaN"
