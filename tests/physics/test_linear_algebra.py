"""Implicit solvers and iterations at their defaults, at scales far from one, beside dense matrices."""

import numpy as np
import pytest
from scipy.linalg import expm

import qad
from tests.physics import exact

RNG = np.random.default_rng(7)
A = RNG.normal(size=(6, 6))
SYM, M, B = A + A.T, 0.5 * A / np.linalg.norm(A, 2), RNG.normal(size=6)
SCALES = [1e-170, 1e-12, 1.0, 1e150]


@pytest.mark.parametrize("scale", SCALES)
def test_fixed_points(scale):
    solve = lambda b: qad.fixed_point(lambda x, b: M @ x + b, np.zeros(6), b)
    wanted = np.linalg.solve(np.eye(6) - M, B)
    assert solve(B * scale) / scale == pytest.approx(wanted, abs=1e-9)
    slope = qad.grad(lambda b: solve(b)[0])(B * scale)
    assert slope == pytest.approx(np.linalg.inv(np.eye(6) - M)[0], abs=1e-9)


@pytest.mark.parametrize("scale", SCALES)
def test_linear_equations(scale):
    solve = lambda b: qad.linalg.linear_solve(lambda x: x - M @ x, b)
    assert solve(B * scale) / scale == pytest.approx(np.linalg.solve(np.eye(6) - M, B), abs=1e-9)
    slope = qad.grad(lambda b: solve(b)[0])(B * scale)
    assert slope == pytest.approx(np.linalg.inv(np.eye(6) - M)[0], abs=1e-9)


def test_laplacian():
    """Three hundred sites, where a parabola solves ``-u'' = 1``."""
    laplace = lambda x: 2 * x - np.concatenate([x[1:], [0.0]]) - np.concatenate([[0.0], x[:-1]])
    i = np.arange(1, 301)
    assert qad.linalg.linear_solve(laplace, np.ones(300), positive=True) == pytest.approx(i * (301 - i) / 2, rel=1e-8)


@pytest.mark.parametrize("scale", [1e-165, 1e-12, 1.0, 1e150])
def test_eigenvalues(scale):
    low = lambda x: qad.linalg.lowest_eig(x * (scale * SYM), B)[0]
    assert low(1.0) / scale == pytest.approx(np.linalg.eigvalsh(SYM)[0], abs=1e-9)
    assert qad.grad(low)(1.0) / scale == pytest.approx(np.linalg.eigvalsh(SYM)[0], abs=1e-8)
    positive = abs(A) + 0.1
    top = lambda x: qad.linalg.dominant_eig(x * (scale * positive), B)[0].real
    wanted = abs(np.linalg.eigvals(positive)).max()
    assert top(1.0) / scale == pytest.approx(wanted, abs=1e-9)
    assert qad.grad(top)(1.0) / scale == pytest.approx(wanted, abs=1e-8)


def test_exponentials_of_operators():
    spins = ["spin-1/2"] * 6
    h = exact.dense(spins, exact.transverse(6, 0.9)).toarray()
    psi = exact.basis(spins, [0] * 6).reshape(-1)
    wanted = lambda t: expm(-1j * t * h) @ psi
    z = exact.product(spins, "Z", 3).toarray()
    value = lambda t: (lambda v: np.vdot(v, z @ v).real)(qad.linalg.expm_multiply(-1j * h, psi + 0j, t))
    assert value(0.7) == pytest.approx(exact.mean(z, wanted(0.7)), abs=1e-10)
    assert qad.grad(value)(0.7) == pytest.approx(exact.difference(lambda t: exact.mean(z, wanted(t)), 0.7), abs=1e-8)


def test_truncations():
    values = np.linalg.svd(A, compute_uv=False)
    assert qad.linalg.truncated_svd(A, 3)[1] == pytest.approx(values[:3], abs=1e-12)
    slope = qad.grad(lambda x: qad.linalg.truncated_svd(x * A, 3)[1].sum())(1.0)
    assert slope == pytest.approx(values[:3].sum(), abs=1e-10)
    spectrum = np.linalg.eigvalsh(SYM)
    kept = spectrum[np.argsort(-abs(spectrum))[:2]]
    assert np.sort(qad.linalg.truncated_eigh(SYM, 2)[0]) == pytest.approx(np.sort(kept), abs=1e-12)


def test_logarithms_leave_the_random_state_alone():
    state = np.random.get_state()  # noqa: NPY002
    assert expm(qad.linalg.logm(np.eye(4) + 0.1 * A[:4, :4])) == pytest.approx(np.eye(4) + 0.1 * A[:4, :4], abs=1e-10)
    assert np.array_equal(np.random.get_state()[1], state[1])  # noqa: NPY002
