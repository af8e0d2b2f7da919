"""Curves of thermal states against exact diagonalisation and free fermions, and what they cost."""

from xml.etree import ElementTree

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError, GradientTypeError, ShapeError
from qad.mps import OpSum, heisenberg, ising, thermal_curve, thermal_state, xxz
from qad.mps.thermal import roots
from tests.physics import free

ISING = ising(5, 1.0)
EVEN, UNEVEN = np.linspace(0.0, 3.0, 7), [0.01, 0.1, 1.0, 1.25, 4.0]


def total(n, name="Sz"):
    """The sum of an operator over the sites."""
    found = OpSum(n)
    for i in range(n):
        found.add(1.0, name, i)
    return found


def ensemble(levels, beta):
    """``log Z``, energies, specific heats and entropies by all levels."""
    weights = np.exp(-np.outer(beta, levels - levels[0]))
    z = weights.sum(axis=1)
    mean, square = weights @ levels / z, weights @ levels**2 / z
    log_z = np.log(z) - np.asarray(beta) * levels[0]
    return log_z, mean, np.square(beta) * (square - mean**2), log_z + beta * mean


def check(found, wanted, atol):
    """All arrays of a curve."""
    log_z, energy, heat, entropy = wanted
    np.testing.assert_allclose(found.log_partition, log_z, rtol=0, atol=atol)
    np.testing.assert_allclose(found.energy, energy, rtol=0, atol=atol)
    np.testing.assert_allclose(found.specific_heat, heat, rtol=0, atol=atol)
    np.testing.assert_allclose(found.entropy, entropy, rtol=0, atol=atol)
    cold = found.beta > 0
    np.testing.assert_allclose(found.free_energy[cold], -log_z[cold] / found.beta[cold], rtol=1e-7)


@pytest.mark.parametrize("H, conserve", [
    (ising(6, 0.8), None), (heisenberg(6), "Sz"), (qad.mps.xyz(5, 1.0, 0.8, 0.5, dm=(0, 0, 0.3)), None),
    (qad.mps.hubbard(2, 1.0, 4.0), ("N", "Sz")), (qad.mps.j1j2(6, 1.0, 0.4), None),
])  # fmt: skip
@pytest.mark.parametrize("betas", [EVEN, UNEVEN], ids=["even", "uneven"])
@pytest.mark.sampled(5)
def test_against_diagonalisation(H, conserve, betas):
    found = thermal_curve(H, betas, conserve=conserve)
    check(found, ensemble(np.linalg.eigvalsh(H.to_dense()), betas), 1e-6)
    assert np.all(np.diff(found.discarded) >= 0)


@pytest.mark.parametrize("n", [4, pytest.param(8, marks=pytest.mark.slow)])
def test_one_sector(n):
    H, rows = xxz(n, 0.7), [i for i in range(2**n) if 2 * bin(i).count("1") == n]
    found = thermal_curve(H, EVEN[:5], conserve="Sz", sector=0)
    check(found, ensemble(np.linalg.eigvalsh(H.to_dense()[np.ix_(rows, rows)]), EVEN[:5]), 1e-6)
    np.testing.assert_allclose(found.susceptibility(total(n)), 0.0, atol=1e-9)


def test_expectations_and_susceptibilities_against_diagonalisation():
    """Of what is conserved with and without charges, and of a field that shifts the mean."""
    n, betas = 5, [0.5, 1.0, 2.0]
    H = qad.mps.xyz(n, 1.0, 1.0, 0.4, field=(0, 0, 0.3))
    M, pair = total(n).mpo(), OpSum(n).add(1.0, "Sz", 1, "Sz", 3)
    h, m, other = (x.to_dense() for x in (H, M, pair.mpo()))
    levels, vectors = np.linalg.eigh(h)
    weights = np.exp(-np.outer(betas, levels - levels[0]))
    mean, square, product = (
        weights @ np.einsum("ik,ij,jk->k", vectors.conj(), x, vectors).real / weights.sum(axis=1)
        for x in (m, m @ m, other)
    )
    for conserve in (None, "Sz"):
        found = thermal_curve(H, betas, conserve=conserve)
        np.testing.assert_allclose(found.expectation(pair).real, product, rtol=0, atol=1e-7)
        np.testing.assert_allclose(found.susceptibility(total(n)), betas * (square - mean**2), rtol=0, atol=1e-6)
        np.testing.assert_allclose(found.susceptibility(M), betas * (square - mean**2), rtol=0, atol=1e-6)


def fermions(n, beta):
    """The XX chain as hopping fermions: ``log Z``, energy, specific heat, entropy, and susceptibility of the spin."""
    levels = np.linalg.eigvalsh(free.hops(n, 0.5))
    x = np.outer(beta, levels)
    filled = 1 / (1 + np.exp(x))
    heat, spin = (x**2 * filled * (1 - filled)).sum(axis=1), (filled * (1 - filled)).sum(axis=1)
    log_z, energy = np.log1p(np.exp(-x)).sum(axis=1), filled @ levels
    return (log_z, energy, heat, log_z + beta * energy), beta * spin


@pytest.mark.parametrize("n, last, how", [
    (20, 1.5, {}), pytest.param(40, 4.0, {"conserve": "Sz", "bond": 160}, marks=pytest.mark.slow),
])  # fmt: skip
def test_the_xx_chain_is_one_of_free_fermions(n, last, how):
    betas = np.linspace(0.0, last, 4)
    wanted, spin = fermions(n, betas)
    found = thermal_curve(xxz(n, 0.0), betas, **how)
    check(found, wanted, 2e-6)
    np.testing.assert_allclose(found.susceptibility(total(n)), spin, rtol=0, atol=2e-6)


@pytest.mark.parametrize("n", [12, pytest.param(40, marks=pytest.mark.slow)])
def test_the_ising_chain_is_one_of_free_fermions(n):
    betas, modes = np.linspace(0.5, 2.0, 4), free.ising_levels(n, 1.2)
    x = np.outer(betas, modes)
    log_z = np.array([free.ising_log_partition(n, b, 1.2) for b in betas])
    energy = np.array([free.ising_thermal_energy(n, b, 1.2) for b in betas])
    wanted = log_z, energy, (x / np.cosh(x)) ** 2 @ np.ones(n), log_z + betas * energy
    check(thermal_curve(ising(n, 1.2), betas), wanted, 2e-6)


def test_specific_heats_are_the_slopes_of_energies():
    """Of `thermal_state`, whose derivatives are another way to them."""
    found = thermal_curve(ISING, [0.4, 0.8])
    slope = qad.grad(lambda beta: thermal_state(ISING, beta).energy)(0.8)
    assert found.specific_heat[1] == pytest.approx(-(0.8**2) * slope, abs=1e-6)


def test_equal_steps_take_one_product_each(monkeypatch):
    """So do those that double; a curve of ten is not ten states."""
    counts = []

    def counted(*args):
        counts[-1] += 1
        return summed(*args)

    summed = roots.summed
    monkeypatch.setattr(roots, "summed", counted)
    for betas in ([1.0], np.linspace(0.1, 1.0, 10), np.linspace(0.1, 1.0, 10) / 3, 0.5 ** np.arange(5.0)[::-1]):
        counts.append(0)
        thermal_curve(ISING, betas)
    one, ten, third, doubling = counts
    assert ten <= one - 3 + 9 and third <= one - 5 + 9 and doubling == one


def test_what_is_written_into_the_hamiltonian_later_changes_nothing():
    H = ising(3, 1.0)
    found, before = thermal_curve(H, [0.5]), thermal_curve(H, [0.5]).specific_heat
    H[0][:] = 0.0
    np.testing.assert_array_equal(found.specific_heat, before)


def test_beta_zero_alone():
    found = thermal_curve(ISING, [0])
    assert found.entropy[0] == pytest.approx(5 * np.log(2)) and found.energy[0] == pytest.approx(0.0, abs=1e-12)
    assert found.free_energy[0] == -np.inf and found.specific_heat[0] == 0.0


@pytest.mark.parametrize("wrong, error, message", [
    (lambda: thermal_curve(ISING, [1.0, 0.5]), ArgumentError, "sort them"),
    (lambda: thermal_curve(ISING, [0.5, 0.5]), ArgumentError, "ascend"),
    (lambda: thermal_curve(ISING, [-1.0, 0.5]), ArgumentError, "from 0 or more"),
    (lambda: thermal_curve(ISING, 1.0), ArgumentError, "for one take qad.mps.thermal_state"),
    (lambda: thermal_curve(ISING, [np.inf]), ArgumentError, "a list of real numbers"),
    (lambda: thermal_curve(ISING, [1j]), ArgumentError, "a list of real numbers"),
    (lambda: thermal_curve(1j * ISING, [1.0]), ArgumentError, "not Hermitian"),
    (lambda: thermal_curve(ISING, [1.0], conserve="Sz"), ArgumentError, "does not conserve 'Sz'"),
    (lambda: thermal_curve(ISING, [1.0]).expectation(ising(4, 1.0)), ShapeError, "5 sites"),
    (lambda: thermal_curve(ISING, [1.0]).susceptibility(total(5)), ArgumentError, "does not commute with H"),
    (lambda: thermal_curve(ISING, [1.0]).susceptibility(1j * ISING), ArgumentError, "Hermitian part"),
    (lambda: thermal_curve(ISING, [1.0], chi=4), TypeError, "write bond="),
    (lambda: qad.grad(lambda g: thermal_curve(ising(3, g), [1.0]).energy[0])(1.0), GradientTypeError, "thermal_state"),
    (lambda: qad.grad(lambda b: thermal_curve(ISING, b).energy[0])(np.ones(1)), GradientTypeError, "thermal_state"),
    (lambda: qad.grad(lambda b: thermal_curve(ISING, [b]).energy[0])(1.0), GradientTypeError, "thermal_state"),
])  # fmt: skip
def test_refusals(wrong, error, message):
    with pytest.raises(error, match=message):
        wrong()


def test_curves_are_shown_as_tables_and_plots():
    found = thermal_curve(ISING, [0.0, 0.5, 1.0])
    assert repr(found) == "ThermalCurve(3 states of 5 sites, beta 0 to 1, bond at most 64)"
    text = "".join(ElementTree.fromstring(found._repr_html_()).itertext())
    assert "specific heat" in text and f"{found.energy[2]:.8g}" in text and len(text.splitlines()) == 4
    picture = found.plot()
    assert "beta 0 to 1" in picture.alt and picture.png()[1:4] == b"PNG"
