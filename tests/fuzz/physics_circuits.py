"""Random circuits, with noise and without, for `tests.fuzz.physics`."""

import numpy as np
from scipy.linalg import expm

import qad
from tests.fuzz.physics_models import near
from tests.physics import exact

PAULI = {"I": np.eye(2), **{name: exact.KINDS["spin-1/2"][name] for name in "XYZ"}}


def on(n, matrix, *qubits):
    """A gate on some qubits as a matrix on all."""
    k = len(qubits)
    full = np.kron(matrix, np.eye(2 ** (n - k))).reshape((2,) * 2 * n)
    order = np.argsort([*qubits, *(q for q in range(n) if q not in qubits)])
    return full.transpose(*order, *(n + order)).reshape(2**n, 2**n)


def rotation(letters, angle):
    """``exp(-i angle P / 2)``."""
    matrix = np.eye(1)
    for letter in letters:
        matrix = np.kron(matrix, PAULI[letter])
    return expm(-0.5j * angle * matrix)


FIXED = {
    "h": np.array([[1, 1], [1, -1]]) / np.sqrt(2), "s": np.diag([1, 1j]), "t": np.diag([1, np.exp(0.25j * np.pi)]),
    "x": PAULI["X"], "cx": np.eye(4)[[0, 1, 3, 2]], "cz": np.diag([1.0, 1, 1, -1]), "swap": np.eye(4)[[0, 2, 1, 3]],
}  # fmt: skip
TURNS = {"rx": "X", "ry": "Y", "rz": "Z", "rxx": "XX", "rzz": "ZZ", "ryy": "YY"}


def draw_gates(rng, n, length):
    """Names, qubits, and numbers of angles."""
    gates, angles = [], 0
    for _ in range(length):
        name = str(rng.choice([*FIXED, *TURNS, *TURNS] if n > 1 else ["h", "s", "t", "x", "rx", "ry", "rz"]))
        k = len(TURNS[name]) if name in TURNS else len(FIXED[name]) // 2
        gates.append((name, rng.choice(n, k, replace=False).tolist(), angles if name in TURNS else None))
        angles += name in TURNS
    return gates, rng.normal(size=angles) * rng.choice([0.0, 1.0, 1.0])


def draw_string(rng, n):
    """A product of Pauli matrices, by letters."""
    return "".join(rng.choice(list("IXYZ"), n))


def built(circuit, gates, angles):
    """The circuit of these gates."""
    for name, qubits, k in gates:
        circuit = getattr(circuit, name)(*qubits) if k is None else getattr(circuit, name)(angles[k], *qubits)
    return circuit


def matrix_of(n, gate, angles):
    """One of these gates as a matrix."""
    name, qubits, k = gate
    return on(n, FIXED[name] if k is None else rotation(TURNS[name], angles[k]), *qubits)


def full_string(string):
    """As a matrix."""
    matrix = np.eye(1)
    for letter in string:
        matrix = np.kron(matrix, PAULI[letter])
    return matrix


def circuit(rng):
    """An expectation value, amplitudes, and the gradient by all angles; on a chain of tensors too."""
    n = int(rng.integers(1, 7))
    gates, angles = draw_gates(rng, n, int(rng.integers(1, 25)))
    strings = {draw_string(rng, n): float(rng.normal()) for _ in range(3)}
    observable = sum(c * full_string(s) for s, c in strings.items())

    def state(x):
        psi = np.eye(2**n)[0].astype(complex)
        for gate in gates:
            psi = matrix_of(n, gate, x) @ psi
        return psi

    wanted = lambda x: exact.mean(observable, state(x))
    paulis = qad.PauliSum(strings)
    value = lambda x: built(qad.Circuit(n), gates, x).expectation(paulis)
    said = f"{n} qubits, {gates}, {angles.tolist()}, {strings}"
    problems = near(said, value(angles), wanted(angles), 1e-11 * 10)
    error = abs(built(qad.Circuit(n), gates, angles).state().reshape(-1) - state(angles)).max()
    problems += near("error of the state, " + said, error, 0.0, 1e-11)
    problems += near("variance, " + said, built(qad.Circuit(n), gates, angles).variance(paulis),
                     exact.mean(observable @ observable, state(angles)) - wanted(angles) ** 2, 1e-10)  # fmt: skip
    if not len(angles):
        return problems
    k = int(rng.integers(len(angles)))
    slope = exact.difference(lambda a: wanted(np.r_[angles[:k], a, angles[k + 1 :]]), angles[k])
    problems += near(f"d/d angle {k}, " + said, qad.grad(value)(angles)[k], slope, 1e-8)
    if rng.random() < 0.3:
        chain = lambda x: built(qad.Circuit(n), gates, x).mps().expectation(paulis)
        problems += near(f"chain, d/d angle {k}, " + said, qad.grad(chain)(angles)[k], slope, 1e-7)
    return problems


def channel(name, p, rho, n, qubit):
    """A channel on a density matrix, as the polynomial in p that it is (in its square root for the off-diagonals)."""
    op = lambda m: on(n, m, qubit)
    around = lambda m: op(m) @ rho @ op(m).conj().T
    if name == "depolarizing":
        return (1 - p) * rho + p / 3 * sum(around(PAULI[s]) for s in "XYZ")
    if name == "flip":
        return (1 - p) * rho + p * around(PAULI["X"])
    up, down, lower = np.diag([1.0, 0.0]), np.diag([0.0, 1.0]), np.array([[0.0, 1.0], [0.0, 0.0]])
    mixed = op(up) @ rho @ op(down)
    return around(up) + (1 - p) * around(down) + np.sqrt(1 - p + 0j) * (mixed + mixed.conj().T) + p * around(lower)


def noise(rng):
    """Density matrices after channels whose rates are 0, 1, or between, and the slope by one of them."""
    n = int(rng.integers(1, 4))
    gates, angles = draw_gates(rng, n, int(rng.integers(1, 8)))
    names = [str(rng.choice(["depolarizing", "flip", "amplitude_damping", "none"])) for _ in gates]
    names[-1] = names[-1] if names[-1] != "none" else "depolarizing"
    rates = [float(rng.choice([0.0, 1.0, 0.3, 0.0])) for _ in gates]
    string = draw_string(rng, n)
    which = int(rng.choice([k for k, name in enumerate(names) if name != "none"]))
    if names[which] == "amplitude_damping" and rates[which] == 1.0:
        rates[which] = 0.0  # the root of 1 - p has no slope at 1
    places = rng.integers(n, size=len(gates)).tolist()

    def value(p):
        c = qad.circuit.NoisyCircuit(n)
        for k, (gate, name) in enumerate(zip(gates, names, strict=True)):
            c = built(c, [gate], angles)
            if name != "none":
                c = c.channel(getattr(qad.circuit, name)(p if k == which else rates[k]), places[k])
        return c.expectation(string)

    def wanted(p):
        rho = np.zeros((2**n, 2**n), complex)
        rho[0, 0] = 1
        for k, (gate, name) in enumerate(zip(gates, names, strict=True)):
            u = matrix_of(n, gate, angles)
            rho = u @ rho @ u.conj().T
            if name != "none":
                rho = channel(name, p if k == which else rates[k], rho, n, places[k])
        return float(np.trace(rho @ full_string(string)).real)

    p, said = rates[which], f"{string} after {gates} {angles.tolist()} with {names} at {places} {rates}, {which}"
    slope = exact.difference(wanted, p)
    return near(said, value(p), wanted(p), 1e-10) + near("d/dp, " + said, qad.grad(value)(p), slope, 1e-7)
