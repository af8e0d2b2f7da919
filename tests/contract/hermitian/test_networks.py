"""``einsum(..., hermitian=True)`` of networks that are no form, and of forms in disguise: right or refused."""

import numpy as np
import pytest

import qad
from qad.core.errors import CheckError


def gaussian(rng, *shape, kind=complex):
    x = rng.standard_normal(shape)
    return x + 1j * rng.standard_normal(shape) if kind is complex else x


def form(x, h, **options):
    return qad.einsum("i,ij,j->", x.conj(), h, x, hermitian=True, **options)


RNG = np.random.default_rng(0)
X, ANY = gaussian(RNG, 3), gaussian(RNG, 3, 3)
HERMITIAN = ANY + ANY.conj().T


@pytest.mark.parametrize("kind", [complex, float])
def test_an_operator_that_is_not_hermitian_is_refused_by_the_gradient(kind):
    x, operator = (X, ANY) if kind is complex else (X.real, ANY.real)
    with pytest.raises(CheckError, match="not real|not conjugate"):
        qad.grad(form)(x, operator)


def test_a_value_that_is_not_real_is_refused_without_a_gradient():
    with pytest.raises(CheckError, match="not real"):
        form(X, ANY)
    with pytest.raises(CheckError, match="not real"):
        qad.jvp(lambda x: form(x, ANY), (X,), (X,))
    with pytest.raises(CheckError, match="not real"):
        qad.vmap(form, in_axes=(None, 0))(X, np.stack([HERMITIAN, ANY]))


def test_a_value_that_vanishes_but_for_rounding_is_real():
    x = np.array([0.3 + 0.1j, 0.3 + 0.1j])
    h = np.diag([1.0, -1.0]) + np.array([[0, 0.7j], [-0.7j, 0]])
    assert abs(form(np.exp(0.3j) * x, h)) < 1e-15


def test_legs_of_the_operator_in_the_wrong_order_are_refused():
    h = HERMITIAN + 0.3 * np.diag([0, 0, 1j])
    with pytest.raises(CheckError):
        qad.grad(form)(X, h)
    crossed = gaussian(RNG, 2, 2, 2, 2)  # (ket, ket, bra, bra)
    crossed = crossed + crossed.transpose(2, 3, 0, 1).conj()
    y = gaussian(RNG, 2, 2)
    right = qad.grad(lambda y: qad.einsum("st,stuv,uv->", y, crossed, y.conj(), hermitian=True))(y)
    np.testing.assert_allclose(right, 2 * np.einsum("st,stuv->uv", y, crossed), rtol=1e-12)
    with pytest.raises(CheckError):
        qad.grad(lambda y: qad.einsum("st,stuv,vu->", y, crossed, y.conj(), hermitian=True))(y)


def test_one_example_of_a_batch_of_operators_is_enough_for_a_refusal():
    h = np.stack([1e9 * HERMITIAN, HERMITIAN])
    value = qad.grad(lambda x: qad.einsum("i,bij,j->b", x.conj(), h, x, hermitian=True).sum())
    np.testing.assert_allclose(value(X), 2 * h.sum(0) @ X, rtol=1e-12)
    h[1] = ANY
    with pytest.raises(CheckError):
        value(X)
    with pytest.raises(CheckError):
        qad.vmap(qad.grad(form), in_axes=(None, 0))(X, np.stack([HERMITIAN, ANY]))


def test_a_proof_belongs_to_the_content_of_the_constants():
    h = HERMITIAN.copy()
    for _ in range(2):
        np.testing.assert_allclose(qad.grad(form)(X, h), 2 * HERMITIAN @ X, rtol=1e-12)
    h[0, 1] += 1e-3
    for _ in range(2):
        with pytest.raises(CheckError):
            qad.grad(form)(X, h)
    h[0, 1] -= 1e-3
    np.testing.assert_allclose(qad.grad(form)(X, h), 2 * HERMITIAN @ X, rtol=1e-12)


def test_the_point_of_the_gradient_does_not_matter():
    """In a sector in which the operator happens to be Hermitian, the network is no form either."""
    h = HERMITIAN.copy()
    h[2, 0] += 1.0
    with pytest.raises(CheckError):
        qad.grad(form)(np.array([0, 1.0 + 1j, 0]), h)


def test_a_frozen_form_is_proved_for_every_operator_that_it_is_given():
    frozen = qad.freeze(qad.value_and_grad(form))
    for scale in (1.0, 2.0):
        np.testing.assert_allclose(frozen(X, scale * HERMITIAN)[1], 2 * scale * HERMITIAN @ X, rtol=1e-12)
    with pytest.raises(CheckError):
        frozen(X, ANY)
    np.testing.assert_allclose(frozen(X, HERMITIAN)[1], 2 * HERMITIAN @ X, rtol=1e-12)
    batched = qad.freeze(qad.vmap(qad.grad(form), in_axes=(None, 0)))
    np.testing.assert_allclose(batched(X, HERMITIAN[None])[0], 2 * HERMITIAN @ X, rtol=1e-12)
    with pytest.raises(CheckError):
        batched(X, ANY[None])


@pytest.mark.parametrize("sites", [3, pytest.param(400, marks=pytest.mark.slow)])
def test_an_operator_that_is_hermitian_as_a_whole(sites):
    """The tensors of the Heisenberg chain, S+S- + S-S+, are not Hermitian one by one; 400 sites leave no range."""
    H = qad.mps.heisenberg(sites)
    psi = qad.mps.MPS.random(sites, 3, seed=1)
    bonds = [[("k", i), ("s", i), ("k", i + 1)] for i in range(sites)]
    bras = [[("b", i), ("t", i), ("b", i + 1)] for i in range(sites)]
    middle = [[("w", i), ("w", i + 1), ("t", i), ("s", i)] for i in range(sites)]
    names = {label: n for n, label in enumerate(dict.fromkeys(x for t in (*bonds, *bras, *middle) for x in t))}
    order = [n for site in range(sites) for n in (site, sites + site, 2 * sites + site)]
    path = [(0, 1)] + [(0, len(order) - 2 - k) for k in range(len(order) - 2)]

    def energy(tensors, operators):
        operands = [*tensors, *[t.conj() for t in tensors], *operators]
        terms = [[names[x] for x in t] for t in (*bonds, *bras, *middle)]
        flat = [part for n in order for part in (operands[n], terms[n])]
        return qad.einsum(*flat, [], hermitian=True, optimize=path if sites > 50 else "auto")

    found = qad.grad(lambda tensors: energy(tensors, H.tensors))(list(psi))
    wanted = qad.grad(lambda psi: qad.mps.expectation(psi, H).real)(psi)
    for one, two in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, two, atol=1e-10 * sites)
    operators = list(H.tensors)
    operators[sites // 2] = operators[sites // 2] + 1e-3 * np.eye(2)[::-1] * np.array([[0, 1], [0, 0]])
    with pytest.raises(CheckError):
        qad.grad(lambda tensors: energy(tensors, operators))(list(psi))


@pytest.mark.parametrize("seed", range(60))
def test_random_networks_are_right_or_refused(seed):
    """Random sandwiches of two sites in random gauges, with every order of legs, some of them forms."""
    rng = np.random.default_rng(seed)
    kind = [complex, float][seed % 2]
    a, b = gaussian(rng, 2, 3, kind=kind), gaussian(rng, 3, 2, kind=kind)  # kets ab, bc
    gauge = gaussian(rng, 2, 2, kind=kind)
    one, two = gaussian(rng, 2, 2, 2, kind=kind), gaussian(rng, 2, 2, 2, kind=kind)  # (w, bra, ket)
    if rng.random() < 0.7:  # Hermitian as a sum over w, hidden by the gauge
        one, two = one + one.conj().swapaxes(1, 2), two + two.conj().swapaxes(1, 2)
        one, two = np.tensordot(gauge, one, (0, 0)), np.tensordot(np.linalg.inv(gauge), two, (1, 0))
    legs = "wxs,wyt" if rng.random() < 0.8 else "wsx,wyt"

    def network(a, b, **options):
        return qad.einsum(f"sk,kt,{legs},xl,ly->", a, b, one, two, a.conj(), b.conj(), **options)

    true = np.einsum("wij,wkl->ikjl", *(np.einsum("wxs->wxs" if legs[0:3] == "wxs" else "wsx->wxs", one), two))
    true = true.reshape(4, 4)
    is_form = np.abs(true - true.conj().T).max() < 1e-9 * np.abs(true).max()
    if not is_form:
        with pytest.raises(CheckError):
            qad.grad(lambda a, b: network(a, b, hermitian=True), argnums=(0, 1))(a, b)
        return
    wanted = qad.grad(lambda a, b: network(a, b).real, argnums=(0, 1))(a, b)
    found = qad.grad(lambda a, b: network(a, b, hermitian=True), argnums=(0, 1))(a, b)
    for x, y in zip(found, wanted, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-10, atol=1e-10)
