"""Models of other lattices against sums over the bonds that geometry gives."""

import numpy as np
import pytest

import qad
from qad import peps
from qad.core.errors import ShapeError
from tests.peps.fermions import dense, lowering

# Of each lattice: its translations to the right and down, and the places of the sites that repeat.
DOWN = np.array([0.5, -np.sqrt(0.75)])  # at 60 degrees to the one to the right
LATTICES = {
    "triangular": (np.array([1.0, 0]), np.array([-0.5, -np.sqrt(0.75)]), [np.zeros(2)]),
    "honeycomb": (3**0.5 * np.array([1.0, 0]), 3**0.5 * DOWN, [np.zeros(2), np.array([np.sqrt(0.75), -0.5])]),
    "kagome": (2 * np.array([1.0, 0]), 2 * DOWN, [np.zeros(2), np.array([1.0, 0]), DOWN]),
}
COORDINATION = {"triangular": 6, "honeycomb": 3, "kagome": 4}


def bonds_of(right, down, places):
    """Neighbours of the sites of one cell: pairs (site, site, vector between cells), each bond twice."""
    found = []
    for a, at in enumerate(places):
        for row in range(-2, 3):
            for column in range(-2, 3):
                for b, other in enumerate(places):
                    if abs(np.linalg.norm(other + row * down + column * right - at) - 1) < 1e-9:
                        found.append((a, b))
    return found


@pytest.mark.parametrize("name", LATTICES)
def test_energies_of_products(name):
    rng = np.random.default_rng(0)
    places, (h, v) = LATTICES[name][2], (rng.standard_normal((2, 4, 4)))
    bond = h + h.T
    swapped = bond.reshape(2, 2, 2, 2).transpose(1, 0, 3, 2).reshape(4, 4)
    bond = bond + swapped
    spins = [x / np.linalg.norm(x) for x in v[: len(places), :2]]
    joined = spins[0]
    for x in spins[1:]:
        joined = np.kron(joined, x)
    state = peps.PEPS([joined.reshape(-1, 1, 1, 1, 1)])
    pairs = bonds_of(*LATTICES[name])
    assert len(pairs) == COORDINATION[name] * len(places)
    expected = sum(np.kron(spins[a], spins[b]) @ bond @ np.kron(spins[a], spins[b]) for a, b in pairs) / 2
    assert peps.energy(state, getattr(peps, name)(bond), 1) == pytest.approx(expected, abs=1e-12)


def test_three_directions_of_the_honeycomb():
    spins = np.random.default_rng(1).standard_normal((2, 2))
    a, b = (x / np.linalg.norm(x) for x in spins)
    state = peps.PEPS([np.kron(a, b).reshape(-1, 1, 1, 1, 1)])
    pauli = [np.array([[0, 1], [1, 0]]) / 2, np.diag([1.0, -1.0]) / 2]
    xx, zz = ((a @ s @ a) * (b @ s @ b) for s in pauli)
    assert peps.energy(state, peps.kitaev(0.3, 0.7, 1.1), 1) == pytest.approx(-0.3 * xx - 1.1 * zz, abs=1e-13)
    slope = qad.grad(lambda j: peps.energy(state, peps.kitaev(j, 0.7, 1.1), 1))(0.3)
    assert slope == pytest.approx(-xx, abs=1e-13)


def test_exact_energy_of_dimers():
    """Kitaev's model with one kind of bond is solved by pairs."""
    found = peps.ground_state(peps.kitaev(0.0, 0.0, 1.0), bond=1, chi=1, seed=0)
    assert found.energy == pytest.approx(-0.25, abs=1e-9)


def test_a_bond_that_is_none():
    with pytest.raises(ShapeError, match="sites of dimension 2, not of shape"):
        peps.honeycomb(np.eye(9), kind="fermion")
    with pytest.raises(ShapeError, match=r"\(d\^2, d\^2\)"):
        peps.kagome(np.eye(3))


def test_fermions_on_the_honeycomb():
    """Eight modes, two of which are a site, against their matrices with strings; bonds of three strengths."""
    hop = peps.fermions(1.0).terms[0].operator
    model = peps.honeycomb(hop, 2 * hop, 3 * hop, kind="fermion")
    assert model.kind.name == "pair of fermion" == qad.mps.site("pair of fermion").name
    c = lowering("C", ["fermion"] * 8)  # of the sites of the square lattice row by row, the first and the second mode
    bonds = [(3.0, 2 * i, 2 * i + 1) for i in range(4)]
    bonds += [(1.0, 2 * i + 1, 2 * (i + 1)) for i in (0, 2)] + [(2.0, 2 * i + 1, 2 * (i + 2)) for i in (0, 1)]
    expected = -sum(t * (c[i].T @ c[j] + c[j].T @ c[i]) for t, i, j in bonds)
    np.testing.assert_allclose(dense(model, (2, 2)), expected, atol=1e-12)


def test_fermions_on_the_kagome_lattice():
    model = peps.kagome(peps.fermions(1.0).terms[0].operator, kind="fermion")
    c = lowering("C", ["fermion"] * 6)
    bonds = [(0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5), (1, 3)]  # two triangles, and the bond between them
    expected = -sum(c[i].T @ c[j] + c[j].T @ c[i] for i, j in bonds)
    np.testing.assert_allclose(dense(model, (1, 2)), expected, atol=1e-12)


def test_sites_together_have_the_operators_and_charges_of_each():
    pair = qad.mps.site("pair of electron")
    assert pair.charges["N"][pair.state("up full")] == 3 and pair.charges["parity"][pair.state("up full")] == 1
    np.testing.assert_array_equal(pair.operators["N"].diagonal(), pair.charges["N"])
    one, two = pair.operators["Cup 1"], pair.operators["Cdagdn 2"]
    np.testing.assert_array_equal(one @ two, -two @ one)
    assert {"Cup 1", "Cdagdn 2"} <= pair.fermionic and "N 1" not in pair.fermionic
