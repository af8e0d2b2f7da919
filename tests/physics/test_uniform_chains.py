"""Infinite chains at the defaults, beside Pfeuty, Bethe and exactly known states."""

import numpy as np
import pytest
from scipy.integrate import quad

import qad
from qad.mps import uniform
from tests.physics import exact, free


def ising_density(g):
    """P. Pfeuty, Ann. Phys. 57, 79 (1970)."""
    return -quad(lambda k: np.sqrt(1 + g * g - 2 * g * np.cos(k)), 0, np.pi, epsabs=1e-13)[0] / np.pi


TURN = np.diag(np.exp(1j * np.pi * np.array([1, 0, -1])))
X, Z = exact.KINDS["spin-1/2"]["X"], exact.KINDS["spin-1/2"]["Z"]


@pytest.mark.parametrize("g", [0.5, pytest.param(2.0, marks=pytest.mark.slow), 20.0])
def test_ising(g):
    """Far from the critical point fewer states than the default bond carry all weight."""
    H = uniform.ising(g)
    found = uniform.ground_state(H, cell=1)
    assert found.converged and found.energy == pytest.approx(ising_density(g), abs=1e-7)
    assert uniform.energy_density(found.state, H) == pytest.approx(found.energy, abs=1e-10)
    energy = lambda g: uniform.ground_energy(uniform.ising(g))
    value, found_slope = qad.value_and_grad(energy)(g)
    slope = exact.difference(ising_density, g)
    assert value == pytest.approx(ising_density(g), abs=1e-7)
    assert found_slope == pytest.approx(slope, abs=1e-5)
    assert np.real(uniform.local_expectations(found.state, X))[0] == pytest.approx(-slope, abs=1e-5)


def test_order_by_its_name():
    state = uniform.ground_state(uniform.ising(0.5), cell=1).state
    found = uniform.local_expectations(state, "Z")
    assert abs(found[0]) == pytest.approx((1 - 0.25) ** 0.125, abs=1e-6)


@pytest.mark.parametrize("k", [1.0, pytest.param(0.0, marks=pytest.mark.slow)])
def test_excitations_of_ising(k):
    state = uniform.ground_state(uniform.ising(1.5), 10, cell=1).state
    found = uniform.excitations(uniform.ising(1.5), state, k)[0]
    assert found == pytest.approx(2 * np.sqrt(1 + 1.5**2 - 3.0 * np.cos(k)), abs=1e-4)


@pytest.mark.parametrize("bond", [6, pytest.param(None, marks=pytest.mark.slow)])
def test_heisenberg(bond):
    """A small bond, and the default one."""
    bethe = 0.25 - np.log(2)
    found = uniform.ground_state(uniform.heisenberg(), **({"bond": bond} if bond else {}))
    assert bethe < found.energy < bethe + 2e-3


@pytest.mark.parametrize("delta", [8.0, pytest.param(4.0, marks=pytest.mark.slow)])
def test_xxz(delta):
    eta = np.arccosh(delta)  # R. J. Baxter, Exactly solved models, for an anisotropy above 1
    tail = sum(1 / (np.exp(2 * m * eta) + 1) for m in range(1, 60))
    wanted = delta / 4 - np.sinh(eta) * (0.5 + 2 * tail)
    assert uniform.ground_state(uniform.xxz(delta)).energy == pytest.approx(wanted, abs=1e-7)


def test_electrons_at_half_filling():
    """Bethe's ansatz, E. H. Lieb, F. Y. Wu, PRL 20, 1445 (1968), at U = 4: -0.573729; t-J is Heisenberg's then."""
    filled = {"conserve": ("N", "Sz"), "sector": (2, 0), "starts": 1}
    found = uniform.ground_state(uniform.hubbard(1.0, 4.0), 8, **filled)
    assert 0 < found.energy + 0.573729 < 8e-3
    spins = uniform.ground_state(uniform.tj(1.0, 0.5), **filled)
    assert 0 < spins.energy + 0.5 * np.log(2) < 3e-4


def test_singlets():
    """C. K. Majumdar, D. K. Ghosh, J. Math. Phys. 10, 1388 (1969): -3/8 per site, of bonds 1 and 2."""
    found = uniform.ground_state(uniform.j1j2(1.0, 0.5))
    assert found.energy == pytest.approx(-0.375, abs=1e-8)
    assert uniform.ground_energy(uniform.j1j2(1.0, 0.5)) == pytest.approx(-0.375, abs=1e-8)
    assert max(uniform.entanglement_entropy(found.state)) == pytest.approx(np.log(2), abs=1e-4)


def test_aklt():
    total = uniform.UniformOpSum(kind="spin-1")
    for a in ("Sx", "Sy", "Sz"):
        total.add(1.0, a, 0, a, 1)
        for b in ("Sx", "Sy", "Sz"):
            total.add(1 / 3, a, 0, b, 0, a, 1, b, 1)
    found = uniform.ground_state(total, 2, cell=1)
    assert found.energy == pytest.approx(-2 / 3, abs=1e-8)
    assert uniform.correlation_length(found.state) == pytest.approx(1 / np.log(3), abs=1e-4)
    canonical, weights = uniform.uniform_schmidt_form(found.state)
    assert weights[0] == pytest.approx([np.sqrt(0.5)] * 2, abs=1e-5)
    assert uniform.fidelity(canonical, found.state) == pytest.approx(1.0, abs=1e-9)
    spins = uniform.UniformMPS(found.state.tensors, kind="spin-1")
    falling = uniform.correlations(spins, "Sz", "Sz", 5)[0, 1:]
    assert falling == pytest.approx(4 / 3 * (-1 / 3) ** np.arange(1, 6), abs=1e-6)
    hidden = uniform.correlations(spins, "Sz", "Sz", 30, string=TURN)[0, 1:]
    assert hidden == pytest.approx(-4 / 9, abs=1e-6)
    q = np.array([0.3, 2.0, np.pi])
    wave = 2 * (1 - np.cos(q)) / (5 + 3 * np.cos(q))
    assert uniform.structure_factor(spins, "Sz", "Sz", q) == pytest.approx(wave, abs=1e-6)
    lengths, momenta = uniform.correlation_lengths(spins)
    assert (lengths, momenta) == (pytest.approx([1 / np.log(3)] * 3, abs=1e-4), pytest.approx([np.pi] * 3, abs=1e-4))
    assert uniform.schmidt_values(spins)[0] == pytest.approx([np.sqrt(0.5)] * 2, abs=1e-5)
    assert uniform.entanglement_spectrum(spins)[0] == pytest.approx([np.log(2)] * 2, abs=1e-5)


def test_correlations_of_ising():
    """Free fermions, and the middle of a finite chain."""
    state = uniform.ground_state(uniform.ising(2.0), 12, cell=1).state
    along, across = free.ising_correlations(2.0, 40)
    assert uniform.correlations(state, "Z", "Z", 5)[0, 1:] == pytest.approx(along[:5], abs=1e-8)
    assert uniform.correlations(state, "X", "X", 5)[0, 1:] == pytest.approx(across[:5], abs=1e-8)
    assert uniform.expectation(state, np.kron(Z, Z)) == pytest.approx(along[:1], abs=1e-8)
    assert state.measure(np.kron(np.kron(X, np.eye(2)), X)) == pytest.approx(across[1:2], abs=1e-8)
    q, r = np.array([0.0, 0.7, np.pi]), np.arange(1, 41)
    waves = 1 + 2 * np.cos(q[:, None] * r) @ along
    assert uniform.structure_factor(state, "Z", "Z", q) == pytest.approx(waves, abs=1e-6)
    assert 1.35 < uniform.correlation_length(state) < 1 / np.log(2)  # too short by what a finite bond lacks
    finite = qad.mps.ground_state(qad.mps.ising(40, 2.0), 12, "dmrg2").state
    levels, middle = uniform.entanglement_spectrum(state)[0], qad.mps.entanglement_spectrum(finite, 20)
    assert levels[:2] == pytest.approx(middle[:2], abs=1e-5)
    assert state.entanglement_entropy()[0] == pytest.approx(float(qad.mps.entanglement_entropy(finite, 20)), abs=1e-7)
    assert uniform.schmidt_values(state)[0][:4] == pytest.approx(qad.mps.schmidt_values(finite, 20)[:4], abs=1e-6)


@pytest.mark.slow
def test_the_central_charge_of_ising():
    """Entropy over the logarithm of the length, c / 6: L. Tagliacozzo et al., PRB 78, 024410 (2008)."""
    states = [uniform.ground_state(uniform.ising(1.0), bond, cell=1, conserve="parity x", starts=1).state
              for bond in (16, 24, 32)]  # fmt: skip
    lengths = [uniform.correlation_length(state) for state in states]
    slope = np.polyfit(np.log(lengths), [uniform.entanglement_entropy(state)[0] for state in states], 1)[0]
    assert 6 * slope == pytest.approx(0.5, rel=0.005)


@pytest.mark.slow
def test_hidden_order_of_spin_1():
    """String order -0.374325, length 6.03: S. R. White, D. A. Huse, PRB 48, 3844 (1993).

    The length is read off where the levels of the transfer operator close up: M. M. Rams et al., PRX 8, 041033 (2018).
    """
    inverses, gaps = [], []
    for bond in (36, 64, 120):
        state = uniform.ground_state(uniform.heisenberg(1), bond, conserve="Sz", starts=1).state
        hidden = uniform.correlations(state, "Sz", "Sz", 100, string=TURN)[:, -1]
        assert hidden == pytest.approx(-0.374325, abs=1.5e-4)
        rates = 1 / uniform.correlation_lengths(state, 2, charge=2)[0]
        inverses.append(rates[0])
        gaps.append(rates[1] - rates[0])
    assert 1 / np.polyfit(gaps, inverses, 1)[1] == pytest.approx(6.03, abs=0.04)


def test_quench():
    """In the bulk of a chain so long that its ends are not felt."""
    up = uniform.UniformMPS([np.array([1.0, 0.0]).reshape(1, 2, 1)])
    final = uniform.evolve(up, uniform.ising(1.0), 1.0, 40).state
    assert np.real(uniform.local_expectations(final, X))[0] == pytest.approx(free.quench_x(40, 20, 1.0), abs=2e-3)
    assert np.real(uniform.local_expectations(final, Z))[0] == pytest.approx(free.quench_z(40, 20, 1.0), abs=2e-3)


@pytest.mark.slow
def test_haldane_gap():
    """S. R. White, I. Affleck, PRB 77, 134437 (2008): e = -1.401484039, gap 0.410479."""
    H = uniform.heisenberg(1.0)
    found = uniform.ground_state(H, 32, cell=1)
    assert found.energy == pytest.approx(-1.401484039, abs=2e-6)
    assert uniform.excitations(H, found.state, np.pi)[0] == pytest.approx(0.410479, abs=2e-3)
