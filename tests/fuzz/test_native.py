"""Random kernels; see `tests.fuzz.native`."""

import pytest

pytest.importorskip("llvmlite")

from tests.fuzz.native import check


@pytest.mark.filterwarnings("ignore:Bitwise inversion:DeprecationWarning")  # of Python's own ~True, as drawn
@pytest.mark.parametrize("first", range(0, 5000, 10))
@pytest.mark.sampled(1)
def test_random_kernels(first):
    assert not {seed: found for seed in range(first, first + 10) if (found := check(seed))}
