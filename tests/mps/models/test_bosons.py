"""Spins with all couplings, bosons, Kitaev's chain and couplings from arrays, against dense matrices."""

from functools import reduce

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError, ShapeError
from qad.mps import Lattice, bose_hubbard, kitaev_chain, xyz

RNG = np.random.default_rng(5)
S = [np.array([[0, 1], [1, 0]]) / 2, np.array([[0, -1j], [1j, 0]]) / 2, np.diag([0.5, -0.5])]


def on(n, d, **matrices):
    """The product of matrices on sites ``_i`` of dimension d."""
    return reduce(np.kron, [matrices.get(f"_{i}", np.eye(d)) for i in range(n)])


def pair(n, one, a, two, b):
    """Component a of one spin times component b of another."""
    return on(n, 2, **{f"_{one}": S[a], f"_{two}": S[b]})


@pytest.mark.parametrize("periodic", [False, True], ids=["open", "ring"])
def test_xyz(periodic):
    n, bonds = 4, [(0, 1), (1, 2), (2, 3)] + [(3, 0)] * periodic
    j, dm, field = RNG.normal(size=(3, len(bonds))), RNG.normal(size=(3, len(bonds))), RNG.normal(size=(3, n))
    expected = -sum(field[a, i] * on(n, 2, **{f"_{i}": S[a]}) for a in range(3) for i in range(n))
    for k, (one, two) in enumerate(bonds):
        for a in range(3):
            b, c = (a + 1) % 3, (a + 2) % 3
            expected = expected + j[a, k] * pair(n, one, a, two, a)
            expected = expected + dm[a, k] * (pair(n, one, b, two, c) - pair(n, one, c, two, b))
    H = xyz(n, *j, field=field, dm=dm, periodic=periodic)
    np.testing.assert_allclose(H.to_dense(), expected, atol=1e-13)
    assert H.bond <= (5 if not periodic else 8)


def test_xyz_of_numbers_is_real_and_conserves():
    H = xyz(6, 1.0, 1.0, 0.5, field=(0, 0, 0.3))
    assert H.dtype == float
    np.testing.assert_allclose(xyz(6, 1.0, 1.0, 0.5).to_dense(), qad.mps.xxz(6, 0.5).to_dense(), atol=1e-14)
    spiral = qad.mps.ground_state(xyz(6, 1.0, 1.0, 0.5, dm=(0, 0, 0.7)), 8, conserve="Sz", sector=2)
    levels = np.linalg.eigvalsh(xyz(6, 1.0, 1.0, 0.5, dm=(0, 0, 0.7)).to_dense())
    assert np.abs(levels - spiral.energy).min() < 1e-9


@pytest.mark.parametrize("n", [4, Lattice.ladder(2)], ids=str)
def test_bose_hubbard(n):
    b = np.diag(np.sqrt(np.arange(1.0, 3)), 1)
    count, bonds = b.T @ b, n.pairs() if isinstance(n, Lattice) else [(0, 1), (1, 2), (2, 3)]
    t, v, u, mu = RNG.normal(size=len(bonds)), RNG.normal(size=len(bonds)), RNG.normal(size=4), 0.3
    expected = sum(u[i] / 2 * on(4, 3, **{f"_{i}": count @ count - count}) for i in range(4))
    expected = expected - mu * sum(on(4, 3, **{f"_{i}": count}) for i in range(4))
    repulsion = 0
    for amplitude, between, (i, j) in zip(t, v, bonds, strict=True):
        hop = on(4, 3, **{f"_{i}": b.T, f"_{j}": b})
        expected = expected - amplitude * (hop + hop.T)
        repulsion = repulsion + between * on(4, 3, **{f"_{i}": count, f"_{j}": count})
    np.testing.assert_allclose(bose_hubbard(n, t, u, mu, most=2).to_dense(), expected, atol=1e-13)
    np.testing.assert_allclose(bose_hubbard(n, t, u, mu, 2, v=v).to_dense(), expected + repulsion, atol=1e-13)


@pytest.mark.parametrize("periodic", [False, True], ids=["open", "ring"])
def test_kitaev_chain(periodic):
    """Against the energies of its quasi-particles: half of all Bogoliubov modes, with the sign of either parity."""
    n, bonds = 5, [(i, i + 1) for i in range(4)] + [(4, 0)] * periodic
    t, delta, mu = RNG.normal(size=len(bonds)), RNG.normal(size=len(bonds)), RNG.normal(size=n)
    hop, pair = np.diag(-mu), np.zeros((n, n))
    for k, (i, j) in enumerate(bonds):
        hop[i, j] = hop[j, i] = hop[i, j] - t[k]
        pair[i, j], pair[j, i] = pair[i, j] - delta[k], pair[j, i] + delta[k]  # of Cdag_i Cdag_j / 2
    modes = np.linalg.eigvalsh(np.block([[hop, pair], [-pair, -hop]]))[n:]
    signs = np.array(np.meshgrid(*[[-0.5, 0.5]] * n)).reshape(n, -1)
    levels = np.linalg.eigvalsh(kitaev_chain(n, t, delta, mu, periodic).to_dense())
    np.testing.assert_allclose(levels, np.sort(modes @ signs), atol=1e-12)
    if not periodic:
        H = kitaev_chain(n, t, delta, mu)
        lowest = [qad.mps.ground_state(H, 8, conserve="parity", sector=p).energy for p in (0, 1)]
        assert min(lowest) == pytest.approx(levels[0])


def test_random_couplings():
    """Every model is the sum over its bonds and sites, each with its own number."""
    rng = np.random.default_rng(1)
    g, j, t = rng.normal(size=5), rng.normal(size=4), rng.normal(size=4)
    total = qad.mps.OpSum(5)
    for i in range(4):
        total.add(-j[i], "Z", i, "Z", i + 1)
    for i in range(5):
        total.add(-g[i], "X", i)
    np.testing.assert_allclose(qad.mps.ising(5, g, j=j).to_dense(), total.mpo().to_dense(), atol=1e-14)
    delta = xyz(5, 1.0, 1.0, j)
    np.testing.assert_allclose(qad.mps.xxz(5, j).to_dense(), delta.to_dense(), atol=1e-14)
    single = sum(qad.mps.hubbard(5, t * (np.arange(4) == k), 0.0).to_dense() for k in range(4))
    np.testing.assert_allclose(qad.mps.hubbard(5, t, np.zeros(5)).to_dense(), single, atol=1e-14)
    scaled = qad.mps.tj(4, 0.0, 1.0).to_dense()
    np.testing.assert_allclose(qad.mps.tj(4, 0.0, np.ones(3)).to_dense(), scaled, atol=1e-14)


def test_couplings_are_differentiated():
    psi = qad.mps.MPS.random(4, 3, seed=3)

    def energy(j, field, t):
        bosons = qad.mps.energy(qad.mps.MPS.random(4, 2, 3, seed=1), bose_hubbard(4, t, t[0], most=2))
        return qad.mps.energy(psi, xyz(4, j, 1.0, j, field=(0, 0, field), dm=(0, 0, 0.5))) + bosons

    qad.check_grads(energy, (RNG.normal(size=3), RNG.normal(size=4), RNG.normal(size=3)), order=1)


@pytest.mark.parametrize(
    "wrong, match",
    [
        (lambda: xyz(4, np.ones(4), 1.0, 1.0), r"one for each of the 3 bonds; it has shape \(4,\)"),
        (lambda: xyz(4, 1.0, 1.0, 1.0, field=(0, 0, np.ones(3))), r"field\[2\].*4 sites"),
        (lambda: xyz(4, 1.0, 1.0, 1.0, dm=(0, 1)), "three components"),
        (lambda: xyz(4, 1j, 1.0, 1.0), "real number"),
        (lambda: xyz(4, [1.0, np.nan, 1.0], 1.0, 1.0), r"jx\[1\]"),
        (lambda: bose_hubbard(4, 1.0, 1.0, most=0), "kind of site"),
        (lambda: kitaev_chain(1, 1.0, 1.0, 1.0), "at least 2"),
    ],
    ids=["bonds", "field", "components", "complex", "nan", "bosons", "short"],
)
def test_bad_input(wrong, match):
    with pytest.raises((ArgumentError, ShapeError), match=match):
        wrong()
