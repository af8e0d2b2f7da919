"""What circuits are given by mistake: refused, with words that say what to write instead."""

import re

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import qad
from qad.circuit import NoisyCircuit, Operator, Projector, bracket, depolarizing, entropy, mixed_unitary
from qad.core.errors import QadError

Z = np.diag([1.0, -1.0])
NOISE = depolarizing(0.1)

CALLS = {
    "qubits of an operator, no sequence": (lambda: Operator(Z, 0), "a sequence of whole numbers"),
    "qubits of an operator, text": (lambda: Operator(Z, "0"), "a sequence of whole numbers"),
    "an empty operator": (lambda: Operator(np.zeros((0, 0))), "square matrix"),
    "an operator of objects": (lambda: Operator([["a"]]), "numbers"),
    "a sparse rectangle": (lambda: Operator(csr_matrix(np.ones((2, 4)))), "square matrix"),
    "no sparse entry": (lambda: Operator(csr_matrix((0, 0))), "square matrix"),
    "qubits of a projector": (lambda: Projector("1", 0), "a sequence of whole numbers"),
    "an outcome that is a number": (lambda: Projector(1, [0]), "named by 1 bits"),
    "an outcome that is no bit": (lambda: Projector([1.5], [0]), "named by 1 bits"),
    "an outcome in letters": (lambda: Projector("a", [0]), "named by 1 bits"),
    "half a bit": (lambda: qad.Circuit(2).amplitude([0.5, 1]), "named by 2 bits, such as '01'"),
    "a number for bits": (lambda: qad.Circuit(2).amplitude(1), "named by 2 bits"),
    "half a bit of a network": (lambda: qad.Circuit(2).network([0.5, 1]), "named by 2 bits"),
    "half a bit on a chain": (lambda: qad.Circuit(2).mps().amplitude([0.5, 1]), "named by 2 bits"),
    "a set of values": (lambda: qad.Circuit(3).controlled(0, 1, values={0, 1}), "given by 2 bits"),
    "values in lists": (lambda: qad.Circuit(3).controlled(0, 1, values=[[0], [1]]), "given by 2 bits"),
    "a rotation of nothing": (lambda: qad.Circuit(2).exp_pauli(0.1, "", []), "one letter of IXYZ per qubit"),
    "a rotation on a number": (lambda: qad.Circuit(2).exp_pauli(0.1, "X", 0), "one letter of IXYZ per qubit"),
    "a rotation on a set": (lambda: qad.Circuit(3).exp_pauli(0.1, "XY", {2, 0}), "one letter of IXYZ per qubit"),
    "evolution by a string": (lambda: qad.Circuit(2).evolve("ZZ", 0.1), "a Pauli sum is needed"),
    "evolution for a text": (lambda: qad.Circuit(1).evolve(qad.PauliSum({"Z": 1.0}), "1"), "an angle is a number"),
    "not Hermitian": (lambda: qad.Circuit(1).expectation(np.eye(2, k=1)), "qad.circuit.bracket(c, A, c)"),
    "a sum that is not": (lambda: qad.Circuit(1).expectation(1j * qad.PauliSum({"Z": 1})), "bracket(c, H, c)"),
    "a sum on fewer qubits": (lambda: qad.Circuit(2).expectation(qad.PauliSum({"Z": 1})), "jordan_wigner(terms, 2)"),
    "more amplitudes than fit": (
        lambda: qad.Circuit(30, initial=qad.mps.MPS.product([0] * 30)).state(),
        "c.mps(bond=...)",
    ),
    "no observable": (lambda: qad.Circuit(2).expectation([]), "not an empty one"),
    "a matrix of objects": (lambda: qad.Circuit(1).unitary(np.eye(2, dtype=object), 0), "of numbers"),
    "probabilities of a number": (lambda: qad.Circuit(2).probabilities(0), "such as [0, 1]"),
    "variance of nothing": (lambda: qad.Circuit(1, initial=[0, 0]).variance("Z"), "zero or not finite"),
    "entropy of nothing": (lambda: entropy(qad.Circuit(2, initial=[0, 0, 0, 0]), [0]), "zero or not finite"),
    "overlap with a text": (lambda: bracket("a", "Z", qad.Circuit(1)), "of two circuits"),
    "a channel of nothing": (lambda: NoisyCircuit(1).channel([], 0), "one or more"),
    "a channel of objects": (lambda: NoisyCircuit(1).channel(np.eye(2, dtype=object)[None], 0), "of numbers"),
    "matrices of two sizes": (lambda: mixed_unitary([0.5, 0.5], [np.eye(2), np.eye(4)]), "of one shape"),
    "a gate in capitals": (lambda: NoisyCircuit(2, bits=1).if_(0, "CNOT", 0, 1), "did you mean 'cnot'"),
    "a condition on no function": (lambda: NoisyCircuit(1, bits=1).if_(0, None), "the name of a gate"),
    "a function with arguments": (lambda: NoisyCircuit(1, bits=1).if_(0, lambda c: c.x(0), 0), "nothing else"),
    "a set of wanted values": (lambda: NoisyCircuit(1, bits=2).if_([0, 1], "x", 0, equals={0, 1}), "given by 2 bits"),
    "a joined text": (lambda: NoisyCircuit(1).append("x"), "joined to another circuit"),
    "a program that is a number": (lambda: NoisyCircuit.from_qasm(3), "takes the text of a program"),
    "a program that is a file": (lambda: NoisyCircuit.from_qasm("a.qasm"), "takes the text of a program"),
    "a channel in QASM": (lambda: NoisyCircuit(1).channel(NOISE, 0).to_qasm(), "no channels"),
    "an outcome that is forgotten": (lambda: NoisyCircuit(1).measure(0).to_qasm(), "into="),
    "a condition on two bits": (lambda: NoisyCircuit(1, bits=2).if_([0, 1], "x", 0).to_qasm(), "conditions on one bit"),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_refused_in_words(name):
    call, words = CALLS[name]
    with pytest.raises(QadError, match=re.escape(words)):
        call()


def test_bits_of_every_kind_are_read():
    c = qad.Circuit(2).x(1)
    for bits in ("01", [0, 1], (False, True), np.array([0, 1]), [np.int64(0), 1.0]):
        assert c.amplitude(bits) == 1
    wanted = NoisyCircuit(2, bits=2).x(0).measure(np.array(0), into=np.array(1)).if_([0, 1], "x", 1, equals="01")
    assert wanted.probabilities()[1, 1] == 1


def test_what_a_state_is_normalised_for():
    """Variances and entropies are those of the normalised state, whatever the norm of the initial one is."""
    rng = np.random.default_rng(0)
    psi = rng.normal(size=8) + 1j * rng.normal(size=8)
    for find in (lambda c: c.variance("XYZ"), lambda c: entropy(c, [1]), lambda c: entropy(c, [1], order=2),
                 lambda c: entropy(c, [0, 2], order=0.5)):  # fmt: skip
        one, three = (find(qad.Circuit(3, initial=size * psi).cx(0, 1)) for size in (1 / np.linalg.norm(psi), 3.0))
        np.testing.assert_allclose(three, one, rtol=1e-12)


def test_noisy_circuits_are_drawn():
    c = NoisyCircuit(2, bits=2).h(0).measure(0, into=1).if_(1, "rx", 0.3, 1).channel(NOISE, 0).reset(1).measure(1)
    drawn = str(c.if_([0, 1], "cx", 0, 1, equals="01")).splitlines()
    assert drawn[0] == "q0: ─H──M→c1──────CHANNEL──────────────────────●────────"
    assert drawn[2] == "q1: ──────────RX(0.3) if c1=1──RESET──M──⊕ if c0=0,c1=1─"
    assert type(c.draw()) is type(qad.Circuit(1).draw())


def test_noisy_circuits_are_written_and_read():
    c = NoisyCircuit(3, bits=2).h(0).measure(0, into=1).if_(1, "rx", 0.3, 1).cry(0.4, 1, 2)
    c.if_(0, lambda c: c.exp_pauli(0.3, "XYZ", [0, 1, 2]), equals=0).reset(1).x(1).measure(1, into=0)
    c.if_(1, lambda c: c.controlled(0).h(2)).unitary(np.array([[0, 1j], [1, 0]]), 0)
    again = NoisyCircuit.from_qasm(c.to_qasm())
    np.testing.assert_allclose(again.density_matrix(), c.density_matrix(), atol=1e-14)
    np.testing.assert_allclose(again.bit_probabilities(), c.bit_probabilities(), atol=1e-14)
