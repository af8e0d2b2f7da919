"""Dominant and lowest eigenpairs without a matrix."""

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError
from qad.linalg.krylov.dominant import dominant_eig
from qad.linalg.krylov.gmres import Report
from qad.linalg.krylov.lowest import lowest_eig


def random(*shape, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal(shape) + 1j * rng.standard_normal(shape)


N = 12
A = random(N, N) + 3 * np.outer(random(N, seed=1), random(N, seed=2))
V0 = random(N, seed=3)
H = random(N, N, seed=4)
H = H + H.conj().T
ONE = np.ones(N, complex)


def gauge_free(right):
    """A loss that mixes the entries of a vector but not its phase."""
    return qad.abs2((right * random(N, seed=7)).sum()) + qad.abs2(right[0])


def test_against_the_dense_solution():
    report = Report()
    value, right, left = dominant_eig(lambda v: A @ v, V0, "both", report=report)
    values = np.linalg.eigvals(A)
    assert np.isclose(value, values[np.argmax(np.abs(values))], rtol=1e-13)
    assert np.allclose(A @ right, value * right, rtol=0, atol=1e-12 * abs(value))
    assert np.allclose(left.conj() @ A, value * left.conj(), rtol=0, atol=1e-12 * abs(value))
    assert np.isclose(np.linalg.norm(right), 1, rtol=1e-14)
    assert np.isclose(np.vdot(left, right), 1, rtol=1e-13)
    assert np.isclose(np.vdot(V0, right).imag, 0, atol=1e-14)
    assert report.iterations > 0
    assert report.residual < 1e-12


def test_gradient_of_the_value_is_left_times_right():
    _, right, left = dominant_eig(A, V0, "both")
    for side in ("right", "left", "both"):
        g = qad.grad(lambda a, side=side: dominant_eig(lambda v: a @ v, V0, side)[0].real)(A)
        assert np.allclose(g, np.outer(left, right.conj()), rtol=0, atol=1e-11)


def test_with_both_vectors_the_gradient_of_the_value_takes_no_solve():
    report = Report()
    qad.grad(lambda a: dominant_eig(a, V0, "both", report=report)[0].real)(A)
    assert all(products <= 1 for products, _ in report.adjoint)


@pytest.mark.parametrize("side", ["right", "left", "both"])
@pytest.mark.sampled(2)
def test_derivatives(side):
    qad.check_grads(lambda a: dominant_eig(lambda v: a @ v, V0, side), (A,))


def test_derivatives_of_a_matrix_and_of_the_start():
    qad.check_grads(dominant_eig, (A, V0))


def test_gradients_do_not_depend_on_the_start_where_the_loss_has_no_gauge():
    g = [qad.grad(lambda a, v=v: gauge_free(dominant_eig(a, v)[1]))(A) for v in (V0, ONE)]
    assert np.allclose(*g, rtol=0, atol=1e-11)


def test_real_operators():
    a = A.real + 5 * np.outer(V0.real, ONE.real)
    value, right = dominant_eig(a, V0.real)
    assert right.dtype == float
    assert np.allclose(a @ right, value * right)
    qad.check_grads(lambda a: dominant_eig(a, V0.real, "both"), (a,))


def test_a_complex_pair_needs_a_complex_start():
    turn = np.diag(np.r_[3.0, 3.0, np.full(N - 2, 0.5)])
    turn[0, 1], turn[1, 0] = -2.0, 2.0
    with pytest.raises(ArgumentError, match=r"3[+-]2j"):
        dominant_eig(turn, np.ones(N))
    assert np.isclose(abs(dominant_eig(turn, V0)[0]), np.sqrt(13))


def test_transfer_operators_of_pytrees():
    base = random(2, 3, 3, seed=5) / 5 + np.eye(3)

    def value(change):
        t = base + 0.1 * change

        def apply(x):
            return {"rho": (t @ x["rho"] @ t.conj().mT).sum(0), "sigma": 0.3 * x["sigma"]}

        return dominant_eig(apply, {"rho": np.eye(3, dtype=complex), "sigma": np.ones(2, complex)}, "both")

    qad.check_grads(value, (random(2, 3, 3, seed=6),))


def test_single_precision_and_integers():
    a, h, v0 = A.astype(np.complex64), H.astype(np.complex64), V0.astype(np.complex64)
    assert dominant_eig(a, v0)[1].dtype == np.complex64
    qad.check_grads(lambda a: dominant_eig(a, v0.astype(a.dtype)), (a,), order=1)
    qad.check_grads(lambda h: lowest_eig(h + h.conj().T, v0.astype(h.dtype)), (h,), order=1)
    assert np.isclose(dominant_eig(np.diag(np.arange(4)), np.ones(4, int))[0], 3)


def test_small_operators():
    qad.check_grads(lambda a: dominant_eig(a, V0[:3], "both"), (A[:3, :3],))
    assert np.isclose(dominant_eig(np.array([[2j]]), np.ones(1))[0], 2j)


@pytest.mark.parametrize("scale", [1e-60, 1e60])
def test_scales(scale):
    g = qad.grad(lambda a: gauge_free(dominant_eig(a, V0)[1]))(scale * A)
    assert np.allclose(scale * g, qad.grad(lambda a: gauge_free(dominant_eig(a, V0)[1]))(A), rtol=0, atol=1e-10)


def test_lowest_against_the_dense_solution():
    energy, vector = lowest_eig(lambda v: H @ v, V0)
    values, vectors = np.linalg.eigh(H)
    assert np.isclose(energy, values[0], rtol=1e-13)
    assert np.isclose(abs(np.vdot(vectors[:, 0], vector)), 1, rtol=1e-13)


def test_hellmann_feynman_takes_no_solve():
    report = Report()
    g = qad.grad(lambda h: lowest_eig(h, V0, report=report)[0])(H)
    x = np.linalg.eigh(H)[1][:, 0]
    assert np.allclose(g, np.outer(x, x.conj()), rtol=0, atol=1e-12)
    assert [products for products, _ in report.adjoint] == [1]


def test_lowest_derivatives():
    def pair(h, w):
        hermitian = h + h.conj().T
        return lowest_eig(lambda v: hermitian @ v + w.real * v, V0)

    qad.check_grads(pair, (H / 2, random(N, seed=6)))
    qad.check_grads(lambda h: lowest_eig(h + h.T, V0.real), (H.real,))


def test_bad_operators_raise_with_numbers():
    with pytest.raises(ArgumentError, match=r"not Hermitian: .* is 0\.\d+"):
        lowest_eig(A, V0)
    with pytest.raises(ArgumentError, match=r"shape \(3, 2\)"):
        dominant_eig(np.ones((3, 2)), np.ones(2))
    with pytest.raises(ArgumentError, match="orthogonal"):
        lowest_eig(np.diag(np.arange(12.0)), np.eye(12)[3] + 1e-30)
    with pytest.raises(ArgumentError, match="left"):
        dominant_eig(A, V0, "up")


def test_degenerate_levels_raise_where_vectors_are_differentiated():
    twofold = np.diag(np.r_[-1.0, -1.0, np.arange(10.0)])
    with pytest.raises(ArgumentError, match="degenerate"):
        qad.grad(lambda h: qad.abs2((lowest_eig(h, V0.real)[1] * V0.imag).sum()))(twofold)


LEVELS = 3.0 * np.arange(40)


def energy_and_vector(h, **how):
    energy, x = qad.linalg.lowest_eig(lambda v: h @ v + LEVELS * v, np.ones(40) + 0j, **how)
    return energy + np.sum(np.abs(x) ** 4)


@pytest.mark.parametrize("preconditioner", [None, lambda v: v / (LEVELS + 8)])
@pytest.mark.sampled(1)
def test_lobpcg_agrees_with_lanczos(preconditioner):
    h, v = (np.random.default_rng(s).standard_normal((40, 40, 2)) @ [1, 1j] for s in (0, 1))
    h, v = h + h.conj().T, v + v.conj().T

    def by_lobpcg(h):
        return energy_and_vector(h, method="lobpcg", preconditioner=preconditioner)

    np.testing.assert_allclose(qad.grad(by_lobpcg)(h), qad.grad(energy_and_vector)(h), atol=1e-8)
    second = (qad.hvp(f, (h,), (v,))[0] for f in (by_lobpcg, energy_and_vector))
    np.testing.assert_allclose(*second, atol=1e-7)


def test_errors_of_lobpcg():
    with pytest.raises(qad.QadError, match="method='davidson'"):
        energy_and_vector(np.eye(40), method="davidson")
    with pytest.raises(qad.QadError, match="takes a preconditioner"):
        energy_and_vector(np.eye(40), preconditioner=lambda v: v)
    with pytest.raises(qad.QadError, match="LOBPCG is at a residual of"):
        energy_and_vector(np.ones((40, 40)), method="lobpcg", maxiter=2)
