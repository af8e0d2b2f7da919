"""Chains of the tensornetwork package, DMRG and Krylov methods on the backend "qad"."""

import io

import numpy as np
import pytest

import qad

tn = pytest.importorskip("tensornetwork", reason="the optional package tensornetwork is not installed")

from qad.interop.tensornetwork import QadBackend  # noqa: E402
from qad.interop.tensornetwork.krylov import newton  # noqa: E402
from tests.interop.samples import random  # noqa: E402

CHAIN = [random(1, 2, 3), random(3, 2, 4), random(4, 2, 2), random(2, 2, 1)]


@pytest.fixture(autouse=True)
def _quiet(monkeypatch):
    """The package prints progress, whatever `verbose` says."""
    monkeypatch.setattr("tensornetwork.matrixproductstates.dmrg.stdout", io.StringIO())


# -- chains ----------------------------------------------------------------------------------------


def measurements(*tensors, backend="qad"):
    mps = tn.FiniteMPS(list(tensors), canonicalize=True, center_position=1, backend=backend)
    z, x = np.diag([1.0, -1.0]).astype(complex), np.array([[0, 1], [1, 0]], complex)
    local = mps.measure_local_operator([z, x], [0, 3])
    return [*local, *mps.measure_two_body_correlator(x, z, 2, [0, 1, 2, 3])]


def test_canonicalised_finite_mps():
    expected = measurements(*CHAIN, backend="numpy")
    np.testing.assert_allclose(measurements(*CHAIN), expected, atol=1e-14)
    qad.check_grads(lambda *tensors: np.stack(measurements(*tensors)), CHAIN, order=1)


def test_two_site_gate_with_truncation():
    gate = random(2, 2, 2, 2)

    def f(gate, *tensors):
        mps = tn.FiniteMPS(list(tensors), canonicalize=True, center_position=1, backend="qad")
        lost = mps.apply_two_site_gate(gate, 1, 2, max_singular_values=3, center_position=1)
        mps.position(3, normalize=False)
        return np.stack(mps.measure_local_operator([np.diag([1.0, 2.0j])], [2])), lost

    qad.check_grads(f, (gate, *CHAIN), order=1)


def xxz(jz, jxy, field, n=4):
    """The package's XXZ chain, which takes plain numbers, as a linear function of recorded ones."""

    def tensors(*couplings):
        jz, jxy, field = (np.full(n, c) for c in couplings)
        return tn.FiniteXXZ(jz[1:], jxy[1:], field, dtype=complex, backend="numpy").tensors

    zero = tensors(0.0, 0.0, 0.0)
    units = [tensors(*row) for row in np.eye(3)]
    sites = [w + sum(c * (u[k] - w) for c, u in zip((jz, jxy, field), units, strict=True)) for k, w in enumerate(zero)]
    return tn.FiniteMPO(sites, backend="qad")


def dmrg(couplings, tensors, backend="qad"):
    mps = tn.FiniteMPS(list(tensors), canonicalize=True, backend=backend)
    return tn.FiniteDMRG(mps, xxz(*couplings, n=len(tensors)))


def test_energy_of_a_chain_and_its_gradient():
    def energy(couplings, *tensors):
        return dmrg(couplings, tensors).compute_energy()

    qad.check_grads(energy, (np.array([1.0, 0.8, 0.3]), *CHAIN), order=1)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["run_one_site", "run_two_site"])
def test_dmrg(method):
    options = {"num_sweeps": 2, "num_krylov_vecs": 4, **({"max_bond_dim": 3} if method == "run_two_site" else {})}

    def energy(couplings):
        return getattr(dmrg(couplings, CHAIN), method)(**options).real

    qad.check_grads(energy, (np.array([1.0, 0.8, 0.3]),), order=1, rtol=1e-7)


def test_dmrg_finds_the_ground_state_and_its_gradient():
    tensors = [random(left, 2, right) for left, right in zip([1, 2, 4, 8, 4, 2], [2, 4, 8, 4, 2, 1], strict=True)]

    def energy(couplings):
        return dmrg(couplings, tensors).run_two_site(max_bond_dim=8, num_sweeps=4, num_krylov_vecs=12).real

    value, gradient = qad.value_and_grad(energy)(np.array([1.0, 1.0, 0.3]))
    np.testing.assert_allclose(value, -2.4935771338879)  # Bethe ansatz, open chain of 6, a singlet
    np.testing.assert_allclose(gradient, [value / 3, 2 * value / 3, 0], atol=1e-8)  # Hellmann, Feynman and isotropy


def test_canonicalised_infinite_mps():
    """Schmidt values and a transfer matrix' eigenvalue, through ARPACK and the implicit function theorem."""
    cell = [random(3, 2, 3), random(3, 2, 3)]

    def schmidt(*tensors):
        mps = tn.InfiniteMPS(list(tensors), center_position=0, backend="qad")
        norm = mps.canonicalize(precision=1e-14)
        values = 1 / qad.abs(np.diagonal(mps.connector_matrix))
        return values, qad.abs(norm)

    qad.check_grads(schmidt, cell, order=1, rtol=1e-7)


# -- Krylov methods --------------------------------------------------------------------------------


def symmetrised(a, v, *, options):
    """Lowest eigenpairs of a Hermitian operator that is given by a function."""
    states = QadBackend().eigsh_lanczos(lambda v, h: h @ v, [a + a.conj().T], v, **options)
    weights = np.arange(len(v))
    return states[0].real, np.stack([qad.abs2(state) @ weights for state in states[1]])


@pytest.mark.parametrize("options", [{"num_krylov_vecs": 6}, {"numeig": 2, "reorthogonalize": True, "tol": 1e-14}])
def test_lanczos(options):
    """Of a recorded operator the lowest level is solved for to rounding: differences see the same once it converges."""
    a, v = random(6, 6), random(6)
    qad.check_grads(lambda a, v: symmetrised(a, v, options=options), (a, v), order=1)


def test_lanczos_leaves_its_start_alone():
    v = random(5)
    before = v.copy()
    QadBackend().eigsh_lanczos(lambda v: v * np.arange(5), initial_state=v)
    np.testing.assert_array_equal(v, before)


def test_arnoldi():
    v = random(3, 2)

    def eigs(a):
        values, vectors = QadBackend().eigs(
            lambda v: np.tensordot(a, v, 2), initial_state=v, numeig=2, num_krylov_vecs=5, which="LM", tol=1e-14
        )
        return values, [qad.abs2(vector) for vector in vectors]

    qad.check_grads(eigs, (random(3, 2, 3, 2),), order=2)


def test_an_eigenpair_is_found_again_for_another_operator():
    a, change = random(4, 4), 1e-2 * random(4, 4)
    values, vectors = np.linalg.eig(a)
    v, reference = vectors[:, 0], vectors[:, 0].conj()

    def equation(unknown):
        v, nu = unknown
        return [(a + change) @ v - nu * v, (reference * v).sum() - 1]

    v, nu = newton(equation, [v, values[0]])
    np.testing.assert_allclose((a + change) @ v, nu * v)
    assert np.abs(np.linalg.eigvals(a + change) - nu).min() < 1e-12


def test_gmres():
    def solution(a, b):
        x, status = QadBackend().gmres(lambda x, a: a @ x, b, [a], tol=1e-3)
        assert status == 0
        return x

    a, b = random(5, 5) + 5 * np.eye(5), random(5)
    np.testing.assert_allclose(a @ solution(a, b), b, atol=1e-2)
    qad.check_grads(solution, (a, b), order=2)
