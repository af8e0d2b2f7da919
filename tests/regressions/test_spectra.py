"""Second derivatives at nearly degenerate spectra: right, or refused at the order at which they cannot be right."""

import contextlib

import numpy as np
import pytest

import qad
from qad import linalg as la
from tests.linalg.draw import apart, draw, herm, unitary

GAPS = [1e-3, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-11, 1e-13, 0.0]
X, E = herm(draw(4, 4, seed=1)), herm(draw(4, 4, seed=2))
D = draw(4, 4, seed=5)


def weighed(p):
    return np.sum((X.conj() * p).real)


def near(gap):
    """A Hermitian matrix with two of its larger eigenvalues at this distance."""
    q = unitary(4)
    return herm((q * np.array([2, 2 + gap, 1, 0.5])) @ q.conj().T)


def onto(v):
    return v @ v.conj().mT


def kept(a):
    return weighed(la.funm_herm(lambda w: w > 1.5, herm(a)))


def best(a):
    return weighed(la.funm_svd(lambda s: np.where(s > 1.5, s, 0.0), a))


PROJECTORS = {
    "eigh": lambda a: weighed(onto(np.linalg.eigh(herm(a)).eigenvectors[:, 2:])),
    "svd": lambda a: weighed(onto(np.linalg.svd(herm(a)).U[:, :2])),
    "truncated_eigh": lambda a: weighed(onto(la.truncated_eigh(herm(a), 2)[1])),
    "truncated_svd": lambda a: weighed(onto(la.truncated_svd(herm(a), 2)[0])),
}
PRODUCTS = {
    "split": lambda a: weighed(np.matmul(*la.split(a, 2))),
    "funm_svd": best,
}


def exponential(a):
    return weighed(la.funm_herm(np.exp, herm(a)))


def thermal(a):
    """A loss that is no linear function of the product, with a normalisation that is made of values."""
    m = la.funm_herm(lambda w: np.exp(-0.3 * w), herm(a))
    return weighed(m / np.trace(m).real) ** 2


def kept_exponential(a):
    return weighed(la.funm_herm(lambda w: np.where(w > 1.5, np.exp(w), 0.0), herm(a)))


def by_hand(a):
    return weighed(_rebuilt(*np.linalg.eigh(herm(a))))


def _rebuilt(w, v):
    return (v * np.exp(w)) @ v.conj().mT


def _thermal(w, v):
    p = np.exp(-0.3 * w)
    return weighed((v * (p / np.sum(p))) @ v.conj().T) ** 2


def _eigh(f):
    return lambda a: f(*np.linalg.eigh(herm(a)))


def _svd(f):
    return lambda a: f(*np.linalg.svd(a))


def _truncated(f):
    return lambda a: f(*la.truncated_svd(a, 2)[:3])


def _tanh(a):
    return weighed(la.funm_svd(np.tanh, a))


BY_HAND = {  # each with the function of the matrix that it is
    "V f(w) V^H": (by_hand, exponential),
    "V diag(f(w)) V^H": (_eigh(lambda w, v: weighed(v @ np.diag(np.exp(w)) @ v.conj().T)), exponential),
    "V (f(w) V^H)": (_eigh(lambda w, v: weighed(v @ (np.exp(w)[:, None] * v.conj().T))), exponential),
    "einsum": (_eigh(lambda w, v: weighed(qad.einsum("ij,j,kj->ik", v, np.exp(w), v.conj()))), exponential),
    "np.einsum": (_eigh(lambda w, v: weighed(np.einsum("ij,j,kj->ik", v, np.exp(w), v.conj()))), exponential),
    "V f(w) (V^H x)": (
        _eigh(lambda w, v: weighed((v * np.exp(w)) @ (v.conj().T @ X))),
        lambda a: weighed(la.funm_herm(np.exp, herm(a)) @ X),
    ),
    "V ((x V)^H V) V^H": (
        _eigh(lambda w, v: weighed((v * np.exp(w)) @ ((v.conj().T @ X @ v) @ (v * np.sin(w)).conj().T))),
        lambda a: weighed(la.funm_herm(np.exp, herm(a)) @ X @ la.funm_herm(np.sin, herm(a))),
    ),
    "diagonal of V f(w) V^H": (
        _eigh(lambda w, v: np.sum(np.arange(4.0) * np.sum(qad.abs2(v) * np.exp(w), axis=1))),
        lambda a: np.sum(np.arange(4.0) * np.diag(la.funm_herm(np.exp, herm(a))).real),
    ),
    "thermal state": (_eigh(_thermal), thermal),
    "some columns": (_eigh(lambda w, v: weighed((v[:, 2:] * np.exp(w[2:])) @ v[:, 2:].conj().T)), kept_exponential),
    "a mask of values": (
        _eigh(lambda w, v: weighed((v * np.where(w > 1.5, np.exp(w), 0)) @ v.conj().T)), kept_exponential),
    "sum of f(w)": (_eigh(lambda w, v: np.sum(w[2:] ** 2)), lambda a: np.trace(
        la.funm_herm(lambda w: np.where(w > 1.5, w**2, 0.0), herm(a))).real),
    "truncated_eigh": (lambda a: weighed(_rebuilt(*la.truncated_eigh(herm(a), 2)[:2])), kept_exponential),
    "U f(S) V^H": (_svd(lambda u, s, vh: weighed((u * np.tanh(s)) @ vh)), _tanh),
    "U diag(f(S)) V^H": (_svd(lambda u, s, vh: weighed(u @ np.diag(np.tanh(s)) @ vh)), _tanh),
    "U (f(S) V^H)": (_svd(lambda u, s, vh: weighed(u @ (np.tanh(s)[:, None] * vh))), _tanh),
    "V f(S) U^H": (_svd(lambda u, s, vh: weighed((vh.conj().T * np.tanh(s)) @ u.conj().T)), lambda a: weighed(
        la.funm_svd(np.tanh, a).conj().T)),
    "U f(S) U^H": (_svd(lambda u, s, vh: weighed((u * s) @ u.conj().T)), lambda a: weighed(
        la.funm_herm(np.sqrt, a @ a.conj().T))),
    "V f(S) V^H": (_svd(lambda u, s, vh: weighed((vh.conj().T * s) @ vh)), lambda a: weighed(
        la.funm_herm(np.sqrt, a.conj().T @ a))),
    "U V^H": (_svd(lambda u, s, vh: weighed(D @ u @ vh)), lambda a: weighed(D @ la.polar(a)[0])),
    "truncated_svd": (_truncated(lambda u, s, vh: weighed((u * s) @ vh)), best),
    "some triples": (_svd(lambda u, s, vh: weighed((u[:, :2] * s[:2]) @ vh[:2])), best),
}  # fmt: skip

OUT_OF_SIGHT = {
    "eigh": lambda a: weighed(_rebuilt(*map(apart, np.linalg.eigh(herm(a))))),
    "eig": lambda a: _by_eig(herm(a)),
    "truncated_eigh": lambda a: weighed(_rebuilt(*map(apart, la.truncated_eigh(herm(a), 2)[:2]))),
    "truncated_svd": lambda a: weighed(_product(*map(apart, la.truncated_svd(a, 2)[:3]))),
}
RIGHT = {"eigh": exponential, "eig": exponential, "truncated_eigh": kept_exponential, "truncated_svd": best}


def _by_eig(a):
    w, v = np.linalg.eig(a)
    return np.sum((X.conj() * ((v * np.exp(w)) @ np.linalg.inv(v))).real)


def _product(u, s, vh):
    return (u * s) @ vh


def off(found, right):
    return np.abs(found - right).max() / np.abs(right).max()


def along(f, a, e=E):
    return qad.hvp(f, (a,), (e,))[0]


@pytest.mark.parametrize("gap", GAPS)
@pytest.mark.parametrize("f", PROJECTORS.values(), ids=PROJECTORS)
def test_projectors_with_the_pair_inside_are_right_at_every_gap(f, gap):
    a = near(gap)
    assert off(qad.grad(f)(a), qad.grad(kept)(a)) < 1e-12
    assert off(along(f, a), along(kept, a)) < 1e-9


@pytest.mark.parametrize("gap", GAPS)
@pytest.mark.parametrize("f", PRODUCTS.values(), ids=PRODUCTS)
def test_products_of_factors_that_are_functions_of_the_matrix_are_right_at_every_gap(f, gap):
    """Against the expansion of the projected matrix, ``P A`` with the projector P."""
    a, e = near(gap), draw(4, 4, seed=5)

    def reference(a):
        return weighed(la.funm_herm(lambda w: w > 2.25, a @ a.conj().T) @ a)

    assert off(qad.grad(f)(a), qad.grad(reference)(a)) < 1e-9
    assert off(along(f, a, e), along(reference, a, e)) < 1e-8


@pytest.mark.parametrize("gap", GAPS)
@pytest.mark.parametrize("name", OUT_OF_SIGHT)
def test_functions_of_the_factors_out_of_sight_are_right_or_refused(name, gap):
    f, right = OUT_OF_SIGHT[name], RIGHT[name]
    a = near(gap)
    if gap >= 1e-5:
        assert off(along(f, a), along(right, a)) < 1e-4
    else:
        with pytest.raises(qad.QadError, match=r"Use (qad\.linalg\.funm|expm)"):
            along(f, a)
    if gap >= 1e-9:  # at first order they go on to be right
        assert off(qad.grad(f)(a), qad.grad(right)(a)) < 1e-6


NESTS = {
    "hvp": lambda f, a: along(f, a, D),
    "hessian": lambda f, a: qad.hessian(lambda t: f(a + t * D))(0.0),
    "grad of grad": lambda f, a: qad.grad(lambda a: np.sum((D.conj() * qad.grad(f)(a)).real))(a),
    "grad of jvp": lambda f, a: qad.grad(lambda a: qad.jvp(f, (a,), (D,))[1])(a),
    "jvp of jvp": lambda f, a: qad.jvp(lambda a: qad.jvp(f, (a,), (D,))[1], (a,), (D,))[1],
    "jvp of grad": lambda f, a: qad.jvp(qad.grad(f), (a,), (D,))[1],
}


@pytest.mark.parametrize("gap", [1e-6, 1e-7, 1e-8, 1e-10])
@pytest.mark.parametrize("nest", NESTS.values(), ids=NESTS)
def test_every_nest_of_two_derivatives_refuses(nest, gap):
    with pytest.raises(qad.QadError, match="derivative of order 2"):
        nest(OUT_OF_SIGHT["eigh"], near(gap))


def frozen_elsewhere(f, a):
    """Recorded with a well separated spectrum, and with one that is as close."""
    for first in (0.3, 1e-9):
        program = qad.freeze(lambda a: along(f, a, D))
        program(near(first))
        found = program(a)
    return found


MANY = NESTS | {
    "vmap of hvp": lambda f, a: qad.vmap(lambda e: along(f, a, e))(np.stack([X, D]))[1],
    "hvp of vmap": lambda f, a: along(lambda a: qad.vmap(f)(a).sum(), np.stack([a, a]), np.stack([D, D]))[1],
    "frozen": frozen_elsewhere,
}
WHERE_CUT = {  # the place of a cut is a number, which a frozen program may not keep, and a mask one for each example
    ("some columns", "frozen"),
    ("a mask of values", "frozen"),
    ("a mask of values", "hvp of vmap"),
    ("sum of f(w)", "frozen"),
    ("some triples", "frozen"),
}


@pytest.mark.parametrize("gap", [1.0, 1e-2, 2e-3, 1e-3, *GAPS[1:], 1e-14])
@pytest.mark.parametrize("pair", BY_HAND.values(), ids=BY_HAND)
def test_products_of_factors_by_hand_are_right_at_every_gap(pair, gap):
    f, right = pair
    a = near(gap)
    assert off(qad.grad(f)(a), qad.grad(right)(a)) < 1e-9
    assert abs(qad.jvp(f, (a,), (D,))[1] / qad.jvp(right, (a,), (D,))[1] - 1) < 1e-9
    assert off(along(f, a, D), along(right, a, D)) < 1e-9


@pytest.mark.parametrize("gap", [1e-4, 1e-7, 0.0])
@pytest.mark.parametrize("nest", MANY)
@pytest.mark.parametrize("name", BY_HAND)
def test_products_of_factors_by_hand_are_right_in_every_nest(name, nest, gap):
    (f, right), a = BY_HAND[name], near(gap)
    expected = (NESTS["hvp"] if nest == "frozen" else MANY[nest])(right, a)
    if (name, nest) in WHERE_CUT:
        with contextlib.suppress(qad.QadError):
            assert off(MANY[nest](f, a), expected) < 1e-4
    else:
        assert off(MANY[nest](f, a), expected) < 1e-9


def test_real_matrices_too():
    q, x, e = np.linalg.qr(draw(4, 4, real=True))[0], draw(4, 4, real=True, seed=1), draw(4, 4, real=True, seed=2)
    for gap in GAPS:
        a = (q * np.array([2, 2 + gap, 1, 0.5])) @ q.T

        def rebuilt(a):
            w, v = np.linalg.eigh((a + a.T) / 2)
            return np.sum(x * ((v * np.exp(w)) @ v.T))

        found = along(rebuilt, a, e)
        assert found.dtype == float
        assert off(found, along(lambda a: np.sum(x * la.funm_herm(np.exp, (a + a.T) / 2)), a, e)) < 1e-9


def test_another_use_of_the_factors_keeps_its_own_bound():
    a = near(1e-8)

    def both(a):
        w, v = np.linalg.eigh(herm(a))
        return weighed((v * np.exp(w)) @ v.conj().T) + qad.abs2(v[0, 3])

    with pytest.raises(qad.QadError, match="derivative of order 2"):
        along(both, a)

    def whole(a):
        w, v = np.linalg.eigh(herm(a))
        return weighed((v * np.exp(w)) @ v.conj().T) + w[0]

    right = along(exponential, a) + along(lambda a: np.linalg.eigvalsh(herm(a))[0], a)
    assert off(along(whole, a), right) < 1e-6


def test_a_cut_through_the_pair_is_refused():
    def cut(a):
        w, v = np.linalg.eigh(herm(a))
        return weighed((v[:, 3:] * np.exp(w[3:])) @ v[:, 3:].conj().T)

    for gap in (1e-7, 1e-9, 0.0):
        with pytest.raises(qad.QadError, match="funm_herm"):
            along(cut, near(gap))
    with pytest.raises(qad.QadError, match="funm_herm"):
        along(lambda a: np.sum(np.linalg.eigvalsh(herm(a))[3:] ** 2), near(0.0))


def test_functions_that_depend_on_another_tensor_are_refused_or_right():
    """The derivative for the other one is not lost."""

    def f(a, t):
        w, v = np.linalg.eigh(herm(a))
        return weighed((v * np.exp(t * w)) @ v.conj().T)

    a = near(1e-4)
    right = qad.grad(lambda t: weighed(la.funm_herm(np.exp, t * herm(a))))(0.5)
    assert abs(qad.grad(lambda t: f(a, t))(0.5) / right - 1) < 1e-12
    assert abs(qad.grad(f, argnums=1)(a, 0.5) / right - 1) < 1e-12


def test_writes_into_factors_and_into_operands():
    a, x = near(1e-9), np.array(X)

    def f(a):
        w, v = np.linalg.eigh(herm(a))
        left = x @ v
        x[:] = 0.0
        return weighed((left * np.exp(w)) @ v.conj().T)

    found = qad.grad(f)(a)
    x[:] = X
    assert off(found, qad.grad(lambda a: weighed(X @ la.funm_herm(np.exp, herm(a))))(a)) < 1e-12

    def g(a):
        w, v = np.linalg.eigh(herm(a))
        w[:] = 2.0
        return weighed((v * w) @ v.conj().T)

    assert np.abs(qad.grad(g)(near(1e-4))).max() < 1e-9


def test_factors_that_leave_a_transform():
    a = near(1e-4)
    value, moved = qad.jvp(lambda a: tuple(np.linalg.eigh(herm(a))), (a,), (E,))
    plain = np.linalg.eigh(herm(a))
    assert np.allclose(value[0], plain[0]) and np.allclose(value[1], plain[1])
    assert np.allclose(moved[0], np.diag(plain[1].conj().T @ E @ plain[1]).real)
    assert type(qad.vmap(lambda a: np.linalg.eigh(herm(a))[0])(np.stack([a, a]))) is np.ndarray
    found, aux = qad.grad(
        lambda a: (weighed(_rebuilt(*np.linalg.eigh(herm(a)))), np.linalg.eigh(herm(a))[0]), has_aux=True
    )(a)
    assert type(aux) is np.ndarray and off(found, qad.grad(exponential)(a)) < 1e-12
    jacobian = qad.jacobian(lambda t: np.linalg.eigvalsh(herm(a) + t * E))(0.0)
    assert np.allclose(jacobian, moved[0])


def test_a_batch_is_refused_by_its_worst_entry():
    f, batch = OUT_OF_SIGHT["eigh"], np.stack([near(0.5), near(1e-8)])
    assert np.isfinite(qad.vmap(lambda a: along(f, a))(np.stack([near(0.5), near(0.2)]))).all()
    with pytest.raises(qad.QadError, match=r"batch entry \(1,\)"):
        qad.vmap(lambda a: along(f, a))(batch)


def test_a_loss_that_is_stationary_in_a_pair_is_not_taken_for_one_that_ignores_it():
    """``|V_00|^2`` at a diagonal matrix: its slope along the turn of a pair vanishes, its curvature does not."""

    def f(a):
        return qad.abs2(np.linalg.eigh(herm(a)).eigenvectors[0, 0])

    for gap in (1e-7, 1e-9, 1e-12, 0.0):
        with pytest.raises(qad.QadError, match="funm_herm"):
            along(f, np.diag([1.0, 1.0 + gap, 2.0]), np.ones((3, 3)))


def test_an_even_function_of_a_pair_around_zero_is_not_taken_for_a_constant():
    def f(a):
        w, v = np.linalg.eigh(herm(a))
        return weighed((apart(v) * np.cos(w)) @ v.conj().T)

    q = unitary(4)
    for gap in (1e-7, 1e-9, 1e-11):
        a = herm((q * np.array([-gap, gap, 1, 2])) @ q.conj().T)
        with pytest.raises(qad.QadError, match="funm_herm"):
            along(f, a)


def test_sums_of_functions_of_the_values():
    for gap in (1e-4, 1e-7, 1e-9, 1e-10):
        a = near(gap)
        found = along(lambda a: np.sum(np.linalg.eigvalsh(herm(a)) ** 3), a)
        assert off(found, 3 * (a @ E + E @ a)) < 1e-5
        found = along(lambda a: np.sum(np.linalg.svdvals(a) ** 4), a)
        right = along(lambda a: np.sum(qad.abs2(a.conj().T @ a)), a)
        assert off(found, right) < 1e-5


@pytest.mark.parametrize("gap", [1e-6, 1e-9, 0.0])
def test_a_sum_of_kept_levels_is_right_at_every_gap(gap):
    def f(a):
        return np.linalg.eigvalsh(herm(a))[2:].sum()

    a = near(gap)
    right = along(lambda a: np.trace(la.funm_herm(lambda w: np.where(w > 1.5, w, 0.0), herm(a))).real, a)
    assert off(along(f, a), right) < 1e-9


def test_decaying_singular_values_are_not_refused():
    """Small gaps among small values: their vectors weigh as little, and so does rounding."""
    values = np.array([1, 1e-2, 1e-4, 1e-6, 1e-7, 1e-8])
    u, v = (np.linalg.qr(draw(6, 6, seed=seed))[0] for seed in (3, 4))
    a, e, x = (u * values) @ v, draw(6, 6, seed=5), draw(6, 6, seed=6)

    def f(a):
        u, s, vh = np.linalg.svd(a)
        return np.sum((x.conj() * ((u * s**3) @ vh)).real)

    right = along(lambda a: np.sum((x.conj() * la.funm_svd(lambda s: s**3, a)).real), a, e)
    assert off(along(f, a, e), right) < 1e-7


def test_single_precision_has_wider_gaps():
    f, a = OUT_OF_SIGHT["eigh"], near(1e-3).astype(np.complex64)
    with pytest.raises(qad.QadError, match="derivative of order 2"):
        along(f, a, E.astype(np.complex64))
    assert off(along(PROJECTORS["eigh"], a, E.astype(np.complex64)), along(kept, near(1e-3))) < 1e-4


def test_eigenvalues_near_a_defective_matrix():
    """``[[0, 1], [d, 0]]`` has the eigenvalues ±sqrt(d), conditioned as badly as they are close."""
    direction = np.array([[0.0, 0.0], [1.0, 0.0]])

    def level(a):
        w = np.linalg.eigvals(a)
        return w.real[np.argmax(qad.extend.stack_of(w).real)]

    for d in (1e-2, 1e-6, 1e-10):
        point = np.array([[0.0, 1.0], [d, 0.0]])
        found = np.sum(qad.grad(level)(point) * direction)
        assert abs(found * 2 * np.sqrt(d) - 1) < 1e-4
    with pytest.raises(qad.QadError, match="expm"):
        qad.grad(level)(np.array([[0.0, 1.0], [1e-15, 0.0]]))


def test_the_nuclear_norm_at_a_value_that_is_small_but_not_zero():
    u, v = np.linalg.qr(draw(3, 3, real=True, seed=1))[0], np.linalg.qr(draw(3, 3, real=True, seed=2))[0]

    def gradient(smallest):
        return qad.grad(lambda a: np.linalg.norm(a, "nuc"))((u * np.array([1, 0.5, smallest])) @ v)

    np.testing.assert_allclose(gradient(1e-9), u @ v, atol=1e-6)
    np.testing.assert_allclose(gradient(0.0), u[:, :2] @ v[:2], atol=1e-12)
    with pytest.raises(qad.QadError, match="zero"):
        gradient(5e-13)
