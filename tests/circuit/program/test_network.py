"""The network engine against the state vector: amplitudes, observables, gradients, light cones."""

import numpy as np
import pytest

import qad
from qad.circuit.gates import table as gates
from qad.circuit.observables.operators import Operator, Projector
from qad.core.errors import ArgumentError, ShapeError
from tests.cases import normal
from tests.circuit.dense import random_circuit, random_sum, random_unitary
from tests.circuit.engines.test_derivatives import ansatz
from tests.strict_array import StrictArray, home


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.sampled(2)
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
    H = qad.PauliSum({"IXY": -1.2, "III": 0.5})
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


KINDS = (  # a gate of every form
    "x", "h", "s", "rx", "rz", "u2", "u3", "cx", "cz", "ch", "swap", "iswap", "crx", "crz", "cu", "rxx", "rzz", "ccx",
)  # fmt: skip


def device_circuit(theta, u, psi):
    """Gates of every form, Pauli rotations, a given matrix and an initial state."""
    c = qad.Circuit(3, initial=psi).ry(theta[:3], range(3))
    for i, gate in enumerate(map(gates.find_gate, KINDS)):
        c.gate(gate.name, *theta[: gate.params], *((i + k) % 3 for k in range(gate.qubits)))
    return c.exp_pauli(theta[1], "XYZ", range(3)).exp_pauli(theta[2], "ZZ", [0, 2]).unitary(u, 2)


@pytest.mark.parametrize("target, psi", [(qad.PauliSum({"ZII": 1.0, "IXX": 0.5}), None), ("010", np.eye(8)[3] + 0j)])
def test_networks_are_computed_where_the_parameters_lie(target, psi):
    """On arrays that do not mix with those of the host: values and gradients."""
    theta, u = np.array([0.3, 0.5, 0.7, 0.2]), random_unitary(np.random.default_rng(0), 2)

    def loss(t, u, psi):
        return qad.abs2(device_circuit(t, u, psi).network(target).value())

    value, slope = qad.value_and_grad(loss)(theta, u, psi)
    found, gradient = qad.value_and_grad(loss)(*(x if x is None else StrictArray(x.copy()) for x in (theta, u, psi)))
    assert type(found) is type(gradient) is StrictArray
    np.testing.assert_allclose(home(found), value, atol=1e-12)
    np.testing.assert_allclose(home(gradient), slope, atol=1e-12)


def test_states_of_parameters_on_a_device_are_refused():
    theta = StrictArray(np.array([0.3, 0.5, 0.7]))
    for c in (qad.Circuit(2).ry(theta[:2], [0, 1]), qad.Circuit(2).u(theta[0], theta[1], theta[2], 0)):
        for call in (c.state, lambda c=c: c.expectation("ZZ"), lambda c=c: c.expectation(qad.PauliSum({"ZI": 1.0}))):
            with pytest.raises(ArgumentError, match=r"on the host: c\.network\(H\)"):
                call()


def test_a_network_that_vanishes_for_real_gates_has_a_gradient():
    """<YIY> of real amplitudes is 0 but for rounding, of which the imaginary part is no smaller than the value."""
    x = np.random.default_rng(1).normal(size=5)

    def c(t):
        return qad.Circuit(3).ry(t[:3], range(3)).cx(0, 1).rz(t[3], 1).cx(1, 2).rx(t[4], 2)

    for words in ("YIY", "IYI", "YII", "ZYX"):
        value, gradient = qad.value_and_grad(lambda t, w=words: c(t).network(w).value())(x)
        expected = qad.value_and_grad(lambda t, w=words: c(t).expectation(w))(x)
        np.testing.assert_allclose(value, expected[0], atol=1e-12)
        np.testing.assert_allclose(gradient, expected[1], atol=1e-12)
