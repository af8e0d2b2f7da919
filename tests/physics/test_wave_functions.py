"""Energies of wave functions of configurations, summed over all states, beside formulas."""

import numpy as np

import qad
from qad.vmc import Connections, Electrons, Fermions, Spins


def energy(log_psi, params, H, space):
    psi = np.exp(log_psi(params, space.states()))
    return (np.vdot(psi, Connections(H, space).matrix() @ psi) / np.vdot(psi, psi)).real


def test_a_machine_and_a_mean_field_of_a_product_state():
    """Spins along (sin, 0, cos) of an angle: <Z> = cos, <X> = sin; the Ising chain has -(n - 1) cos^2 - n g sin."""
    n, g, angle = 6, 0.7, 0.9
    field = -0.5 * np.log(np.tan(angle / 2))  # exp(2 a) = cos(angle / 2) / sin(angle / 2)
    expected = -(n - 1) * np.cos(angle) ** 2 - n * g * np.sin(angle)
    log_psi, params = qad.vmc.rbm(n)
    params = {"a": np.full(n, field), "b": 0 * params["b"], "W": 0 * params["W"]}
    assert abs(energy(log_psi, params, qad.mps.ising(n, g), Spins(n)) - expected) < 1e-12
    log_psi, logs = qad.vmc.mean_field(Spins(n))
    logs = np.tile(np.log([np.cos(angle / 2), np.sin(angle / 2)]), (n, 1))
    assert abs(energy(log_psi, logs, qad.mps.ising(n, g), Spins(n)) - expected) < 1e-12


def test_a_jastrow_factor_with_signs_is_the_ground_state_of_four_spins():
    log_psi, params = qad.vmc.jastrow(4)
    odd = np.array([1, 0, 1, 1, 0, 1])  # the pairs of neighbours on the ring
    params = {"v": 0 * params["v"], "J": -np.log(2) / 4 * odd}
    signed = qad.vmc.marshall(log_psi, [1, 3])
    ring, space = qad.mps.heisenberg(4, periodic=True), Spins(4, total=0)
    assert abs(energy(signed, params, ring, space) + 2) < 1e-12  # the total spins 1 of both sublattices, antiparallel
    even = qad.vmc.symmetrized(signed, qad.vmc.translations(4))
    assert abs(energy(even, params, ring, space) + 2) < 1e-12


def test_a_flat_network_is_the_ferromagnet():
    log_psi, params = qad.vmc.convolution((2, 3), kernel=2)
    flat = [(0 * W, b) for W, b in params]
    assert abs(energy(log_psi, flat, qad.mps.heisenberg(6, periodic=True), Spins(6, total=0)) - 6 / 4) < 1e-12


def test_free_fermions_on_a_ring():
    """Levels -2 t cos k; an odd number of particles, so that the ring closes without a sign."""
    n, count = 7, 3
    hopping = -np.roll(np.eye(n), 1, 0) - np.roll(np.eye(n), -1, 0)
    levels = np.sort(-2 * np.cos(2 * np.pi * np.arange(n) / n))
    H = qad.mps.OpSum(n, "fermion")
    for i in range(n):
        for j in ((i + 1) % n, (i - 1) % n):
            H.add(-1.0, "Cdag", i, "C", j)
    space = Fermions(n, total=count)
    log_psi, orbitals = qad.vmc.slater(space, np.linalg.eigh(hopping)[1])
    assert abs(energy(log_psi, orbitals, H, space) - levels[:count].sum()) < 1e-12


def test_hartree_energy_of_electrons():
    """The hopping has its levels, and ``U n_up n_down`` that of the densities, 1/2 each in a half-filled open chain."""
    n, u = 4, 3.0
    hopping = -(np.eye(n, k=1) + np.eye(n, k=-1))
    levels = -2 * np.cos(np.pi * np.arange(1, n + 1) / (n + 1))
    space = Electrons(n, up=2, down=2)
    log_psi, orbitals = qad.vmc.slater(space, np.linalg.eigh(hopping)[1])
    found = energy(log_psi, orbitals, qad.mps.hubbard(n, 1.0, u), space)
    assert abs(found - (2 * np.sort(levels)[:2].sum() + n * u / 4)) < 1e-12


def test_a_chain_is_what_its_search_found():
    H, space = qad.mps.aklt(5), Spins(5, spin=1)
    log_psi, state = qad.vmc.chain(qad.mps.ground_state(H, bond=4).state, space)
    assert abs(energy(log_psi, state, H, space) + 4 * 2 / 3) < 1e-8


def test_exchanges_of_neighbours_forget_where_they_began():
    space, rng = Spins(6, total=0), np.random.default_rng(0)
    move, rows = qad.vmc.exchanges(qad.mps.Lattice.chain(6).pairs()), np.tile([1, 1, 1, -1, -1, -1], (4000, 1))
    for _ in range(200):
        rows = move(rows, rng)
    assert abs((rows[:, 0] * rows[:, 5]).mean() + 1 / 5) < 4 / np.sqrt(4000)
    assert space.check(rows).shape == rows.shape


def test_log_cosh():
    assert abs(qad.vmc.log_cosh(np.array(1.0)) - 0.4337808304830272) < 1e-15
