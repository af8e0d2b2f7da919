"""Lanczos' method for small problems, beside dense matrices."""

import numpy as np
import pytest

import qad
from qad.linalg.krylov.lanczos import exponential, lowest


def test_krylov_methods_against_dense_ones():
    rng = np.random.default_rng(0)
    a = rng.standard_normal((30, 30)) + 1j * rng.standard_normal((30, 30))
    a, x = a + a.conj().T, rng.standard_normal(30) + 0j
    value, vector, error = lowest(lambda v: a @ v, x, 1e-20, 30)
    assert error <= 1e-20
    assert value == pytest.approx(np.linalg.eigvalsh(a)[0])
    np.testing.assert_allclose(a @ vector, value * vector, atol=1e-8)
    for most in (30, 8):  # the smaller space has to halve its steps
        found, _ = exponential(lambda v: a @ v, x, -0.5j, 1e-10, most)
        np.testing.assert_allclose(found, qad.linalg.expm(-0.5j * a) @ x, atol=1e-7)


@pytest.mark.parametrize("most", [30, 8])
@pytest.mark.parametrize("factor", [-0.5j, -0.5, 0.2])
def test_exponentials_of_what_is_not_hermitian(most, factor):
    rng = np.random.default_rng(1)
    a, x = rng.standard_normal((30, 30)), rng.standard_normal(30)
    a, x = (a + 1j * rng.standard_normal((30, 30)), x + 0j) if isinstance(factor, complex) else (a, x)
    found, gained = exponential(lambda v: a @ v, x, factor, 1e-10, most, hermitian=False)
    wanted = qad.linalg.expm(factor * a) @ x
    assert gained == pytest.approx(np.log(np.linalg.norm(wanted) / np.linalg.norm(x)), abs=1e-8)
    np.testing.assert_allclose(found, wanted * np.exp(-gained), atol=1e-7)


def test_the_error_of_a_local_problem_knows_of_close_levels():
    """A residual of 1e-5 is an error of 1e-10 at a gap of 1, of 1e-6 at a gap of 1e-4."""
    levels = np.concatenate([[0.0, 1e-4], np.linspace(1, 3, 40)])
    start = np.ones(len(levels)) * 1e-3
    start[:2] = 1.0
    value, vector, error = lowest(lambda x: levels * x, start, 1e-10, 40)
    assert error <= 1e-10
    assert value == pytest.approx(0, abs=1e-9)
    assert abs(vector[0]) == pytest.approx(1, abs=1e-6)
