"""The nearest unitary matrices, by both ways."""

import numpy as np
import pytest

from qad.peps.infinite.polar import polar
from tests.cases import normal


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("distance", [0.0, 1e-9, 1e-3, 0.01, 1.0])
def test_the_polar_factor(dtype, distance, monkeypatch):
    unitary = np.linalg.qr(normal(2, 5, 5, dtype))[0]
    x = unitary + distance * normal(2, 5, 5, dtype, seed=1)
    left, _, right = np.linalg.svd(x)
    if distance < 0.1:
        monkeypatch.setattr(np.linalg, "svd", None)  # products are enough
    np.testing.assert_allclose(polar(x), left @ right, atol=1e-14)
