"""The steps of GMRES."""

import numpy as np
import pytest

from qad.linalg.krylov.gmres import correction
from tests.cases import normal
from tests.strict_array import StrictArray


@pytest.mark.parametrize("dtype", [float, complex, np.float32, np.complex64])
def test_all_steps_give_the_solution(dtype):
    a, r = normal(6, 6, dtype) + 3 * np.eye(6, dtype=dtype), normal(6, dtype, seed=1)
    x = correction(lambda v: a @ v, r, 0.0, 6)
    assert x.dtype == r.dtype
    np.testing.assert_allclose(a @ x, r, rtol=1e3 * np.finfo(dtype).eps, atol=1e3 * np.finfo(dtype).eps)


def test_steps_end_at_the_target():
    a, r, calls = np.diag(1 + 1e-3 * np.arange(8.0)), np.ones(8), []
    x = correction(lambda v: calls.append(v) or a @ v, r, 1e-4, 8)
    assert len(calls) == 2 and np.linalg.norm(a @ x - r) <= 1e-4


def test_an_invariant_space_ends_it():
    x = correction(lambda v: 2 * v, np.array([3.0, 0.0, 4.0]), 0.0, 3)
    np.testing.assert_allclose(x, [1.5, 0.0, 2.0], rtol=1e-15)


def test_arrays_of_another_library():
    a, r = StrictArray(normal(4, 4) + 3 * np.eye(4)), StrictArray(normal(4, seed=1))
    x = correction(lambda v: a @ v, r, 0.0, 4)
    assert type(x) is StrictArray
    np.testing.assert_allclose(a.held @ x.held, r.held, rtol=1e-12)
