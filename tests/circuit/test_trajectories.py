"""Trajectories by compiled kernels against those of NumPy, state by state."""

import numpy as np
import pytest

import qad
from qad.circuit import NoisyCircuit, amplitude_damping, depolarizing, flip, gates, mixed_unitary
from qad.circuit.compiled import jump_strings
from qad.circuit.compiled.jump_calls import noise_of, strings_of
from qad.circuit.compiled.jump_plans import prepared
from qad.circuit.compiled.jump_tables import IDLE, PAULI, WHOLE
from qad.circuit.jumps import plan_of

ENGINES = ["numpy", "compiled"]


def long(engine):
    """Steps in which nothing happens to most, and rare and certain errors on one and two qubits."""
    c, rng = NoisyCircuit(5, bits=1, engine=engine), np.random.default_rng(0)
    zero = mixed_unitary([0.0, 0.95, 0.05], [np.eye(4)[::-1], np.eye(4), np.diag([1, 1, 1, -1])[[0, 2, 1, 3]]])
    for k in range(24):
        q = k % 5
        c.ry(rng.normal(), q).channel(depolarizing(0.03), q).rz(0.3, q).channel(zero, q, (q + 2) % 5)
        c.cx(q, (q + 1) % 5).channel(depolarizing(1.0 if k == 7 else 0.02, 2), q, (q + 1) % 5).cx((q + 1) % 5, q)
        if k % 8 == 3:
            c.measure(q, into=0).if_(0, "h", q).channel(amplitude_damping(0.2), 0).swap(1, 2).rxx(0.2, 0, 4)
    return c.trajectories(200, seed=1)


def test_compiled_trajectories_are_those_of_numpy():
    first, second = map(long, ENGINES)
    np.testing.assert_array_equal(first.choices, second.choices)
    np.testing.assert_array_equal(first.bits, second.bits)
    np.testing.assert_array_equal(first.sample(5), second.sample(5))
    np.testing.assert_allclose(first.states, second.states, atol=1e-12)


def every_gate(engine, dtype):
    """All gates of the table, Pauli rotations, and matrices that are given, with Pauli errors between them."""
    c, rng = NoisyCircuit(5, engine=engine, dtype=dtype), np.random.default_rng(1)
    for i in range(5):
        c.u(*rng.normal(size=3), i)
    for name, gate in gates.BUILT_IN.items():
        qubits = rng.permutation(5).tolist()
        c.gate(name, *rng.normal(size=gate.params), *qubits[: gate.qubits])
        c.channel(depolarizing(0.3, 2), *qubits[1:3]).channel(flip(0.3, "Y"), qubits[0])
    for letters in ("XYZ", "ZZ", "ZZZ", "YX"):
        c.exp_pauli(rng.normal(), letters, rng.permutation(5).tolist()[: len(letters)])
        c.channel(depolarizing(0.6), int(rng.integers(5)))
    c.unitary(np.linalg.qr(rng.normal(size=(4, 4)) + 1j * rng.normal(size=(4, 4)))[0], 3, 1)
    return c.channel(depolarizing(0.5), 3).cz(3, 1).rzz(0.3, 1, 3).trajectories(40, seed=2)


@pytest.mark.parametrize("dtype", [complex, np.complex64])
def test_errors_go_past_every_gate(dtype):
    first, second = (every_gate(engine, dtype) for engine in ENGINES)
    np.testing.assert_array_equal(first.choices, second.choices)
    atol = 1e-12 if dtype is complex else 3e-6
    np.testing.assert_allclose(first.states, second.states, atol=atol)
    assert second.states.dtype == dtype


def test_pauli_strings_are_recognised():
    strings = [gates.pauli_matrix(a + b) for a in "IXYZ" for b in "IXYZ"]
    kinds, x, z = strings_of(np.array(strings) + 0j)
    assert kinds.tolist() == [IDLE] + [PAULI] * 15
    assert x.tolist() == [0, 1, 1, 0, 2, 3, 3, 2, 2, 3, 3, 2, 0, 1, 1, 0]
    assert z.tolist() == [0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 3, 3, 2, 2, 3, 3]
    phased = strings_of(np.array(strings) * np.exp(1j * np.arange(16))[:, None, None])
    assert (phased[0] != WHOLE).all() and phased[1:].tolist() == [x.tolist(), z.tolist()]
    others = np.stack([gates.H, np.diag([1, 1j]), np.zeros((2, 2)), np.diag([1.0, 1 - 1e-15])]) + 0j
    assert strings_of(others)[0].tolist() == [WHOLE] * 4


@pytest.mark.parametrize("last, through", [("cx", True), ("cz", True), ("swap", True), ("cry", False), ("ccx", False)])
def test_what_stops_a_string(last, through):
    """X on the control of a gate that is no Clifford gate; the kernel's own function, as Python runs it."""
    c = NoisyCircuit(3).rx(0.3, 0).channel(flip(1.0), 0).ry(0.2, 0).rzz(0.1, 0, 1)
    gate = gates.find_gate(last)
    c.gate(last, *[0.4] * gate.params, *range(gate.qubits)).channel(flip(0.5), 2)
    plan = plan_of(3, c._size, tuple(c.operations))
    noise, step = noise_of(plan, plan.kraus(c.matrices)).fields, prepared(plan).steps[0]
    noise = noise._replace(**{name: getattr(noise, name).view(np.recarray) for name in ("sites", "items")})
    room = np.zeros((4, 64))
    found = jump_strings.travel(noise, step["first"], step["last"], np.array([[1, 0]]), 0, 0, 0, 1.0, 0.0, *room)
    assert found[0] == through
    assert not through or (found[1] != 0 and found[3:] == (1.0, 0.0))


def test_trajectories_are_the_same_on_any_number_of_threads():
    """To the last bit: what becomes of a trajectory depends on no other one."""
    found = []
    try:
        for count in (1, 2, 3):
            qad.config(threads=count)
            found.append(long("compiled"))
    finally:
        qad.config(threads="auto")
    for other in found[1:]:
        np.testing.assert_array_equal(found[0].choices, other.choices)
        np.testing.assert_array_equal(found[0].states, other.states)


def test_a_state_that_trajectories_share_is_kept_once():
    for engine in ENGINES:
        c = NoisyCircuit(2, engine=engine).h(0).measure(0).h(1).measure(1).h(0)
        found = c.trajectories(1000)
        assert len(found._states) == 4 and found.states.shape == (1000, 2, 2)
        np.testing.assert_allclose(found.values("ZI"), [found.values("ZI")[0]] * 1000, atol=1e-12)
