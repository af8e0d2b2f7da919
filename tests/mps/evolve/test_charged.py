"""Time evolution of symmetric states against that of plain ones, and against exponentials."""

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError, ShapeError
from qad.mps import MPS, evolve
from qad.mps.evolve.truncation import Truncation
from tests.mps.charges.chains import CHAINS, random

TIME, STEPS = 0.3, 4
METHODS = {"tdvp2": 1e-9, "tdvp": 1e-2, "tebd": 1e-5, "tebd4": 1e-9}  # and infidelities


def exponential(psi, H, imaginary):
    values, vectors = np.linalg.eigh(H.to_dense())
    powers = (-1 if imaginary else -1j) * TIME * values
    out = vectors @ (np.exp(powers) * (vectors.conj().T @ psi.without_symmetry().to_dense().reshape(-1)))
    return out / np.linalg.norm(out)


def vector(state):
    return state.without_symmetry().to_dense().reshape(-1)


@pytest.mark.parametrize("imaginary", [False, True])
@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", CHAINS)
@pytest.mark.sampled(5)
def test_against_exponentials_and_ordinary_states(name, method, dtype, imaginary):
    psi, H = random(name, dtype)
    if method in ("tebd", "tebd4") and name in ("second neighbours", "ring"):
        with pytest.raises(ArgumentError, match="beyond neighbours"):
            evolve(psi, H, TIME, STEPS, method)
        return
    found = evolve(2.0 * psi, H, TIME, STEPS, method, imaginary=imaginary)
    assert found.state.sector == psi.sector and found.time == TIME
    assert found.state.dtype == (dtype if imaginary else complex)
    assert qad.mps.norm(found.state) == pytest.approx(1.0)
    plain = evolve(psi.without_symmetry(), H, TIME, STEPS, method, imaginary=imaginary)
    np.testing.assert_allclose(abs(np.vdot(plain.state.to_dense(), vector(found.state))), 1.0, atol=1e-12)
    exact = exponential(psi, H, imaginary)
    assert 1 - abs(np.vdot(exact, vector(found.state))) < METHODS[method]
    if not imaginary:
        np.testing.assert_allclose(vector(found.state), plain.state.to_dense().reshape(-1), atol=1e-7)


@pytest.mark.parametrize("method", ["tdvp2", "tebd4"])
def test_sectors_open_from_product_states(method):
    H, neel = qad.mps.heisenberg(6), MPS.product([0, 1] * 3, conserve="Sz")
    found = evolve(neel, H, TIME, 8, method)
    assert found.state.bond == 8
    assert abs(np.vdot(exponential(neel, H, False), vector(found.state))) > 1 - 1e-9


def test_truncated_bonds():
    """What is cut off is what the ordinary state loses."""
    H, neel = qad.mps.heisenberg(8), MPS.product([0, 1] * 4, conserve="Sz")
    found = evolve(neel, H, 1.0, 10, "tebd", bond=6)
    plain = evolve(neel.without_symmetry(), H, 1.0, 10, "tebd", bond=6)
    assert found.state.bond == 6
    assert found.discarded == pytest.approx(plain.discarded, rel=1e-6)
    np.testing.assert_allclose(abs(np.vdot(plain.state.to_dense(), vector(found.state))), 1.0, atol=1e-8)


def test_single_sites_conserve_norm_and_energy():
    psi, H = random("ring")
    found = evolve(psi, H, 2.0, 10, "tdvp").state
    assert found.bonds == psi.bonds
    assert qad.mps.energy(found, H) == pytest.approx(qad.mps.energy(psi, H), abs=1e-8)


@pytest.mark.parametrize("to_right", [True, False])
def test_pairs_are_split_at_the_largest_weights(to_right):
    psi, _ = random("electrons")
    pair = qad.symmetric.tensordot(*psi[1:3], 1)
    truncation = Truncation(4, 0.0)
    left, right = truncation.split(pair, to_right)
    values = np.linalg.svd(pair.to_dense().reshape(left.shape[0] * 4, -1), compute_uv=False) ** 2
    assert left.shape[2] == 4
    assert truncation.discarded == pytest.approx(values[4:].sum() / values.sum())
    joined = qad.symmetric.tensordot(left, right, 1)
    assert joined.norm() == pytest.approx(pair.norm())
    kept = np.linalg.svd(joined.to_dense().reshape(left.shape[0] * 4, -1), compute_uv=False)[:4]
    np.testing.assert_allclose(kept / kept[0], np.sqrt(values[:4] / values[0]), atol=1e-12)


def test_callbacks_see_states_of_definite_charge():
    seen = []

    def stop(state, time):
        seen.append((state.sector, time))
        if len(seen) == 2:
            raise StopIteration

    final = evolve(MPS.product([0, 1, 0], conserve="Sz"), qad.mps.heisenberg(3), 1.0, 4, callback=stop)
    assert seen == [(1, 0.25), (1, 0.5)] and final.time == 0.5


@pytest.mark.parametrize("n", [1, 2])
def test_short_chains(n):
    total = qad.mps.OpSum(n).add(0.3, "Sz", n - 1)
    if n == 2:
        total.add(0.5, "Sp", 0, "Sm", 1).add(0.5, "Sm", 0, "Sp", 1)
    H, psi = total.mpo(), MPS.product([0, 1][:n], conserve="Sz")
    for method in ("tdvp", "tdvp2") if n == 1 else METHODS:
        found = evolve(psi, H, TIME, STEPS, method).state
        plain = evolve(psi.without_symmetry(), H, TIME, STEPS, method).state
        np.testing.assert_allclose(vector(found), plain.to_dense().reshape(-1), atol=1e-12)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda psi: evolve(psi, qad.mps.ising(6, 1.0), 0.1, 1), "does not conserve 'Sz'"),
        (lambda psi: evolve(psi, qad.mps.heisenberg(5), 0.1, 1), "the same sites"),
        (lambda psi: evolve(psi, qad.mps.heisenberg(6), 0.1j, 1), "imaginary=True"),
        (lambda psi: evolve(psi, qad.mps.OpSum(6).add(1.0, "Sp", 0, "Sm", 1).mpo(), 0.1, 1), "Hermitian"),
        (lambda psi: evolve(psi, qad.mps.heisenberg(6), 0.1, 1, cutoff=2.0), "cutoff=2.0"),
        (lambda psi: evolve(0.0 * psi, qad.mps.heisenberg(6), 0.1, 1), "norm 0"),
    ],
)
def test_refusals(call, message):
    with pytest.raises((ArgumentError, ShapeError), match=message):
        call(random("ring")[0])
