"""Derivatives of circuits: the adjoint identity, differences, both modes, second order."""

import numpy as np
import pytest

import qad
from qad.circuit.engines import reference
from qad.circuit.gates.scatter import Indices, gather, scatter
from qad.circuit.gates.table import GATES
from qad.circuit.observables.apply import apply, brackets, slope
from qad.circuit.observables.masks import strings_of
from qad.circuit.observables.operators import sparse_product
from tests.cases import Case, normal
from tests.circuit.dense import ENGINES, needs_compiler, random_circuit, random_sum, random_unitary

if len(ENGINES) > 1:
    from qad.circuit.engines.compiled import blocking as schedule

H3 = qad.PauliSum({"ZZI": 0.5, "IXY": -1.2, "YIY": 0.3, "XYX": 0.8, "IIZ": 1.0})
STRINGS = strings_of(H3.strings)


def ansatz(theta, engine="numpy", initial=None):
    """Every kind of instruction, shared parameters, controls, inverses; nine angles."""
    c = qad.Circuit(3, initial=initial, engine=engine).h(0).ry(theta[:3], range(3)).cx(0, 1).rz(theta[3], 2)
    c.exp_pauli(theta[4], "XYZ", (2, 0, 1)).crx(theta[0] * theta[1], 2, 0).u3(*theta[5:8], 1).swap(0, 2)
    c.controlled(1).exp_pauli(theta[8], "XX", (2, 0)).cp(theta[3], 0, 2).controlled(0).u3(*theta[5:8], 2)
    return c + qad.Circuit(3).ryy(theta[1], 0, 2).u2(theta[2], theta[4], 0).y(1).inverse()


def energy(theta, engine="numpy", initial=None):
    return ansatz(theta, engine, initial).expectation(H3)


def of_matrices(a, b):
    """Operators that are not unitary, between gates that are."""
    c = qad.Circuit(3, engine="numpy").h([0, 1]).operator(a, 0).rzz(0.3, 0, 1).controlled(2).operator(b, 1, 0).cx(1, 2)
    return c.expectation(H3)


def of_state(psi, theta):
    c = qad.Circuit(3, initial=psi, engine="numpy").ry(theta, [0, 1, 2]).cx(0, 1).rz(theta[0], 1)
    return c.state()


def of_angles(theta, psi, engine="numpy"):
    """Gates of one parameter alone, shared and controlled."""
    c = qad.Circuit(3, initial=psi, engine=engine).ry(theta[:3], range(3)).cx(0, 1).rz(theta[3], 2).crx(theta[0], 2, 0)
    c.cp(theta[1] * theta[2], 0, 1).exp_pauli(theta[3], "YZX", (1, 2, 0)).rzz(theta[2], 0, 2)
    c.exp_pauli(theta[1], "ZZZ", range(3))
    return c.expectation(H3)


CASES = [
    Case(of_angles, (normal(4), normal(8, complex))),
    Case(energy, normal(9)),
    Case(of_matrices, (normal(2, 2, complex), normal(4, 4, complex))),
    Case(of_state, (normal(2, 2, 2, complex), normal(3))),
    Case(lambda c, psi: apply(c, psi, strings=STRINGS, engine=reference), (normal(5), normal(2, 8, complex))),
    Case(
        lambda a, b: brackets(a, b, strings=STRINGS, engine=reference),
        (normal(2, 8, complex), normal(2, 8, complex, seed=1)),
    ),
    Case(
        lambda g, c, psi: slope(g, c, psi, strings=STRINGS, engine=reference),
        (normal(2), normal(5), normal(2, 8, complex)),
    ),
    Case(lambda x: sparse_product(x, matrix=normal(4, 4, complex)), normal(2, 4, complex)),
    Case(lambda x: scatter(x, indices=Indices([3, 0, 3, 1], 5)), normal(2, 4)),
    Case(lambda x: gather(x, indices=Indices([3, 0, 3, 1], 5)), normal(2, 5)),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_derivatives(case):
    case.check()


@pytest.mark.parametrize("engine", ENGINES)
def test_engines_have_equal_gradients(engine):
    rng = np.random.default_rng(4)
    H = random_sum(rng, 4, 12)
    for nonunitary in (False, True):
        c, other = (random_circuit(np.random.default_rng(9), 4, 40, e, nonunitary) for e in (engine, "numpy"))
        psi = normal(16, complex)

        def loss(theta, psi, u, c=c):
            c = c.with_parameters(theta)
            c.initial, c.matrices[0] = psi, u
            return c.expectation(H)

        args = (c.parameters, psi, c.matrices[0])
        value, found = qad.value_and_grad(loss, (0, 1, 2))(*args)
        expected = qad.grad(lambda *a, o=other: loss(*a, c=o), (0, 1, 2))(*args)
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a, b, atol=1e-10 * abs(value))


def test_the_gradient_of_a_unitary():
    """<psi|H|psi> for psi = u |00> on qubits (1, 0): only the first column of u matters."""
    u, rng = random_unitary(np.random.default_rng(2), 4), np.random.default_rng(3)
    H = random_sum(rng, 2, 6)
    found = qad.grad(lambda u: qad.Circuit(2).unitary(u, 1, 0).expectation(H))(u)
    expected = np.zeros((4, 4), complex)
    turn = [0, 2, 1, 3]
    expected[:, 0] = (2 * H.matrix() @ u[turn, 0])[turn]
    np.testing.assert_allclose(found, expected, atol=1e-13)


def test_a_weighted_sum_of_observables():
    rng = np.random.default_rng(0)
    sums, weights = [random_sum(rng, 3, 4) for _ in range(3)], rng.normal(size=3)
    theta = normal(9)
    one = qad.grad(lambda t: (ansatz(t).expectation(sums) * weights).sum())(theta)
    rows = qad.jacobian(lambda t: ansatz(t).expectation(sums))(theta)
    np.testing.assert_allclose(weights @ rows, one, atol=1e-12)
    np.testing.assert_allclose(rows[1], qad.grad(lambda t: ansatz(t).expectation(sums[1]))(theta), atol=1e-12)


def test_third_order():
    def slope(t):
        return qad.hvp(lambda x: energy(x), (t,), (normal(9, seed=1),))[0] @ normal(9, seed=2)

    qad.check_grads(slope, (normal(9),), order=1)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_way_by_angles(engine):
    """Both engines, second order, and from |0...0>."""
    theta, psi = normal(4), normal(8, complex)
    value, g = qad.value_and_grad(lambda t, p: of_angles(t, p, engine), (0, 1))(theta, psi)
    expected = qad.value_and_grad(lambda t, p: of_angles(t, p, "numpy"), (0, 1))(theta, psi)
    np.testing.assert_allclose(value, expected[0])
    np.testing.assert_allclose(g[0], expected[1][0], atol=1e-12 * abs(value))
    np.testing.assert_allclose(g[1], expected[1][1], atol=1e-12 * abs(value))
    qad.check_grads(lambda t: of_angles(t, None, engine), (theta,), order=2)


def gates_with_angles(seed, engine):
    """Gates of the table with controls, and Pauli rotations; of one parameter each where the seed is even."""
    rng, n = np.random.default_rng(seed), 5
    c = qad.Circuit(n, engine=engine)
    names = [name for name, gate in GATES.items() if gate.qubits < n and (seed % 2 or gate.params < 2)]
    for _ in range(30):
        qubits = [int(q) for q in rng.permutation(n)]
        place = c.controlled(qubits[-1]) if rng.integers(3) == 0 else c
        if rng.integers(4) == 0:
            k = int(rng.integers(1, n))
            place.exp_pauli(rng.normal(), "".join(rng.choice(list("IXYZ"), k)), qubits[:k])
        else:
            gate = GATES[str(rng.choice(names))]
            place.gate(gate.name, *rng.normal(size=gate.params), *qubits[: gate.qubits])
    return c


@needs_compiler
@pytest.mark.parametrize("bits", [12, 3])
@pytest.mark.parametrize("seed", range(4))
def test_second_order_of_both_engines(seed, bits, monkeypatch):
    """Compiled kernels with two components, on one chunk and on several."""
    monkeypatch.setattr(schedule, "LOCAL", bits)
    monkeypatch.setattr(schedule, "RUN", 2)
    H = random_sum(np.random.default_rng(seed), 5, 6)
    answers = []
    for engine in ENGINES:
        c = gates_with_angles(seed + 10 * bits, engine)
        theta, v = np.array(c.parameters), normal(c.parameters.size)

        def f(t, c=c):
            return c.with_parameters(t).expectation(H)

        answers.append((qad.jvp(f, (theta,), (v,))[1], *qad.hvp(f, (theta,), (v,)), *qad.vhp(f, (theta,), (v,))))
    for found, expected in zip(*answers, strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-12 * np.abs(v).sum())
    np.testing.assert_allclose(answers[0][1], answers[0][2], atol=1e-11)


@pytest.mark.parametrize("engine", ENGINES)
def test_hessians_are_batches(engine):
    """All directions in one sweep, against one after the other."""
    theta = normal(9)
    rows = [qad.hvp(lambda t: energy(t, engine), (theta,), (e,))[0] for e in np.eye(9)]
    np.testing.assert_allclose(qad.hessian(lambda t: energy(t, engine))(theta), rows, atol=1e-11)


@pytest.mark.parametrize("engine", ENGINES)
def test_third_derivatives(engine):
    """Beyond the second order the directions of u3 leave the unitary matrices."""
    H = qad.PauliSum({"X": 1.0, "Z": 0.4})

    def f(s):
        return qad.Circuit(1, engine=engine).ry(s, 0).u(s, 0.3, s * 2, 0).expectation(H)

    x, h = np.float64(0.3), 1e-3
    second = qad.grad(qad.grad(f))
    expected = (8 * (second(x + h) - second(x - h)) - second(x + 2 * h) + second(x - 2 * h)) / (12 * h)
    np.testing.assert_allclose(qad.grad(second)(x), expected, rtol=1e-9)
