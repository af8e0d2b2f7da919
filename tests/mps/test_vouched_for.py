"""Chains: searches and evolutions say what they can vouch for, and nothing else."""

from itertools import pairwise

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError
from qad.linalg.krylov.lanczos import exponential
from qad.mps import MPO, MPS, OpSum, evolve, ground_state, heisenberg, ising, uniform
from qad.mps.search.monitor import is_settled

METHODS = ("lbfgs", "riemannian", "dmrg", "dmrg2", "tdvp", "tebd")


def spin_one(n):
    H = OpSum(n, "spin-1")
    for i in range(n - 1):
        H.add(1.0, "Sz", i, "Sz", i + 1).add(0.5, "Sp", i, "Sm", i + 1).add(0.5, "Sm", i, "Sp", i + 1)
    return H.mpo()


# -- convergence -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "H, bond",
    [
        pytest.param(ising(10, 1.5), 1, id="Ising, bond 1"),
        pytest.param(spin_one(30), 2, id="spin 1, bond 2", marks=pytest.mark.slow),
    ],
)
def test_two_site_sweeps_do_not_converge_on_a_loss(H, bond):
    """The energy of a pair before truncation is not that of a state of this bond."""
    seen = []

    def callback(state, energy):
        seen.append((energy, float(qad.mps.energy(state, H))))

    found = ground_state(H, bond, "dmrg2", callback=callback)
    told, true = np.array(seen).T
    np.testing.assert_allclose(told, true, rtol=1e-12)
    assert found.converged
    best = ground_state(H, bond, "riemannian", tol=1e-12).energy
    assert found.energy == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize(
    "gain, before, settled",
    [
        (1e-11, 1e-9, True),
        (1e-11, np.inf, True),
        (0.0, 1e-3, True),
        (-1e-14, 1e-3, True),  # rounding
        (-3.7e-3, 1e-3, False),  # a loss
        (-1e-11, 1e-3, False),
        (1e-9, 1e-8, False),
        (0.99e-10, 1e-10, False),  # 1e-8 is left to gain
        (2e-11, 1e-11, False),  # gains grow
    ],
)
def test_when_gains_have_settled(gain, before, settled):
    assert is_settled(gain, before, 1e-10) is settled


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("flipped", [(), (3, 7)], ids=["all up", "two flipped"])
@pytest.mark.sampled(1)
def test_a_start_in_the_wrong_sector_is_left(method, flipped):
    """The state of all spins up is an eigenstate, and has no gradient; it was said to be the ground state."""
    H, start = heisenberg(8), MPS.product([int(i in flipped) for i in range(8)])
    found = ground_state(H, 16, method, start=start)
    exact = np.linalg.eigvalsh(H.to_dense())[0]
    if method in ("lbfgs", "riemannian"):  # these keep the bond of 1: no single spin can lower the energy
        dense, state = H.to_dense(), found.state.to_dense().reshape(-1)
        for site in range(8):
            for pauli in ([[0, 1], [1, 0]], [[0, -1j], [1j, 0]], [[1, 0], [0, -1]]):
                op = np.kron(np.kron(np.eye(2**site), pauli), np.eye(2 ** (7 - site)))
                for angle in (0.3, -0.3, np.pi / 2):
                    turned = np.cos(angle) * state + 1j * np.sin(angle) * (op @ state)
                    assert np.vdot(turned, dense @ turned).real >= found.energy - 1e-9
        return
    assert found.energy == pytest.approx(exact, rel=1e-8)
    assert found.converged


def bosons(n, hopping, mu, most=3):
    """A Bose-Hubbard chain at U = 1."""
    H = OpSum(n, f"boson-{most}")
    for i in range(n - 1):
        H.add(-hopping, "Bdag", i, "B", i + 1).add(-hopping, "Bdag", i + 1, "B", i)
    for i in range(n):
        H.add(0.5, "N", i, "N", i).add(-0.5 - mu, "N", i)
    return H.mpo()


@pytest.mark.slow
@pytest.mark.parametrize("method", ["dmrg", "dmrg2", "lbfgs", "riemannian"])
@pytest.mark.parametrize("below, off", [(3, 1e-4), (4, -1e-4)])
def test_levels_that_are_close(method, below, off):
    """Two numbers of bosons, 1e-4 apart: sweeps go slowly from one to the other, and gain little on the way."""
    dense = bosons(4, 0.1, 0.0).to_dense()
    number = sum(np.unravel_index(np.arange(4**4), (4,) * 4))
    levels = [np.linalg.eigvalsh(dense[np.ix_(number == k, number == k)])[0] for k in range(13)]
    mu = levels[below + 1] - levels[below] + off
    exact = np.sort([level - mu * k for k, level in enumerate(levels)])
    assert exact[1] - exact[0] == pytest.approx(1e-4)
    found = ground_state(bosons(4, 0.1, mu), 30, method, seed=1)
    assert not found.converged or found.energy == pytest.approx(exact[0], rel=1e-9)
    assert found.converged or "not converged" in found.message or "maxiter" in found.message


@pytest.mark.parametrize("unit", [1e-8, 1e-3, 1e6])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.sampled(2)
def test_energies_have_no_natural_unit(unit, method):
    found = ground_state(unit * heisenberg(6), 8, method)
    assert found.energy / unit == pytest.approx(-2.4935771338879, rel=1e-9)
    assert found.converged
    np.testing.assert_allclose(found.history[-1], found.energy, rtol=1e-9)


def test_an_excluded_state_that_is_found_again_is_no_convergence():
    H = ising(6, 1.3)
    ground = ground_state(H, 8, "dmrg2").state
    weak = ground_state(H, 8, "dmrg2", excluded=[ground], weight=1e-3)
    assert not weak.converged
    assert "larger weight" in weak.message
    strong = ground_state(H, 8, "dmrg2", excluded=[ground])
    assert strong.converged
    assert strong.energy == pytest.approx(np.linalg.eigvalsh(H.to_dense())[1])


# -- what is no Hamiltonian, no time ---------------------------------------------------------------------------------


def skew(n, periodic=False):
    H = OpSum(n)
    for i in range(n - 1 + periodic):
        H.add(1.0, "Sp", i % n, "Sm", (i + 1) % n).add(0.3, "Z", i % n)
    return H.mpo()


@pytest.mark.parametrize("method", ["tdvp2", "tdvp", "tebd", "tebd4"])
@pytest.mark.parametrize("imaginary", [False, True])
def test_evolution_by_what_is_not_hermitian_is_refused(method, imaginary):
    for H in (skew(4), 1j * heisenberg(4)):
        with pytest.raises(ArgumentError, match="not Hermitian"):
            evolve(MPS.product([0, 1, 0, 1]), H, 0.1, 2, method, imaginary=imaginary)


@pytest.mark.parametrize("time", [1j, 0.1 + 0j, np.nan, np.inf, [0.1, 0.2]])
def test_times_that_are_no_real_number_are_refused(time):
    with pytest.raises(ArgumentError, match="imaginary=True"):
        evolve(MPS.product([0, 1, 0, 1]), heisenberg(4), time, 2)
    with pytest.raises(ArgumentError, match="imaginary=True"):
        uniform.evolve(UP, ISING, time, 2)


@pytest.mark.parametrize("method", METHODS)
def test_a_search_with_what_is_not_hermitian_is_refused(method):
    with pytest.raises(ArgumentError, match="not Hermitian"):
        ground_state(skew(4), 4, method)


def test_the_energy_of_a_ring_with_what_is_not_hermitian_is_refused():
    """A real state makes the expectation value real, so that the value does not show it."""
    back, w = np.zeros((2, 2, 2, 2)), np.zeros((2, 2, 2, 2))
    back[1, 0] = w[0, 0] = w[1, 1] = np.eye(2)
    w[0, 1] = [[0.0, 1.0], [0.0, 0.0]]
    ring = MPO([back, w, w, w])
    with pytest.raises(ArgumentError, match="not Hermitian"):
        qad.mps.energy(MPS.random(4, 3, dtype=float, periodic=True), ring)
    psi = MPS.random(4, 3, dtype=float, periodic=True)
    H = heisenberg(4, periodic=True)
    dense = psi.to_dense().reshape(-1)
    assert qad.mps.energy(psi, H) == pytest.approx(dense @ H.to_dense() @ dense / (dense @ dense))


# -- evolution ---------------------------------------------------------------------------------------------------------

UP = uniform.UniformMPS([np.array([1.0, 0.0]).reshape(1, 2, 1)])
SX, SZ = np.array([[0.0, 1.0], [1.0, 0.0]]), np.diag([1.0, -1.0])
ISING = (-np.kron(SZ, SZ) - 0.5 * (np.kron(SX, np.eye(2)) + np.kron(np.eye(2), SX))).reshape(2, 2, 2, 2)


@pytest.mark.slow
@pytest.mark.parametrize("method, order", [("tebd", 2), ("tebd4", 4)])
def test_shorter_steps_are_better_until_rounding(method, order):
    H, psi = ising(8, 1.1), MPS.product([0, 1] * 4)
    exact = qad.linalg.expm(-1j * H.to_dense()) @ psi.to_dense().reshape(-1)
    errors = []
    for steps in (10, 20, 40, 80, 160):
        final = evolve(psi, H, 1.0, steps, method).state.to_dense().reshape(-1)
        errors.append(np.linalg.norm(final - exact))
    assert all(two < one / 3 or one < 1e-10 for one, two in pairwise(errors))
    assert errors[-1] < {2: 3e-5, 4: 2e-10}[order]


@pytest.mark.slow
def test_two_site_variational_steps_keep_to_their_budget():
    H, psi = ising(8, 1.1), MPS.product([0, 1] * 4)
    exact = qad.linalg.expm(-1j * H.to_dense()) @ psi.to_dense().reshape(-1)
    for steps in (5, 20, 80):
        final = evolve(psi, H, 1.0, steps).state.to_dense().reshape(-1)
        assert np.linalg.norm(final - exact) < 1e-7


@pytest.mark.parametrize("method", ["tebd", "tebd4"])
@pytest.mark.sampled(1)
def test_shorter_steps_are_better_on_infinite_chains(method):
    exact = uniform.local_expectations(uniform.evolve(UP, ISING, 0.5, 200, "tebd4", cutoff=1e-30).state, SZ)
    errors = []
    for steps in (5, 10, 20, 40, 80):
        found = uniform.local_expectations(uniform.evolve(UP, ISING, 0.5, steps, method).state, SZ)
        errors.append(np.abs(found - exact).max())
    assert all(two < one / 3 for one, two in pairwise(errors))


def test_imaginary_time_stays_in_range():
    H = 1e4 * heisenberg(6)
    final = evolve(MPS.product([0, 1] * 3), H, 1.0, 4, "tdvp", imaginary=True).state
    assert np.isfinite(final.to_dense()).all()
    levels = np.array([-2000.0, 0.0, 5.0])
    start = np.array([1e-3, 0.6, 0.8])
    found, _ = exponential(lambda x: levels * x, start, -1.0, 1e-12, 3)
    np.testing.assert_allclose(abs(found) / np.linalg.norm(found), [1, 0, 0], atol=1e-12)


# -- infinite chains ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 6))])
def test_ground_states_of_infinite_chains_do_not_depend_on_the_seed(seed):
    """Seed 0 ended in a local minimum, -0.442762."""
    raising = np.array([[0.0, 1.0], [0.0, 0.0]])
    h = (np.kron(raising, raising.T) + np.kron(raising.T, raising)) / 2 + np.kron(SZ, SZ) / 4
    found = uniform.ground_state(h.reshape(2, 2, 2, 2), bond=8, cell=2, seed=seed)
    assert found.energy == pytest.approx(-0.442846294321, rel=1e-10)


@pytest.mark.parametrize("seed", [0, 1, pytest.param(2, marks=pytest.mark.slow)])
@pytest.mark.parametrize("cell", [1, 2])
def test_energies_of_infinite_chains_are_variational(seed, cell):
    """Isometries that rounding had spoilt gave energies below the exact one, by 8e-12 to 1e-8."""
    h = (-np.kron(SZ, SZ) - 0.75 * (np.kron(SX, np.eye(2)) + np.kron(np.eye(2), SX))).reshape(2, 2, 2, 2)
    found = uniform.ground_state(h, bond=6, cell=cell, seed=seed, starts=1)
    assert -2e-15 < found.energy - -1.671926221536195 < 1e-7
    assert uniform.energy_density(found.state, h) == pytest.approx(found.energy, abs=1e-14)
    for tensor in found.state:
        rows = tensor.reshape(len(tensor), -1)
        np.testing.assert_allclose(rows @ rows.conj().T, np.eye(len(rows)), atol=1e-14)


def test_numbers_of_numpy_multiply_chains():
    psi = MPS.random(3, 2, seed=0)
    for number in (np.float64(2.0), np.complex128(2.0), np.array(2.0)):
        np.testing.assert_allclose((number * psi).to_dense(), 2 * psi.to_dense())
        np.testing.assert_allclose((psi * number).to_dense(), 2 * psi.to_dense())


# -- what other probes found -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_a_constant_does_not_change_the_search(method):
    """Imaginary time left the range of numbers, and rounding found the centre of a site itself below its energy."""
    H = OpSum(4).add(1.0, "X", 0).add(1.0, "Z", 0, "Z", 1)
    exact = np.linalg.eigvalsh(H.mpo().to_dense())[0]
    found = ground_state(H.add(1e4).mpo(), 4, method)
    assert found.energy - 1e4 == pytest.approx(exact, abs=1e-6)
    assert found.converged


@pytest.mark.parametrize("method", ["lbfgs", "riemannian", "dmrg", "dmrg2"])
@pytest.mark.sampled(1)
def test_real_searches_beside_complex_states(method):
    """The penalty of a complex state was cut to its real part."""
    H = ising(5, 1.3)
    ground = ground_state(H, 8, "dmrg2").state
    phase = np.exp(0.7j) * ground
    found = ground_state(H, 8, method, excluded=phase, start=MPS.random(5, 4, dtype=float, seed=2))
    assert found.energy == pytest.approx(np.linalg.eigvalsh(H.to_dense())[1], abs=1e-7)


@pytest.mark.parametrize("cutoff", [-1.0, 1.0, np.nan])
def test_weights_that_are_none(cutoff):
    with pytest.raises(ArgumentError, match="from 0 to below 1"):
        evolve(MPS.product([0, 1, 0, 1]), heisenberg(4), 0.1, 2, cutoff=cutoff)
    with pytest.raises(ArgumentError, match="from 0 to below 1"):
        uniform.evolve(UP, ISING, 0.1, 2, cutoff=cutoff)


def test_an_infinite_sum_of_states_has_no_values_of_its_own():
    """All up plus all down: its values were those of one of them, whichever the start vector preferred."""
    both = uniform.UniformMPS([np.stack([np.diag([1.0, 0.0]), np.diag([0.0, 1.0])], axis=1)])
    for number in (lambda: uniform.local_expectations(both, SZ), lambda: uniform.entanglement_entropy(both)):
        with pytest.raises(ArgumentError, match="sum of several"):
            number()
    assert uniform.correlation_length(both) == np.inf


# -- amplitudes --------------------------------------------------------------------------------------------------------


def test_logarithms_of_amplitudes_are_those_of_each_state():
    """The logarithms taken out of amplitudes are those of each state, in a batch and in a program too."""
    psi = MPS([1e-2 * t for t in MPS.random(60, 3, seed=1)])
    words = np.random.default_rng(0).integers(0, 2, (5, 60))

    def loss(scale):
        return MPS([scale * t for t in psi]).log_amplitudes(words)

    scales = np.array([1.0, 1e4, 1e-4])
    expected = np.stack([loss(scale) for scale in scales])
    np.testing.assert_allclose(qad.vmap(loss)(scales), expected)
    frozen = qad.freeze(loss)
    np.testing.assert_allclose([frozen(scale) for scale in scales], expected)
