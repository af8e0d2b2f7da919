"""Degenerate and vanishing singular values: right, or an error that names the way; never NaN, never silently wrong."""

import numpy as np
import pytest

import qad
from qad import linalg as la
from tests.linalg.draw import apart, draw, herm, unitary, with_eigenvalues, with_values

W = draw(4, 4, seed=9)


def rebuilt(a):
    """``Re tr(W^H U S Vh)``: its gradient is W wherever it is determined."""
    u, s, vh = np.linalg.svd(a)
    return np.sum((W.conj() * ((u * s) @ vh)).real)


def unseen(a):
    """As `rebuilt`, by factors of which nothing is known."""
    u, s, vh = np.linalg.svd(a)
    return np.sum((W.conj() * ((apart(u) * s) @ vh)).real)


def polar(a):
    u, _, vh = np.linalg.svd(a)
    return np.sum((W.conj() * (u @ vh)).real)


def power(a):
    """``tr (A^H A)^2``, from the singular values."""
    return np.sum(np.linalg.svdvals(a) ** 4)


def last(a, k):
    """A function of the vectors and values from number `k` on."""
    u, s, vh = np.linalg.svd(a)
    return np.sum((W * ((u[:, k:] * s[k:]) @ vh[k:])).real)


def first(a, k):
    u, s, vh = np.linalg.svd(a)
    return np.sum((W * ((u[:, :k] * s[:k]) @ vh[:k])).real)


DEGENERATE = {
    "identity": np.eye(4) + 0j,
    "unitary": unitary(4),
    "pair": with_values([2, 2, 1, 0.5]),
    "pair, gap 1e-13": with_values([2, 2 + 1e-13, 1, 0.5]),
    "pair at the end": with_values([2, 1, 0.5, 0.5]),
    "triple": with_values([2, 1, 1, 1]),
    "two zeros": with_values([2, 1, 0, 0]),
    "one zero": with_values([2, 1.5, 1, 0]),
    "zero matrix": np.zeros((4, 4), complex),
}
degenerate = pytest.mark.parametrize("a", DEGENERATE.values(), ids=DEGENERATE.keys())


@degenerate
def test_reconstruction_is_right(a):
    """It is followed to a function of the matrix, at one zero too, which alone is no multiplet."""
    e = draw(4, 4, seed=3)
    np.testing.assert_allclose(qad.grad(rebuilt)(a), W, atol=1e-12)
    np.testing.assert_allclose(qad.jvp(rebuilt, (a,), (e,))[1], np.vdot(W, e).real, rtol=1e-12)


@degenerate
def test_reconstruction_from_factors_out_of_sight_raises(a):
    with pytest.raises(qad.QadError, match="funm_svd"):
        qad.grad(unseen)(a)


@degenerate
def test_polar_factor_is_right_or_raises(a):
    """It turns with U and V together, and so does not see single vectors; at zero it does not exist."""
    zeros = np.sum(np.linalg.svdvals(a) < 1e-12)
    if zeros > 1:
        with pytest.raises(qad.QadError, match="funm_svd"):
            qad.grad(polar)(a)
    elif not zeros:  # of one zero the phase of a pair of vectors is lost, which the cotangents do not tell
        expected = qad.grad(lambda a: np.sum((W.conj() * la.funm_svd(lambda s: 1.0, a)).real))(a)
        np.testing.assert_allclose(qad.grad(polar)(a), expected, atol=1e-12)


@degenerate
def test_forward_mode_raises(a):
    with pytest.raises(qad.QadError, match="funm_svd"):
        qad.jvp(unseen, (a,), (draw(4, 4, seed=3),))


@degenerate
def test_symmetric_functions_of_values_at_second_order(a):
    e = draw(4, 4, seed=3)
    if np.linalg.svdvals(a)[-1] < 1e-12:
        with pytest.raises(qad.QadError, match="funm_svd"):
            qad.hvp(power, (a,), (e,))
        return
    along = e @ a.conj().T @ a + a @ e.conj().T @ a + a @ a.conj().T @ e
    np.testing.assert_allclose(qad.hvp(power, (a,), (e,))[0], 4 * along, atol=1e-10)


@degenerate
def test_second_order_of_values_out_of_sight_raises(a):
    with pytest.raises(qad.QadError, match="funm_svd"):
        qad.hvp(lambda a: np.sum(apart(np.linalg.svdvals(a)) ** 4), (a,), (draw(4, 4, seed=3),))


@degenerate
def test_symmetric_functions_of_the_values_are_right(a):
    np.testing.assert_allclose(qad.grad(power)(a), 4 * a @ a.conj().T @ a, atol=1e-11)


@pytest.mark.parametrize(
    "loss, k, values",
    [(last, 2, [2, 2, 1, 0.5]), (first, 1, [2, 1, 1, 0.5]), (first, 2, [2, 1, 0, 0]), (first, 2, [2, 1, 1e-17, 1e-18])],
)
def test_other_vectors_are_right(loss, k, values):
    """Losses that leave the degenerate block alone."""
    a, v = with_values(values), draw(4, 4, seed=3)
    h = 1e-5
    expected = (loss(a + h * v, k) - loss(a - h * v, k)) / (2 * h)
    np.testing.assert_allclose(np.vdot(qad.grad(lambda a: loss(a, k))(a), v).real, expected, rtol=1e-7)


@pytest.mark.parametrize("gap", [1e-4, 1e-6, 1e-8, 1e-10])
def test_near_degeneracy(gap):
    """Errors stay at rounding over gap."""
    a = with_values([2, 2 + gap, 1, 0.5])
    np.testing.assert_allclose(qad.grad(rebuilt)(a), W, atol=1e-14 / gap + 1e-13)


def test_values_that_are_weighed_differently_raise():
    a = with_values([2, 2, 1, 0.5])
    with pytest.raises(qad.QadError, match="degenerate"):
        qad.grad(lambda a: np.linalg.svdvals(a)[0])(a)
    with pytest.raises(qad.QadError, match="degenerate"):
        qad.grad(lambda a: np.linalg.eigvalsh(herm(a))[1])(np.eye(3))


def test_sum_of_values_has_a_kink_at_zero():
    with pytest.raises(qad.QadError, match="zero"):
        qad.grad(lambda a: np.sum(np.linalg.svdvals(a)))(with_values([2, 1, 0.5, 0]))


@pytest.mark.parametrize("shape", [(5, 4), (4, 5)])
def test_zeros_in_rectangular_matrices(shape):
    """The projector onto the range is not determined at a zero singular value."""
    a = with_values([2, 1, 0.5, 0], *shape)

    def leading(a):
        u, s, vh = np.linalg.svd(a, full_matrices=False)
        return np.sum(((u[:, :3] * s[:3]) @ vh[:3]).real)

    def whole(a):
        u, _, vh = np.linalg.svd(a, full_matrices=False)
        w = draw(*shape, seed=2)
        return np.sum((w * (u @ vh)).real)

    v, h = draw(*shape, seed=3), 1e-5
    expected = (leading(a + h * v) - leading(a - h * v)) / (2 * h)
    np.testing.assert_allclose(np.vdot(qad.grad(leading)(a), v).real, expected, rtol=1e-7)
    with pytest.raises(qad.QadError, match="funm_svd"):
        qad.grad(whole)(a)


def test_hermitian_functions_at_degenerate_spectra():
    def seen(a):
        w, v = np.linalg.eigh(herm(a))
        return np.sum((W * ((v * np.exp(w)) @ v.conj().mT)).real)

    def exponential(a):
        w, v = np.linalg.eigh(herm(a))
        return np.sum((W * ((apart(v) * np.exp(w)) @ v.conj().mT)).real)

    def right(a):
        return np.sum((W * la.funm_herm(np.exp, herm(a))).real)

    for w in ([1, 1, 1, 1], [1, 1, 2, 3], [-1, 0, 0, 1], [0, 0, 0, 0]):
        a = with_eigenvalues(w)
        np.testing.assert_allclose(qad.grad(seen)(a), qad.grad(right)(a), rtol=1e-12, atol=1e-12)
        with pytest.raises(qad.QadError, match="funm_herm"):
            qad.grad(exponential)(a)
        with pytest.raises(qad.QadError, match="funm_herm"):
            qad.jvp(exponential, (a,), (herm(draw(4, 4, seed=3)),))


def test_gradient_of_symmetric_functions_of_eigenvalues():
    a = with_eigenvalues([1, 1, 2, 3])
    np.testing.assert_allclose(qad.grad(lambda a: np.sum(np.linalg.eigvalsh(a) ** 3))(a), 3 * a @ a, atol=1e-12)


def test_message_names_the_batch_entry():
    a = np.stack([draw(4, 4), unitary(4)])[None]

    def loss(a):
        u, s, vh = np.linalg.svd(a)
        return np.sum((W * ((u * s[..., None, :]) @ vh)).real)

    with pytest.raises(qad.QadError, match=r"batch entry \(0, 1\)"):
        qad.grad(loss)(a)


def test_policy_warn():
    def loss(a):
        u, s, vh = qad.linalg.svd(a, degenerate="warn")
        return np.sum((W * ((apart(u) * s) @ vh)).real)

    with pytest.warns(RuntimeWarning, match="degenerate"):
        assert np.isfinite(qad.grad(loss)(unitary(4))).all()
    with pytest.raises(qad.QadError, match="degenerate="):
        qad.linalg.svd(unitary(4), degenerate="ignore")


GAUGE = {
    "svd U": lambda a: np.linalg.svd(a)[0][1, 1].real,
    "svd Vh": lambda a: np.linalg.svd(a)[2][1, 1].real * np.linalg.svd(a)[1][0],
    "eigh": lambda a: np.linalg.eigh(herm(a))[1][1, 1].imag,
    "small loss": lambda a: 1e-8 * np.linalg.svd(a)[0][1, 1].real,
}


@pytest.mark.parametrize("loss", GAUGE.values(), ids=GAUGE.keys())
def test_dependence_on_phases_raises(loss):
    with pytest.raises(qad.QadError, match="phase"):
        qad.grad(loss)(draw(4, 4))


def hidden(shape, values):
    """A matrix, and weights whose diagonal vanishes between its null vectors; s = 0 hides the rest."""
    a, w = with_values(values, *shape), draw(*shape, seed=7)
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    inner = u.conj().T @ w @ vh.conj().T
    return a, w - (u * np.where(s < 1e-11, np.diag(inner), 0)) @ vh


@pytest.mark.parametrize(
    "values", [[2, 1, 0, 0], [2, 0, 0, 0], [2, 1, 1e-14, 1e-16], [2, 1, 3e-13, 1e-13], [0, 0, 0, 0]]
)
@pytest.mark.parametrize("shape", [(4, 4), (5, 4), (4, 5)])
def test_products_with_zeros_give_themselves_away(shape, values):
    """The cotangents of the values are zero here, and those of their vectors are but for a mark."""
    a, w = hidden(shape, values)
    kept = int(np.sum(np.array(values) > 1e-11))

    def loss(a, f, k=4, seen=apart):
        u, s, vh = np.linalg.svd(a, full_matrices=False)
        return np.sum((w.conj() * ((seen(u)[:, :k] * f(s[:k])) @ vh[:k])).real)

    if kept < 3:
        np.testing.assert_allclose(qad.grad(loss)(a, lambda s: s, 4, lambda u: u), w, atol=1e-11)
    with pytest.raises(qad.QadError, match="funm_svd"):
        qad.grad(loss)(a, lambda s: s)
    cube = qad.grad(lambda a: np.sum((w.conj() * la.funm_svd(lambda s: s**3, a)).real))(a)
    np.testing.assert_allclose(qad.grad(loss)(a, lambda s: s**3), cube, atol=1e-11)
    if kept:
        expected = qad.grad(loss)(a, lambda s: s, kept)
        np.testing.assert_allclose(qad.grad(loss)(a, lambda s: np.where(s > 1e-10, s, 0)), expected, atol=1e-12)


def test_zero_values_are_marked_below_rounding():
    s = qad.vjp(lambda a: np.linalg.svd(a).S, np.diag([2.0, 0.0]))[0]
    assert 0 < s[1] < 1e-20
    assert qad.vjp(np.linalg.svdvals, np.diag([2.0, 0.0]))[0][1] == 0


def test_null_space_basis_raises():
    with pytest.raises(qad.QadError, match="null space"):
        qad.grad(lambda a: np.linalg.svd(a)[0][0, 3].real)(draw(5, 3))


def test_random_gauges_do_not_matter():
    """Where the loss is invariant, so is its gradient: here under phases of the vectors."""

    def loss(a, phases):
        u, s, vh = np.linalg.svd(a)
        u, vh = u * phases, phases.conj()[:, None] * vh
        return np.sum((W * ((u * np.exp(-s)) @ vh)).real) + np.sum(abs(u[0]) ** 2 * s)

    a = draw(4, 4)
    g = [qad.grad(loss)(a, np.exp(1j * draw(4, real=True, seed=seed))) for seed in range(3)]
    np.testing.assert_allclose(g[1], g[0], atol=1e-12)
    np.testing.assert_allclose(g[2], g[0], atol=1e-12)
