"""Chains with directions of a bond that carry no weight: derivatives are right, or refused at their order."""

from functools import partial

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError
from qad.mps import MPS

SHAPES = [(1, 2, 3), (3, 2, 4), (4, 2, 3), (3, 2, 1)]


def chain(rng, dtype, dead, shapes=SHAPES):
    """A random chain; of every (site, leg, k) in `dead` the last k entries of a bond leg are zero."""
    tensors = [rng.standard_normal(shape).astype(dtype) for shape in shapes]
    if dtype is complex:
        tensors = [t + 1j * rng.standard_normal(t.shape) for t in tensors]
    for site, leg, k in dead:
        np.moveaxis(tensors[site], leg, 0)[-k:] = 0
    return tensors


def dense(psi):
    x = psi.tensors[0]
    for tensor in psi.tensors[1:]:
        x = np.tensordot(x, tensor, 1)
    return x.reshape(x.shape[1:-1])


def purity(psi, bond):
    """sum p**2 of a bond, of the dense state."""
    m = dense(psi).reshape(2**bond, -1)
    rho = m @ m.conj().T
    return np.trace(rho @ rho).real / np.trace(rho).real ** 2


def hvp(f, psi, d):
    return qad.hvp(f, (psi,), (d,))[0]


def grad_of_grad(f, psi, d):
    def slope(p):
        return sum(np.sum(x * y).real for x, y in zip(qad.grad(f)(p), d, strict=True))

    return qad.grad(slope)(psi)


def jvp_of_jvp(f, psi, d):
    def slope(p):
        return qad.jvp(f, (p,), (d,))[1]

    return [qad.jvp(slope, (psi,), (d,))[1]]


WAYS = [hvp, grad_of_grad, jvp_of_jvp]
DEAD = {
    "columns": [(0, 2, 2)],
    "rows": [(2, 0, 3)],
    "both sides": [(1, 2, 3), (2, 0, 2)],
    "two bonds": [(0, 2, 2), (1, 2, 3), (3, 0, 1)],
}
FUNCTIONS = {
    "schmidt_values": (lambda p, bond: np.sum(qad.mps.schmidt_values(p, bond) ** 4), purity),
    "entropy": (
        lambda p, bond: qad.mps.entanglement_entropy(p, bond, order=2),
        lambda p, bond: -np.log(purity(p, bond)),
    ),
}


MISSED = "a second derivative through the canonical form would miss them"


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("dead", ["nothing", *DEAD])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_of_entanglement(name, dead, dtype, way):
    """A dead direction may be filled, and its part of the second derivative was missing."""
    rng = np.random.default_rng(3)
    psi, d = MPS(chain(rng, dtype, DEAD.get(dead, []))), MPS(chain(rng, dtype, []))
    f, exact = FUNCTIONS[name]
    for bond in (1, 2, 3):
        ways = (lambda g: qad.grad(g)(psi), lambda g: way(g, psi, d))
        for derivative in ways if dead == "nothing" else ways[:1]:
            found, right = (derivative(partial(g, bond=bond)) for g in (f, exact))
            for x, y in zip(found, right, strict=True):
                np.testing.assert_allclose(x, y, atol=1e-9 * max(1, np.abs(y).max()))
        if dead != "nothing":
            with pytest.raises(ArgumentError, match=MISSED):
                way(partial(f, bond=bond), psi, d)


NOT_SMOOTH = {
    "entropy": lambda p: qad.mps.entanglement_entropy(p, 2),
    "entropy of order 1/2": lambda p: qad.mps.entanglement_entropy(p, 2, order=0.5),
    "mutual information": lambda p: qad.mps.mutual_information(p, [0], [1, 2]),
    "negativity": lambda p: qad.mps.negativity(p, [0], [1]),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", NOT_SMOOTH)
def test_what_has_no_second_derivative_is_refused(name, way):
    """Probabilities that grow from zero: t**2 log t, or an absolute value."""
    rng = np.random.default_rng(3)
    psi, d = MPS(chain(rng, float, [(0, 2, 2), (1, 2, 3)])), MPS(chain(rng, float, []))
    qad.grad(NOT_SMOOTH[name])(psi)
    refusal = MISSED if name.startswith("entropy") else "has no second derivative here"
    with pytest.raises(ArgumentError, match=refusal):
        way(NOT_SMOOTH[name], psi, d)


@pytest.mark.parametrize("name", NOT_SMOOTH)
def test_where_all_is_filled_they_are_right(name):
    rng = np.random.default_rng(3)
    shapes = [(1, 2, 2), (2, 2, 4), (4, 2, 2), (2, 2, 1)]
    psi, d = MPS(chain(rng, float, [], shapes)), MPS(chain(rng, float, [], shapes))
    found = jvp_of_jvp(NOT_SMOOTH[name], psi, d)[0]
    slopes = [qad.jvp(NOT_SMOOTH[name], (moved(psi, d, t),), (d,))[1] for t in (1e-5, -1e-5)]
    np.testing.assert_allclose(found, (slopes[0] - slopes[1]) / 2e-5, rtol=1e-5, atol=1e-7)


def moved(psi, d, t):
    return MPS([x + t * y for x, y in zip(psi, d, strict=True)])


def energy_of(psi):
    return qad.mps.energy(psi, qad.mps.ising(4, 0.7))


FORMS = {"canonicalize": lambda p: p.canonicalize(1), "truncate": lambda p: p.truncate(cutoff=1e-13)[0]}


@pytest.mark.parametrize("form", FORMS)
def test_canonical_forms_know_what_they_miss(form):
    """Sides of equal rank that continue different directions; and what only second derivatives see."""
    rng = np.random.default_rng(3)
    tensors = chain(rng, float, [(0, 2, 1)], [(1, 2, 2), (2, 2, 2), (2, 2, 2), (2, 2, 1)])
    tensors[1][1] = tensors[1][0]
    psi = MPS(tensors)
    with pytest.raises(ArgumentError, match="a derivative through the canonical form would miss them"):
        qad.grad(lambda p: energy_of(FORMS[form](p)))(psi)
    twice = MPS.random(n=4, bond=1, dtype=float, seed=1)
    twice = twice + twice
    found = qad.grad(lambda p: energy_of(FORMS[form](p)))(twice)
    for x, y in zip(found, qad.grad(energy_of)(twice), strict=True):
        np.testing.assert_allclose(x, y, atol=1e-12)
    with pytest.raises(ArgumentError, match=MISSED):
        hvp(lambda p: energy_of(FORMS[form](p)), twice, twice)


def applied(x, gate, sites):
    """The energy of a dense state after a gate."""
    x = np.tensordot(gate.reshape(2, 2, 2, 2), x, ((2, 3), sites))
    x, H = np.moveaxis(x, (0, 1), sites).reshape(-1), qad.mps.ising(4, 0.7).to_dense()
    return (x @ H @ x) / (x @ x)


@pytest.mark.parametrize("rank", [1, 4])
@pytest.mark.parametrize("sites", [(1, 2), (0, 2)])
@pytest.mark.parametrize("dead", [[], [(1, 2, 3)], [(2, 0, 3)]], ids=["full", "columns", "rows"])
def test_gates(dead, sites, rank):
    """Of an operator of low rank, or a dead bond, the first derivative missed what one side alone continues."""
    rng = np.random.default_rng(3)
    psi, d = MPS(chain(rng, float, dead)), MPS(chain(rng, float, []))
    gate = rng.standard_normal((4, rank)) @ rng.standard_normal((rank, 4))
    if rank == 1:
        gate = np.kron(gate[:2, :2], gate[2:, 2:])
    ways = {
        "the state": [lambda p: energy_of(qad.mps.apply(p, gate, sites)), lambda p: applied(dense(p), gate, sites)],
        "the gate": [lambda g: energy_of(qad.mps.apply(psi, g, sites)), lambda g: applied(dense(psi), g, sites)],
    }
    for (f, exact), at, along in zip(ways.values(), (psi, gate), (d, gate.T.copy()), strict=True):
        for derivative in (lambda h: qad.grad(h)(at), lambda h: qad.hvp(h, (at,), (along,))[0]):  # noqa: B023
            right = derivative(exact)
            try:
                found = derivative(f)
            except ArgumentError as error:
                assert "that carry no weight" in str(error)  # noqa: PT017
                continue
            for x, y in zip(found, right, strict=True):
                np.testing.assert_allclose(x, y, atol=1e-9 * max(1, np.abs(y).max()))


def test_a_mixed_derivative_is_of_second_order():
    rng, f = np.random.default_rng(3), FUNCTIONS["schmidt_values"][0]
    a, b, c, d = chain(rng, float, DEAD["two bonds"])
    with pytest.raises(ArgumentError, match=MISSED):
        qad.jacobian(lambda y: qad.grad(lambda x: f(MPS([x, b, y, d]), 2))(a))(c)


def test_chains_with_charges_have_second_derivatives():
    psi = MPS.random(n=6, bond=4, conserve="Sz", dtype=float)
    psi = psi + psi
    f = lambda p: qad.mps.entanglement_entropy(p, 3, order=2)  # noqa: E731
    np.testing.assert_allclose(qad.grad(f)(psi)[0].to_dense(), qad.grad(f)(psi.without_symmetry())[0], atol=1e-12)
    with pytest.raises(ArgumentError, match=MISSED):
        hvp(f, psi, psi)
    psi, moved = (MPS.random(n=6, bond=4, conserve="Sz", dtype=float, seed=seed) for seed in (0, 3))
    found = hvp(f, psi, moved)
    expected = hvp(f, psi.without_symmetry(), moved.without_symmetry())
    for one, two in zip(found.without_symmetry(), expected, strict=True):
        np.testing.assert_allclose(one, two, atol=1e-10)


def test_the_norm_of_nothing():
    """Its slope is zero, as that of np.linalg.norm; it was NaN."""
    zero = 0 * MPS.random(n=4, bond=2, dtype=float)
    assert all((t == 0).all() for t in qad.grad(qad.mps.norm)(zero))
    with pytest.raises(ArgumentError, match="no second derivative at zero"):
        hvp(qad.mps.norm, zero, zero)
    np.testing.assert_array_equal(qad.jvp(qad.mps.norm, (zero,), (zero,))[1], 0)
