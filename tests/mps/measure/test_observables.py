"""Norms, overlaps, expectation values and energies against dense arrays; their derivatives; long chains."""

from itertools import pairwise

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError, ShapeError
from qad.core.trees import tree_map
from qad.mps import MPO, MPS, energy, expectation, heisenberg, ising, log_norm2, norm, overlap, variance, xxz

PERIODIC = pytest.mark.parametrize("periodic", [False, True], ids=["open", "periodic"])
DTYPE = pytest.mark.parametrize("dtype", [float, complex], ids=["real", "complex"])


def random_operator(n, bond=3, dtype=complex, seed=0, periodic=False, phys=2):
    """An operator with no structure at all."""
    rng = np.random.default_rng(seed)
    bonds = [bond if periodic or 0 < i < n else 1 for i in range(n + 1)]
    shapes = [(a, b, phys, phys) for a, b in pairwise(bonds)]
    return MPO([(rng.normal(size=s) + (1j * rng.normal(size=s) if dtype is complex else 0)) / 3 for s in shapes])


def hermitian(H):
    """H^dagger H, whose bonds are squares."""
    return MPO([w.conj().swapaxes(2, 3) for w in H]) @ H


def moment(psi, H, k=1):
    v = psi.to_dense().ravel()
    return np.vdot(v, np.linalg.matrix_power(H.to_dense(), k) @ v)


@PERIODIC
@DTYPE
@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_against_dense(n, dtype, periodic):
    psi = MPS.random(n, 4, dtype=dtype, seed=1, periodic=periodic)
    psi = MPS([1.1 * t for t in psi])
    phi = MPS.random(n, 3, dtype=dtype, seed=2, periodic=periodic)
    v, u = psi.to_dense(), phi.to_dense()
    assert norm(psi) == pytest.approx(np.linalg.norm(v), rel=1e-13)
    assert overlap(psi, phi) == pytest.approx(np.vdot(v, u), abs=1e-13)
    assert overlap(phi, psi).dtype == np.dtype(dtype)
    for H in (random_operator(n), random_operator(n, dtype=float), random_operator(n, periodic=True)):
        assert expectation(psi, H) == pytest.approx(moment(psi, H), abs=1e-12)


@PERIODIC
@DTYPE
@pytest.mark.parametrize("n", [3, 6])
@pytest.mark.parametrize(
    "make", [heisenberg, lambda n, p: xxz(n, 0.4, p), lambda n, p: ising(n, 0.7, p)], ids=["heisenberg", "xxz", "ising"]
)
def test_energies_against_dense(make, n, dtype, periodic):
    psi = tree_map(lambda t: 1.2 * t, MPS.random(n, 3, dtype=dtype, seed=1, periodic=periodic))
    square = np.linalg.norm(psi.to_dense()) ** 2
    for H in (make(n, False), make(n, True)):
        mean = moment(psi, H).real / square
        assert energy(psi, H) == pytest.approx(mean, abs=1e-13)
        assert variance(psi, H) == pytest.approx(moment(psi, H, 2).real / square - mean**2, abs=1e-12)
        assert energy(psi, H).dtype == np.float64


@PERIODIC
def test_energy_without_identity_channel(periodic):
    psi = MPS.random(5, 3, seed=1)
    H = hermitian(random_operator(5, 2, periodic=periodic))
    assert energy(tree_map(lambda t: 2 * t, psi), H) == pytest.approx(moment(psi, H).real, rel=1e-12)


def test_single_precision_stays_single():
    psi = MPS.random(6, 4, dtype=np.complex64)
    assert energy(psi, heisenberg(6)).dtype == np.float32
    assert norm(psi).dtype == np.float32
    assert overlap(psi, psi).dtype == np.complex64
    assert expectation(psi, heisenberg(6)).dtype == np.complex64
    assert qad.grad(energy)(psi, heisenberg(6)).dtype == np.complex64


def test_amplitudes_may_be_integers():
    psi = MPS([np.array([[[1], [0]]]), np.array([[[0], [1]]])])
    assert psi.dtype == float
    assert energy(psi, heisenberg(2)) == -0.25
    assert norm(psi) == 1.0
    assert overlap(psi, MPS.product([0, 1])) == 1


def test_one_site():
    psi, H = MPS.random(1, 1, seed=2), MPO([np.array([[0.0, 1j], [-1j, 0.5]])[None, None]])
    assert energy(psi, H) == pytest.approx(moment(psi, H).real)


def test_physical_dimension_three():
    psi = MPS.random(4, 5, phys=3, seed=3)
    H = hermitian(random_operator(4, 2, phys=3))
    assert energy(psi, H) == pytest.approx(moment(psi, H).real, rel=1e-12)


def test_the_gradient_is_a_state_and_orthogonal_to_scaling():
    psi, H = MPS.random(6, 4, seed=1), heisenberg(6)
    E, g = qad.value_and_grad(energy)(psi, H)
    assert energy(psi, H) == E
    assert isinstance(g, MPS)
    for a, d in zip(psi, g, strict=True):
        assert d.shape == a.shape
        assert np.vdot(a, d) == pytest.approx(0, abs=1e-13)


def test_the_gradient_is_the_projected_residual():
    """dE/dA = 2 (H - E) psi / <psi|psi>, contracted with all other tensors."""
    psi, H = tree_map(lambda t: 1.1 * t, MPS.random(5, 3, seed=2)), heisenberg(5)
    E, g = qad.value_and_grad(energy)(psi, H)
    v = psi.to_dense().ravel()
    residual = 2 * (H.to_dense() @ v - E * v) / np.vdot(v, v).real
    site = 2
    for k in np.ndindex(psi[site].shape):
        unit = np.zeros(psi[site].shape)
        unit[k] = 1
        basis = MPS([*psi[:site], unit, *psi[site + 1 :]]).to_dense().ravel()
        assert g[site][k] == pytest.approx(np.vdot(basis, residual), abs=1e-13)


@PERIODIC
@DTYPE
@pytest.mark.sampled(1)
def test_derivatives_by_states(dtype, periodic):
    psi = MPS.random(5, 2, dtype=dtype, seed=3, periodic=periodic)
    phi = MPS.random(5, 3, dtype=dtype, seed=4, periodic=periodic)
    qad.check_grads(norm, (psi,))
    qad.check_grads(overlap, (psi, phi))
    qad.check_grads(lambda psi: energy(psi, ising(5, 0.6)), (psi,))
    qad.check_grads(lambda psi: energy(psi, xxz(5, 0.6, periodic=True)), (psi,))
    qad.check_grads(lambda psi: variance(psi, ising(5, 0.6)), (psi,), order=1)
    qad.check_grads(lambda psi: expectation(psi, random_operator(5, 2)), (psi,))
    qad.check_grads(MPS.to_dense, (psi,))


def test_derivatives_by_the_operator():
    psi = MPS.random(4, 2, seed=3)
    H = random_operator(4, 2, dtype=float)
    qad.check_grads(expectation, (psi, H))
    qad.check_grads(lambda g: energy(psi, ising(4, g)), (np.float64(0.7),))


def test_product_states_have_finite_gradients():
    psi = MPS.product([0, 1, 0, 1, 0])
    g = qad.grad(energy)(psi, heisenberg(5))
    assert all(np.isfinite(t).all() for t in g)


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
@pytest.mark.sampled(1)
def test_long_chains_do_not_overflow(scale):
    n = 1000
    psi, H = MPS.random(n, 4, seed=1), ising(n, 1.0)
    scaled = tree_map(lambda t: scale * t, psi)
    E, g = qad.value_and_grad(energy)(scaled, H)
    assert pytest.approx(energy(psi, H), rel=1e-12) == E
    assert all(np.isfinite(t).all() for t in g)


@pytest.mark.parametrize("scale", [1e30, 1e-30, 1e100, 1e-100])
def test_norms_beyond_the_range_of_floats(scale):
    """Where four sites together overflow or vanish, squares too, and where one does."""
    n = 10
    psi, other = MPS.random(n, 4, seed=1), MPS.random(n, 3, seed=2)
    scaled = tree_map(lambda t: scale * t, psi)
    value, g = qad.value_and_grad(log_norm2)(scaled)
    assert value == pytest.approx(2 * n * np.log(scale) + log_norm2(psi), rel=1e-13)
    np.testing.assert_allclose(g[4] * scale, qad.grad(log_norm2)(psi)[4], atol=1e-13)
    first, last = psi[0] * scale**2.9, psi[9] / scale**2.9
    np.testing.assert_allclose(overlap(MPS([first, *psi[1:9], last]), other), overlap(psi, other), rtol=1e-12)
    less = 1e20 if scale > 1 else 1e-20
    (cut, error), (small, exact) = MPS([less * t for t in psi]).truncate(2), psi.truncate(2)
    np.testing.assert_allclose([error / less**n, abs(cut.normalized() @ small) / small.norm()], [exact, 1.0])
    with pytest.raises(ArgumentError, match="the norm of what was cut off is exp"):
        MPS([scale * t for t in scaled]).truncate(2)


@pytest.mark.parametrize("scale", [1e30, 1e-30, 1e100, 1e-100])
def test_norms_of_definite_charge_beyond_the_range_of_floats(scale):
    n, less = 8, 1e25 if scale > 1 else 1e-25
    psi = MPS.random(n, 4, conserve="Sz", seed=1)
    scaled = tree_map(lambda t: scale * t, psi)
    assert log_norm2(scaled) == pytest.approx(2 * n * np.log(scale) + log_norm2(psi), rel=1e-13)
    (cut, error), (small, exact) = tree_map(lambda t: less * t, psi).truncate(2), psi.truncate(2)
    np.testing.assert_allclose([error / less**n, abs(cut.normalized() @ small) / small.norm()], [exact, 1.0])
    with pytest.raises(ArgumentError, match="the norm of what was cut off is exp"):
        tree_map(lambda t: scale**1.5 * t, psi).truncate(2)


def test_bad_pairs():
    psi = MPS.random(4, 2)
    with pytest.raises(ShapeError, match="state has 4 sites, the operator has 5"):
        energy(psi, heisenberg(5))
    with pytest.raises(ShapeError, match="state has 4 sites, the other state has 3"):
        overlap(psi, MPS.random(3, 2))
    with pytest.raises(ShapeError, match="site 0 of the state has physical dimension 3"):
        energy(MPS.random(4, 2, phys=3), heisenberg(4))
    with pytest.raises(ShapeError, match="chains of 4 and 5 sites"):
        heisenberg(4) @ heisenberg(5)


def test_arguments_of_another_kind():
    psi, H = MPS.random(4, 2), heisenberg(4)
    with pytest.raises(ArgumentError, match="an MPO is needed, but got ndarray"):
        energy(psi, H.to_dense())
    with pytest.raises(ArgumentError, match=r"an MPS is needed, but got list: write qad.mps.MPS\(tensors\)"):
        energy(list(psi), H)
    with pytest.raises(ArgumentError, match="an MPS is needed"):
        norm(list(psi))
    with pytest.raises(ArgumentError, match="an MPS is needed"):
        overlap(psi, list(psi))


def test_energies_that_are_none():
    psi = MPS.random(4, 2)
    with pytest.raises(ArgumentError, match="not Hermitian"):
        energy(psi, random_operator(4))
    with pytest.raises(ArgumentError, match="norm zero"):
        energy(tree_map(lambda t: 0 * t, psi), heisenberg(4))
    with pytest.raises(ArgumentError, match="inf or nan"):
        energy(tree_map(lambda t: np.nan * t, psi), heisenberg(4))


@pytest.mark.parametrize("periodic", [False, True])
@pytest.mark.parametrize("number", [
    lambda psi, H: qad.mps.energy(psi, H),
    lambda psi, H: qad.mps.log_norm2(psi),
    lambda psi, H: qad.mps.local_expectations(psi, np.diag([1.0, -1.0])).real.sum(),
])  # fmt: skip
def test_batches_of_states(number, periodic):
    psi = 1.5 * qad.mps.MPS.random(n=4, bond=3, seed=1, periodic=periodic)  # the logarithm of its norm is not 0
    H = qad.mps.heisenberg(4)
    slope = qad.value_and_grad(lambda tensors: number(qad.mps.MPS(tensors), H))
    values, slopes = qad.vmap(slope)([np.stack([t, 2 * t, t + 0.1]) for t in psi])
    for i, tensors in enumerate(([*psi], [2 * t for t in psi], [t + 0.1 for t in psi])):
        value, expected = slope(tensors)
        np.testing.assert_allclose(values[i], value)
        np.testing.assert_allclose(slopes[2][i], expected[2], atol=1e-12)


def test_batches_of_coefficients():
    psi = qad.mps.MPS.random(n=4, bond=3, seed=1)

    def slope(c):
        return qad.grad(lambda c: qad.mps.energy(psi, qad.mps.OpSum(4).add(c[0], "X", 0).add(c[1], "Z", 2).mpo()))(c)

    c = np.array([[0.5, 0.7], [1.0, 2.0], [0.3, -1.0]])
    np.testing.assert_allclose(qad.vmap(slope)(c), [slope(k) for k in c])
