"""Every gate, and what else goes into a circuit, beside matrices written down from the definitions of OpenQASM."""

import numpy as np
import pytest
from scipy.linalg import expm

import qad
from qad import circuit
from tests.fuzz.physics_circuits import PAULI, channel, full_string, on, rotation
from tests.physics import exact

N, ORDER = 5, [3, 0, 4, 2, 1]  # a gate of k qubits acts on the first k of these
ROOT = np.array([[1 + 1j, 1 - 1j], [1 - 1j, 1 + 1j]]) / 2
H = np.array([[1, 1], [1, -1]]) / np.sqrt(2)
START = np.random.default_rng(5).normal(size=(2, 2**N)).T @ [1, 1j]
START = (START / np.linalg.norm(START)).reshape((2,) * N)


def phase(angle):
    """On the state 1."""
    return np.diag([1, np.exp(1j * angle)])


def turn(theta, phi, lam):
    """OpenQASM's ``U``."""
    c, s = np.cos(theta / 2), np.sin(theta / 2)
    return np.array([[c, -np.exp(1j * lam) * s], [np.exp(1j * phi) * s, np.exp(1j * (phi + lam)) * c]])


def given(matrix, controls=1):
    """A gate where all controls, which come first, are 1."""
    total = np.eye(2**controls * len(matrix), dtype=complex)
    total[-len(matrix) :, -len(matrix) :] = matrix
    return total


def relative(*words):
    """A Toffoli gate up to phases, by its definition: on the last qubit H, T, its inverse D, or CNOTs from others."""
    n = 1 + max(int(word) for word in words if word.isdigit()) + 1
    single = {"H": H, "T": phase(np.pi / 4), "D": phase(-np.pi / 4)}
    total = np.eye(2**n)
    for word in words:
        total = (on(n, given(PAULI["X"]), int(word), n - 1) if word.isdigit() else on(n, single[word], n - 1)) @ total
    return total


SWAP = np.eye(4)[[0, 2, 1, 3]]
GATES = {
    "id": np.eye(2), "x": PAULI["X"], "y": PAULI["Y"], "z": PAULI["Z"], "h": H, "s": phase(np.pi / 2),
    "sdg": phase(-np.pi / 2), "t": phase(np.pi / 4), "tdg": phase(-np.pi / 4), "sx": ROOT, "sxdg": ROOT.conj(),
    "cx": given(PAULI["X"]), "cnot": given(PAULI["X"]), "cy": given(PAULI["Y"]), "cz": given(PAULI["Z"]),
    "ch": given(H), "csx": given(ROOT), "swap": SWAP, "iswap": SWAP * [1, 1j, 1j, 1],
    "ccx": given(PAULI["X"], 2), "ccz": given(PAULI["Z"], 2), "cswap": given(SWAP), "c3x": given(PAULI["X"], 3),
    "c4x": given(PAULI["X"], 4), "c3sqrtx": given(ROOT, 3), "rccx": relative(*"HT1D0T1DH"),
    "rc3x": relative(*"HT2DH0T1D0T1DHT2DH"),
}  # fmt: skip
TURNS = {
    "rx": lambda a: rotation("X", a), "ry": lambda a: rotation("Y", a), "rz": lambda a: rotation("Z", a),
    "p": phase, "phase": phase, "u1": phase, "u2": lambda a, b: turn(np.pi / 2, a, b), "u3": turn, "u": turn,
    "crx": lambda a: given(rotation("X", a)), "cry": lambda a: given(rotation("Y", a)),
    "crz": lambda a: given(rotation("Z", a)), "cp": lambda a: given(phase(a)), "cphase": lambda a: given(phase(a)),
    "cu1": lambda a: given(phase(a)), "cu3": lambda a, b, c: given(turn(a, b, c)),
    "cu": lambda a, b, c, d: given(np.exp(1j * d) * turn(a, b, c)), "rxx": lambda a: rotation("XX", a),
    "ryy": lambda a: rotation("YY", a), "rzz": lambda a: rotation("ZZ", a),
}  # fmt: skip
ANGLES = [0.7, -1.1, 0.4, 2.3]


def after(matrix):
    """The state after a matrix on the first of the qubits."""
    return on(N, matrix, *ORDER[: int(np.log2(len(matrix)))]) @ START.reshape(-1)


def test_no_gate_is_left_out():
    assert {*GATES, *TURNS} == set(circuit.gates.table.BUILT_IN)


@pytest.mark.parametrize("name", GATES)
def test_gates(name):
    k = int(np.log2(len(GATES[name])))
    c = getattr(qad.Circuit(N, initial=START), name)(*ORDER[:k])
    assert c.state().reshape(-1) == pytest.approx(after(GATES[name]), abs=1e-12)
    back = getattr(qad.Circuit(N), name)(*ORDER[:k]).inverse()
    assert (c + back).state() == pytest.approx(START, abs=1e-12)


@pytest.mark.parametrize("name", TURNS)
def test_turns_and_their_slopes(name):
    count = TURNS[name].__code__.co_argcount
    angles = np.array(ANGLES[:count])
    k = int(np.log2(len(TURNS[name](*angles))))
    string = full_string("XYZXZ")
    value = lambda x: getattr(qad.Circuit(N, initial=START), name)(*x, *ORDER[:k]).expectation("XYZXZ")
    wanted = lambda x: exact.mean(string, after(TURNS[name](*x)))
    assert value(angles) == pytest.approx(wanted(angles), abs=1e-12)
    moved = [
        exact.difference(lambda a, i=i: wanted([*angles[:i], a, *angles[i + 1 :]]), angles[i]) for i in range(count)
    ]
    assert qad.grad(value)(angles) == pytest.approx(np.array(moved), abs=1e-9)


def test_matrices_strings_and_controls():
    rng = np.random.default_rng(1)
    any_matrix = rng.normal(size=(4, 4)) + 1j * rng.normal(size=(4, 4))
    u = expm(1j * (any_matrix + any_matrix.conj().T))
    begin = lambda: qad.Circuit(N, initial=START)
    places = ORDER[:2]
    assert begin().unitary(u, *places).state().reshape(-1) == pytest.approx(after(u), abs=1e-12)
    assert begin().operator(any_matrix, *places).state().reshape(-1) == pytest.approx(after(any_matrix), abs=1e-12)
    found = begin().exp_pauli(0.4, "XY", places).state().reshape(-1)
    assert found == pytest.approx(after(rotation("XY", 0.4)), abs=1e-12)
    found = begin().controlled(ORDER[0]).ry(0.4, ORDER[1]).state().reshape(-1)
    assert found == pytest.approx(after(given(rotation("Y", 0.4))), abs=1e-12)
    found = begin().controlled(ORDER[0], values=0).ry(0.4, ORDER[1]).state().reshape(-1)
    on_zero = np.kron(PAULI["X"], np.eye(2))
    assert found == pytest.approx(after(on_zero @ given(rotation("Y", 0.4)) @ on_zero), abs=1e-12)


def test_new_angles_networks_and_programs():
    c = qad.Circuit(3).ry([0.1, 0.2, 0.3], [0, 1, 2]).cx([0, 1], [1, 2]).rz(0.5, 1).h(2)
    theta = np.array([0.7, -0.4, 1.1, 0.2])
    psi = np.eye(8)[0]
    for q in range(3):
        psi = on(3, rotation("Y", theta[q]), q) @ psi
    psi = on(3, given(PAULI["X"]), 1, 2) @ on(3, given(PAULI["X"]), 0, 1) @ psi
    psi = on(3, H, 2) @ on(3, rotation("Z", theta[3]), 1) @ psi
    turned = c.with_parameters(theta)
    assert turned.state().reshape(-1) == pytest.approx(psi, abs=1e-12)
    assert turned.network("011").value() == pytest.approx(psi[3], abs=1e-12)
    assert turned.network("ZXI").value() == pytest.approx(exact.mean(full_string("ZXI"), psi), abs=1e-12)
    again = qad.Circuit.from_qasm(turned.to_qasm())
    assert abs(np.vdot(again.state().reshape(-1), psi)) == pytest.approx(1.0, abs=1e-12)


def test_bits_conditions_and_resets():
    """A measured qubit that turns another, and one that is put back."""
    theta = 0.7
    one = np.sin(theta / 2) ** 2
    c = circuit.NoisyCircuit(3, bits=1).ry(theta, 0).measure(0, into=0).if_(0, "x", 1).ry(0.4, 2).reset(2)
    assert c.bit_probabilities() == pytest.approx([1 - one, one], abs=1e-12)
    assert c.probabilities([1]) == pytest.approx([1 - one, one], abs=1e-12)
    assert [c.expectation(s) for s in ("ZZI", "XII", "IIZ")] == pytest.approx([1.0, 0.0, 1.0], abs=1e-12)
    assert c.variance("ZII") == pytest.approx(1 - np.cos(theta) ** 2, abs=1e-12)
    shots = c.sample(4000)
    assert abs(shots[:, 1].mean() - one) < 5 * np.sqrt(one * (1 - one) / 4000)
    assert sum(c.counts(100).values()) == 100


def test_entropy_of_a_noisy_qubit():
    psi = rotation("Y", 0.4) @ [1.0, 0.0]
    rho = channel("depolarizing", 0.2, np.outer(psi, psi.conj()), 1, 0)
    c = circuit.NoisyCircuit(1).ry(0.4, 0).channel(circuit.depolarizing(0.2), 0)
    assert circuit.reduced_density(c, [0]) == pytest.approx(rho, abs=1e-12)
    assert circuit.entropy(c, [0]) == pytest.approx(exact.entropy(np.linalg.eigvalsh(rho)), abs=1e-12)


def test_sums_of_strings():
    total = qad.PauliSum.on_sites(4, [(0.5, "ZZ", (0, 2)), (-1.5j, "X", (3,))])
    wanted = 0.5 * full_string("ZIZI") - 1.5j * full_string("IIIX")
    assert np.asarray(total.matrix()) == pytest.approx(wanted, abs=1e-14)
    assert np.asarray(total.adjoint().matrix()) == pytest.approx(wanted.conj().T, abs=1e-14)
    assert total.mpo().to_dense() == pytest.approx(wanted, abs=1e-12)
