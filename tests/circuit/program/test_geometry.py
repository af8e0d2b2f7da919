"""Metric, parameter shift, overlaps, entropies, time evolution, noise: each against its definition on dense arrays."""

import numpy as np
import pytest
import scipy.linalg

import qad
from qad.circuit import NoisyCircuit, amplitude_damping, depolarizing, estimate, flip, overlap, parameter_shift
from qad.circuit.program import geometry
from qad.core.errors import ArgumentError
from tests.cases import Case, normal
from tests.circuit.dense import dense_matrix, random_circuit, random_sum
from tests.circuit.engines.test_derivatives import ansatz, energy


def test_the_metric_in_shared_parameters():
    """Against derivatives of the state by differences; `ansatz` uses parameters several times."""
    theta, eps = normal(9), 1e-5
    psi = ansatz(theta).state().ravel()
    steps = eps * np.eye(9)
    slopes = np.array([(ansatz(theta + d).state() - ansatz(theta - d).state()).ravel() / (2 * eps) for d in steps])
    expected = slopes.conj() @ slopes.T - np.outer(slopes.conj() @ psi, psi.conj() @ slopes.T)
    found = qad.circuit.geometric_tensor(ansatz)(theta)
    np.testing.assert_allclose(found, expected, atol=1e-8)
    np.testing.assert_allclose(qad.circuit.fisher(ansatz)(theta), 4 * found.real, atol=1e-14)
    blocks = qad.circuit.metric(ansatz, blocks=[[0, 3], [5]])(theta)
    np.testing.assert_allclose(blocks[[0, 0, 3, 5], [0, 3, 3, 5]], found.real[[0, 0, 3, 5], [0, 3, 3, 5]], atol=1e-13)
    assert np.count_nonzero(blocks) == 5


def test_the_metric_by_sweeps_where_derivatives_are_large(monkeypatch):
    theta = normal(9)
    kept = qad.circuit.geometric_tensor(ansatz)(theta)
    monkeypatch.setattr(geometry, "AT_ONCE", 2 * 8)  # two derivatives at once
    np.testing.assert_allclose(qad.circuit.geometric_tensor(ansatz)(theta), kept, atol=1e-13)
    blocks = [[0, 3, 4], [5]]
    found = qad.circuit.geometric_tensor(ansatz, blocks)(theta)
    np.testing.assert_allclose(found[np.ix_(blocks[0], blocks[0])], kept[np.ix_(blocks[0], blocks[0])], atol=1e-13)


def test_the_metric_against_pennylane():
    qml = pytest.importorskip("pennylane", reason="the optional package pennylane is not installed")
    theta = normal(3, 2)

    @qml.qnode(qml.device("default.qubit", wires=3))
    def theirs(x):
        for layer in x.reshape(2, 3):
            for q in range(3):
                qml.RY(layer[q], wires=q)
            qml.CRZ(layer[0], wires=[0, 2])
            qml.IsingXX(layer[1], wires=[1, 2])
        return qml.expval(qml.Z(0))

    def ours(x):
        c = qad.Circuit(3)
        for layer in x.reshape(2, 3):
            c.ry(layer, range(3)).crz(layer[0], 0, 2).rxx(layer[1], 1, 2)
        return c

    expected = qml.adjoint_metric_tensor(theirs)(qml.numpy.array(theta.ravel(), requires_grad=True))
    np.testing.assert_allclose(qad.circuit.metric(ours)(theta), expected, atol=1e-12)


def test_natural_gradient_descends_faster_on_a_product_state():
    def f(t):
        return qad.Circuit(1).ry(t[0], 0).rz(t[1], 0)

    theta = np.array([0.3, 0.4])
    g = qad.grad(lambda t: f(t).expectation("X"))(theta)
    natural = qad.circuit.natural_gradient(qad.circuit.metric(f)(theta), g, damping=0.0)
    np.testing.assert_allclose(natural, g / np.array([0.25, np.sin(0.3) ** 2 / 4]), rtol=1e-10)
    with pytest.raises(ArgumentError, match="common"):
        qad.circuit.metric(f, blocks=[[0], [0, 1]])(theta)


def test_parameter_shift_agrees():
    rng = np.random.default_rng(0)
    c = qad.Circuit(3).ry(normal(3), range(3)).crx(0.3, 0, 1).cp(0.5, 1, 2).rxx(0.7, 0, 2).controlled(1).rz(0.2, 0)
    c.p(0.1, 0).exp_pauli(0.4, "XYZ", range(3)).h(1).cry(0.8, 2, 0)
    H = random_sum(rng, 3, 8)
    exact = qad.grad(lambda t: c.with_parameters(t).expectation(H))(c.parameters)
    np.testing.assert_allclose(parameter_shift(c, H), exact, atol=1e-9)
    few = qad.PauliSum({"ZZI": 1.0, "IYX": 0.5})
    exact = qad.grad(lambda t: c.with_parameters(t).expectation(few))(c.parameters)
    np.testing.assert_allclose(parameter_shift(c, few, shots=4000, seed=1), exact, atol=0.1)
    np.testing.assert_allclose(estimate(c, few, 20000, seed=2), c.expectation(few), atol=0.03)
    with pytest.raises(ArgumentError, match="one parameter"):
        parameter_shift(qad.Circuit(1).u3(0.1, 0.2, 0.3, 0), "Z")


def test_parameter_shift_of_uneven_frequencies_and_its_derivative():
    """Of a diagonal gate with a control, whose frequencies 1, 4 and 5 equidistant shifts cannot tell apart."""
    qad.circuit.register_gate("uneven", 1, lambda t: qad.circuit.matrix([[np.exp(-1j * t), 0], [0, np.exp(-5j * t)]]))
    try:

        def f(t):
            return qad.Circuit(2).h(range(2)).controlled(0).uneven(t[0], 1)

        t = np.array([0.3])

        def expectation(t):
            return f(t).expectation("XX")

        np.testing.assert_allclose(parameter_shift(f(t), "XX"), qad.grad(expectation)(t), rtol=1e-8)
        by_shifts = qad.grad(lambda t: parameter_shift(f(t), "XX")[0])(t)
        np.testing.assert_allclose(by_shifts, qad.hessian(expectation)(t)[0], rtol=1e-8)
    finally:
        del qad.circuit.gates.table.GATES["uneven"]


@pytest.mark.parametrize("transform", [qad.grad, lambda f: lambda t: qad.jvp(f, (t,), (1.0,))])
def test_estimates_by_matrices_and_initial_states_are_refused(transform):
    """Shots say nothing of these derivatives, which would be 0 without a word."""

    def u(t):
        return qad.circuit.matrix([[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]])

    def by_matrix(t):
        return estimate(qad.Circuit(1).unitary(u(t), 0), "Z", 5) + t

    def by_state(t):
        return estimate(qad.Circuit(1, initial=u(t)[:, 0]), "Z", 5) + t

    for f in (by_matrix, by_state):
        assert np.isfinite(f(0.5))
        with pytest.raises(ArgumentError, match="angles of gates alone"):
            transform(f)(0.5)


def certain(theta):
    """An estimate whose shots are all the same, so that it is exact."""
    return estimate(qad.Circuit(1).x(0).rz(theta[0], 0), "Z", 3)


CASES = [Case(certain, normal(1), name="certain shots")]


def test_estimates_have_derivatives():
    CASES[0].check()

    H = qad.PauliSum({"ZZ": 1.0, "XY": 0.5})

    def c(t):
        return qad.Circuit(2).ry(t[0], 0).cx(0, 1).rx(t[1], 1).crx(t[0] * t[1], 0, 1)

    sampled, exact = lambda t: estimate(c(t), H, 20000, seed=3), lambda t: c(t).expectation(H)
    t, v = np.array([0.4, 0.9]), np.array([1.0, -0.5])
    assert sampled(t) == qad.value_and_grad(sampled)(t)[0]
    bound = 5 * 4 / np.sqrt(20000)  # of sums of a few means of outcomes within 1.5
    for found, wanted in [
        (sampled(t), exact(t)), (qad.grad(sampled)(t), qad.grad(exact)(t)),
        (qad.jvp(sampled, (t,), (v,))[1], qad.jvp(exact, (t,), (v,))[1]),
        (qad.hessian(sampled)(t), qad.hessian(exact)(t)),
    ]:  # fmt: skip
        np.testing.assert_allclose(found, wanted, atol=bound)
        assert np.any(found != wanted)
    by_coefficient = qad.grad(lambda a: estimate(c(t), qad.PauliSum({"ZZ": a, "XY": 0.5}), 100, seed=1))(1.0)
    assert by_coefficient == estimate(c(t), "ZZ", 100, seed=1)
    with pytest.raises(ArgumentError, match="int as their seed"):
        qad.grad(lambda t: estimate(c(t), H, 10, np.random.default_rng(0)))(t)


def test_light_cones():
    c = qad.Circuit(6).ry(np.full(6, 0.3), range(6)).cx(range(5), range(1, 6)).rx(0.2, 0)
    for observable, gates in (("ZIIIII", 4), ("IZIIII", 5), (qad.PauliSum({"IZIIII": 1.0, "ZIIIII": 0.5}), 6)):
        few = qad.circuit.pruned(c, observable)
        assert len(few) == gates
        np.testing.assert_allclose(few.expectation(observable), c.expectation(observable), atol=1e-14)

        def f(t, few=few, H=observable):
            return few.with_parameters(t).expectation(H)

        wanted = qad.grad(lambda t, H=observable: c.with_parameters(t).expectation(H))(c.parameters)
        np.testing.assert_allclose(qad.grad(f)(c.parameters), wanted, atol=1e-14)
        np.testing.assert_allclose(parameter_shift(c, observable), wanted, atol=1e-14)
        assert np.count_nonzero(parameter_shift(c, observable, shots=3)) <= gates


def test_overlaps_and_entropies():
    rng = np.random.default_rng(2)
    a, b = random_circuit(rng, 4, 20), random_circuit(rng, 4, 20)
    x, y, H = a.state().ravel(), b.state().ravel(), random_sum(rng, 4, 5)
    np.testing.assert_allclose(overlap(a, b), x.conj() @ y)
    np.testing.assert_allclose(qad.circuit.bracket(a, H, b), x.conj() @ H.matrix() @ y, atol=1e-13)
    rho = qad.circuit.reduced_density(a, [2, 0])
    np.testing.assert_allclose(rho, qad.partial_trace(np.outer(x, x.conj()), (2,) * 4, [2, 0]), atol=1e-13)
    p = np.linalg.eigvalsh(rho)
    p = p[p > 1e-14]
    np.testing.assert_allclose(qad.circuit.entropy(a, [0, 2]), -(p * np.log(p)).sum())
    np.testing.assert_allclose(qad.circuit.entropy(a, [1, 3], order=2), -np.log((p**2).sum()))
    np.testing.assert_allclose(qad.circuit.entropy(a, [0, 1, 2], 3), qad.circuit.entropy(a, [3], 3))


def test_their_derivatives():
    def several(theta):
        c = ansatz(theta)
        here, there = qad.circuit.entropy(c, [1]), qad.circuit.entropy(c, [0, 2], order=2)
        return here + there + qad.abs2(overlap(c, ansatz(2 * theta))) + c.variance("XZY") + c.probabilities([1])[0]

    qad.check_grads(several, (normal(9),), order=2)
    np.testing.assert_allclose(qad.hessian(energy)(normal(9)), qad.jacobian(qad.grad(energy))(normal(9)), atol=1e-10)


def test_time_evolution():
    H = random_sum(np.random.default_rng(5), 3, 4)
    exact = scipy.linalg.expm(-0.3j * H.matrix())[:, 0]
    errors = [
        np.linalg.norm(qad.Circuit(3).evolve(H, 0.3, steps, order).state().ravel() - exact)
        for order in (1, 2, 4)
        for steps in (4, 8)
    ]
    for order, (coarse, fine) in zip((1, 2, 4), np.reshape(errors, (3, 2)), strict=True):
        assert coarse / fine == pytest.approx(2**order, rel=0.15)
    qad.check_grads(lambda t, c: qad.Circuit(2).evolve(qad.PauliSum({"XY": c, "ZI": 1.0}), t).expectation("ZZ"),
                    (np.array(0.3), np.array(0.7)), order=1)  # fmt: skip


def test_noise():
    rng = np.random.default_rng(1)
    first, second = random_circuit(rng, 2, 12), random_circuit(rng, 2, 12).inverse()
    channels = [(depolarizing(0.2), [1]), (amplitude_damping(0.3), [0]), (flip(0.1, "Y"), [1])]
    c, u, v = NoisyCircuit(2).append(first), dense_matrix(first), dense_matrix(second)
    rho = np.outer(u[:, 0], u[:, 0].conj())
    for noise, (q,) in channels:
        c.channel(noise, q)
        whole = [np.kron(k, np.eye(2)) if q == 0 else np.kron(np.eye(2), k) for k in noise.kraus]
        rho = sum(k @ rho @ k.conj().T for k in whole)
    c.append(second)
    rho = v @ rho @ v.conj().T
    H = random_sum(rng, 2, 5)
    np.testing.assert_allclose(c.density_matrix(), rho, atol=1e-12)
    np.testing.assert_allclose(c.expectation(H), np.trace(rho @ H.matrix()).real, atol=1e-12)
    np.testing.assert_allclose(c.purity(), np.trace(rho @ rho).real, atol=1e-12)
    with pytest.raises(ArgumentError, match="keeps the trace"):
        c.channel(np.ones((1, 2, 2)), 0)


def test_noise_has_derivatives():
    def loss(theta, p):
        c = NoisyCircuit(2).append(
            qad.Circuit(2).rx(theta[0], 0).u3(*theta, 1).cx(0, 1).exp_pauli(theta[1], "YX", (0, 1))
        )
        c.channel(depolarizing(p), 0).append(qad.Circuit(2).rz(theta[2], 0).h(0)).channel(amplitude_damping(p), 1)
        return c.expectation("XZ") + c.purity()

    qad.check_grads(loss, (normal(3), np.array(0.3)), order=1)
