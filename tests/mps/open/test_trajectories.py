"""States that decay and jump: their means beside closed forms, within five standard errors."""

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError, GradientTypeError
from qad.core.process import threads
from qad.mps import MPS, OpSum, density, density_measure, evolve, lindblad, trajectories
from tests.physics import exact

UP = np.diag([1.0, 0.0])
DECAYS = [(1.0, "Sm", i) for i in range(2)]


def test_spins_decay_at_their_rate():
    """At the end of steps of 0.1: the mean is ``exp(-1)`` but for half a step, 0.02."""
    found = trajectories(MPS.product([0, 0]), OpSum(2), DECAYS, 1.0, 10, 100, "tebd")
    mean, error = found.measure(UP)
    assert np.all(np.abs(mean - np.exp(-1.0)) < 5 * error + 0.02)
    assert np.all(error < 0.06)
    for state, jumps in zip(found.states, found.jumps, strict=True):  # every spin that is down has jumped, once
        assert state.measure(UP).real == pytest.approx([float(i not in [k for _, k in jumps]) for i in range(2)])
        assert state.norm() == pytest.approx(1.0)
    again = trajectories(MPS.product([0, 0]), OpSum(2), DECAYS, 1.0, 10, 100, "tebd")
    assert again.jumps == found.jumps


def test_configurations_are_drawn_of_each_state_anew():
    """``psi.sample(1)`` of many states draws the same numbers for all of them, and those that drew the jumps."""
    plus = trajectories(MPS.product([[1.0, 1.0]] * 2), OpSum(2), [], 1.0, 1, 400, "tebd").sample()
    np.testing.assert_allclose(np.mean((-1.0) ** plus, axis=0), 0.0, atol=0.2)  # four standard errors
    assert np.mean((-1.0) ** plus.sum(axis=1)) == pytest.approx(0.0, abs=0.2)
    found = trajectories(MPS.product([0, 0]), OpSum(2), DECAYS, 1.0, 10, 30, "tebd")
    for drawn, jumps in zip(found.sample(), found.jumps, strict=True):
        assert [*drawn] == [i in [k for _, k in jumps] for i in range(2)]


def test_products_of_small_matrices_have_one_thread():
    """With two, BLAS took seventy times as long where another program wanted the second processor."""
    before, seen = threads.numbers(), set()

    class Draws(np.random.Generator):
        def exponential(self):
            seen.update(threads.numbers())
            return super().exponential()

    try:
        threads.give([2] * len(before))
        trajectories(MPS.product([0, 0]), OpSum(2), DECAYS, 1.0, 2, 2, "tebd", seed=Draws(np.random.PCG64(0)))
    finally:
        threads.give(before)
    assert seen == {1}


def test_without_jumps_states_are_those_of_the_hamiltonian():
    H = exact.opsum(["spin-1/2"] * 3, exact.exchange(exact.row(3)))
    start = MPS.product([0, 1, 0])
    found = trajectories(start, H, [(0.0, "Sz", 1)], 0.5, 5, 2)
    wanted = evolve(start, H, 0.5, 5).state
    for state, jumps in zip(found.states, found.jumps, strict=True):
        assert abs(state.overlap(wanted)) == pytest.approx(1.0, abs=1e-9)
        assert jumps == ()


@pytest.mark.slow
def test_means_are_those_of_density_matrices():
    n, H = 4, exact.opsum(["spin-1/2"] * 4, exact.exchange(exact.row(4), 1.0, 0.5))
    jumps = [(0.5, "Sm", 0), (0.3, "Sz", 1), OpSum(n).add(0.6, "Sp", 2, "Sm", 3)]
    start = MPS.product([0, 1, 1, 0])
    mean, error = trajectories(start, H, jumps, 1.0, 50, 400, "tebd").measure("Sz")
    final = evolve(density(start), lindblad(H, jumps), 1.0, 20, "tebd4", hermitian=False).state
    assert np.all(np.abs(mean - density_measure(final, "Sz").real) < 5 * error + 0.005)


REFUSED = {
    "charges": (lambda: trajectories(MPS.product([0, 0], conserve="Sz"), OpSum(2), [], 1.0, 2), "without_symmetry"),
    "an operator": (lambda: trajectories(MPS.product([0, 0]), qad.mps.heisenberg(2), [], 1.0, 2), "H as an OpSum"),
    "one sample": (lambda: trajectories(MPS.product([0, 0]), OpSum(2), DECAYS, 1.0, 2, 1), "samples"),
    "time that runs backwards": (
        lambda: trajectories(MPS.product([0, 0]), OpSum(2), DECAYS, -1.0, 2),
        "forwards in time, which is not -1.0",
    ),
    "losses": (lambda: trajectories(MPS.product([0]), OpSum(1).add(1j, "Sz", 0), [], 1.0, 2), "not Hermitian"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_says_what_to_write(name):
    call, words = REFUSED[name]
    with pytest.raises(ArgumentError, match=words):
        call()


def test_samples_have_no_derivative():
    def mean(rate):
        found = trajectories(MPS.product([0, 0]), OpSum(2), [(rate, "Sm", 0)], 1.0, 2, 2)
        return found.measure("Sz", 0)[0]

    with pytest.raises(GradientTypeError, match="samples have no derivative"):
        qad.grad(mean)(0.5)
