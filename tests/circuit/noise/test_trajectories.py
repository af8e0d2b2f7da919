"""Trajectories by compiled kernels against those of NumPy, state by state."""

import numpy as np
import pytest

import qad
from qad.circuit import NoisyCircuit, amplitude_damping, depolarizing, flip, mixed_unitary
from qad.circuit.gates import table as gates
from qad.circuit.noise.channels import kraus_of
from qad.circuit.noise.jumps import plan_of, stretches_of
from qad.circuit.noise.kraus import FIXED, Kraus, letters_of
from qad.circuit.observables.sampling import outcomes, outcomes_of
from qad.core.errors import ArgumentError

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
    strings = np.array([gates.pauli_matrix(a + b) for a in "IXYZ" for b in "IXYZ"]) + 0j
    for some in (strings, strings * np.exp(1j * np.arange(16))[:, None, None]):
        assert letters_of(some).tolist() == [[a, b] for a in (0, 2, 3, 1) for b in (0, 2, 3, 1)]  # of I, X, Y, Z
    for other in (gates.H, np.diag([1, 1j]), np.diag([1.0, 1 - 1e-15])):
        assert letters_of(np.stack([gates.X, other]) + 0j) is None


def kinds(*channels):
    return [Kraus(kraus_of(u) + 0j).kind for u in channels]


def test_kinds_of_channels():
    mixed = mixed_unitary([0.5, 0.5], [gates.H, gates.X])
    assert kinds(depolarizing(0.1), flip(0.0, "Y"), mixed) == ["string", "string", "unitary"]
    assert kinds(amplitude_damping(0.1), FIXED["measure"], FIXED["reset"]) == ["state"] * 3


@pytest.mark.parametrize("last, through", [("cx", True), ("cz", True), ("swap", True), ("cry", False), ("ccx", False)])
def test_what_stops_a_string(last, through):
    """A controlled gate that is no Clifford gate: the string is applied before it."""
    c = NoisyCircuit(3).rx(0.3, 0).channel(flip(1.0), 0).ry(0.2, 0).rzz(0.1, 0, 1)
    gate = gates.find_gate(last)
    c.gate(last, *[0.4] * gate.params, *range(gate.qubits)).channel(flip(0.5), 2)
    (stretch,) = stretches_of(plan_of(3, c._size, tuple(c.operations)), ("string", "string"))
    moves = [move.name for move in stretch.moves]
    assert moves.index("string") < (moves.index("pass") if through else moves.index("apply"))
    assert ("pass" in moves) == through


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


def by_hand(c, choices):
    """The states (T, 2**n) that the Kraus matrices taken make of |0...0>, gate by gate, normalised."""
    plan, states = plan_of(c.n, c._size, tuple(c.operations)), []
    kraus = plan.kraus(c.matrices)
    for row in choices:
        one, bits, site = qad.Circuit(c.n), np.zeros(c.bits, int), 0
        for o in c.operations:
            runs = all(bits[bit] == value for bit, value in o.when)
            if o.gate.name in ("channel", "measure", "reset"):
                if runs:
                    one.operator(kraus[site][row[site]], *o.qubits)
                    if o.into is not None:
                        bits[o.into] = row[site]
                site += 1
            elif runs:
                u = c.matrices[o.given] if o.given is not None else o.gate.matrix(*c.parameters[list(o.slots)])
                one.controlled(*o.controls).unitary(u, *o.qubits) if o.controls else one.unitary(u, *o.qubits)
        psi = one.state().ravel()
        states.append(psi / np.linalg.norm(psi))
    return np.array(states)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("make", [long, lambda engine: every_gate(engine, complex)], ids=["long", "every gate"])
@pytest.mark.sampled(2)
def test_states_are_those_of_what_was_taken(make, engine):
    found = make(engine)
    expected = by_hand(found.circuit, found.choices[:40])
    overlaps = np.abs((found.states[:40].reshape(len(expected), -1).conj() * expected).sum(1))
    np.testing.assert_allclose(overlaps, 1, atol=1e-12)


@pytest.mark.slow
def test_batches_in_pieces(monkeypatch):
    """What becomes of a trajectory depends on no batch."""
    whole = long("numpy")
    monkeypatch.setattr("qad.circuit.noise.batches.TOGETHER", 2**7)
    parts = long("numpy")
    np.testing.assert_array_equal(whole.choices, parts.choices)
    np.testing.assert_allclose(whole.states, parts.states, atol=1e-13)
    assert len(parts._states) == len(whole._states)


@pytest.mark.parametrize("size", [1, 2, 5, 16])
def test_outcomes_of_several_rows_are_those_of_each(size):
    rng = np.random.default_rng(size)
    weights = rng.random((4, size)) * (rng.random((4, size)) < 0.6)
    weights[range(4), rng.integers(0, size, 4)] += 0.1
    rows, uniforms = rng.integers(0, 4, 40), np.array([0.0, 1 - 1e-17, *rng.random(38)])
    each = [outcomes(weights[row], uniforms[i : i + 1])[0] for i, row in enumerate(rows)]
    assert outcomes_of(weights, rows, uniforms).tolist() == each
    assert outcomes_of(np.array([[0.25, 0, 0.75]]), np.zeros(3, int), np.array([0.2, 0.25, 0.9])).tolist() == [0, 2, 2]
    with pytest.raises(ArgumentError, match="zero or not finite"):
        outcomes_of(np.array([[1.0], [np.nan]]), np.array([0]), np.array([0.5]))


def test_samples_do_not_depend_on_how_many_states_are_drawn_from_together(monkeypatch):
    c = NoisyCircuit(3).h(0).cx(0, 1).channel(flip(0.5), 1).channel(flip(0.5), 2)
    whole = c.trajectories(200, seed=1).sample(seed=2)
    monkeypatch.setattr("qad.circuit.noise.trajectories.AT_ONCE", 8)
    np.testing.assert_array_equal(c.trajectories(200, seed=1).sample(seed=2), whole)


def test_trajectories_and_their_samples_of_one_seed_are_independent():
    """A bit of bias 0.9 flipped with probability 0.7: 0.9 * 0.3 + 0.1 * 0.7 are left."""
    c = NoisyCircuit(1).ry(2 * np.arccos(0.9**0.5), 0).channel(flip(0.7), 0)
    for drawn in (c.trajectories(20000), c.trajectories(20000, seed=3)):
        for seed in (0, 3):
            assert drawn.sample(seed).mean() == pytest.approx(0.66, abs=5 * (0.66 * 0.34 / 20000) ** 0.5)


def test_outcomes_are_drawn_by_their_probabilities():
    p = np.array([0.36, 0, 0.64, 0])
    found = outcomes(p, np.random.default_rng(3).random(20000))
    assert set(found) == {0, 2} and abs((found == 2).mean() - 0.64) < 5 * 0.48 / np.sqrt(20000)
    assert outcomes(p, np.array([0.0, 1 - 1e-17])).tolist() == [0, 2]
    c = NoisyCircuit(2).ry(2 * np.arccos(0.6), 0).x(1).channel(flip(0.5), 1)
    drawn = c.trajectories(20000, seed=1).sample(seed=2).mean(0)
    assert np.all(np.abs(drawn - [0.64, 0.5]) < 5 * 0.5 / np.sqrt(20000))
