"""Terms as graded tensors, against matrices with Jordan-Wigner strings; which product state charges count from."""

import numpy as np
import pytest

import qad
from qad import peps
from qad.core.errors import ArgumentError
from qad.mps import site
from qad.peps.charges import charges_of_cell, charges_of_sites, conserved_names, graded
from tests.peps.fermions import matrix_of, signed

KINDS = ("fermion", "electron", "t-J")


def random_term(kind, k, conserved, rng):
    """A Hermitian operator that conserves what is named, legs ``(out, ..., in, ...)``."""
    d = site(kind).phys
    x = rng.standard_normal((d**k, d**k)) + 1j * rng.standard_normal((d**k, d**k))
    for name in conserved:
        own = np.array(site(kind).charges[name])
        total = own
        for _ in range(k - 1):
            total = (total[:, None] + own).reshape(-1)
        change = total[:, None] - total
        x = np.where(change % 2 if name == "parity" else change, 0, x)
    return (x + x.conj().T).reshape((d,) * 2 * k)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("names", [("parity",), ("N", "Sz")])
def test_terms_act_as_matrices_with_strings(kind, k, names):
    rng = np.random.default_rng(k)
    names = names if kind != "fermion" or names == ("parity",) else ("N",)
    n, d, own = 4 if site(kind).phys < 4 else 3, site(kind).phys, site(kind)
    operator = random_term(kind, k, names, rng)
    reference = tuple(rng.integers(d, size=n).tolist())
    placed = [(-np.eye(d)[[x] * d] * np.eye(d)[x], (i,)) for i, x in enumerate(reference)]
    conserved, found = charges_of_sites(own, placed, [1] * n, names, None)
    assert found == reference
    for _ in range(3):
        sites = rng.permutation(n)[:k].tolist()
        h = graded(operator, sites, conserved, own)
        psi = qad.symmetric.random(conserved.legs, dtype=complex, seed=rng)
        out = "".join("abcd"[i] if i not in sites else "wxyz"[i] for i in range(n))
        h_legs = "".join("wxyz"[i] for i in sites) + "".join("abcd"[i] for i in sites)
        acted = qad.einsum(f"{h_legs},{'abcd'[:n]}->{out}", h, psi)
        expected = matrix_of(operator, sites, [own] * n) @ signed(psi, conserved, own)
        np.testing.assert_allclose(signed(acted, conserved, own), expected, atol=1e-13)


def test_the_reference_is_the_product_of_lowest_energy_with_the_filling():
    neel = charges_of_cell(peps.heisenberg(), ["AB", "BA"], "Sz")
    assert neel[1] in ((0, 1), (1, 0))
    assert neel[0].charges[neel[1].index(0)] == ((0,), (-2,)) and neel[0].charges[neel[1].index(1)] == ((2,), (0,))
    assert charges_of_cell(peps.heisenberg(), ["AB", "BA"], "Sz", 4)[1] == (0, 0)
    hubbard = peps.Model(
        [hop_term("electron"), peps.term(8 * site("electron").operators["NupNdn"], [(0, 0)])], "electron"
    )
    half, states = charges_of_cell(hubbard, ["AB", "CD"], ("N", "Sz"), (4, 0))
    assert sorted(states) == [1, 1, 2, 2] and states[0] != states[1]
    assert half.names == ("N", "Sz", "fermions") and str(half.symmetry) == "U1xU1xfZ2"
    assert half.charges[states.index(1)] == ((-1, -1, 1), (0, 0, 0), (0, -2, 0), (1, -1, 1))
    assert charges_of_cell(hubbard, ["AB", "CD"], "N", 1)[1].count(0) == 3
    assert charges_of_cell(hubbard, ["A"])[0].names == ("fermions",)
    assert charges_of_cell(peps.heisenberg(), ["A"])[0] is None


def hop_term(kind, sites=((0, 0), (0, 1))):
    """``-(c_1^+ c_2 + h.c.)`` of all spins."""
    own = site(kind).operators
    pairs = (("Cdagup", "Cup"), ("Cdagdn", "Cdn")) if "Cup" in own else (("Cdag", "C"),)
    one = sum(np.kron(own[a] @ own["F"], own[b]) for a, b in pairs)
    return peps.term(-(one + one.T), sites)


def test_large_cells_are_filled_too():
    conserved, states = charges_of_cell(peps.heisenberg(), ["ABCD", "EFGH", "IJKL", "MNOP"], "Sz", 0)
    assert np.sum([(1, -1)[x] for x in states]) == 0 and len(conserved.charges) == 16
    rows = np.array(states).reshape(4, 4)
    assert (rows != np.roll(rows, 1, 0)).all() and (rows != np.roll(rows, 1, 1)).all()


def test_what_does_not_fit_is_refused_in_words():
    with pytest.raises(ArgumentError, match=r"do not fit the filling: no product .* Sz = 2 in a cell, but 0, 4"):
        charges_of_cell(peps.heisenberg(), ["AB", "BA"], "Sz", 2)
    with pytest.raises(ArgumentError, match="sector= is a total of what is conserved"):
        charges_of_cell(peps.heisenberg(), ["A"], None, 2)
    x = peps.term(site("spin-1/2").operators["Sx"], [(0, 0)])
    conserved, _ = charges_of_cell(peps.Model([x]), ["A"], "Sz")
    with pytest.raises(ArgumentError, match=r"the term on \(\(0, 0\),\) changes Sz by -?1: leave 'Sz' out"):
        graded(x.operator, [0], conserved, site("spin-1/2"), x.sites)
    with pytest.raises(ArgumentError, match="may mix parities of fermions"):
        peps.Model([hop_term("fermion")], "fermion").rotated()
    with pytest.raises(qad.core.errors.ShapeError, match="kind 'electron' have legs of dimension 4"):
        peps.Model([hop_term("fermion")], "electron")


def test_the_parity_of_flips_is_that_of_the_basis_along_x():
    conserved, states = charges_of_cell(peps.ising(3.0), ["A"], "parity x")
    assert states == (0,) and conserved.charges == (((0,), (1,)),)
    zz, x = [graded(t.operator, [0] * len(t.sites), conserved, site("spin-1/2")) for t in peps.ising(3.0).terms[1:]]
    np.testing.assert_allclose(x.to_dense(), np.diag([-3.0, 3.0]), atol=1e-12)
    flip = np.array([[0, 1], [1, 0]])
    np.testing.assert_allclose(zz.to_dense(), -np.einsum("xa,yb->xyab", flip, flip), atol=1e-12)


def test_graded_terms_have_derivatives():
    conserved, _ = charges_of_cell(peps.Model([hop_term("fermion")], "fermion"), ["AB"], "N", 1)
    psi = qad.symmetric.random((conserved.legs[0], conserved.legs[1]), seed=1)

    def energy(t):
        h = graded(t * hop_term("fermion").operator, [1, 0], conserved, site("fermion"))
        return qad.einsum("xy,yxba,ab->", psi.conj(), h, psi)

    qad.check_grads(energy, (0.7,))


def test_the_parity_of_fermions_has_one_name():
    assert conserved_names(site("electron"), ("parity", "Sz")) == ("fermions", "Sz")
    assert conserved_names(site("electron"), None) == ("fermions",)
    assert conserved_names(site("spin-1/2"), "parity") == ("parity",)


def test_models_and_states_of_other_kinds_are_refused():
    arrays, electrons = peps.PEPS.random(2, ["AB", "BA"], phys=4), peps.hubbard(1.0, 8.0)
    with pytest.raises(ArgumentError, match="'electron' needs sites that know the signs of fermions"):
        peps.energy(arrays, electrons, 8, tol=1e-4)
    for function in (peps.finite.energy, peps.finite.variance):
        with pytest.raises(ArgumentError, match="'electron' needs sites that know the signs of fermions"):
            function(peps.finite.FinitePEPS.random(2, 2, 2, phys=4), electrons)
    full = peps.finite.FinitePEPS.random(1, 2, 2, kind="fermion", states=[["full", "full"]])
    with pytest.raises(ArgumentError, match="kind 'fermion', the model of spins: say which"):
        peps.finite.energy(full, peps.heisenberg())
    spins = peps.finite.FinitePEPS.random(1, 2, 2, kind="spin-1/2", conserve="Sz", states=[["up", "down"]])
    with pytest.raises(ArgumentError, match="the state is of kind 'spin-1/2', the model of 'fermion'"):
        peps.finite.energy(spins, peps.fermions(1.0))
    with pytest.raises(ArgumentError, match="states of fermions have kind="):
        peps.finite.FinitePEPS(full.tensors, full.conserved)
    with pytest.raises(ArgumentError, match="states of fermions have kind="):
        peps.PEPS([full[0, 0]], ["A"], None, full.conserved)
