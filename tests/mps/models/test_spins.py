"""Hamiltonians against sums of Kronecker products and exact energies."""

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError, ShapeError
from qad.mps import aklt, blbq, ground_state, heisenberg, ising, j1j2, long_range_ising, xxz

X, Z = np.array([[0.0, 1.0], [1.0, 0.0]]), np.diag([1.0, -1.0])
Y = np.array([[0.0, -1j], [1j, 0.0]])


def on_sites(n, operators):
    """The Kronecker product with `operators`, a dict by site, among identities."""
    out = np.eye(1)
    for site in range(n):
        out = np.kron(out, operators.get(site, np.eye(2)))
    return out


def bonds(n, periodic):
    return [(i, (i + 1) % n) for i in range(n if periodic else n - 1)]


@pytest.mark.parametrize("n", [3, 4, 6])
@pytest.mark.parametrize("periodic", [False, True])
def test_against_kronecker_products(n, periodic):
    pairs = bonds(n, periodic)
    spins = sum(on_sites(n, {i: p, j: p}) / 4 for i, j in pairs for p in (X, Y, Z))
    anisotropic = sum(on_sites(n, {i: p, j: p}) * c / 4 for i, j in pairs for p, c in ((X, 1), (Y, 1), (Z, -0.7)))
    field = -sum(on_sites(n, {i: Z, j: Z}) for i, j in pairs) - 1.3 * sum(on_sites(n, {i: X}) for i in range(n))
    np.testing.assert_allclose(heisenberg(n, periodic).to_dense(), spins, atol=1e-14)
    np.testing.assert_allclose(xxz(n, -0.7, periodic).to_dense(), anisotropic, atol=1e-14)
    np.testing.assert_allclose(ising(n, 1.3, periodic).to_dense(), field, atol=1e-14)


@pytest.mark.parametrize(
    "H, exact",
    [
        (heisenberg(2), -0.75),
        (heisenberg(4), -1.616025403784),
        (heisenberg(8), -3.3749325986879),
        (heisenberg(4, periodic=True), -2.0),
        (heisenberg(8, periodic=True), -3.651093408937),
        (xxz(10, 0), -3.0133370916661),
        (xxz(10, 0.5), -3.5902507029866),
        (xxz(10, 2), -5.8326813652217),
        (ising(10, 0.5), -9.7655039579272),
        (ising(10, 1.5), -16.535254946759),
        (ising(8, 1.0, periodic=True), -2 / np.sin(np.pi / 16)),
    ],
    ids=str,
)
def test_exact_energies(H, exact):
    assert np.linalg.eigvalsh(H.to_dense())[0] == pytest.approx(exact, abs=2e-12)


def spins(n, size, pairs, *polynomial):
    """Sum over pairs of polynomials of S . S', by Kronecker products."""
    kind = qad.mps.operators.local.spin(size).operators
    total, d = 0, len(kind["Id"])
    for i, j in pairs:
        dot = 0
        for name in ("Sx", "Sy", "Sz"):
            factors = [kind[name] if site in (i, j) else np.eye(d) for site in range(n)]
            product = np.eye(1)
            for factor in factors:
                product = np.kron(product, factor)
            dot = dot + product
        total = total + sum(c * np.linalg.matrix_power(dot, k) for k, c in enumerate(polynomial, 1))
    return total


@pytest.mark.parametrize("periodic", [False, True])
def test_larger_spins_and_distances(periodic):
    ring = bonds(5, periodic)
    np.testing.assert_allclose(heisenberg(5, periodic, spin=1).to_dense(), spins(5, 1, ring, 1.0), atol=1e-13)
    np.testing.assert_allclose(aklt(5, periodic).to_dense(), spins(5, 1, ring, 1.0, 1 / 3), atol=1e-13)
    quadratic = spins(5, 1, ring, np.cos(0.3), np.sin(0.3))
    np.testing.assert_allclose(blbq(5, 0.3, periodic).to_dense(), quadratic, atol=1e-13)
    second = [(i, (i + 2) % 6) for i in range(6 if periodic else 4)]
    frustrated = spins(6, 0.5, bonds(6, periodic), 1.0) + spins(6, 0.5, second, 0.4)
    np.testing.assert_allclose(j1j2(6, 1.0, 0.4, periodic).to_dense(), frustrated, atol=1e-13)


@pytest.mark.parametrize("periodic", [False, True])
def test_exchange_and_field_of_each_bond_and_site(periodic):
    n, pairs, rng = 5, bonds(5, periodic), np.random.default_rng(2)
    j, h, delta = rng.normal(size=len(pairs)), rng.normal(size=n), rng.normal(size=len(pairs))
    zeeman = -sum(h[i] / 2 * on_sites(n, {i: Z}) for i in range(n))
    exchange = [sum(on_sites(n, {i: p, k: p}) for p in (X, Y)) / 4 for i, k in pairs]
    along = [on_sites(n, {i: Z, k: Z}) / 4 for i, k in pairs]
    isotropic = sum(c * (a + b) for c, a, b in zip(j, exchange, along, strict=True))
    anisotropic = sum(c * (a + d * b) for c, d, a, b in zip(j, delta, exchange, along, strict=True))
    np.testing.assert_allclose(heisenberg(n, periodic, j=j, h=h).to_dense(), isotropic + zeeman, atol=1e-14)
    np.testing.assert_allclose(xxz(n, delta, periodic, j=j, h=h).to_dense(), anisotropic + zeeman, atol=1e-14)
    np.testing.assert_allclose(j1j2(n, j, 0, periodic, h=h).to_dense(), isotropic + zeeman, atol=1e-14)
    assert heisenberg(n, h=0.3).bond == 5


def test_saturated_magnets():
    """Above saturation all spins are up: ``n h S`` below the exchange ``J S**2`` of each bond."""
    levels = np.linalg.eigvalsh(heisenberg(4, spin=1, j=2.0, h=9.0).to_dense())
    assert levels[0] == pytest.approx(3 * 2.0 - 4 * 9.0, abs=1e-12)
    up = qad.mps.uniform.UniformMPS([np.eye(2)[0].reshape(1, 2, 1)])
    density = qad.mps.uniform.energy_density
    assert density(up, qad.mps.uniform.heisenberg(j=2.0, h=5.0)) == pytest.approx(2 / 4 - 5 / 2, abs=1e-14)
    assert density(up, qad.mps.uniform.xxz(0.5, j=2.0, h=5.0)) == pytest.approx(1 / 4 - 5 / 2, abs=1e-14)
    assert density(up, qad.mps.uniform.j1j2(2.0, 1.0, h=5.0)) == pytest.approx(3 / 4 - 5 / 2, abs=1e-14)


def test_long_range_ising():
    decay = -sum(0.4 ** (j - i - 1) * on_sites(5, {i: Z, j: Z}) for j in range(5) for i in range(j))
    decay = decay - 0.7 * sum(on_sites(5, {i: X}) for i in range(5))
    np.testing.assert_allclose(long_range_ising(5, 0.4, 0.7).to_dense(), decay, atol=1e-14)
    with pytest.raises(ArgumentError, match=r"qad\.mps\.ising"):
        long_range_ising(5, 0.0, 1.0)


def test_exact_states_of_spin_one_and_of_majumdar_and_ghosh():
    assert np.linalg.eigvalsh(aklt(5).to_dense())[0] == pytest.approx(-8 / 3, abs=1e-12)
    assert np.linalg.eigvalsh(j1j2(8, 1.0, 0.5).to_dense())[0] == pytest.approx(-3.0, abs=1e-12)


def test_operator_bonds_are_small():
    assert j1j2(9, 1.0, 0.5).bond == 8
    assert blbq(6, 0.3).bond == aklt(6).bond == 10


@pytest.mark.slow
def test_spins_one_conserve_their_magnetisation():
    """Their quadrupoles were written as real combinations of parts that add opposite charges, and refused."""
    found = ground_state(aklt(8), conserve="Sz")
    assert found.energy == pytest.approx(-2 / 3 * 7, abs=1e-9)
    levels = np.linalg.eigvalsh(blbq(5, 0.3).to_dense())
    assert ground_state(blbq(5, 0.3), 32, conserve="Sz").energy == pytest.approx(levels[0], abs=1e-8)
    assert heisenberg(6, spin=1).bond == 5
    assert long_range_ising(6, 0.5, 1.0).bond == 3
    assert len({id(t) for t in heisenberg(50)}) == 3  # repeated sites share their tensor
    assert heisenberg(6).bond == 5
    assert heisenberg(6, periodic=True).bond == 8
    assert ising(6, 1.0).bond == 3
    assert heisenberg(6).dtype == float


@pytest.mark.parametrize(
    "make",
    [lambda g: ising(4, g), lambda g: xxz(4, g), lambda g: j1j2(4, 1.0, g), lambda g: long_range_ising(4, 0.3, g)],
)
def test_coefficients_are_differentiable(make):
    """Hellmann and Feynman: the derivative of an energy is the expectation of dH/dg."""
    psi = qad.mps.MPS.random(4, 3, seed=4)
    slope = (make(1.5).to_dense() - make(0.5).to_dense()) @ psi.to_dense().ravel()
    expected = np.vdot(psi.to_dense(), slope).real
    assert qad.grad(lambda g: qad.mps.energy(psi, make(g)))(0.8) == pytest.approx(expected, abs=1e-13)


@pytest.mark.parametrize("wrong", [1, 0, 2.5, "four", None])
def test_numbers_of_sites(wrong):
    with pytest.raises(ArgumentError, match="n must be a whole number of at least 2"):
        heisenberg(wrong)
    with pytest.raises(ArgumentError, match="n of a ring must be a whole number of at least 3"):
        heisenberg(2, periodic=True)


@pytest.mark.parametrize("wrong", [1j, np.inf, np.nan, "1", [1.0, 2.0], None])
def test_coefficients_must_be_real(wrong):
    with pytest.raises((ArgumentError, ShapeError), match="delta must be a finite real number|delta is one number"):
        xxz(4, wrong)
    with pytest.raises((ArgumentError, ShapeError), match="g must be a finite real number|g is one number"):
        ising(4, wrong)
