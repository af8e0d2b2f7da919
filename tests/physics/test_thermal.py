"""Thermal states at the defaults, beside dense density matrices and free fermions."""

import numpy as np
import pytest

import qad
from qad import mps
from tests.physics import exact, free

HALF = "spin-1/2"
CHAINS = {
    "ising": (mps.ising(6, 0.8), HALF, 6, exact.transverse(6, 0.8)),
    "second neighbours": (mps.j1j2(5, 0.0, 1.0), HALF, 5, exact.exchange(exact.row(5, 2))),
    "electrons": (mps.hubbard(3, 1.0, 4.0), "electron", 3,
                  exact.hopping(exact.row(3), 1.0, ("up", "dn")) + [(4.0, "NupNdn", i) for i in range(3)]),
}  # fmt: skip


@pytest.mark.parametrize(
    "name, beta",
    [
        ("ising", 0.2),
        ("electrons", 0.2),
        ("second neighbours", 1.0),
        pytest.param("second neighbours", 0.2, marks=pytest.mark.slow),
        *[pytest.param(name, 1.0, marks=pytest.mark.slow) for name in ("ising", "electrons")],
    ],
)
def test_thermal_states(name, beta):
    H, kind, n, terms = CHAINS[name]
    h = exact.dense([kind] * n, terms)
    log_z, energy, square = exact.thermal(h, beta, h, h @ h)
    state = mps.thermal_state(H, beta)
    assert state.energy == pytest.approx(energy, abs=1e-4)
    assert state.log_partition == pytest.approx(log_z, abs=1e-4)
    observable = (1.0, "Sz", 0, "Sz", 2)
    wanted = exact.thermal(h, beta, exact.product([kind] * n, *observable[1:]))[1]
    assert np.real(state.expectation(exact.opsum([kind] * n, [observable]))) == pytest.approx(wanted, abs=1e-4)

    def both(b):
        state = mps.thermal_state(H, b)
        return qad.array([state.log_partition, state.energy])

    assert qad.jacobian(both)(beta) == pytest.approx(np.array([-energy, energy**2 - square]), abs=1e-6)


def test_curves():
    """By levels alone: two spins are a singlet and a triplet."""
    curve = mps.thermal_curve(mps.heisenberg(2), [0.5, 1.0, 2.0])
    gap = np.exp(curve.beta)
    assert curve.log_partition == pytest.approx(np.log(3 + gap) - curve.beta / 4, abs=1e-7)
    assert curve.energy == pytest.approx((3 - 3 * gap) / (3 + gap) / 4, abs=1e-7)
    assert curve.specific_heat == pytest.approx(3 * gap * (curve.beta / (3 + gap)) ** 2, abs=1e-7)
    total = mps.OpSum(2).add(1.0, "Sz", 0).add(1.0, "Sz", 1)
    assert curve.susceptibility(total) == pytest.approx(2 * curve.beta / (3 + gap), abs=1e-7)
    assert curve.expectation(total) == pytest.approx(np.zeros(3), abs=1e-9)


@pytest.mark.parametrize("n", [6, pytest.param(10, marks=pytest.mark.slow)])
def test_slopes_by_fields_are_those_of_free_fermions(n):
    fields, beta = np.linspace(0.7, 1.3, n), 1.0
    energy = lambda g: mps.thermal_state(mps.ising(n, g), beta).energy
    value, found = qad.value_and_grad(energy)(fields)
    assert value == pytest.approx(free.ising_thermal_energy(n, beta, fields), abs=1e-4)
    for k in (0, n // 2 - 1):
        moved = lambda x, k=k: free.ising_thermal_energy(n, beta, fields + (x - fields[k]) * np.eye(n)[k])
        assert found[k] == pytest.approx(exact.difference(moved, fields[k]), abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("beta", [0.5, 4.0, 20.0])
def test_forty_sites(beta):
    H = mps.ising(40, 1.2)
    state = mps.thermal_state(H, beta)
    assert state.energy == pytest.approx(free.ising_thermal_energy(40, beta, 1.2), abs=1e-3)
    assert state.log_partition == pytest.approx(free.ising_log_partition(40, beta, 1.2), abs=1e-3)
    by_j = qad.grad(lambda j: mps.thermal_state(mps.ising(40, 1.2, j=j), beta).energy)(1.0)
    wanted = exact.difference(lambda j: free.ising_thermal_energy(40, beta, 1.2, j), 1.0)
    assert by_j == pytest.approx(wanted, abs=1e-2)


@pytest.mark.slow
def test_xx_chain_of_forty_sites():
    state = mps.thermal_state(mps.xxz(40, 0.0), 2.0)
    assert state.energy == pytest.approx(free.thermal_energy(free.hops(40, 0.5), 2.0), abs=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("n", [4, 6])
def test_electrons_that_the_default_bond_cuts(n):
    """By the repulsion, beside differences of the same call."""
    energy = lambda u: mps.thermal_state(mps.hubbard(n, 1.0, u), 2.0).energy
    assert qad.grad(energy)(2.0) == pytest.approx(exact.difference(energy, 2.0, 1e-2), abs=1e-3)
