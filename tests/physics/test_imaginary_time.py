"""Imaginary time with the default method, its norm, and its derivatives."""

import numpy as np
import pytest

import qad
from qad import mps
from tests.physics import exact

HALF = "spin-1/2"
CASES = {
    "ising": (5, exact.transverse(5, 0.9)),
    "second neighbours": (5, exact.exchange(exact.row(5, 2)) + [(0.4, "X", i) for i in range(5)]),
    "clusters": (5, [(1.0, "X", i, "Z", i + 1, "X", i + 2) for i in range(3)] + [(-0.3, "Z", i) for i in range(5)]),
}


STARTS = {"product": mps.MPS.product([0, 1, 0, 1, 0]), "random": mps.MPS.random(5, 2, seed=2)}


@pytest.mark.parametrize(
    "name, start",
    [
        *[(name, "product") for name in CASES],
        ("ising", "random"),
        *[pytest.param(name, "random", marks=pytest.mark.slow) for name in ("second neighbours", "clusters")],
    ],
)
def test_energy_falls_as_it_should(name, start):
    n, terms = CASES[name]
    spins, psi = [HALF] * n, STARTS[start]
    h, H = exact.dense(spins, terms), exact.opsum(spins, terms)
    wanted = lambda t: exact.mean(h, exact.evolved(h, psi.to_dense(), t, True))
    found, slope = qad.value_and_grad(lambda t: mps.energy(mps.evolve(psi, H, t, 3, imaginary=True).state, H))(0.25)
    assert found == pytest.approx(wanted(0.25), abs=5e-5)  # the error of the steps
    assert slope == pytest.approx(exact.difference(wanted, 0.25), abs=1e-6)


def test_norm_of_an_imaginary_evolution():
    spins, terms = [HALF] * 6, exact.transverse(6, 1.2)
    h, start = exact.dense(spins, terms), mps.MPS.product([0] * 6)
    values, vectors = np.linalg.eigh(h.toarray())
    weights = np.sum(np.exp(-2 * 0.4 * values) * vectors[0] ** 2)
    assert mps.evolve(start, mps.ising(6, 1.2), 0.4, 10, imaginary=True).log_norm == pytest.approx(
        np.log(weights) / 2, abs=2e-3
    )


def test_long_times_end_in_the_ground_state():
    H = mps.j1j2(6, 1.0, 0.4)
    final = mps.evolve(mps.MPS.random(6, 2, seed=0), H, 15.0, 20, imaginary=True).state
    h = exact.dense([HALF] * 6, exact.exchange(exact.row(6)) + exact.exchange(exact.row(6, 2), 0.4))
    assert mps.energy(final, H) == pytest.approx(exact.lowest(h)[0][0], abs=1e-6)
