"""The examples of variational Monte Carlo: what they compute is right."""

import pytest

from tests.examples.running import run


def test_the_energy_of_the_ising_ring_has_an_honest_error():
    done = run("vmc/01_ising_ring.py")
    ((energy, exact),) = done.compared
    assert exact == pytest.approx(-15.3226, abs=1e-4)  # by sparse diagonalisation
    assert energy > exact - 4 * done.found.energy.error  # a variational bound, within the noise
    assert done.found.energy.error < 5e-3


def test_wider_machines_express_more():
    compared = run("vmc/02_heisenberg_ring.py").compared
    apart = [energy - exact for energy, exact in compared]
    assert len(apart) == 4
    assert apart[0] > 1e-3 > apart[1] > 1e-4 > apart[2] > -1e-6  # a Jastrow factor, n units, 2 n
    assert 1e-5 > apart[3] > -1e-6  # printed with six digits
