"""The slow and simple simulation that circuits are tested against: Kronecker products on the whole space."""

from importlib.util import find_spec

import numpy as np
import pytest

import qad
from qad.circuit.gates.table import GATES

ENGINES = ("numpy", "compiled") if find_spec("llvmlite") else ("numpy",)
needs_compiler = pytest.mark.skipif("compiled" not in ENGINES, reason="llvmlite is an optional extra")


def embed(u, qubits, n):
    """A matrix on some qubits as a matrix on all n, qubit 0 most significant."""
    k = len(qubits)
    whole = np.kron(u, np.eye(2 ** (n - k))).reshape((2,) * (2 * n))
    order = [*qubits, *(q for q in range(n) if q not in qubits)]  # the axes of `whole`, one after the other
    places = np.argsort(order)
    return whole.transpose(*places, *(n + places)).reshape(2**n, 2**n)


def with_controls(u, controls):
    """A matrix with this many controlling qubits before it."""
    d = len(u)
    out = np.eye(d << controls, dtype=complex)
    out[-d:, -d:] = u
    return out


def matrix_of(operation, theta, matrices):
    """The matrix of one operation on its controls and qubits."""
    if operation.given is not None:
        u = np.asarray(matrices[operation.given])
    else:
        u = np.asarray(operation.gate.matrix(*(np.asarray(theta[s]) for s in operation.slots)))
    u = u.conj().T if operation.adjoint else u
    return with_controls(u, len(operation.controls))


def dense_matrix(circuit, theta=None):
    """The matrix of a circuit, the product of those of its operations."""
    theta = np.asarray(circuit.parameters) if theta is None else theta
    out = np.eye(2**circuit.n, dtype=complex)
    for operation in circuit.operations:
        u = matrix_of(operation, theta, circuit.matrices)
        out = embed(u, operation.controls + operation.qubits, circuit.n) @ out
    return out


def dense_state(circuit, theta=None):
    """The final state from |0...0>, a vector."""
    return dense_matrix(circuit, theta)[:, 0]


def random_circuit(rng, n, gates, engine="auto", nonunitary=False, **options):
    """A circuit of random gates of every kind, on random qubits with random angles."""
    c = qad.Circuit(n, engine=engine, **options)
    names = [name for name, gate in GATES.items() if gate.qubits <= n]
    for _ in range(gates):
        choice = int(rng.integers(10 if nonunitary else 9))
        qubits = [int(q) for q in rng.permutation(n)]
        if choice == 0:
            k = int(rng.integers(1, min(n, 4) + 1))
            c.unitary(random_unitary(rng, 2**k), *qubits[:k])
        elif choice == 1:
            k = int(rng.integers(1, n + 1))
            c.exp_pauli(rng.normal(), "".join(rng.choice(list("IXYZ"), k)), qubits[:k])
        elif choice == 2 and n > 1:
            k = int(rng.integers(1, n))
            c.controlled(*qubits[k:]).unitary(random_unitary(rng, 2 ** min(k, 2)), *qubits[: min(k, 2)])
        elif choice == 9:
            c.operator(rng.normal(size=(2, 2)) + 1j * rng.normal(size=(2, 2)), qubits[0])
        else:
            gate = GATES[str(rng.choice(names))]
            place = c.controlled(qubits[-1]) if choice == 3 and gate.qubits < n else c
            place.gate(gate.name, *rng.normal(size=gate.params), *qubits[: gate.qubits])
    return c


def random_unitary(rng, d):
    """A Haar-random unitary matrix."""
    q, r = np.linalg.qr(rng.normal(size=(d, d)) + 1j * rng.normal(size=(d, d)))
    return q * (r.diagonal() / abs(r.diagonal()))


def random_sum(rng, n, terms):
    """A random Pauli sum with real coefficients."""
    return qad.PauliSum([("".join(rng.choice(list("IXYZ"), n)), rng.normal()) for _ in range(terms)])
