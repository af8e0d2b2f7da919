"""The network engine against the state vector: amplitudes, observables, gradients, light cones."""

import numpy as np
import pytest

import qad
from qad.circuit.observables import Operator, Projector
from qad.core.errors import ArgumentError, ShapeError
from tests.cases import normal
from tests.circuit.dense import random_circuit, random_sum, random_unitary
from tests.circuit.test_derivatives import ansatz


@pytest.mark.parametrize("seed", range(6))
def test_random_circuits(seed):
    rng = np.random.default_rng(seed)
    n = 1 + seed % 4
    psi = rng.normal(size=2**n) + 1j * rng.normal(size=2**n) if seed % 2 else None
    c = random_circuit(rng, n, 12, nonunitary=seed > 3, initial=psi)
    bits = "".join(map(str, rng.integers(0, 2, n)))
    np.testing.assert_allclose(c.network(bits).value(), c.amplitude(bits), atol=1e-11)
    H = random_sum(rng, n, 4)
    u = random_unitary(rng, 2)
    for observable in (H, "Z" * n, Projector("1", [n - 1]), Operator(u + u.conj().T, [0])):
        np.testing.assert_allclose(c.network(observable).value(), c.expectation(observable), atol=1e-10)


def test_derivatives():
    H = qad.PauliSum({"IXY": -1.2, "ZZI": 0.5})
    theta = normal(9)

    def loss(t):
        return ansatz(t).network(H).value()

    def exact(t):
        return ansatz(t).expectation(H)

    def probability(t):
        return qad.abs2(ansatz(t).network([1, 0, 1]).value())

    np.testing.assert_allclose(qad.grad(loss)(theta), qad.grad(exact)(theta), atol=1e-12)
    np.testing.assert_allclose(
        qad.hvp(loss, (theta,), (normal(9, seed=1),)), qad.hvp(exact, (theta,), (normal(9, seed=1),)), atol=1e-11
    )
    qad.check_grads(probability, (theta,), order=1)


def test_light_cones():
    c = qad.Circuit(30)
    for _ in range(2):
        c.ry(0.4, range(30)).rzz(0.7, range(29), range(1, 30))
    net = c.network(qad.PauliSum.on_sites(30, [(1.0, "X", [29]), (2.0, "I", [0])]))
    assert [one.gates for one in net.networks] == [118, 0]  # everything, for the last qubit of a staircase
    first = c.network(qad.PauliSum.on_sites(30, [(1.0, "X", [0])])).networks[0]
    assert first.gates == 8
    assert first.plan.flops < 3000
    np.testing.assert_allclose(net.networks[1].value(), 1.0)
    small = qad.Circuit(6)
    for _ in range(2):
        small.ry(0.4, range(6)).rzz(0.7, range(5), range(1, 6))
    np.testing.assert_allclose(first.value(), small.expectation("XIIIII"), atol=1e-13)


@pytest.mark.parametrize(
    "wrong, error, message",
    [
        (lambda c: c.network("01"), ArgumentError, "3 bits"),
        (lambda c: c.network("XX"), ShapeError, "observable"),
        (lambda c: c.network(3), ArgumentError, "no observable"),
        (lambda c: c.network([0, 1, 2]), ArgumentError, "named by 3 bits"),
        (lambda c: c.ry(np.zeros(2), 0).network("ZZZ"), ShapeError, "no batch"),
        (lambda c: c.network(qad.PauliSum({"XII": 1j})), ArgumentError, "Hermitian"),
    ],
)
def test_refusals(wrong, error, message):
    with pytest.raises(error, match=message):
        wrong(qad.Circuit(3))
