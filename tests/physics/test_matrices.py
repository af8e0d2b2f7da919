"""Dense matrices at their defaults, as physics meets them: thermal states, quenches, fidelities, Green functions."""

import numpy as np
import pytest
import scipy.linalg

import qad
from qad import linalg
from tests.physics import exact

RNG = np.random.default_rng(3)
SPINS = ["spin-1/2"] * 3
H0 = exact.dense(SPINS, exact.transverse(3, 0.0)).toarray().real
X = sum(exact.product(SPINS, "X", i).toarray().real for i in range(3))
Z = exact.product(SPINS, "Z", 1).toarray().real
H = H0 - 0.9 * X + 0.1 * np.diag(RNG.normal(size=8))  # no level twice
E, V = np.linalg.eigh(H)
RHO = V * np.exp(-0.7 * E) @ V.T / np.exp(-0.7 * E).sum()
A, B = RNG.normal(size=(2, 5, 5)) + 1j * RNG.normal(size=(2, 5, 5))
TALL, RIGHT = RNG.normal(size=(6, 3)), RNG.normal(size=6)


def sloped(f, x=0.3):
    """The slope of a real function, beside differences of the same call."""
    assert qad.grad(f)(x) == pytest.approx(exact.difference(f, x), abs=1e-7)


def test_thermal_states():
    free = lambda b: -linalg.slogdet(linalg.expm(-b * H))[1]
    assert linalg.expm(-0.7 * H) / linalg.trace(linalg.expm(-0.7 * H)) == pytest.approx(RHO, abs=1e-13)
    assert free(0.7) == pytest.approx(0.7 * E.sum())
    for f in (
        free,
        lambda b: np.log(linalg.trace(linalg.expm(-b * H))),
        lambda b: np.log(linalg.det(linalg.expm(-b * H / 9))),
    ):
        sloped(f, 0.7)
    assert linalg.funm_herm(np.exp, -0.7 * H) == pytest.approx(linalg.funm(np.exp, -0.7 * H), abs=1e-12)
    sloped(lambda g: linalg.trace(Z @ linalg.funm_herm(np.tanh, H - g * X)))
    sloped(lambda g: linalg.trace(Z @ linalg.funm(np.cos, H - g * X)).real)


def test_entropies():
    p = np.exp(-0.7 * E) / np.exp(-0.7 * E).sum()
    assert -linalg.trace(RHO @ linalg.logm(RHO)).real == pytest.approx(-(p * np.log(p)).sum(), abs=1e-12)
    state = lambda b: (lambda r: r / linalg.trace(r))(linalg.expm(-b * H))
    sloped(lambda b: -linalg.trace(state(b) @ linalg.logm(state(b))).real)
    halves = V[:, 0].reshape(2, 4)
    s = linalg.svdvals(halves)
    assert s**2 == pytest.approx(np.linalg.eigvalsh(halves @ halves.T)[::-1], abs=1e-12)
    sloped(
        lambda g: -(lambda w: (w * np.log(w)).sum())(linalg.svd(linalg.eigh(H - g * X)[1][:, 0].reshape(2, 4))[1] ** 2)
    )
    left, right = linalg.split(halves, 1)
    assert np.linalg.norm(left @ right - halves) == pytest.approx(s[1], abs=1e-12)


def test_levels():
    assert linalg.eigvalsh(H) == pytest.approx(E, abs=1e-12)
    assert np.sort(linalg.eigvals(H).real) == pytest.approx(E, abs=1e-12)
    sloped(lambda g: linalg.eigvalsh(H - g * X)[0])
    sloped(lambda g: np.sort(linalg.eig(A + g * B)[0].imag)[-1])
    t, q = linalg.schur(A)
    assert q @ t @ q.conj().T == pytest.approx(A, abs=1e-12)


def test_fidelity_of_uhlmann():
    a, b = (m @ m.conj().T / np.linalg.norm(m) ** 2 for m in (A, B))
    roots = [(v * np.sqrt(w)) @ v.conj().T for w, v in map(np.linalg.eigh, (a, b))]
    wanted = np.linalg.svd(roots[0] @ roots[1], compute_uv=False).sum()
    fidelity = lambda t: (lambda r: linalg.trace(linalg.sqrtm(r @ ((1 - t) * a + t * b) @ r)).real)(linalg.sqrtm(a))
    assert fidelity(1.0) == pytest.approx(wanted, abs=1e-10)
    sloped(fidelity)
    nuclear = lambda t: linalg.matrix_norm(linalg.sqrtm(a) @ linalg.sqrtm((1 - t) * a + t * b), ord="nuc")
    assert nuclear(0.3) == pytest.approx(fidelity(0.3), abs=1e-10)


def test_gauges():
    u, p = linalg.polar(A)
    assert (u @ p, u @ u.conj().T) == (pytest.approx(A, abs=1e-12), pytest.approx(np.eye(5), abs=1e-12))
    assert p == pytest.approx(scipy.linalg.sqrtm(A.conj().T @ A), abs=1e-10)
    sloped(lambda t: linalg.polar(A + t * B)[1][0, 1].real)
    q, r = linalg.qr(A)
    low, unitary = linalg.lq(A)
    assert (q @ r, low @ unitary) == (pytest.approx(A, abs=1e-12), pytest.approx(A, abs=1e-12))
    for f in (lambda t: abs(linalg.qr(A + t * B)[1][0, 0]), lambda t: abs(linalg.lq(A + t * B)[0][0, 0])):
        sloped(f)
    c = linalg.cholesky(RHO)
    assert c @ c.T == pytest.approx(RHO, abs=1e-13)
    permuted, lower, upper = linalg.lu(A)
    assert permuted @ lower @ upper == pytest.approx(A, abs=1e-12)
    assert linalg.funm_svd(lambda s: s, A) == pytest.approx(A, abs=1e-12)


def test_green_functions():
    spectral = V**2 @ (1 / (0.2 + 0.4j - E))
    at = lambda w: (w + 0.4j) * np.eye(8) - H
    assert linalg.inv(at(0.2)).diagonal() == pytest.approx(spectral, abs=1e-12)
    assert linalg.solve(at(0.2), np.eye(8)).diagonal() == pytest.approx(spectral, abs=1e-12)
    for f in (lambda w: linalg.inv(at(w))[0, 0].imag, lambda w: linalg.solve(at(w), np.eye(8)[0])[0].imag):
        sloped(f)
    assert linalg.tensorinv(at(0.2).reshape(2, 4, 2, 4)).reshape(8, 8) == pytest.approx(linalg.inv(at(0.2)), abs=1e-12)
    assert linalg.tensorsolve(at(0.2).reshape(8, 2, 4), np.eye(8)[0]).reshape(-1) == pytest.approx(
        linalg.inv(at(0.2))[:, 0], abs=1e-12
    )
    assert linalg.solve_triangular(np.triu(A), np.eye(5)) == pytest.approx(np.linalg.inv(np.triu(A)), abs=1e-10)
    assert linalg.cond(H) == pytest.approx(abs(E).max() / abs(E).min())
    assert linalg.matrix_rank(np.outer(V[0], V[1])) == 1


def test_fits():
    wanted = np.linalg.lstsq(TALL, RIGHT)[0]
    assert linalg.lstsq(TALL, RIGHT)[0] == pytest.approx(wanted, abs=1e-12)
    assert linalg.pinv(TALL) @ RIGHT == pytest.approx(wanted, abs=1e-12)
    more = RNG.normal(size=(6, 3))
    for f in (
        lambda t: linalg.lstsq(TALL + t * more, RIGHT)[0][0],
        lambda t: (linalg.pinv(TALL + t * more) @ RIGHT)[0],
    ):
        sloped(f)


def test_products():
    u = linalg.expm(-0.1j * H)
    assert linalg.matrix_power(u, 7) == pytest.approx(scipy.linalg.expm(-0.7j * H), abs=1e-12)
    assert linalg.multi_dot([u, Z, u.conj().T]) == pytest.approx(u @ Z @ u.conj().T, abs=1e-13)
    sloped(lambda t: linalg.multi_dot([V[:, 3], linalg.matrix_power(linalg.expm(-1j * t * H0), 3), V[:, 2]]).real)
    assert linalg.kron(np.diag([1, -1]), np.eye(4)) == pytest.approx(exact.product(SPINS, "Z", 0).toarray().real)
    assert linalg.cross(RIGHT[:3], RIGHT[3:]) == pytest.approx(np.cross(RIGHT[:3], RIGHT[3:]))
    assert linalg.norm(H) == pytest.approx(np.sqrt((E**2).sum()))
    assert linalg.vector_norm(V[:, 0]) == pytest.approx(1.0)
    sloped(lambda g: linalg.norm(H - g * X))
