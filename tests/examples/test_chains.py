"""The examples of chains: what they compute is right."""

import numpy as np
import pytest

import qad
from tests.examples.running import run


def test_the_bethe_ansatz_is_exact_for_odd_and_even_chains():
    exact_energy = run("mps/01_heisenberg_ground_state.py").exact_energy
    for n in (2, 7, 8):
        found = np.linalg.eigvalsh(qad.mps.heisenberg(n).to_dense())[0]
        assert exact_energy(n) == pytest.approx(found, abs=1e-11)


def test_four_ways_down():
    done = run("mps/01_heisenberg_ground_state.py")
    for method, error in (
        ("steepest descent", 1e-2),
        ("L-BFGS", 1e-4),
        ("preconditioned L-BFGS", 1e-8),
        ("sweeps", 1e-8),
    ):
        curve = np.array(done.curves[method])
        assert 0 <= 1 - curve[-1] / done.exact < error
        assert curve[-1] == pytest.approx(curve.min(), rel=1e-14)


@pytest.mark.slow
def test_the_infinite_ising_chain():
    done = run("mps/02_dominant_eigenvector_ising.py")
    assert 0 < done.found.fun + 1.671926221536195 < 2e-5
    assert done.exact_energy(0.5) == pytest.approx(-1.0635444099733717, rel=1e-14)
    assert done.exact_energy(1.0) == pytest.approx(-4 / np.pi, rel=1e-12)


def test_derivatives_of_a_complex_uniform_state():
    done = run("mps/02_dominant_eigenvector_ising.py")
    rng = np.random.default_rng(0)
    state = rng.standard_normal((3, 2, 3)) + 1j * rng.standard_normal((3, 2, 3)) + 2 * np.eye(3)[:, None]
    h = done.bond_hamiltonian(0.7)
    qad.check_grads(lambda a: done.energy(a, h), (state,), rtol=1e-7)


@pytest.mark.slow
def test_both_methods_find_the_same_state_of_many_sites():
    for number, exact in run("mps/03_heisenberg_hundred_sites.py").compared:
        assert exact == pytest.approx(run("mps/01_heisenberg_ground_state.py").exact_energy(16), abs=1e-11)
        assert number == pytest.approx(-6.911737145575, rel=1e-6)


def test_all_bars_and_stripes_are_there_once():
    images = run("mps/04_born_machine.py").images
    assert len(images) == len(np.unique(images, axis=0)) == 2**3 + 2**3 - 2
    assert all((x == x[:1]).all() or (x == x[:, :1]).all() for x in images.reshape(-1, 3, 3))


def test_the_born_machine_samples_what_it_learned():
    done = run("mps/04_born_machine.py")
    known = {tuple(image) for image in done.images}
    assert all(tuple(sample) in known for sample in done.samples.reshape(36, 9))
    assert -1e-12 < done.found.fun - np.log(14) < 1e-7


def test_the_ising_transition():
    done = run("mps/05_ising_transition.py")
    for number, exact in done.compared:
        assert number == pytest.approx(exact, abs=1e-8)
    np.testing.assert_allclose(done.magnetisation, done.exact, atol=1e-7)
    assert done.exact_energy(1.0) == pytest.approx(1 - 1 / np.sin(np.pi / 42))
    assert done.entropy[0] < done.entropy[1]
    assert done.magnetisation[0] > done.magnetisation[1] > done.magnetisation[2]


def test_the_infinite_heisenberg_chain_from_above():
    done = run("mps/06_infinite_heisenberg.py")
    s = [x / 2 for x in (np.array([[0, 1], [1, 0]]), np.array([[0, -1j], [1j, 0]]), np.diag([1, -1]))]
    np.testing.assert_allclose(done.h, sum(np.einsum("ac,bd->abcd", x, x) for x in s), atol=1e-15)
    errors = [number - exact for number, exact in done.compared]
    assert 0 < errors[1] < errors[0] < 2e-2


@pytest.mark.slow
def test_the_quench():
    done = run("mps/07_quench.py")
    np.testing.assert_allclose(done.curves["tebd4"], done.exact, atol=1e-5)
    np.testing.assert_allclose(done.curves["tdvp2"], done.exact, atol=1e-4)


def test_one_gradient_is_every_local_expectation_value():
    done = run("mps/08_hellmann_feynman.py")
    dense = np.linalg.eigvalsh(done.hamiltonian(done.g, done.J).to_dense())[0]
    assert done.exact_energy(done.g, done.J) == pytest.approx(dense, abs=1e-12)
    np.testing.assert_allclose(done.by_g, done.exact_g, atol=1e-8)
    np.testing.assert_allclose(done.by_J, done.exact_J, atol=1e-8)
    sx = np.array([[0.0, 1.0], [1.0, 0.0]])
    np.testing.assert_allclose(-done.by_g, qad.mps.local_expectations(done.psi, sx).real, atol=1e-12)


@pytest.mark.slow
def test_pulses_that_leave_less_energy_than_a_ramp():
    done = run("mps/09_quantum_control.py")
    (ramp, _), (pulses, _) = done.compared
    assert pulses < 0.6 * ramp
    by_fermions = qad.grad(done.left_over_of_fermions)(done.ramp)
    np.testing.assert_allclose(qad.grad(done.left_over)(done.ramp), by_fermions, atol=2e-3)
