"""Correlations with strings and without, structure factors, products of many operators, against dense matrices."""

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError, ShapeError
from qad.mps import MPS, OpSum, correlations, multipoint, structure_factor
from qad.mps.measure import correlators
from qad.mps.measure import multipoint as products

N = 5
RNG = np.random.default_rng(2)
KINDS = {"ordinary": {}, "symmetric": {"conserve": "N", "sector": 2, "kind": "fermion"}}


def value(psi, kind, *factors):
    """The expectation value of one product in the dense state."""
    H = OpSum(len(psi), kind).add(1.0, *factors).mpo().to_dense()
    v = getattr(psi, "without_symmetry", lambda: psi)().to_dense().ravel()
    return np.vdot(v, H @ v) / np.vdot(v, v)


@pytest.mark.parametrize("kind", KINDS)
def test_fermions(kind):
    psi = 1.3 * MPS.random(N, 4, seed=1, **KINDS[kind])
    for one, other in (("Cdag", "C"), ("C", "Cdag"), ("N", "N")):
        expected = [[value(psi, "fermion", one, i, other, j) for j in range(N)] for i in range(N)]
        np.testing.assert_allclose(correlations(psi, one, other, kind="fermion"), expected, atol=1e-13)
    places = RNG.integers(0, N, size=(3, 4, 4))
    found = multipoint(psi, ("Cdag", "Cdag", "C", "C"), places, kind="fermion")
    expected = [value(psi, "fermion", "Cdag", i, "Cdag", j, "C", k, "C", m) for i, j, k, m in places.reshape(-1, 4)]
    np.testing.assert_allclose(found.ravel(), expected, atol=1e-13)
    assert np.abs(found).max() > 0.01


@pytest.mark.parametrize("kind", [{}, {"conserve": "Sz", "sector": 1}], ids=list(KINDS))
def test_strings(kind):
    psi = MPS.random(N, 4, seed=3, **kind)
    turn = np.diag([1j, -0.5])
    found = correlations(psi, "Sp", "Sm", string=turn)
    for i in range(N):
        for j in range(N):
            between = [x for k in range(min(i, j) + 1, max(i, j)) for x in (turn, k)]
            expected = value(psi, "spin-1/2", "Sp", i, *between, "Sm", j)
            assert found[i, j] == pytest.approx(expected, abs=1e-13)


@pytest.mark.parametrize("kind", [{}, {"conserve": "Sz", "sector": 1}], ids=list(KINDS))
def test_structure_factors(kind):
    psi, momenta = MPS.random(N, 4, seed=4, **kind), np.array([0.3, -1.0, np.pi])
    table, mean = correlations(psi, "Sp", "Sm"), qad.mps.local_expectations(psi, "Sz")
    waves = np.exp(1j * momenta[:, None] * np.arange(N))
    expected = np.einsum("mi,ij,mj->m", waves, table, waves.conj()) / N
    np.testing.assert_allclose(structure_factor(psi, "Sp", "Sm", momenta), expected, atol=1e-13)
    connected = np.einsum("mi,ij,mj->m", waves, correlations(psi, "Sz", "Sz") - np.outer(mean, mean), waves.conj()) / N
    np.testing.assert_allclose(structure_factor(psi, "Sz", "Sz", momenta, connected=True), connected, atol=1e-13)


def test_structure_factor_of_a_cylinder():
    lattice = qad.mps.Lattice.cylinder(2, 3)
    stripes = MPS.product(["up"] * 3 + ["down"] * 3)
    momenta = np.array([[np.pi, 0.0], [0.0, 0.0], [0.0, 2 * np.pi / 3]])
    found = structure_factor(stripes, "Z", "Z", momenta, positions=lattice.positions)
    np.testing.assert_allclose(found, [6, 0, 0], atol=1e-12)


@pytest.fixture
def passed(monkeypatch):
    """How many environments each call carries past a site."""
    counts, plain = [], products.past_left

    def counting(environment, *args):
        counts.append(int(np.prod(environment.shape[:-2])))
        return plain(environment, *args)

    monkeypatch.setattr(products, "past_left", counting)
    return counts


@pytest.mark.parametrize("one, operators", [("Sz", 1), ("Z", 2)])
@pytest.mark.parametrize("conserve", [None, "Sz"])
def test_pairs_go_in_one_sweep(monkeypatch, conserve, one, operators):
    """Every environment passes the sites behind it once, all of them in one call."""
    n, counts, go_on = 9, [], correlators.go_on

    def counting(front, *args):
        counts.append(sum(len(sites) for sites, _ in front.values()))
        go_on(front, *args)

    monkeypatch.setattr(correlators, "go_on", counting)
    correlations(MPS.random(n, 3, conserve=conserve, sector=conserve and 1), one, "Sz")
    assert sum(counts) == operators * n * (n - 1) // 2
    assert len(counts) == n


def test_products_share_their_beginnings(passed):
    psi = MPS.random(6, 2, dtype=float, seed=5)
    places = [(i, j, k) for i in range(6) for j in range(6) for k in range(6)]
    found = multipoint(psi, ("X", "Z", "X"), places)
    expected = [value(psi, "spin-1/2", "X", i, "Z", j, "X", k) for i, j, k in places[::17]]
    np.testing.assert_allclose(found[::17], expected, atol=1e-13)
    total = OpSum(6)
    strings = {total.product("X", i, "Z", j, "X", k)[0] for i, j, k in places}
    beginnings = [
        {
            tuple(pair for pair in string if pair[0] <= site)
            for string in strings
            if string[0][0] <= site <= string[-1][0]
        }
        for site in range(6)
    ]
    assert sum(passed) == sum(map(len, beginnings)) < 3 * len(strings)
    twice = multipoint(psi, ("X", "X"), [(2, 2), (0, 5)])
    np.testing.assert_allclose(twice, [1.0, value(psi, "spin-1/2", "X", 0, "X", 5)], atol=1e-13)
    assert multipoint(psi, ("Sp", "Sp"), [(2, 2)]) == 0


def test_derivatives():
    psi, m = MPS.random(4, 2, seed=2), RNG.normal(size=(2, 2))
    qad.check_grads(lambda psi: correlations(psi, "C", "Cdag", kind="fermion"), (psi,), order=1)
    qad.check_grads(lambda m: correlations(psi, m, m.T, string=m), (m,))
    qad.check_grads(lambda psi: multipoint(psi, (m, "X", m), [(0, 2, 3), (1, 0, 2)]), (psi,), order=1)
    charged = MPS.random(4, 4, conserve="N", sector=2, kind="fermion")
    qad.check_grads(lambda psi: structure_factor(psi, "Cdag", "C", [0.3], kind="fermion"), (charged,), order=1)


@pytest.mark.parametrize(
    "wrong, match",
    [
        (lambda psi: correlations(psi, "Cdag", "N", kind="fermion"), "multipoint"),
        (lambda psi: correlations(psi, "Sz+", "Sz"), "did you mean"),
        (lambda psi: correlations(psi, "Sz", "Sz", string=np.eye(3)), "does not fit"),
        (lambda psi: structure_factor(psi, "Sz", "Sz", [[0.1, 0.2]]), r"\(n, d\)"),
        (lambda psi: structure_factor(psi, "Sz", "Sz", [0.1], positions=range(4)), "5 sites"),
        (lambda psi: structure_factor(psi, "Sz", "Sz", [0.1, np.nan]), "finite real numbers"),
        (lambda psi: multipoint(psi, ("Sz", "Sz"), [(0, 5)]), "sites are 0 to 4"),
        (lambda psi: multipoint(psi, ("Sz", "Sz"), [(0, 1, 2)]), "for each of 2 operators"),
        (lambda psi: multipoint(psi, ("Sz", "Sz"), [(0, 1.5)]), "whole numbers"),
    ],
    ids=["parity", "name", "shape", "momenta", "positions", "nan", "site", "places", "halves"],
)
def test_bad_input(wrong, match):
    with pytest.raises((ArgumentError, ShapeError), match=match):
        wrong(MPS.random(N, 2))


def test_strings_conserve_or_are_refused():
    psi = MPS.random(4, 4, conserve="Sz")
    with pytest.raises(ArgumentError, match="without_symmetry"):
        correlations(psi, "Sz", "Sz", string="X")


def test_connected_factors_of_fermions_have_strings():
    """Of a state without definite parity, in which single fermionic operators do not vanish."""
    psi, momentum = qad.mps.MPS.random(4, 3, seed=9), 0.4
    x = psi.to_dense().ravel() / qad.mps.norm(psi)
    c = [qad.mps.OpSum(4, "fermion").add(1.0, "C", i).mpo().to_dense() for i in range(4)]
    pairs = np.array([[np.vdot(a @ x, b @ x) - np.vdot(a @ x, x) * np.vdot(x, b @ x) for b in c] for a in c])
    wave = np.exp(1j * momentum * np.arange(4))
    found = qad.mps.structure_factor(psi, "Cdag", "C", [momentum], connected=True, kind="fermion")
    np.testing.assert_allclose(found, [wave @ pairs @ wave.conj() / 4], atol=1e-14)
