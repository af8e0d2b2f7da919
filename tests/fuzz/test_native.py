"""Random kernels; see `tests.fuzz.native`."""

import pytest

pytest.importorskip("llvmlite")

from tests.fuzz.native import check


def test_random_kernels():
    assert not {seed: found for seed in range(12) if (found := check(seed))}


@pytest.mark.slow
def test_thousands_of_random_kernels():
    assert not {seed: found for seed in range(1000, 5000) if (found := check(seed))}
