"""States that operators make in small bonds, beside dense matrices and vectors."""

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError, GradientTypeError, ShapeError
from qad.mps import MPO, MPS, OpSum, apply_mpo

METHODS = ("zipup", "variational")
UP = MPS.product([0] * 4)


def random_state(conserve=None):
    return 3 * MPS.random(8, 6, conserve=conserve, seed=2)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("conserve", [None, "Sz"])
@pytest.mark.parametrize("bond", [None, 8, 3])
def test_states_and_errors_are_those_of_dense_vectors(method, conserve, bond):
    psi = random_state(conserve)
    for H in (qad.mps.j1j2(8, 1.0, 0.5), qad.mps.mpo_exp(qad.mps.xxz(8, 0.5), -0.1j)):
        exact = H.to_dense() @ psi.to_dense().ravel()
        found, error = apply_mpo(H, psi, bond, method=method)
        lost = np.linalg.norm(found.to_dense().ravel() - exact)
        assert found.bond <= (bond or 16)
        assert found.conserved == psi.conserved
        assert error == pytest.approx(lost, rel=1e-9, abs=1e-7)
        if bond is None:
            assert lost < 1e-10


def test_a_fit_is_as_near_as_the_best_cut_of_the_middle():
    """Eckart and Young: no state of this bond is nearer than the Schmidt values that it lacks."""
    psi, H = random_state(), qad.mps.j1j2(8, 1.0, 0.5)
    values = np.linalg.svd((H.to_dense() @ psi.to_dense().ravel()).reshape(16, 16), compute_uv=False)
    errors = [apply_mpo(H, psi, 8, method=method)[1] for method in METHODS]
    assert np.linalg.norm(values[8:]) * (1 - 1e-9) <= errors[1] <= errors[0]
    cut = (H @ psi).truncate(8)[1]
    assert errors[1] == pytest.approx(cut, rel=1e-6)


def test_any_operator_and_length():
    single, error = apply_mpo(OpSum(1).add(2.0, "Sp", 0), MPS.product([1]), method="variational")
    np.testing.assert_allclose(single.to_dense(), [2.0, 0.0])
    assert error == 0
    long = MPS.random(60, 4, dtype=np.float32)
    found, error = apply_mpo(MPO.identity(60, dtype=np.float32), long, 4, method="variational")
    assert (found.dtype, found.bond) == (np.float32, 4)
    assert abs(found.overlap(long) - 1) < 1e-4
    assert error < 1e-3


REFUSED = {
    "method": (lambda: apply_mpo(qad.mps.heisenberg(4), UP, method="svd"), ArgumentError, "choose 'zipup'"),
    "order": (lambda: apply_mpo(UP, qad.mps.heisenberg(4)), ArgumentError, "takes the operator first"),
    "sites": (lambda: apply_mpo(qad.mps.heisenberg(5), UP), ShapeError, "4 sites"),
    "ring": (lambda: apply_mpo(MPO([np.ones((2, 2, 2, 2))] * 4), UP), ShapeError, "periodic"),
    "nothing": (lambda: apply_mpo(OpSum(4).add(1.0, "Sp", 1), UP), ArgumentError, "H psi is zero"),
    "charge": (
        lambda: apply_mpo(OpSum(4).add(1.0, "Sx", 2), MPS.product([0] * 4, conserve="Sz")),
        ArgumentError,
        "does not conserve 'Sz'",
    ),
    "norm": (
        lambda: apply_mpo(MPO.identity(900), MPS([3 * t for t in MPS.product([0] * 900)])),
        ArgumentError,
        "cannot hold",
    ),
    "derivative": (
        lambda: qad.grad(lambda g: apply_mpo(qad.mps.ising(4, g), UP)[1])(1.0),
        GradientTypeError,
        "differentiate (H @ psi).truncate",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_says_what_to_write(name):
    call, kind, words = REFUSED[name]
    with pytest.raises(kind) as caught:
        call()
    assert words in str(caught.value)
