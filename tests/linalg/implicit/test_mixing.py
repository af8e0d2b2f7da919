"""Anderson's mixing by itself."""

import numpy as np
import pytest

from qad.linalg.implicit.mixing import Mixing, weights
from tests.cases import normal


@pytest.mark.parametrize("dtype", [float, complex])
def test_weights_are_those_of_least_squares(dtype):
    """Of rows whose sizes differ by ten orders, as successive changes do."""
    rows = normal(4, 30, dtype) * 10.0 ** np.array([[0], [-3], [-6], [-10]])
    target = normal(30, dtype, seed=1)
    exact = np.linalg.lstsq((rows / np.linalg.norm(rows, axis=1)[:, None]).T, target, rcond=None)[0]
    found = weights(rows, rows.conj() @ rows.T, target) * np.linalg.norm(rows, axis=1)
    np.testing.assert_allclose(found, exact, atol=1e-13)


@pytest.mark.parametrize("dtype", [float, complex])
def test_a_linear_iteration_ends_after_as_many_steps_as_it_has_dimensions(dtype):
    """Also where the memory has been filled once, and the oldest differences are replaced."""
    a, b = 0.3 * normal(4, 4, dtype), normal(4, dtype, seed=1)
    x, mixing = normal(4, dtype, seed=2), Mixing(4, worse=np.inf)
    for _ in range(7):
        y = a @ x + b
        x = mixing.propose(y, y - x, 1.0)
    np.testing.assert_allclose(x, np.linalg.solve(np.eye(4) - a, b), rtol=1e-10)
