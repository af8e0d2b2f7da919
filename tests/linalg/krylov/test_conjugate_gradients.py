"""Positive equations by conjugate gradients: what GMRES with restarts does not solve, preconditioners, derivatives."""

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError

N = 300
RANDOM = np.random.default_rng(0)
B = RANDOM.normal(size=N)


def laplacian(x):
    """Of a chain with fixed ends, of condition 36,000."""
    left, right = np.concatenate([x[1:], x[:1] * 0]), np.concatenate([x[:1] * 0, x[:-1]])
    return 2 * x - left - right


MATRIX = np.stack([laplacian(e) for e in np.eye(N)])


def test_the_laplacian_of_300_sites():
    found = qad.linalg.linear_solve(laplacian, B, positive=True)
    np.testing.assert_allclose(found, np.linalg.solve(MATRIX, B), rtol=1e-7)


def test_derivatives_of_both_orders_take_the_same_solver():
    report = qad.linalg.Report()

    def loss(shift):
        x = qad.linalg.linear_solve(lambda x: laplacian(x) + shift * x, B, positive=True, report=report)
        return B @ x

    def exact(shift):
        return B @ np.linalg.solve(MATRIX + shift * np.eye(N), B)

    assert np.isclose(qad.grad(loss)(0.0), qad.grad(exact)(0.0), rtol=1e-6)
    assert len(report.adjoint) == 1 and report.adjoint[0][0] < 2 * N
    assert np.isclose(qad.hessian(loss)(0.01), qad.hessian(exact)(0.01), rtol=1e-6)
    assert np.isclose(qad.jvp(loss, (0.01,), (1.0,))[1], qad.grad(exact)(0.01), rtol=1e-6)


def test_a_preconditioner_saves_products_and_changes_nothing():
    d = 10.0 ** np.linspace(0, 8, N)
    matrix = np.diag(d) + 0.1 * np.ones((N, N))
    plain, better = qad.linalg.Report(), qad.linalg.Report()

    def solved(scale, report, **how):
        return qad.linalg.linear_solve(lambda x: scale * (matrix @ x), B, positive=True, report=report, **how)

    with pytest.raises(qad.core.errors.ConvergenceError, match="the search stopped"):
        solved(1.0, plain, maxiter=100)
    for size in 1.0, 1e-30:  # of any factor
        found = solved(1.0, better, preconditioner=lambda r, size=size: size * r / d)
        assert better.iterations < 60
        np.testing.assert_allclose(matrix @ found, B, rtol=1e-9, atol=1e-9)
    of_scale = qad.grad(lambda s: solved(s, better, preconditioner=lambda r: r / d).sum())
    assert np.isclose(of_scale(1.0), -found.sum(), rtol=1e-9)
    assert np.isclose(qad.grad(of_scale)(1.0), 2 * found.sum(), rtol=1e-9)


def test_complex_trees_of_any_scale():
    a = RANDOM.normal(size=(6, 6)) + 1j * RANDOM.normal(size=(6, 6))
    a = a @ a.conj().T + np.eye(6)
    b = {"one": B[:6] * (1 + 2j)}
    for scale in 1e-70, 1.0, 1e70:
        by = {"one": b["one"] * scale}
        found = qad.linalg.linear_solve(lambda x: {"one": a @ x["one"]}, by, positive=True)["one"]
        np.testing.assert_allclose(found / scale, np.linalg.solve(a, b["one"]), rtol=1e-9)
        found = qad.linalg.linear_solve(lambda x, s=scale: {"one": s * (a @ x["one"])}, by, positive=True)["one"]
        np.testing.assert_allclose(found, np.linalg.solve(a, b["one"]), rtol=1e-9)


def test_what_is_not_positive_is_refused():
    with pytest.raises(ArgumentError, match="the operator is not positive"):
        qad.linalg.linear_solve(lambda x: -x, B, positive=True)
    with pytest.raises(ArgumentError, match="the preconditioner is not positive"):
        qad.linalg.linear_solve(lambda x: x, B, positive=True, preconditioner=lambda x: -x)
    with pytest.raises(ArgumentError, match="write positive=True"):
        qad.linalg.linear_solve(lambda x: x, B, preconditioner=lambda x: x)
