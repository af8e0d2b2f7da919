"""Infinite states with charges: environments, densities and gradients are those of arrays; fermions."""

import numpy as np
import pytest

import qad
from qad import peps
from qad.core.errors import ArgumentError, ShapeError
from qad.mps.charges.quantities import Quantities
from qad.symmetric import Leg

NEEL = Quantities(("Sz",), (((0,), (-2,)), ((2,), (0,))))  # up on A, down on B
PARITY = Quantities(("fermions",), (((0,), (1,)),))
AB = ["AB", "BA"]


def spins(bond=None, dtype=float, seed=0):
    """A random state of spins with their charges, not far from the reference."""
    leg = Leg(bond or {-2: 1, 0: 1, 2: 1}, 1)
    sites = [
        near_reference((own, leg, leg, leg.conj(), leg.conj()), dtype, seed + i) for i, own in enumerate(NEEL.legs)
    ]
    return peps.PEPS(sites, AB, conserved=NEEL)


def drawn(legs, dtype, seed):
    x = qad.symmetric.random(legs, dtype=dtype, seed=seed)
    return x / x.norm()


def near_reference(legs, dtype, seed):
    """A random tensor beside the product of basis states from which charges are counted."""
    x = 0.5 * drawn(legs, dtype, seed)
    neutral = (x.charge,) * 5
    block = np.zeros_like(x.blocks()[neutral])
    block[0, 0, 0, 0, 0] = 1
    x = x + qad.symmetric.from_blocks({neutral: block}, legs)
    return x / x.norm()


def fermions(dtype=float, seed=0):
    """A random state of spinless fermions on one site, near to the empty lattice."""
    leg = Leg({0: 1, 1: 1}, 1, symmetry="fZ2")
    site = near_reference((PARITY.legs[0], leg, leg, leg.conj(), leg.conj()), dtype, seed)
    return peps.PEPS([site], conserved=PARITY, kind="fermion")


def p_wave(t=1.0, pairing=1.0, mu=2.0):
    """``-t c^+ c`` and ``p_x + i p_y`` pairing of neighbours."""
    terms = [peps.term(np.diag([0.0, -mu]), [(0, 0)])]
    for delta, there in ((pairing, (0, 1)), (1j * pairing, (1, 0))):
        h = np.zeros((4, 4), complex)
        h[1, 2] = h[2, 1] = -t
        h[3, 0], h[0, 3] = delta, np.conj(delta)
        terms.append(peps.term(h, [(0, 0), there]))
    return peps.Model(terms, kind="fermion")


def as_arrays(state):
    """The same state without charges, basis states in their usual order."""
    sites = zip(state.tensors, state.conserved.orders, strict=True)
    return peps.PEPS([x.to_dense()[np.argsort(order)] for x, order in sites], state.cell)


@pytest.mark.parametrize("dtype", [float, complex])
def test_energies_and_gradients_with_charges_are_those_of_arrays(dtype):
    state, model = spins(dtype=dtype), peps.heisenberg()
    dense = as_arrays(state)
    values, gradients = [], []
    for x in (state, dense):
        value, gradient = qad.value_and_grad(lambda x: peps.energy(x, model, chi=10))(x)
        values.append(value)
        gradients.append(gradient.tensors)
    np.testing.assert_allclose(*values, rtol=1e-9)
    for x, y, order in zip(*gradients, NEEL.orders, strict=True):
        kept = x.to_dense()[np.argsort(order)]
        np.testing.assert_allclose(kept, np.where(kept == 0, 0, y), atol=1e-7)


def test_densities_and_structure_factors_with_charges_are_those_of_arrays():
    state = spins({0: 1, 2: 1})
    dense = as_arrays(state)
    env, plain = (peps.environment(x, 10) for x in (state, dense))
    sites = [(0, 0), (0, 1)]
    rho, reference = peps.reduced_density(state, sites, env), peps.reduced_density(dense, sites, plain)
    order = np.ix_(*[np.argsort(NEEL.orders[i]) for i in (0, 1, 0, 1)])
    np.testing.assert_allclose(rho.to_dense()[order], reference, atol=1e-9)
    np.testing.assert_allclose(
        peps.local_expectations(state, "Sz", env), peps.local_expectations(dense, "Sz", plain), atol=1e-9
    )
    found = [peps.structure_factor(x, "Sz", (np.pi, np.pi), 10) for x in (state, dense)]
    np.testing.assert_allclose(*found, rtol=1e-7)
    np.testing.assert_allclose(*(peps.correlation_length(x) for x in (env, plain)), rtol=1e-6)
    levels = [peps.entanglement_spectrum(x, circumference=4)[:8] for x in (env, plain)]
    np.testing.assert_allclose(*levels, atol=1e-6)


@pytest.mark.parametrize("dtype", [float, complex])
def test_gradients_of_fermions_are_those_of_differences(dtype):
    state, model, step = fermions(dtype), p_wave(), 1e-4
    gradient = qad.grad(lambda x: peps.energy(x, model, chi=12))(state).tensors[0]
    change = fermions(dtype, seed=5).tensors[0]

    def energy(h):
        return peps.energy(peps.PEPS([state.tensors[0] + h * change], conserved=PARITY, kind="fermion"), model, 12)

    slope = (energy(step) - energy(-step)) / (2 * step)
    np.testing.assert_allclose(np.sum(gradient.data.conj() * change.data).real, slope, rtol=1e-6)


def plaquettes():
    """Four fermionic sites joined to a ring, and nothing between such rings: a state, and the same of one ring."""
    one, two = Leg({0: 1}, 1, symmetry="fZ2"), Leg({0: 1, 1: 1}, 1, symmetry="fZ2")
    conserved = Quantities(("fermions",), PARITY.charges * 4)
    inner = {"A": (one, one, two, two), "B": (one, two, two, one), "C": (two, one, one, two), "D": (two, two, one, one)}
    sites = [
        drawn((PARITY.legs[0], up, left, down.conj(), right.conj()), float, seed)
        for seed, (up, left, down, right) in enumerate(inner.values())
    ]
    return peps.PEPS(sites, ["AB", "CD"], conserved=conserved, kind="fermion")


def test_fermions_on_rings_are_those_of_jordan_and_wigner():
    state = plaquettes()
    env = peps.environment(state, chi=4)
    a, b, c, d = state.tensors
    psi = qad.symmetric.einsum("aijkl,bmlno,ckpqr,dnrst->abcdijmopqst", a, b, c, d)  # bonds of dimension 1 stay open
    psi = psi.to_dense().reshape((2,) * 4)
    psi = psi / np.linalg.norm(psi)
    lower, sign = np.array([[0.0, 1.0], [0.0, 0.0]]), np.diag([1.0, -1.0])

    def annihilates(i):
        found = np.eye(1)
        for j in range(4):
            found = np.kron(found, lower if i == j else sign if j < i else np.eye(2))
        return found

    hop = np.zeros((4, 4))
    hop[1, 2] = hop[2, 1] = 1.0
    places = [(0, 0), (0, 1), (1, 0), (1, 1)]
    for i, j in ((0, 1), (0, 2), (1, 3), (2, 3), (0, 3), (1, 2), (3, 0)):
        exact = annihilates(i).T @ annihilates(j)
        exact = psi.ravel() @ (exact + exact.T) @ psi.ravel()
        found = peps.expectation(state, peps.term(hop, [places[i], places[j]]), env)
        np.testing.assert_allclose(found, exact, atol=1e-12)


def test_states_with_charges_that_do_not_fit_are_refused():
    state = spins()
    with pytest.raises(ArgumentError, match="is for arrays"):
        peps.PEPS(state.tensors, AB, "c4v", NEEL)
    with pytest.raises(ArgumentError, match="site A is no neutral SymTensor"):
        peps.PEPS([x.conj() for x in state.tensors], AB, None, NEEL)
    with pytest.raises(ArgumentError, match="has the physical leg"):
        peps.PEPS(state.tensors[::-1], AB, None, NEEL)
    other = spins({0: 2, 2: 1}).tensors[1]
    with pytest.raises(ShapeError, match="leg of site"):
        peps.PEPS([state.tensors[0], other], AB, None, NEEL)
    with pytest.raises(ArgumentError, match="is of another cell, symmetry or bond"):
        peps.environment(as_arrays(state), 10, peps.environment(state, 10))
    with pytest.raises(ArgumentError, match="transfer operators of fermions are not diagonalised"):
        peps.correlation_length(peps.environment(fermions(), 10))
    with pytest.raises(ArgumentError, match="changes Sz by 1"):
        peps.expectation(state, peps.term(np.array([[0.0, 1.0], [1.0, 0.0]]), [(0, 0)]), peps.environment(state, 10))


def test_terms_of_fermions_may_name_their_sites_in_any_order():
    """Two filled states are made in the opposite order then, which changes a sign."""
    state, model, signs = fermions(complex), peps.fermions(1.0, delta=0.7, v=0.3), np.array([[1, 1], [1, -1]])
    back = [signs[..., None, None] * t.operator.transpose(1, 0, 3, 2) * signs for t in model.terms]
    turned = peps.Model([peps.term(h, t.sites[::-1]) for h, t in zip(back, model.terms, strict=True)], "fermion")
    env = peps.environment(state, 8, tol=1e-8)
    assert peps.expectation(state, turned, env) == pytest.approx(peps.expectation(state, model, env), abs=1e-12)
