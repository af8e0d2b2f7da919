"""Linear equations: singular ones are not solved, and the residual is that of what is returned."""

import numpy as np
import pytest

from qad.core.errors import ConvergenceError
from qad.linalg import Report, linear_solve


def test_a_singular_equation_is_not_solved():
    with pytest.raises(ConvergenceError, match="residual"):
        linear_solve(lambda x: np.array([1.0, 0.0]) * x, np.ones(2))


def test_the_residual_of_what_is_returned_is_measured():
    rng, report = np.random.default_rng(0), Report()
    a, b = rng.normal(size=(30, 30)) + 8 * np.eye(30), rng.normal(size=30)
    x = linear_solve(lambda x: a @ x, b, report=report)
    assert np.linalg.norm(a @ x - b) <= 1.01e-12 * np.linalg.norm(b)
    assert abs(report.residual - np.linalg.norm(a @ x - b) / np.linalg.norm(b)) < 1e-14
