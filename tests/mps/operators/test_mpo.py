"""Operators from matrices, smaller ones, adjoints, exponentials, and evolution by one that changes in time."""

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError, ShapeError
from qad.mps import MPO, MPS, OpSum, heisenberg, mpo_exp

RNG = np.random.default_rng(7)


def test_from_dense_and_identity():
    matrix = RNG.normal(size=(12, 12)) + 1j * RNG.normal(size=(12, 12))
    found = MPO.from_dense(matrix, phys=(2, 3, 2))
    np.testing.assert_allclose(found.to_dense(), matrix, atol=1e-13)
    assert found.bonds == (1, 4, 4, 1)
    np.testing.assert_array_equal(MPO.identity(3, (2, 3, 2)).to_dense(), np.eye(12))
    assert MPO.from_dense(qad.mps.heisenberg(5).to_dense()).bond == 5
    assert MPO.from_dense(np.eye(27), phys=3).bonds == (1, 1, 1, 1)
    qad.check_grads(lambda m: MPO.from_dense(m).to_dense(), (RNG.normal(size=(8, 8)),), order=1)


@pytest.mark.slow
def test_truncations_say_their_error():
    H = qad.mps.j1j2(6, 1.0, 0.4)
    square, error = (H @ H).truncate()
    assert error < 1e-13
    assert square.bond < H.bond**2
    np.testing.assert_allclose(square.to_dense(), H.to_dense() @ H.to_dense(), atol=1e-12)
    small, error = (H @ H).truncate(bond=6)
    difference = square.to_dense() - small.to_dense()
    assert small.bond == 6
    assert error == pytest.approx(np.linalg.norm(difference) / 8, rel=1e-10)  # the root of the mean of 64 squares
    identity = MPO.identity(3000) + MPO.identity(3000)  # whose Frobenius norm is 2**1501
    halves, error = identity.truncate()
    assert halves.bond == 1
    assert error < 1e-10
    assert qad.mps.ground_state(H.truncate()[0], 8).energy == pytest.approx(np.linalg.eigvalsh(H.to_dense())[0])
    assert square.sites is not None
    flips = MPO([np.array([[0, 1], [1, 0]])[None, None]] * 3).truncate()[0]  # of whole numbers
    np.testing.assert_allclose(flips.to_dense(), np.eye(8)[::-1], atol=1e-14)
    assert MPO.identity(3, dtype=np.float32).truncate()[0].dtype == np.float32


def test_adjoints():
    H = MPO([RNG.normal(size=(1, 1, 2, 2)) + 1j * RNG.normal(size=(1, 1, 2, 2)) for _ in range(3)])
    np.testing.assert_allclose(H.dagger().to_dense(), H.to_dense().conj().T)


# -- sums --------------------------------------------------------------------------------------------------------------


def test_sums_are_added_multiplied_and_adjoint():
    H = OpSum(4, "fermion").add(1.0 + 0.5j, "Cdag", 0, "C", 2).add(0.3, "N", 1).add(0.7)
    K = OpSum(4, "fermion").add_exponential(0.3 + 0.2j, 0.5j, "Cdag", "C").add(0.2, "C", 3, "Cdag", 1).add(1.0, "N", 1)
    h, k = H.mpo().to_dense(), K.mpo().to_dense()
    pairs = [
        (H + K, h + k), (H - K, h - k), (2j * K, 2j * k), (H * np.float64(2), 2 * h), (-H, -h), (K / 2, k / 2),
        (K.dagger(), k.conj().T), (H.dagger(), h.conj().T), (H @ H, h @ h), (sum([H, K, H]), 2 * h + k),
    ]  # fmt: skip
    for found, expected in pairs:
        np.testing.assert_allclose(found.mpo().to_dense(), expected, atol=1e-15)
    assert (len(H), len(K)) == (3, 3)  # they are as they were
    assert len(H.copy().add(1.0, "N", 3)) == 4
    hermitian = H @ H.dagger()
    assert np.linalg.eigvalsh(hermitian.mpo().to_dense())[0] > -1e-13


def test_multiples_are_differentiated():
    psi, one = MPS.random(4, 3, seed=1), OpSum(4).add(1.0, "Z", 0, "Z", 3).add(0.3, "X", 1)
    two = OpSum(4).add(1.0, "Y", 2)

    def energy(c):
        return qad.mps.energy(psi, (c[0] * one + two * c[1]).mpo())

    np.testing.assert_allclose(
        qad.grad(energy)(np.array([0.3, 0.5])), [qad.mps.energy(psi, one), qad.mps.energy(psi, two)]
    )


@pytest.mark.parametrize(
    "wrong, match",
    [
        (lambda: OpSum(3) + OpSum(4), "different sites"),
        (lambda: OpSum(3) + OpSum(3, "fermion"), "different sites"),
        (lambda: OpSum(3) @ OpSum(3).add_exponential(1.0, 0.5, "Z", "Z"), r"H\.mpo\(\) @ K\.mpo\(\)"),
        (lambda: OpSum(3) * OpSum(3), "A @ B"),
        (lambda: MPO.identity(3) * MPO.identity(3), "A @ B"),
        (lambda: MPO.from_dense(np.eye(6)), "give phys="),
        (lambda: MPO.from_dense(np.ones((4, 2))), "give phys="),
        (lambda: MPO.identity(3, (2, 2)), "2 dimensions were given for 3"),
        (lambda: MPO([np.ones((2, 2, 2, 2))] * 3).truncate(), "periodic"),
        (lambda: mpo_exp(2 * qad.mps.ising(4, 1.0), 0.1), "multiply factor="),
        (lambda: mpo_exp(qad.mps.ising(4, 1.0) + qad.mps.heisenberg(4), 0.1), "add OpSums"),
        (lambda: mpo_exp(qad.mps.ising(4, 1.0), 0.1, order=3), "order 1 or 2"),
        (lambda: mpo_exp(qad.mps.ising(4, 1.0), np.array([0.1, 0.2])), "factor of mpo_exp must be a finite number"),
    ],
    ids=[
        "lengths",
        "kinds",
        "families",
        "product",
        "MPO times MPO",
        "dense",
        "square",
        "dimensions",
        "ring",
        "multiple",
        "sum",
        "order",
        "factor",
    ],
)
def test_bad_input(wrong, match):
    with pytest.raises((ArgumentError, ShapeError), match=match):
        wrong()


# -- exponentials ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", [-1.0, -1j], ids=["imaginary", "real"])
def test_errors_fall_with_the_order(unit):
    H = qad.mps.j1j2(6, 1.0, 0.4)
    for order in (1, 2):
        pairs = [(mpo_exp(H, t * unit, order), qad.linalg.expm(t * unit * H.to_dense())) for t in (0.05, 0.025)]
        errors = [np.abs(step.to_dense() - exact).max() for step, exact in pairs]
        assert errors[0] < 10 * 0.05 ** (order + 1)
        assert 0.8 * 2 ** (order + 1) < errors[0] / errors[1] < 1.2 * 2 ** (order + 1)
    assert mpo_exp(H, -0.1, 1).bond == H.bond - 1
    assert mpo_exp(H, -0.1, 1).dtype == float


def test_exponentials_are_compressed():
    H = heisenberg(6)
    exact, whole = qad.linalg.expm(-0.01j * H.to_dense()), mpo_exp(H, -0.01j)
    for options, bond in (({"cutoff": 1e-6}, 4), ({"bond": 4}, 4)):
        small = mpo_exp(H, -0.01j, **options)
        assert (whole.bond, small.bond) == (16, bond)
        assert np.abs(small.to_dense() - exact).max() < 1.1 * np.abs(whole.to_dense() - exact).max()


@pytest.mark.parametrize("n", [1, 2, 4])
def test_terms_on_single_sites_are_exact(n):
    H = OpSum(n).add(0.3)
    for i in range(n):
        H.add(0.3 + i, "X", i).add(0.2, "Z", i)
    exact = qad.linalg.expm(0.7 * H.mpo().to_dense())
    np.testing.assert_allclose(mpo_exp(H, 0.7, 1).to_dense(), exact, rtol=1e-12, atol=1e-12)


def test_exponentials_conserve_and_are_differentiated():
    H = qad.mps.heisenberg(6)
    psi = MPS.random(6, 6, conserve="Sz", seed=1)
    step = mpo_exp(H, -0.1j)
    moved = step @ psi
    assert moved.sector == 0
    np.testing.assert_allclose(
        moved.without_symmetry().to_dense(), (step @ psi.without_symmetry()).to_dense(), atol=1e-14
    )
    one, two = MPS.random(3, 2, seed=1), MPS.random(3, 2, seed=2)

    def fidelity(t, j):
        total = OpSum(3).add(j[0], "Z", 0, "Z", 1).add(j[1], "Z", 1, "Z", 2).add(1.0, "X", 1)
        return qad.abs2((mpo_exp(total, -1j * t) @ one) @ two)

    couplings = np.array([1.0, 0.3])
    qad.check_grads(fidelity, (np.array(0.1), couplings))
    batch = qad.vmap(lambda t: fidelity(t, t * couplings))(np.array([0.1, 0.2]))
    np.testing.assert_allclose(batch, [fidelity(t, t * couplings) for t in (0.1, 0.2)], rtol=1e-12)


# -- operators that change in time -------------------------------------------------------------------------------------


def drive(t):
    """A chain in a field that turns."""
    total = OpSum(4)
    for i in range(3):
        total.add(-1.0, "Z", i, "Z", i + 1)
    for i in range(4):
        total.add(-np.cos(3 * t), "X", i).add(-np.sin(3 * t), "Z", i)
    return total


@pytest.mark.parametrize("kind", ["tebd", "tdvp2"])
def test_evolution_by_an_operator_that_changes(kind):
    start = MPS.product([0, 1, 1, 0])
    still, along_x, along_z = (drive(t).mpo().to_dense() for t in (0, np.pi / 3, np.pi / 6))
    couplings, phases = (still + along_x) / 2, 1.2 * (np.arange(400) + 0.5)[:, None, None] / 400
    H = couplings + np.cos(phases) * (still - couplings) + np.sin(phases) * (along_z - couplings)
    exact = start.to_dense().ravel()
    for step in qad.linalg.expm(-1e-3j * H):
        exact = step @ exact
    times, errors = [], []
    for steps in (8, 16):
        found = qad.mps.evolve(start, drive, 0.4, steps, kind, callback=lambda state, time: times.append(time))
        errors.append(np.linalg.norm(found.state.to_dense().ravel() - exact))
        assert found.time == pytest.approx(0.4)
    assert errors[0] < 5e-3
    assert 3.5 < errors[0] / errors[1] < 4.5
    np.testing.assert_allclose(times[:8], np.arange(1, 9) / 20)
    with pytest.raises(ArgumentError, match=r"H\(t\) returns the operator at time t"):
        qad.mps.evolve(start, lambda t: np.eye(4), 0.4, 4)


def test_norms_of_all_steps_are_counted():
    start, H = MPS.random(3, 2), qad.mps.ising(3, 0.7)
    for kind in ("tebd", "tdvp2"):
        whole, driven = (qad.mps.evolve(start, h, 0.5, 5, kind, imaginary=True) for h in (H, lambda t: H))
        assert abs(whole.log_norm) > 0.1
        assert driven.log_norm == pytest.approx(whole.log_norm, rel=1e-10)
    slope = qad.grad(lambda x: qad.mps.evolve(start, lambda t: x * H, 0.5, 5, imaginary=True).log_norm)(1.0)
    exact = qad.grad(
        lambda x: np.log(np.linalg.norm(qad.linalg.expm(-0.5 * x * H.to_dense()) @ start.to_dense().ravel()))
    )
    assert slope == pytest.approx(exact(1.0), rel=1e-5)


def dense(H):
    return (H.mpo() if isinstance(H, qad.mps.OpSum) else H).to_dense()


@pytest.mark.parametrize(
    "H",
    [
        heisenberg(4), heisenberg(4) @ heisenberg(4), heisenberg(4, periodic=True),
        qad.mps.OpSum(4).add(0.5, "Z", 1), MPO.from_dense(np.random.default_rng(3).standard_normal((16, 16))),
    ],
    ids=["sum", "square", "ring", "OpSum", "any"],
)  # fmt: skip
def test_numbers_stand_for_the_identity(H):
    one = np.eye(16)
    for shifted, exact in (
        (H - 1.5, dense(H) - 1.5 * one), (2 - H, 2 * one - dense(H)), (H + 1j, dense(H) + 1j * one),
        (1 + H, dense(H) + one), (np.float64(2) - H, 2 * one - dense(H)),
    ):  # fmt: skip
        np.testing.assert_allclose(dense(shifted), exact, atol=1e-12)


def test_a_shift_is_differentiated_and_keeps_the_form_of_a_sum():
    H, psi = heisenberg(6), qad.mps.MPS.random(6, 4, seed=0)
    assert qad.grad(lambda c: qad.mps.energy(psi, H - c))(0.3) == pytest.approx(-1.0)
    assert (H - 1.0).bonds == H.bonds and (H - 1.0).sites == H.sites
    step = qad.mps.mpo_exp(H - 1.0, -0.01).to_dense()
    np.testing.assert_allclose(step, qad.linalg.expm(-0.01 * (H - 1.0).to_dense()), atol=1e-4)
    found = qad.mps.ground_state(H - 1.0, 8, conserve="Sz")
    assert found.energy_per_site * 6 == pytest.approx(found.energy) == pytest.approx(-3.493577133888)
    with pytest.raises(TypeError, match="MPS"):
        psi - 1.0
