"""Correlation lengths are counted in sites, however long the cell is."""

import pytest

from qad import peps
from tests.peps.states import near_product


@pytest.mark.parametrize("cell, direction", [(["AB"], "row"), (["A", "B"], "column"), (["ABC"], "row")])
def test_a_longer_cell_of_equal_sites_has_the_same_correlation_length(cell, direction):
    """The transfer operator of n sites has the n-th powers of the eigenvalues of that of one."""
    (site,) = near_product(["A"], 2).tensors
    long = peps.PEPS([site] * len("".join(cell)), cell)
    length = peps.correlation_length(peps.environment(peps.PEPS([site]), 8), direction)
    assert length > 0.1
    assert peps.correlation_length(peps.environment(long, 8), direction) == pytest.approx(length, rel=1e-6)
