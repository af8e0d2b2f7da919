"""A thousand shots of a noisy circuit of 10 qubits, ten layers of RY, RZ and a ring of CNOTs, each gate with an error.

Errors are depolarizing, on the qubits of the gate: a Pauli string other than 1 with the probability of the row. A call
draws a thousand trajectories and one outcome of each. qulacs's NoiseSimulator draws all errors beforehand, too, and
simulates each set of errors once. What the calls compute differs by chance: the agreement is that of the mean outcomes
of the qubits.
"""

import numpy as np

from .case import Case, Contender

QUBITS, LAYERS, SHOTS = 10, 10, 1000


def gates():
    """Name, angle and qubits of every gate."""
    theta = 0.3 * np.random.default_rng(0).normal(size=(LAYERS, 2, QUBITS))
    for layer in theta:
        for name, angles in zip(("ry", "rz"), layer, strict=True):
            yield from ((name, angle, (q,)) for q, angle in enumerate(angles))
        yield from (("cx", None, (q, (q + 1) % QUBITS)) for q in range(QUBITS))


def means(bits):
    """The mean outcome of every qubit, qubit 0 first; there is no gradient to compare."""
    return np.mean(bits, 0), []


def with_qad(p):
    """qad: trajectories and their outcomes."""

    def setup():
        import qad

        channels = (
            {k: qad.circuit.depolarizing(p, k) for k in (1, 2)} if p else {1: qad.circuit.amplitude_damping(0.01)}
        )
        c, seeds = qad.circuit.NoisyCircuit(QUBITS), iter(range(10**9))
        for name, angle, qubits in gates():
            c.gate(name, *([] if angle is None else [angle]), *qubits).channel(channels[len(qubits)], *qubits)

        def call():
            seed = next(seeds)
            return c.trajectories(SHOTS, seed).sample(seed)

        return call

    return setup


def qulacs_circuit(p):
    """The circuit in qulacs, whose rotations turn the other way."""
    import qulacs
    from qulacs import gate

    c = qulacs.QuantumCircuit(QUBITS)
    for name, angle, qubits in gates():
        one = gate.CNOT(*qubits) if angle is None else {"ry": gate.RY, "rz": gate.RZ}[name](*qubits, -angle)
        c.add_noise_gate(one, "Depolarizing", p)
    return c


def with_simulator(p):
    """qulacs's simulator of errors that are drawn beforehand."""

    def setup():
        import qulacs

        simulator = qulacs.NoiseSimulator(qulacs_circuit(p), qulacs.QuantumState(QUBITS))
        return lambda: simulator.execute(SHOTS)

    return setup


def bits_of(outcomes):
    """Integers whose lowest bit is qubit 0, as bits."""
    return means(np.array(outcomes)[:, None] >> np.arange(QUBITS) & 1)


def cases():
    """Three rates of errors."""
    for p in (0.001, 0.01, 0.05):
        yield Case(f"errors of {p}", [
            Contender("qad", with_qad(p), means),
            Contender("qulacs, NoiseSimulator", with_simulator(p), bits_of, needs="qulacs", most_rounds=20),
        ], tolerance=0.15)  # fmt: skip
