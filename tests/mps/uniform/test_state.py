"""Infinite chains: energies against exact ones, gradients, canonical form, evolution."""

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError, ShapeError
from qad.mps import uniform
from qad.mps.uniform import UniformMPS

SX, SZ, ONE = np.array([[0.0, 1.0], [1.0, 0.0]]), np.diag([1.0, -1.0]), np.eye(2)
RAISE = np.array([[0.0, 1.0], [0.0, 0.0]])


def ising(g):
    h = -np.kron(SZ, SZ) - g / 2 * (np.kron(SX, ONE) + np.kron(ONE, SX))
    return h.reshape(2, 2, 2, 2)


def heisenberg():
    h = (np.kron(RAISE, RAISE.T) + np.kron(RAISE.T, RAISE)) / 2 + np.kron(SZ, SZ) / 4
    return h.reshape(2, 2, 2, 2)


@pytest.mark.parametrize("g, bond, exact, tolerance", [
    (0.5, 4, -1.0635444099733717, 1e-8), (1.5, 6, -1.671926221536195, 1e-8), (1.0, 6, -4 / np.pi, 1e-5),
])  # fmt: skip
def test_ising(g, bond, exact, tolerance):
    found = uniform.ground_state(ising(g), bond=bond, cell=1)
    assert -1e-12 < found.energy - exact < tolerance
    assert found.converged
    assert uniform.energy_density(found.state, ising(g)) == pytest.approx(found.energy, rel=1e-9)


def test_heisenberg_with_two_sites():
    found = uniform.ground_state(heisenberg(), bond=6, cell=2)
    assert 0 < found.energy - (0.25 - np.log(2)) < 1e-3
    cooled = neel()
    for dt in (0.1, 0.02):
        cooled = uniform.evolve(cooled, heisenberg(), 200 * dt, 200, bond=6, imaginary=True).state
    assert -1e-9 < uniform.energy_density(cooled, heisenberg()) - found.energy < 1e-5  # the best of this bond


def neel():
    return UniformMPS([np.array([1.0, 0.0]).reshape(1, 2, 1), np.array([0.0, 1.0]).reshape(1, 2, 1)])


@pytest.mark.parametrize("cell", [1, 2, 3])
@pytest.mark.parametrize("dtype", [float, complex])
def test_energy_density_against_a_long_ring(cell, dtype):
    psi = UniformMPS.random(3, cell=cell, dtype=dtype, seed=1)
    ring = qad.mps.MPS(psi.tensors * (60 // cell))
    H = qad.mps.ising(60, 0.7, periodic=True)
    assert uniform.energy_density(psi, ising(0.7)) == pytest.approx(qad.mps.energy(ring, H) / 60, abs=1e-6)


@pytest.mark.parametrize("cell", [1, 2])
@pytest.mark.sampled(1)
def test_gradients(cell):
    psi = UniformMPS.random(3, cell=cell, seed=2)
    qad.check_grads(lambda psi: uniform.energy_density(psi, ising(0.7)), (psi,), order=2)
    qad.check_grads(lambda h: uniform.energy_density(psi, h + h.conj().transpose(2, 3, 0, 1)), (ising(0.7),), order=1)


def test_schmidt_form_and_entropy():
    psi = UniformMPS.random(4, cell=2, seed=4)
    psi = UniformMPS([3.0 * t for t in psi])
    state, weights = uniform.uniform_schmidt_form(psi)
    assert uniform.fidelity(psi, state) == pytest.approx(1)
    assert uniform.energy_density(psi, ising(0.3)) == pytest.approx(uniform.energy_density(state, ising(0.3)))
    for tensor, w in zip(state, weights, strict=True):
        rows = tensor.reshape(len(tensor), -1)
        np.testing.assert_allclose(rows @ rows.conj().T, np.eye(len(rows)), atol=1e-10)
        assert np.all(np.diff(w) <= 1e-12)
    entropy = uniform.entanglement_entropy(psi)
    np.testing.assert_allclose(entropy, [-(w**2 * np.log(w**2)).sum() for w in weights])
    assert uniform.entanglement_entropy(neel()) == pytest.approx([0, 0])


def test_aklt_correlation_length():
    """AKLT's transfer eigenvalues are 1 and -1/3."""
    up, zero = np.sqrt(2 / 3) * RAISE, -np.sqrt(1 / 3) * SZ
    psi = UniformMPS([np.array([up, zero, -up.T]).transpose(1, 0, 2)])
    assert uniform.correlation_length(psi) == pytest.approx(1 / np.log(3))
    assert uniform.entanglement_entropy(psi)[0] == pytest.approx(np.log(2))
    sz = uniform.local_expectations(psi, np.diag([1.0, 0.0, -1.0]))
    assert sz[0] == pytest.approx(0, abs=1e-12)


def test_evolution_of_a_product_state():
    """Magnetisation after a quench, against a finite chain in whose middle the ends are not seen yet."""
    n, time = 12, 0.4
    up = UniformMPS([np.array([1.0, 0.0]).reshape(1, 2, 1)])
    found = uniform.evolve(up, ising(1.0), time, 20, "tebd4", bond=16)
    psi = found.state
    assert found.time == time and 0 < found.discarded < 1e-10 and abs(found.log_norm) < 1e-12
    model = uniform.evolve(up, uniform.ising(1.0), time, 20, "tebd4", bond=16).state
    assert uniform.fidelity(model, psi) == pytest.approx(1.0, abs=1e-10)
    finite = qad.mps.evolve(qad.mps.MPS.product([0] * n), qad.mps.ising(n, 1.0), time, 20, "tebd4").state
    dense = finite.to_dense()
    middle = np.moveaxis(abs(dense) ** 2, n // 2, 0).reshape(2, -1).sum(1)
    assert uniform.local_expectations(psi, SZ).real == pytest.approx([middle @ [1, -1]] * 2, abs=1e-5)


def test_bad_input():
    with pytest.raises(ShapeError, match="two-site term"):
        uniform.energy_density(neel(), np.eye(4))
    with pytest.raises(ArgumentError, match="Hermitian"):
        uniform.energy_density(neel(), np.kron(RAISE, RAISE).reshape(2, 2, 2, 2))
    with pytest.raises(ArgumentError, match="riemannian"):
        uniform.ground_state(heisenberg(), method="dmrg")
    with pytest.raises(ShapeError, match="cells"):
        uniform.fidelity(neel(), UniformMPS.random(2))
    with pytest.raises(ArgumentError, match="one or two sites"):
        uniform.evolve(UniformMPS.random(2, cell=3), heisenberg(), 1.0, 2)


@pytest.mark.parametrize("seed", range(3))
def test_correlation_length_of_a_symmetric_state(seed):
    """The second eigenvector has odd parity, and the identity has none of it."""
    rng, parity = np.random.default_rng(seed), np.outer([1, 1, 1, -1, -1, -1], [1, 1, 1, -1, -1, -1])
    tensor = np.stack([rng.standard_normal((6, 6)) * (parity == sign) for sign in (1, -1)], axis=1)
    transfer = np.einsum("asb,csd->acbd", tensor, tensor).reshape(36, 36)
    second, first = np.sort(abs(np.linalg.eigvals(transfer)))[-2:]
    assert uniform.correlation_length(UniformMPS([tensor])) == pytest.approx(-1 / np.log(second / first), rel=1e-8)


def test_gradients_of_local_expectations():
    tensors = UniformMPS.random(3, cell=2, seed=2).tensors
    qad.check_grads(lambda ts: uniform.local_expectations(UniformMPS(ts), SZ), (tensors,), order=1, rtol=1e-6)


def test_batches_are_refused_with_a_way_out():
    batch = np.random.default_rng(0).normal(size=(2, 3, 2, 3))
    term = np.diag([1.0, -1.0, -1.0, 1.0]).reshape(2, 2, 2, 2)
    one = UniformMPS([batch[0]])
    for f in (
        lambda a: uniform.energy_density(UniformMPS([a]), term),
        qad.grad(lambda a: uniform.energy_density(UniformMPS([a]), uniform.ising(1.0))),
        lambda a: uniform.energy_density(one, a[0, 0, 0] * term),
        lambda a: uniform.local_expectations(UniformMPS([a]), np.diag([1.0, -1.0])),
        lambda a: uniform.fidelity(one, UniformMPS([a])),
        lambda a: uniform.correlation_length(UniformMPS([a])),
        lambda a: uniform.entanglement_entropy(UniformMPS([a])),
    ):
        with pytest.raises(qad.errors.BatchError, match="infinite chain under qad.vmap: .* a loop over the examples"):
            qad.vmap(f)(batch)
