"""Derivatives of time evolution against those of dense exponentials, and of what was truncated against differences."""

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError, BatchError
from qad.mps import MPS, OpSum, evolve
from qad.mps.evolve import adjoint, cut
from tests.cases import Case, normal

CUTS = {"cutoff": 1e-24}  # by the cuts of the chain, where its bonds would have room for every state too
Z, P = np.diag([1.0, -1.0]), np.array([1.0, 0.7, 0.3])
FULL, NEEL = MPS.random(4, 4, seed=1), MPS.product([0, 1, 0, 1])


def model(p, n=4):
    """Couplings of ZZ and of XX + YY / 2, and a field that grows along the chain."""
    H = OpSum(n)
    for i in range(n - 1):
        H.add(-p[0], "Z", i, "Z", i + 1).add(p[1], "X", i, "X", i + 1).add(p[1] / 2, "Y", i, "Y", i + 1)
    for i in range(n):
        H.add(p[2] * (1 + 0.1 * i), "X", i)
    return H.mpo()


def measured(psi):
    """An energy, a local expectation value and an entropy."""
    n = len(psi)
    z = qad.mps.local_expectations(psi, Z).real[1]
    return qad.mps.energy(psi, model(P, n)) + z + qad.mps.entanglement_entropy(psi, n // 2)


def loss(p, time, psi, method="tebd", steps=2, **how):
    return measured(evolve(psi, model(p, len(psi)), time, steps, method, **how).state)


def by_tensors(method, bond):
    return lambda p, tensors: loss(p, 0.4, MPS(tensors), method, 1, bond=bond)


def by_guess(a, known):
    q, c = cut.guessed(a, known)
    return qad.abs2(q @ c @ np.arange(4.0)).sum() + qad.abs2(q.conj().T @ np.arange(5.0)).sum()


def by_triangle(a):
    q, c = cut.orthonormal(a)
    return qad.abs2(q @ (c @ np.arange(3.0))).sum() + qad.abs2(q.conj().T @ np.arange(5.0)).sum()


def hot(p, what, n=3):
    """Of a thermal state."""
    state = qad.mps.thermal_state(model(p, n), 0.6)
    return state.log_partition if what == "log Z" else state.expectation(model(P, n)).real


CASES = [
    Case(lambda p: hot(p, "log Z"), P, order=1, name="log Z"),
    Case(lambda p: hot(p, "mean"), P, order=1, name="thermal mean"),
    Case(by_tensors("tebd", 3), (P, list(FULL)), order=1, name="gates on a chain"),
    Case(lambda p: loss(p, 0.4, MPS.random(3, 2), "tdvp2", 1), P, order=1, name="variational steps of a chain"),
    Case(by_guess, (normal(5, 4, complex), np.eye(2, 4) + 0j), order=1, name="cut by the bond before"),
    Case(by_triangle, normal(5, 3, complex), order=1, name="centre moved on"),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_derivatives(case):
    case.check()


@pytest.mark.parametrize("imaginary", [False, True])
@pytest.mark.parametrize("method, steps", [("tebd", 60), ("tebd4", 6), ("tdvp", 3), ("tdvp2", 3)])
@pytest.mark.sampled(4)
def test_against_dense_exponentials(method, steps, imaginary):
    """By coefficients, time and the initial state, which need not be normalised."""

    def dense(p, time, psi):
        final = qad.linalg.expm((-time if imaginary else -1j * time) * model(p).to_dense()) @ psi.to_dense().reshape(-1)
        return measured(MPS.from_dense((final / np.linalg.norm(final)).reshape((2,) * 4)))

    args = P, 0.3, 1.5 * FULL
    value, exact = qad.value_and_grad(dense, (0, 1, 2))(*args)
    found = qad.value_and_grad(loss, (0, 1, 2))(*args, method, steps, imaginary=imaginary)
    assert found[0] == pytest.approx(loss(*args, method, steps, imaginary=imaginary), abs=1e-9)
    assert found[0] == pytest.approx(value, abs=2e-4)
    qad.tree_map(lambda a, b: np.testing.assert_allclose(a, b, atol=2e-4), found[1], exact)


@pytest.mark.parametrize("method", ["tebd4", "tdvp2"])
def test_bonds_that_grow(method):
    """From a product state: faint Schmidt values come first, and those that sit in multiplets."""
    qad.check_grads(lambda time: loss(P, time, NEEL, method, **CUTS), (np.array(0.3),), order=1)


@pytest.mark.parametrize("imaginary", [False, True])
@pytest.mark.sampled(1)
def test_second_derivatives_where_bonds_hold_every_state(imaginary):
    """By couplings, also where they are zero; and of a gradient along a direction."""

    def pulses(p):
        psi = evolve(NEEL, model(p[:3]), 0.3, 1, "tebd", imaginary=imaginary).state
        return measured(evolve(psi, model(p[3:]), 0.2, 1, "tebd4", imaginary=imaginary).state)

    p = np.array([1.0, 0.7, 0.0, 0.8, 0.0, 0.4])
    qad.check_grads(pulses, (p,), order=2)
    found = qad.hessian(pulses)(p)
    np.testing.assert_allclose(qad.jvp(qad.grad(pulses), (p,), (np.ones(6),))[1], found.sum(1), rtol=0, atol=1e-12)


@pytest.mark.slow
def test_states_are_stored_at_distances_that_fit_into_memory(monkeypatch):
    """None is found by a step back, which would divide by what a step forward has just made; some are made again."""
    kept = []
    run = adjoint.AdjointSweep.__init__

    def noted(self, *args):
        run(self, *args)
        kept.append(len(self.run.stored))

    monkeypatch.setattr(adjoint.AdjointSweep, "__init__", noted)
    for method, rounds in (("tebd", 5), ("tdvp", 4), ("tdvp2", 4)):
        with monkeypatch.context() as patch:
            whole = qad.grad(loss)(P, 0.6, FULL, method, 4, bond=3, reach=1.0)
            assert kept == [rounds]
            patch.setattr(adjoint, "MEMORY", 2**11)
            np.testing.assert_allclose(
                qad.grad(loss)(P, 0.6, FULL, method, 4, bond=3, reach=1.0), whole, rtol=0, atol=1e-13
            )
            assert 0 < kept[1] < rounds
        kept.clear()


def test_a_state_that_is_found_again_is_the_state_that_was(monkeypatch):
    """A step that ends elsewhere the second time is an error, not a derivative."""
    step = adjoint.EvolutionMethod.step

    def wrong(self, made, tensors, k):
        out, more = step(self, made, tensors, k)
        out[0] = out[0][:, ::-1]
        return out, more

    monkeypatch.setattr(adjoint.EvolutionMethod, "step", wrong)
    with pytest.raises(ArgumentError, match="ended in another state"):
        qad.grad(loss)(P, 0.6, FULL, "tdvp2", 2, **CUTS)


def test_kept_schmidt_values_may_coincide_and_others_not():
    bell = np.array([[1.0, 0.0], [0.0, 1.0]]) / np.sqrt(2)
    pairs = MPS.from_dense(np.einsum("ad,bc->abcd", bell, bell))  # four equal values in the middle

    def field(p):
        return model(np.stack([0.0 * p, 0.0 * p, p]))

    def spin(p):
        return qad.mps.local_expectations(evolve(pairs, field(p), 0.3, 1, "tebd", 3).state, Z).real[1]

    def fidelity(p):
        return qad.abs2(qad.mps.overlap(FULL, evolve(pairs, field(p), 0.3, 1, "tebd").state))

    def dense(p):
        final = qad.linalg.expm(-0.3j * field(p).to_dense()) @ pairs.to_dense().reshape(-1)
        return qad.abs2(FULL.to_dense().reshape(-1).conj() @ final)

    with pytest.raises(ArgumentError, match="Schmidt values that are equal|several equal Schmidt values"):
        qad.grad(spin)(0.7)
    np.testing.assert_allclose(qad.grad(fidelity)(0.7), qad.grad(dense)(0.7), atol=1e-10)


def test_directions_that_have_no_weight_yet_are_not_lost_in_silence():
    up = MPS.product([0] * 4)
    by_time, by_coupling = (
        lambda t, **how: loss(P, t, up, "tebd", **how),
        lambda j, **how: loss(np.stack([1.0, j, 0.0]), 0.5, up, "tebd", **how),
    )
    for f in (by_time, by_coupling):
        assert qad.grad(lambda x, f=f: f(x, **CUTS))(0.0) == pytest.approx(qad.grad(f)(0.0), abs=1e-9)


def test_directions_that_have_no_weight_yet_are_in_the_adjoint_state():
    up = MPS.product([0] * 4)

    def far(p, time, **how):
        psi = evolve(up, model(p), time, 2, **how).state
        x = qad.mps.correlations(psi, "X", "Y").real
        return qad.mps.energy(psi, model(P)) + x[0, 1] + x[1, 3]

    by_time, by_coupling = lambda t, **how: far(P, t, **how), lambda j, **how: far(np.stack([1.0, j, 0.1]), 0.5, **how)
    assert qad.grad(lambda t: by_time(t, **CUTS))(0.0) == pytest.approx(qad.grad(by_time)(0.0), abs=1e-8)
    assert qad.grad(lambda j: by_coupling(j, **CUTS))(0.0) == pytest.approx(qad.grad(by_coupling)(0.0), abs=1e-7)


def test_a_callback_gets_states_that_are_recorded():
    def mean(p):
        seen = []
        evolve(NEEL, model(p), 0.4, 2, "tebd", callback=lambda psi, _: seen.append(measured(psi)))
        return sum(seen)

    qad.check_grads(mean, (P,), order=1)


def test_bad_input():
    with pytest.raises(ArgumentError, match="basis of a bond"):
        qad.grad(lambda t: evolve(NEEL, model(P), t, 2, "tebd", **CUTS).state[1].real.sum())(0.3)
    with pytest.raises(ArgumentError, match="first order"):
        qad.hessian(lambda t: loss(P, t, NEEL, **CUTS))(0.3)
    with pytest.raises(BatchError, match="loop"):
        qad.vmap(lambda scale: measured(evolve(scale * FULL, model(P), 0.3, 1, "tebd").state))(np.ones(2))
    wide = MPS([np.pad(t, ((0, k > 0), (0, 0), (0, k < 3))) for k, t in enumerate(NEEL)])
    with pytest.raises(ArgumentError, match="rank 1 of 2"):
        qad.grad(lambda t: measured(evolve(wide, model(P), t, 1, "tdvp").state))(0.3)


def test_a_frozen_gradient_says_what_to_write():
    with pytest.raises(ArgumentError, match="leave qad.freeze out"):
        qad.freeze(qad.grad(lambda t: loss(P, t, NEEL, "tebd", **CUTS)))(0.3)
