"""Functions of nearly defective matrices: right, or refused."""

import numpy as np
import pytest

import qad
from qad import linalg as la
from tests.linalg.draw import draw


def jordan(gap):
    q = np.linalg.qr(draw(3, 3, real=True))[0]
    return q @ np.array([[1.0, 1.0, 0.3], [0.0, 1.0 + gap, 0.2], [0.0, 0.0, 2.0]]) @ q.T


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("gap", [0.0, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1])
def test_funm_near_a_defective_matrix_is_right_or_refused(gap, dtype):
    a = jordan(gap).astype(dtype)
    x, e = (draw(3, 3, real=True, seed=seed) for seed in (2, 3))
    derivatives = lambda f: f(a), lambda f: qad.grad(f)(a), lambda f: qad.hvp(f, (a,), (e.astype(dtype),))[0]
    for derivative in derivatives:
        right = derivative(lambda a: np.sum(x * la.expm(a.astype(float))))
        try:
            found = derivative(lambda a: np.sum(x * la.funm(np.exp, a)).real)
        except qad.QadError:
            assert gap < 1e-3
            continue
        np.testing.assert_allclose(found, right, atol=1e-4 * np.abs(right).max())
