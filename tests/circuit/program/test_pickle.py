"""Circuits are copied and pickled: the same gates, parameters and answers, and what follows is independent."""

import copy
import multiprocessing
import pickle

import numpy as np
import pytest

import qad
from qad.circuit.gates import table as gates
from qad.circuit.gates.table import GATES


def pickled(x):
    return pickle.loads(pickle.dumps(x))


def brought(x):
    """As clusters send it, with the memory of its arrays apart: read-only and not aligned."""
    apart = []
    text = pickle.dumps(x, protocol=5, buffer_callback=apart.append)
    return pickle.loads(text, buffers=[memoryview(b"-" + buffer.raw())[1:] for buffer in apart])


ROADS = {
    "copy": copy.copy, "deepcopy": copy.deepcopy, "pickle": pickled, "cluster": brought, "method": lambda c: c.copy(),
}  # fmt: skip
H = qad.PauliSum({"ZZI": 1.0, "XIX": 0.5, "IYI": -0.3})


def givens(t):
    c, s = np.cos(t), np.sin(t)
    return qad.circuit.matrix([[1, 0, 0, 0], [0, c, -s, 0], [0, s, c, 0], [0, 0, 0, 1]])


@pytest.fixture
def own_gate():
    qad.circuit.register_gate("givens", 2, givens)
    yield "givens"
    GATES.pop("givens", None)


def every_gate():
    """A circuit with each gate of the table, a rotation of a string, matrices, inverses and controls."""
    c, rng = qad.Circuit(5), np.random.default_rng(0)
    for gate in GATES.values():
        c.gate(gate.name, *rng.normal(size=gate.params), *rng.permutation(5)[: gate.qubits].tolist())
    c.exp_pauli(0.3, "XYZ", (0, 3, 1)).controlled(2).ry(0.2, 0).unitary(gates.H, 4).operator(np.diag([1.0, 0.5]), 1)
    return c + qad.Circuit(5).ry(0.4, 1).crx(0.7, 0, 1).inverse()


def circuits():
    rng = np.random.default_rng(1)
    plain = qad.Circuit(3).ry(rng.normal(size=3), range(3)).cx((0, 1), (1, 2)).rzz(0.3, 0, 2)
    yield "plain", plain
    yield "bound", plain.with_parameters(rng.normal(size=4))
    yield "batch", plain.with_parameters(rng.normal(size=(2, 4)))
    yield "single", qad.Circuit(3, dtype=np.complex64, engine="numpy").h(0).rx(0.1, 2)
    yield "initial", qad.Circuit(3, initial=np.eye(8)[:2].astype(complex)).ry(0.2, 1)
    yield "empty", qad.Circuit(3)


@pytest.mark.parametrize("road", ROADS.values(), ids=ROADS)
@pytest.mark.parametrize("c", [c for _, c in circuits()], ids=[name for name, _ in circuits()])
def test_the_same_circuit(c, road):
    before = c.expectation(H)
    other = road(c)
    assert (other.n, other.dtype, other.engine, other.operations) == (c.n, c.dtype, c.engine, c.operations)
    np.testing.assert_array_equal(other.parameters, c.parameters)
    np.testing.assert_array_equal(other.expectation(H), before)
    other.ry(0.7, 0)
    assert len(other) == len(c) + 1 and other.parameters.shape[-1] == c.parameters.shape[-1] + 1
    np.testing.assert_array_equal(c.expectation(H), before)


@pytest.mark.parametrize("road", ROADS.values(), ids=ROADS)
def test_every_gate_is_itself(road):
    c = every_gate()
    other = road(c)
    assert all(a.gate is b.gate for a, b in zip(c.operations, other.operations, strict=True))
    np.testing.assert_array_equal(other.state(), c.state())


def test_a_pickle_shares_its_analysis():
    c = next(c for name, c in circuits() if name == "bound")
    c.expectation(H)
    other = pickled(c)
    other.expectation(H)
    assert other._program is c._program


def test_a_deep_copy_has_arrays_of_its_own():
    c = qad.Circuit(2).ry(np.array([0.1, 0.2]), range(2)).operator(np.diag([1.0, 0.5]), 0)
    other = copy.deepcopy(c)
    other.parameters[:] = 0
    other.matrices[0][:] = 0
    np.testing.assert_array_equal(c.parameters, [0.1, 0.2])
    np.testing.assert_array_equal(c.matrices[0], np.diag([1.0, 0.5]))


def test_a_noisy_circuit():
    noisy = qad.circuit.NoisyCircuit(2).append(qad.Circuit(2).h(0).cx(0, 1)).channel(qad.circuit.depolarizing(0.1), 0)
    before = noisy.density_matrix()
    for road in (copy.copy, copy.deepcopy, pickled):
        other = road(noisy)
        np.testing.assert_array_equal(other.density_matrix(), before)
        other.channel(qad.circuit.flip(0.3), 1)
        np.testing.assert_array_equal(noisy.density_matrix(), before)


def test_a_gate_of_ones_own(own_gate):
    c = qad.Circuit(2).x(1).gate(own_gate, 0.3, 0, 1)
    stored = pickle.dumps(c)
    assert pickle.loads(stored).operations[1].gate is GATES[own_gate]
    del GATES[own_gate]  # as in a process that has not registered it
    found = [pickle.loads(stored) for _ in range(2)]
    np.testing.assert_array_equal(found[0].state(), c.state())
    assert found[0].operations == found[1].operations and own_gate not in GATES
    qad.circuit.register_gate(own_gate, 2, lambda t: givens(-t))  # another gate of that name is not taken for it
    np.testing.assert_array_equal(pickle.loads(stored).state(), c.state())


def test_a_gate_that_cannot_be_found_again(own_gate):
    del GATES[own_gate]
    qad.circuit.register_gate(own_gate, 2, lambda t: givens(t))
    c = qad.Circuit(2).gate(own_gate, 0.3, 0, 1)
    with pytest.raises(qad.core.errors.ArgumentError, match="define it at the top of a module"):
        pickle.dumps(c)
    assert copy.deepcopy(c).operations == c.operations


def test_recorded_angles_are_refused():
    def f(x):
        return pickled(qad.Circuit(1).ry(x, 0)).expectation("Z")

    with pytest.raises(qad.core.errors.QadError, match="recorded"):
        qad.grad(f)(0.3)


def energy_of(c):
    return c.expectation(H)


@pytest.mark.slow
def test_a_pool_of_processes():
    rng = np.random.default_rng(2)
    c = next(c for name, c in circuits() if name == "plain")
    bound = [c.with_parameters(rng.normal(size=4)) for _ in range(3)]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.map(energy_of, bound)
    np.testing.assert_array_equal(found, [c.expectation(H) for c in bound])
