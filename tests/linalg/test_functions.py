"""Matrix functions, solvers and truncations against differences: both modes, first and second order."""

import numpy as np
import pytest
import scipy.linalg

import qad
from qad import linalg as la
from tests.cases import Case
from tests.linalg.draw import draw, herm, unitary, well, with_eigenvalues, with_values


def eig_loss(a):
    """A loss that is invariant under the phases of the eigenvectors and mixes w and V."""
    w, v = np.linalg.eig(a)
    c = draw(a.shape[-1], 1, seed=8)
    lengths = np.sum(np.exp(w)[..., None, :] * np.abs(v), axis=-1)
    return lengths, np.sum((w**2) * np.sum(v[..., :1, :] * v.conj() * c, axis=-2), axis=-1)


def truncation_loss(k):
    """All that a truncated SVD determines."""

    def loss(a):
        u, s, vh, error = la.truncated_svd(a, k)
        return (u * s[..., None, :]) @ vh, u @ u.conj().mT, (vh.conj().mT * np.exp(-s)[..., None, :]) @ vh, error

    return loss


def hermitian_truncation(a):
    w, v, error = la.truncated_eigh(herm(a), 2)
    return (v * w[..., None, :]) @ v.conj().mT, error


def least_squares(a, b):
    x, residuals, _, s = np.linalg.lstsq(a, b)
    return x, residuals, s


def qr_complete(a):
    """All that the complete decomposition determines."""
    q, r = np.linalg.qr(a, "complete")
    n = min(a.shape[-2:])
    rest = q[..., :, n:]
    return q[..., :, :n], r, rest @ rest.conj().mT @ draw(a.shape[-2], 2, seed=4, real=a.dtype.kind == "f")


def triangular(trans, lower, unit):
    return lambda a, b: la.solve_triangular(a, b, trans, lower, unit)


# name, function, shapes of the arguments; square matrices are well-conditioned
TABLE = [
    *((f"polar {side}", lambda a, side=side: la.polar(a, side), shape)
      for side in ("left", "right") for shape in ([(3, 3)], [(4, 3)], [(2, 3, 4)])),
    *(("pinv", np.linalg.pinv, shape) for shape in ([(3, 3)], [(4, 3)], [(2, 3, 4)])),
    ("pinv of low rank", lambda b, c: np.linalg.pinv(c) @ np.linalg.pinv(b), [(4, 2), (2, 3)]),
    *(("lq", la.lq, shape) for shape in ([(3, 3)], [(4, 3)], [(2, 3, 4)])),
    *(("lstsq", least_squares, shapes) for shapes in ([(4, 2), (4,)], [(4, 2), (4, 3)], [(2, 4), (2, 3)])),
    *((f"matrix_power {n}", lambda a, n=n: np.linalg.matrix_power(a, n), [(2, 3, 3)]) for n in (3, 0, -2, 1, 6)),
    *(("multi_dot", lambda *xs: np.linalg.multi_dot(xs), shapes)
      for shapes in ([(3,), (3, 4), (4, 2)], [(2, 3), (3, 1), (1, 4), (4,)], [(2, 3), (3, 1), (1, 4), (4, 2)])),
    *(("expm", la.expm, shape) for shape in ([(3, 3)], [(2, 3, 3)])),
    *(("qr complete", qr_complete, shape) for shape in ([(4, 2)], [(2, 5, 3)], [(3, 3)], [(3, 4)], [(3, 1)])),
    ("kron", la.kron, [(2, 3), (3, 2)]),
    ("cross", la.cross, [(2, 3), (3,)]),
    *(("sqrtm", la.sqrtm, shape) for shape in ([(3, 3)], [(2, 3, 3)])),
    *(("logm", la.logm, shape) for shape in ([(3, 3)], [(2, 3, 3)])),
    *(("eig", eig_loss, shape) for shape in ([(3, 3)], [(2, 2, 2)])),
    ("eigvals", lambda a: np.sum(np.exp(np.linalg.eigvals(a)), axis=-1), [(2, 3, 3)]),
    *((f"truncated_svd {k}", truncation_loss(k), [shape])
      for shape, k in (((6, 6), 3), ((8, 5), 2), ((5, 8), 2), ((2, 4, 5), 2))),
    *(("truncated_eigh", hermitian_truncation, shape) for shape in ([(5, 5)], [(2, 4, 4)])),
    *((f"cond {p}", lambda a, p=p: np.linalg.cond(a, p), [(2, 3, 3)]) for p in (None, 2, -2, "fro")),
    *((f"solve_triangular {trans}{lower}{unit}", triangular(trans, lower, unit), [(3, 3), (3, 2)])
      for trans in (0, "T", "C") for lower in (False, True) for unit in (False, True)),
    *(("lu", lambda a: la.lu(a)[1:], shape)
      for shape in ([(3, 3)], [(2, 4, 4)], [(5, 3)], [(2, 3, 5)], [(1, 4)], [(4, 1)])),
    ("lu, U alone", lambda a: la.lu(a)[2], [(3, 3)]),
    ("tensorinv", lambda a: np.linalg.tensorinv(a + 3 * np.eye(6).reshape(6, 2, 3), 1), [(6, 2, 3)]),
    ("tensorsolve", lambda a, b: np.linalg.tensorsolve(a + 3 * np.eye(6).reshape(2, 3, 6), b), [(2, 3, 6), (2, 3)]),
    ("tensorsolve, axes", lambda a, b: np.linalg.tensorsolve(a, b, (0,)), [(4, 2, 2), (2, 2)]),
    ("tensordot", lambda a, b: np.linalg.tensordot(a, b, axes=1), [(2, 3), (3, 4)]),
    ("solve_triangular, vector", la.solve_triangular, [(2, 3, 3), (3,)]),
    ("solve_triangular, batch", la.solve_triangular, [(3, 3), (2, 3, 1)]),
]  # fmt: skip


def drawn(shapes, real):
    """Random arguments."""
    square = [len(s) > 1 and s[-1] == s[-2] for s in shapes]
    return tuple(
        (well if q else draw)(*s, real=real, seed=i) for i, (s, q) in enumerate(zip(shapes, square, strict=True))
    )


CASES = [
    Case(f, drawn(shapes, real), name=f"{name}, {'real' if real else 'complex'}")
    for real in (False, True)
    for name, f, shapes in TABLE
]


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.sampled(75)
def test_derivatives(case):
    qad.check_grads(case.f, case.point, rtol=1e-6)


@pytest.mark.parametrize("shape, k", [((6, 6), 3), ((8, 5), 2), ((5, 8), 2)])
def test_truncated_svd_to_seven_digits(shape, k):
    """The promise of the truncation: right where the usual rule is off by tens of percent."""
    w, v = draw(shape[0], shape[0], seed=2), draw(*shape, seed=3)

    def loss(a):
        u, s, vh, _ = la.truncated_svd(a, k)
        return np.sum((w * (u @ u.conj().mT)).real) + np.sum((v * ((u * s**2) @ vh)).real)

    qad.check_grads(loss, (draw(*shape),), order=1, rtol=1e-7)


def test_truncation_drops_whole_multiplets():
    a = with_values([2, 1, 1, 0.5, 1e-17])
    assert la.truncated_svd(a, 4)[1].shape == (4,)
    assert la.truncated_svd(a, 2, multiplets="drop")[1].shape == (1,)
    assert la.truncated_svd(a, 2, multiplets="cut")[1].shape == (2,)
    assert la.truncated_svd(a, cutoff=1e-3)[1].shape == (4,)
    assert la.truncated_svd(a, cutoff=0.7, relative=False)[1].shape == (3,)
    assert la.truncated_svd(np.stack([a, a / 2]), cutoff=0.7, relative=False)[1].shape == (2, 3)
    with pytest.warns(RuntimeWarning, match="degenerate values"):
        la.truncated_svd(a, 2)


def test_cut_multiplets_raise_in_the_backward_pass():
    def loss(a):
        u, s, vh, _ = la.truncated_svd(a, 2, multiplets="cut")
        return np.sum((draw(4, 4) * ((u * s) @ vh)).real)

    with pytest.raises(qad.QadError, match="degenerate"):
        qad.grad(loss)(with_values([2, 1, 1, 0.5]))


def test_zeros_may_be_discarded():
    """Singular values of 1e-17, as in the first steps of TRG."""
    w = draw(5, 5, seed=9)

    def loss(a):
        u, s, vh, _ = la.truncated_svd(a, cutoff=1e-10)
        return np.sum((w * ((u * np.sqrt(s)) @ vh)).real)

    a, v = with_values([2, 1, 0.5, 1e-17, 1e-18]), draw(5, 5, seed=3)
    h = 1e-6
    expected = (truncated(loss, a + h * v) - truncated(loss, a - h * v)) / (2 * h)
    np.testing.assert_allclose(np.vdot(qad.grad(loss)(a), v).real, expected, rtol=1e-7)


def test_second_order_whatever_is_discarded():
    """Forward mode does not ask for vectors of the discarded values, degenerate and zero as these may be."""
    a = with_values([4, 3, 1, 1, 1e-13, 1e-14])
    qad.check_grads(truncation_loss(2), (a,), rtol=1e-6)
    qad.check_grads(hermitian_truncation, (with_eigenvalues([4, -3, 1, 1, 0, 0]),), rtol=1e-6)


def truncated(loss, a):
    """The loss of the best approximation of rank 3."""
    u, s, vh = np.linalg.svd(a)
    return loss((u[:, :3] * s[:3]) @ vh[:3])


@pytest.mark.parametrize("size", [1e-3, 1.0, 30.0, 300.0])
def test_expm_of_large_norm(size):
    """Against the eigenbasis of a normal matrix, where everything is known."""
    d = np.array([1j, -0.5 + 0.3j, -1.0, -0.2j])
    v, w = unitary(4), draw(4, 4, seed=9)
    a = (v * (size * d)) @ v.conj().T
    g = qad.grad(lambda a: np.sum((w.conj() * la.expm(a)).real))(a)
    z = size * d.conj()
    gap = z[None, :] - z[:, None] + np.eye(4)
    quotient = np.where(np.eye(4) > 0, np.exp(z), (np.exp(z)[None, :] - np.exp(z)[:, None]) / gap)
    expected = v @ (quotient * (v.conj().T @ w @ v)) @ v.conj().T
    np.testing.assert_allclose(g, expected, atol=1e-11 * max(1, size))


def test_functions_agree_with_scipy():
    a = well(3, 3)
    for x in (draw(3, 5), draw(2, 5, 3)):
        p, low, up = la.lu(x)
        np.testing.assert_allclose(p @ low @ up, x)
        np.testing.assert_allclose(qad.vjp(lambda x: la.lu(x)[2], x)[0], up, atol=1e-14)
    np.testing.assert_allclose(la.expm(a), scipy.linalg.expm(a))
    np.testing.assert_allclose(la.sqrtm(a) @ la.sqrtm(a), a)
    np.testing.assert_allclose(la.expm(la.logm(a)), a)
    np.testing.assert_allclose(la.polar(a), scipy.linalg.polar(a))
    np.testing.assert_allclose(la.solve_triangular(a, a, "C", True), scipy.linalg.solve_triangular(a, a, "C", True))


ERRORS = [
    ("logm on the cut", la.logm, np.diag([1.0, -2.0]), "eigenvalue -2"),
    ("sqrtm on the cut", la.sqrtm, np.stack([np.eye(2), np.diag([1.0, -2.0])]), r"entry \(1,\).*eigenvalue -2"),
    ("logm of a singular matrix", la.logm, np.diag([1.0, 0.0]), "eigenvalue 0"),
    ("polar side", lambda a: la.polar(a, "both"), np.eye(2), "side="),
    ("polar of a singular matrix", lambda a: la.polar(a)[1], np.diag([1.0, 0.0]), "value number 1"),
    ("nothing left", lambda a: la.truncated_svd(a, 0)[1], np.eye(2), "nothing"),
    ("multiplets", lambda a: la.truncated_svd(a, 1, multiplets="?")[1], np.eye(2), "multiplets="),
    ("half a power", lambda a: np.linalg.matrix_power(a, 0.5), np.eye(2), "not an integer"),
    ("degenerate eig", lambda a: np.abs(np.linalg.eig(a)[1] + 1), np.eye(2), "eig: its values"),
    ("one matrix", lambda a: np.linalg.multi_dot([a]), np.eye(2), "two or more"),
    ("lu of a singular matrix", lambda a: la.lu(a)[2], np.ones((2, 2)), "pivot"),
    ("tensorinv", lambda a: np.linalg.tensorinv(a[0], 1), np.eye(2), "no square matrix"),
    ("tensorsolve", lambda a: np.linalg.tensorsolve(a, a), np.eye(2), "no square matrix"),
    ("trans", lambda a: la.solve_triangular(a, a, 3), np.eye(2), "trans=3"),
]  # fmt: skip


@pytest.mark.parametrize("f, a, words", [e[1:] for e in ERRORS], ids=[e[0] for e in ERRORS])
def test_errors(f, a, words):
    with pytest.raises(qad.QadError, match=words):
        qad.grad(lambda a: np.sum(draw(2, 2, real=True) * f(a)))(a)


def test_rank_has_no_derivative():
    assert qad.grad(lambda a: np.sum(a) * np.linalg.matrix_rank(a))(np.ones((2, 2))).tolist() == [[1, 1], [1, 1]]
    assert la.matrix_rank(with_eigenvalues([1, 0, 0])) == 1
