"""Functions of a matrix that are written by hand, as products of its factors: right at every gap, in every mode."""

import contextlib

import numpy as np
import pytest

import qad
from qad import linalg as la
from tests.linalg.draw import draw, herm
from tests.linalg.support.test_clusters import (
    GAPS,
    NESTS,
    D,
    E,
    X,
    _rebuilt,
    along,
    best,
    exponential,
    kept_exponential,
    near,
    off,
    weighed,
)  # fmt: skip


def thermal(a):
    """A loss that is no linear function of the product, with a normalisation that is made of values."""
    m = la.funm_herm(lambda w: np.exp(-0.3 * w), herm(a))
    return weighed(m / np.trace(m).real) ** 2


def by_hand(a):
    return weighed(_rebuilt(*np.linalg.eigh(herm(a))))


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
@pytest.mark.sampled(12)
def test_products_of_factors_by_hand_are_right_at_every_gap(pair, gap):
    f, right = pair
    a = near(gap)
    assert off(qad.grad(f)(a), qad.grad(right)(a)) < 1e-9
    assert abs(qad.jvp(f, (a,), (D,))[1] / qad.jvp(right, (a,), (D,))[1] - 1) < 1e-9
    assert off(along(f, a, D), along(right, a, D)) < 1e-9


@pytest.mark.parametrize("gap", [1e-7, 0.0])
@pytest.mark.parametrize("nest", MANY)
@pytest.mark.parametrize("name", BY_HAND)
@pytest.mark.sampled(8)
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
    rounding = np.finfo(float).eps / 1e-4  # of eigenvectors at this gap, which depends on the processor
    assert type(aux) is np.ndarray and off(found, qad.grad(exponential)(a)) < rounding
    jacobian = qad.jacobian(lambda t: np.linalg.eigvalsh(herm(a) + t * E))(0.0)
    assert np.allclose(jacobian, moved[0])
