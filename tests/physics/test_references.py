"""The references themselves: one way beside another, and beside numbers known for a century."""

import numpy as np
import pytest

from tests.physics import exact, free


def test_free_fermions_and_dense_matrices_agree():
    n, g, j, spins = 7, 0.8, np.linspace(0.7, 1.2, 6), ["spin-1/2"] * 7
    h = exact.dense(spins, [(-j[i], "Z", i, "Z", i + 1) for i in range(6)] + [(-g, "X", i) for i in range(n)])
    assert exact.lowest(h)[0][0] == pytest.approx(free.ising_energy(n, g, j), abs=1e-12)
    log_z, energy = exact.thermal(h, 0.7, h)
    assert log_z == pytest.approx(free.ising_log_partition(n, 0.7, g, j), abs=1e-11)
    assert energy == pytest.approx(free.ising_thermal_energy(n, 0.7, g, j), abs=1e-11)
    final = exact.evolved(h, exact.basis(spins, [0] * n), 0.9)
    for site in (0, 3, 6):
        z, x = (exact.mean(exact.product(spins, name, site), final) for name in "ZX")
        assert z == pytest.approx(free.quench_z(n, site, 0.9, g, j), abs=1e-11)
        assert x == pytest.approx(free.quench_x(n, site, 0.9, g, j), abs=1e-11)


def test_hopping_and_dense_matrices_agree():
    n, modes = 6, ["fermion"] * 6
    h, single = exact.dense(modes, exact.hopping(exact.row(n), 0.9)), free.hops(n, 0.9)
    assert exact.lowest(h)[0][0] == pytest.approx(free.filled_energy(single), abs=1e-12)
    assert exact.thermal(h, 1.3, h)[1] == pytest.approx(free.thermal_energy(single, 1.3), abs=1e-11)
    final = exact.evolved(h, exact.basis(modes, [0, 1, 1, 0, 0, 1]), 0.7)
    found = [exact.mean(exact.product(modes, "N", i), final) for i in range(n)]
    assert found == pytest.approx(free.densities(single, [0, 1, 1, 0, 0, 1], 0.7), abs=1e-11)


@pytest.mark.parametrize("n", [4, 10])
def test_bethe_and_dense_matrices_agree(n):
    spins = ["spin-1/2"] * n
    open_, ring = exact.exchange(exact.row(n)), exact.exchange([*exact.row(n), (n - 1, 0)])
    assert exact.lowest(exact.dense(spins, open_))[0][0] == pytest.approx(free.heisenberg_open(n), abs=1e-10)
    assert exact.lowest(exact.dense(spins, ring))[0][0] == pytest.approx(free.heisenberg_ring(n), abs=1e-10)
