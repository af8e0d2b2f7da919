"""Electrons against modes without spin in Jordan and Wigner's form, and free ones; sites and their charges."""

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError
from qad.mps import hubbard, kitaev_chain, site, tj, uniform
from qad.mps.operators.local import electron


def modes(n):
    """The annihilators of n fermionic modes, as matrices on all of them."""
    lower, sign, found = np.array([[0.0, 1.0], [0.0, 0.0]]), np.diag([1.0, -1.0]), []
    for k in range(n):
        matrix = np.eye(1)
        for other in range(n):
            matrix = np.kron(matrix, sign if other < k else lower if other == k else np.eye(2))
        found.append(matrix)
    return found


def pairs(n, periodic, shell=1):
    return [(i, (i + shell) % n) for i in range(n if periodic else n - shell)]


def by_hand(n, t, u, periodic=False, v=0.0, t2=0.0, mu=0.0, h=0.0):
    """The extended Hubbard chain on the modes (0, up), (0, down), (1, up), ..."""
    c, H = modes(2 * n), 0
    up, down = ([a.T @ a for a in c[s::2]] for s in (0, 1))
    for amplitude, bonds in ((t, pairs(n, periodic)), (t2, pairs(n, periodic, 2))):
        for i, j in bonds:
            for s in (0, 1):
                hop = c[2 * i + s].T @ c[2 * j + s]
                H = H - amplitude * (hop + hop.T)
    H = H + v * sum((up[i] + down[i]) @ (up[j] + down[j]) for i, j in pairs(n, periodic))
    return H + sum(u * up[i] @ down[i] - mu * (up[i] + down[i]) - h / 2 * (up[i] - down[i]) for i in range(n))


@pytest.mark.parametrize("periodic", [False, True])
def test_hubbard_against_modes(periodic):
    found = np.linalg.eigvalsh(hubbard(4, 0.7, 3.1, periodic).to_dense())
    np.testing.assert_allclose(found, np.linalg.eigvalsh(by_hand(4, 0.7, 3.1, periodic)), atol=1e-12)


MORE = {"t2": -0.4, "mu": 0.9, "h": 0.3}


def test_extended_hubbard_against_modes():
    found = np.linalg.eigvalsh(hubbard(4, 0.7, 3.1, v=1.7, **MORE).to_dense())
    np.testing.assert_allclose(found, np.linalg.eigvalsh(by_hand(4, 0.7, 3.1, v=1.7, **MORE)), atol=1e-11)


def test_couplings_that_are_zero_leave_the_operator_as_it_is():
    assert [hubbard(8, 1.0, 4.0, **more).bond for more in ({}, {"v": 1.0}, {"t2": 0.3}, {"mu": 1.0, "h": 1.0})] == [
        6, 7, 10, 6
    ]  # fmt: skip
    assert tj(8, 1.0, 0.3).bond == tj(8, 1.0, 0.3, mu=1.0, h=0.1).bond == 10
    assert hubbard(3, 1.0, 4.0, periodic=True, t2=0).bond == hubbard(3, 1.0, 4.0, periodic=True).bond
    assert len(qad.mps.hubbard(qad.mps.Lattice.chain(2), 1.0, 4.0)) == 2  # which has no second neighbours
    with pytest.raises(ArgumentError, match="ring with second neighbours must be a whole number of at least 5"):
        hubbard(4, 1.0, 4.0, periodic=True, t2=0.1)


def test_one_electron_of_a_ladder():
    """Of a single electron the levels are those of the matrix of hoppings, less mu and half of the field."""
    ladder, t, t2 = qad.mps.Lattice.ladder(2), np.array([1.0, 0.5, 0.25, 2.0]), np.array([0.3, -0.7])
    hop = np.zeros((4, 4))
    for strength, (i, j) in zip((*t, *t2), [(0, 1), (0, 2), (1, 3), (2, 3), (0, 3), (1, 2)], strict=True):
        hop[i, j] = hop[j, i] = -strength
    for model, args in ((hubbard, (t, 5.0)), (tj, (t, 0.8))):
        H = model(ladder, *args, t2=t2, mu=1.5, h=0.4)
        found = qad.mps.ground_state(H, 16, conserve=("N", "Sz"), sector=(1, 1), seed=0)
        assert found.energy == pytest.approx(np.linalg.eigvalsh(hop)[0] - 1.5 - 0.2, abs=1e-9)


@pytest.mark.parametrize("periodic", [False, True])
def test_kitaev_chain_to_the_sign_of_its_pairing(periodic):
    """Entry by entry: levels do not know that sign, nor does half of a matrix know whether it is Hermitian."""
    n, bonds, rng = 4, pairs(4, periodic), np.random.default_rng(3)
    t, delta, mu = rng.normal(size=len(bonds)), rng.normal(size=len(bonds)), rng.normal(size=n)
    c, H = modes(n), 0
    for (i, j), amplitude, pairing in zip(bonds, t, delta, strict=True):
        half = -amplitude * c[i].T @ c[j] + pairing * c[i] @ c[j]
        H = H + half + half.T
    H = H - sum(x * (a.T @ a - np.eye(2**n) / 2) for x, a in zip(mu, c, strict=True))
    np.testing.assert_allclose(kitaev_chain(n, t, delta, mu, periodic).to_dense(), H, atol=1e-13)


@pytest.mark.parametrize("n", [4, 6])
def test_free_electrons(n):
    """Without repulsion each spin fills the levels ``-2 t cos(pi k / (n + 1))`` below zero."""
    levels = -2 * 0.7 * np.cos(np.pi * np.arange(1, n + 1) / (n + 1))
    found = qad.mps.ground_state(hubbard(n, 0.7, 0.0), bond=64, method="dmrg2", seed=1)
    np.testing.assert_allclose(found.energy, 2 * levels[levels < 0].sum(), atol=1e-9)


@pytest.mark.parametrize("periodic, more", [(False, {}), (True, {}), (False, MORE)])
def test_tj_is_the_projection(periodic, more):
    """Of hopping and exchange of electrons onto at most one a site; its signs are those of the modes."""
    n, t, j = 4, 0.6, 0.9
    c, H = modes(2 * n), by_hand(4, t, 0.0, periodic, **more)
    up, down = c[::2], c[1::2]
    sp = [a.T @ b for a, b in zip(up, down, strict=True)]
    numbers = [a.T @ a + b.T @ b for a, b in zip(up, down, strict=True)]
    sz = [(a.T @ a - b.T @ b) / 2 for a, b in zip(up, down, strict=True)]
    for one, two in pairs(n, periodic):
        flip = (sp[one] @ sp[two].T + sp[one].T @ sp[two]) / 2
        H = H + j * (flip + sz[one] @ sz[two] - numbers[one] @ numbers[two] / 4)
    allowed = [k for k in range(4**n) if all(numbers[i][k, k] < 2 for i in range(n))]
    expected = np.linalg.eigvalsh(H[np.ix_(allowed, allowed)])
    np.testing.assert_allclose(np.linalg.eigvalsh(tj(n, t, j, periodic, **more).to_dense()), expected, atol=1e-12)


def test_operators_of_electrons():
    operators, (up, down) = site("electron").operators, modes(2)
    turn = [0, 2, 1, 3]  # empty, up, down, both: there the number of up spins is the more significant digit
    for name, matrix in (("Cup", up), ("Cdn", down)):
        expected = matrix[np.ix_(turn, turn)]
        np.testing.assert_array_equal(operators[name] @ operators[name], 0)
        np.testing.assert_array_equal(np.abs(operators[name]), np.abs(expected))
    for a in ("Cup", "Cdn"):
        for b in ("Cup", "Cdn", "Cdagup", "Cdagdn"):
            anti = operators[a] @ operators[b] + operators[b] @ operators[a]
            np.testing.assert_array_equal(anti, np.eye(4) if b == a.replace("C", "Cdag") else 0)
    np.testing.assert_array_equal(operators["Sx"] @ operators["Sy"] - operators["Sy"] @ operators["Sx"],
                                  1j * operators["Sz"])  # fmt: skip
    assert electron(double=False).phys == 3


@pytest.mark.parametrize("kind", ["spin-1/2", "spin-1", "spin-3/2", "boson-3", "fermion", "electron", "t-J"])
def test_charges_are_those_of_the_operators(kind):
    of = site(kind)
    for name, count in (("Sz", 2.0), ("N", 1.0)):
        assert (name in of.charges) == (name in of.operators)
        if name in of.charges:
            np.testing.assert_array_equal(of.charges[name], count * of.operators[name].diagonal())
    if "F" in of.operators:
        np.testing.assert_array_equal((-1.0) ** np.array(of.charges["parity"]), of.operators["F"].diagonal())


def test_couplings_are_differentiable():
    psi = qad.mps.MPS.random(4, 6, 4, seed=2)
    slope = qad.grad(lambda u: qad.mps.energy(psi, hubbard(4, 1.0, u)))(3.0)
    np.testing.assert_allclose(slope, qad.mps.energy(psi, hubbard(4, 0.0, 1.0)), rtol=1e-12)
    slopes = qad.grad(lambda more: qad.mps.energy(psi, hubbard(4, 1.0, 3.0, **more)))
    for name, slope in slopes({"v": 0.3, "t2": 0.2, "mu": 0.1, "h": 0.0}).items():
        np.testing.assert_allclose(slope, qad.mps.energy(psi, hubbard(4, 0.0, 0.0, **{name: 1.0})), rtol=1e-11)


def test_infinite_chains():
    """Each coupling beside the correlations that it multiplies."""
    t, u, v, t2, mu, h = 1.0, 4.0, 0.3, 0.2, 0.7, 0.4
    for conserved in ("electron", "t-J"):
        H = uniform.hubbard(t, u) if conserved == "electron" else uniform.tj(t, 0.5)
        found = uniform.ground_state(H, 4, conserve=("N", "Sz"), sector=(1, 1), starts=1, maxiter=3)
        psi = found.state
        hops = [uniform.correlations(psi, "Cdag" + s, "C" + s, 2).real.mean(0) for s in ("up", "dn")]
        near, far = (-2 * sum(row[r] for row in hops) for r in (1, 2))
        density, across = (uniform.correlations(psi, x, x, 1).real.mean(0)[1] for x in ("N", "Sz"))
        flips = uniform.correlations(psi, "Sp", "Sm", 1).real.mean(0)[1]
        on_sites = -mu * psi.measure("N").real.mean() - h * psi.measure("Sz").real.mean()
        if conserved == "electron":
            both = psi.measure("NupNdn").real.mean()
            whole = uniform.hubbard(t, u, v=v, t2=t2, mu=mu, h=h)
            expected = t * near + u * both + v * density + t2 * far + on_sites
        else:
            whole = uniform.tj(t, 0.5, t2=t2, mu=mu, h=h)
            expected = t * near + 0.5 * (across + flips - density / 4) + t2 * far + on_sites
        assert uniform.energy_density(psi, whole) == pytest.approx(expected, abs=1e-10)
