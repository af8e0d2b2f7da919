"""Searches for ground states at the defaults, beside dense matrices, free fermions and Bethe's ansatz."""

import numpy as np
import pytest

import qad
from qad import mps
from tests.physics import exact, free

HALF, ONE = "spin-1/2", "spin-1"
THETA, SMALL = 0.3, 1e-9


def squares(n, c, s):
    """``c S.S + s (S.S)**2`` of spins 1."""
    single = [(1.0, "Sx"), (1.0, "Sy"), (1.0, "Sz")]
    terms = []
    for i, k in exact.row(n):
        terms += [(c, a, i, a, k) for _, a in single]
        terms += [(s, a, i, b, i, a, k, b, k) for _, a in single for _, b in single]
    return terms


def hubbard_terms(n, t, u):
    """Of electrons."""
    return exact.hopping(exact.row(n), t, ("up", "dn")) + [(u, "NupNdn", i) for i in range(n)]


def tj_terms(n, t, j):
    """Of electrons that never meet."""
    spins = exact.exchange(exact.row(n), j)
    return exact.hopping(exact.row(n), t, ("up", "dn")) + spins + [(-j / 4, "N", i, "N", k) for i, k in exact.row(n)]


def bosons(n, t, u, mu):
    """Of bosons."""
    hops = [(-t, "Bdag", a, "B", b) for i, k in exact.row(n) for a, b in ((i, k), (k, i))]
    return hops + [(u / 2, "N", i, "N", i) for i in range(n)] + [(-u / 2 - mu, "N", i) for i in range(n)]


def pairing(n, t, delta, mu):
    """Kitaev's chain."""
    pairs = [term for i, k in exact.row(n) for term in ((delta, "C", i, "C", k), (delta, "Cdag", k, "Cdag", i))]
    return exact.hopping(exact.row(n), t) + pairs + [(-mu, "N", i) for i in range(n)]


def anisotropic(n, x, y, z):
    """``x Sx Sx + y Sy Sy + z Sz Sz``."""
    return [(c, a, i, a, k) for i, k in exact.row(n) for c, a in ((x, "Sx"), (y, "Sy"), (z, "Sz"))]


LONG = [(-(0.5 ** (k - i - 1)), "Z", i, "Z", k) for i in range(6) for k in range(i + 1, 6)]
MODELS = {  # the model, its terms, a constant, and what it conserves
    "heisenberg": (lambda: mps.heisenberg(6), HALF, 6, exact.exchange(exact.row(6)), 0.0, "Sz"),
    "spin one": (lambda: mps.heisenberg(4, spin=1), ONE, 4, exact.exchange(exact.row(4)), 0.0, "Sz"),
    "xxz": (lambda: mps.xxz(6, 0.7), HALF, 6, exact.exchange(exact.row(6), 1.0, 0.7), 0.0, "Sz"),
    "xyz": (lambda: mps.xyz(6, 0.9, 0.5, 0.7), HALF, 6, anisotropic(6, 0.9, 0.5, 0.7), 0.0, None),
    "ising": (lambda: mps.ising(6, 0.9, j=1.1), HALF, 6, exact.transverse(6, 0.9, 1.1), 0.0, None),
    "j1j2": (lambda: mps.j1j2(6, 1.0, 0.3), HALF, 6,
             exact.exchange(exact.row(6)) + exact.exchange(exact.row(6, 2), 0.3), 0.0, "Sz"),
    "long range": (lambda: mps.long_range_ising(6, 0.5, 1.2), HALF, 6,
                   LONG + [(-1.2, "X", i) for i in range(6)], 0.0, None),
    "aklt": (lambda: mps.aklt(4), ONE, 4, squares(4, 1.0, 1 / 3), 0.0, "Sz"),
    "blbq": (lambda: mps.blbq(4, THETA), ONE, 4, squares(4, np.cos(THETA), np.sin(THETA)), 0.0, "Sz"),
    "bosons": (lambda: mps.bose_hubbard(3, 1.0, 2.0, 0.5), "boson-4", 3, bosons(3, 1.0, 2.0, 0.5), 0.0, "N"),
    "hubbard": (lambda: mps.hubbard(4, 1.0, 3.0), "electron", 4, hubbard_terms(4, 1.0, 3.0), 0.0, "N"),
    "t-J": (lambda: mps.tj(4, 1.0, 0.4), "t-J", 4, tj_terms(4, 1.0, 0.4), 0.0, "N"),
    "kitaev": (lambda: mps.kitaev_chain(5, 1.0, 0.6, 0.8), "fermion", 5, pairing(5, 1.0, 0.6, 0.8), 0.8 * 5 / 2, None),
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_every_model_by_the_default_search(name):
    model, kind, n, terms, constant, _ = MODELS[name]
    wanted = exact.lowest(exact.dense([kind] * n, terms))[0][0] + constant
    found = mps.ground_state(model())
    assert found.converged
    assert found.energy == pytest.approx(wanted, abs=SMALL * abs(wanted))
    assert mps.variance(found.state, model()) < 1e-7


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=[pytest.mark.slow] * (n in ("xxz", "j1j2", "spin one"))) for n in MODELS if MODELS[n][-1]],
)
def test_every_model_with_its_charge(name):
    model, kind, n, terms, _, charge = MODELS[name]
    h = exact.dense([kind] * n, terms)
    own = np.rint((1 + (charge == "Sz")) * exact.KINDS[kind][charge]).diagonal()
    total = np.zeros(())
    for _ in range(n):
        total = np.add.outer(total, own)
    sector = int(own.max()) * (n % 2) if charge == "Sz" else n - 1
    keep = np.flatnonzero(total.ravel() == sector)
    wanted = exact.lowest(h[keep][:, keep])[0][0]
    found = mps.ground_state(model(), conserve=charge, sector=sector)
    assert found.converged
    assert found.energy == pytest.approx(wanted, abs=SMALL * abs(wanted))


def test_a_sum_of_terms_of_any_range():
    spins = [HALF] * 8
    terms = [
        (1.0, "X", 0, "Y", 3, "X", 7),
        (-0.7, "Z", 1, "Z", 6),
        *[(0.4, "Y", i) for i in range(8)],
        (1.0, "X", 2, "X", 5),
    ]
    found = mps.ground_state(exact.opsum(spins, terms))
    wanted = exact.lowest(exact.dense(spins, terms))[0][0]
    assert found.energy == pytest.approx(wanted, abs=SMALL * abs(wanted))


def test_a_lattice():
    ladder = mps.Lattice.cylinder(3, 3)
    pairs = ladder.pairs()
    terms = exact.exchange(pairs)
    wanted = exact.lowest(exact.dense([HALF] * 9, terms))[0][0]
    found = mps.ground_state(mps.heisenberg(ladder), 32)
    assert found.converged and found.energy == pytest.approx(wanted, abs=SMALL * abs(wanted))
    assert len(pairs) == 15  # six along the axis, nine around


@pytest.mark.parametrize("seed", [0, *[pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 4)]])
@pytest.mark.parametrize("method", ["dmrg", "dmrg2", "lbfgs", "riemannian"])
def test_the_weakly_coupled_ends_by_every_method(method, seed):
    """The two lowest states differ by an overlap of both ends; "converged" is the lowest."""
    terms = [(1.0, "Z", 0, "Z", 11), (0.3, "X", 0, "X", 6), *[(0.1, "X", i) for i in range(12)]]
    wanted = exact.lowest(exact.dense([HALF] * 12, terms))[0][0]
    assert wanted == pytest.approx(-2.04403, abs=1e-5)
    found = mps.ground_state(exact.opsum([HALF] * 12, terms), method=method, seed=seed)
    assert not found.converged or found.energy == pytest.approx(wanted, abs=1e-8)


@pytest.mark.parametrize("n", [16, pytest.param(40, marks=pytest.mark.slow)])
def test_ising_and_free_fermions(n):
    found = mps.ground_state(mps.ising(n, 1.3))
    assert found.converged and found.energy == pytest.approx(free.ising_energy(n, 1.3), abs=1e-8)


@pytest.mark.parametrize("n", [16, pytest.param(20, marks=pytest.mark.slow)])
def test_heisenberg_and_bethe(n):
    found = mps.ground_state(mps.heisenberg(n), 48)
    assert found.converged and found.energy == pytest.approx(free.heisenberg_open(n), abs=1e-7)


def test_gradient_by_fields_is_that_of_free_fermions():
    fields = np.linspace(0.8, 1.5, 12)
    energy = lambda g: mps.energy(mps.ground_state(mps.ising(12, np.asarray(fields))).state, mps.ising(12, g))
    slopes = qad.grad(energy)(fields)  # Hellmann and Feynman
    for k in (0, 5, 11):
        moved = lambda x, k=k: free.ising_energy(12, fields + (x - fields[k]) * np.eye(12)[k])
        assert slopes[k] == pytest.approx(exact.difference(moved, fields[k]), abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("n", [60, 100])
def test_long_chains(n):
    found = mps.ground_state(mps.ising(n, 1.0), 32)
    assert found.converged and found.energy == pytest.approx(free.ising_energy(n), abs=1e-6)
    found = mps.ground_state(mps.heisenberg(n), 100, conserve="Sz")
    assert found.converged and found.energy == pytest.approx(free.heisenberg_open(n), abs=1e-5)
    found = mps.ground_state(mps.kitaev_chain(n, 1.0, 0.0, 0.0), 64, conserve=None)
    assert found.energy == pytest.approx(free.filled_energy(free.hops(n)), abs=1e-4)


@pytest.mark.slow
def test_aklt_and_singlets_of_a_hundred_sites():
    assert mps.ground_state(mps.aklt(100)).energy == pytest.approx(-2 / 3 * 99, abs=1e-7)
    assert mps.ground_state(mps.j1j2(100, 1.0, 0.5)).energy == pytest.approx(-37.5, abs=1e-7)
