"""Value and gradient of the Ising energy of a variational circuit, ten layers of RY, RZ and a ring of CNOTs.

"qad" evaluates one circuit with new parameters, as the peers do; "qad, frozen" replays that (up to ten qubits, where
the work is small); "qad, built anew" writes the circuit down in every call. Lightning is PennyLane's compiled
simulator with its adjoint differentiation; qulacs's `backprop` gives no value (that of the comparison is computed
outside of the time). jax is jitted, with a scan over the layers from eight qubits on, the ring of CNOTs as one gather
and the couplings as one diagonal, all precomputed; its first call compiles. At 20 qubits it sits out, where it cannot
be the fastest: it compiled for 95 s, and took 8.4 s a call beside 5.4 s of lightning and 1.1 s of qad in the same run,
on a machine with other work to do.
The field alone and all pairs at 16 qubits show what 120 terms cost. The batch is a thousand sets of parameters.
"""

import numpy as np

from .case import Case, Contender
from .peers import import_jax

LAYERS, SIZES, FIELD = 10, (4, 8, 12, 16, 20), 0.7
ROUNDS = {16: 10, 20: 5}  # samples of what takes long, so that all is done in some six minutes


def ring(n):
    """The CNOTs of a layer."""
    return [(q, (q + 1) % n) for q in range(n)]


def couplings(n, pairs):
    """Pairs that are coupled: the ring, all of them, or none."""
    return {"ring": ring(n), "all": [(i, j) for i in range(n) for j in range(i)], "none": []}[pairs]


def angles(n, *batch):
    """Parameters (..., layers, 2, n)."""
    return np.random.default_rng(n).normal(size=(*batch, LAYERS, 2, n))


def build(n, theta):
    """The circuit in qad."""
    import qad

    c = qad.Circuit(n)
    for layer in range(LAYERS):
        c.ry(theta[..., layer, 0, :], range(n)).rz(theta[..., layer, 1, :], range(n)).cx(*zip(*ring(n), strict=True))
    return c


def hamiltonian(n, pairs):
    """The energy in qad."""
    import qad

    terms = [(-1.0, "ZZ", pair) for pair in couplings(n, pairs)] + [(-FIELD, "X", (q,)) for q in range(n)]
    return qad.PauliSum.on_sites(n, terms)


def with_qad(n, theta, pairs="ring", anew=False, gradient=True, frozen=False):
    """qad; the circuit is built once, or in every call; the function may be frozen."""

    def setup():
        import qad

        energy, once = hamiltonian(n, pairs), build(n, theta)
        values = np.array(once.parameters)

        def loss(x):
            c = build(n, x) if anew else once.with_parameters(x)
            out = c.expectation(energy)
            return out.sum() if theta.ndim > 3 else out

        x = theta if anew else values
        function = qad.value_and_grad(loss) if gradient else loss
        function = qad.freeze(function) if frozen else function
        return lambda: function(x)

    return setup


def by_angle(theta):
    """A gradient (..., layers, 2, n) from the order in which the circuit takes its parameters; the same."""
    return lambda output: (output[0], [np.reshape(output[1], theta.shape)])


def with_lightning(n, theta, pairs):
    """PennyLane's compiled simulator."""

    def setup():
        import pennylane as qml

        coefficients = [-1.0] * len(couplings(n, pairs)) + [-FIELD] * n
        observables = [qml.Z(i) @ qml.Z(j) for i, j in couplings(n, pairs)] + [qml.X(q) for q in range(n)]
        energy = qml.Hamiltonian(coefficients, observables)

        @qml.qnode(qml.device("lightning.qubit", wires=n), diff_method="adjoint")
        def circuit(x):
            for layer in range(LAYERS):
                for q in range(n):
                    qml.RY(x[layer, 0, q], wires=q)
                for q in range(n):
                    qml.RZ(x[layer, 1, q], wires=q)
                for pair in ring(n):
                    qml.CNOT(wires=pair)
            return qml.expval(energy)

        gradient, x = qml.grad(circuit), qml.numpy.array(theta, requires_grad=True)

        def call():
            slopes = gradient(x)
            return gradient.forward, slopes

        return call

    return Contender(
        "lightning, adjoint", setup, lambda out: (float(out[0]), [np.asarray(out[1])]), needs="pennylane",
        most_rounds=ROUNDS.get(n),
    )  # fmt: skip


def with_qulacs(n, theta, pairs):
    """qulacs; its rotations turn the other way."""

    def prepare():
        import qulacs

        circuit, energy = qulacs.ParametricQuantumCircuit(n), qulacs.Observable(n)
        for layer in range(LAYERS):
            for q in range(n):
                circuit.add_parametric_RY_gate(q, -theta[layer, 0, q])
            for q in range(n):
                circuit.add_parametric_RZ_gate(q, -theta[layer, 1, q])
            for pair in ring(n):
                circuit.add_CNOT_gate(*pair)
        for i, j in couplings(n, pairs):
            energy.add_operator(-1.0, f"Z {i} Z {j}")
        for q in range(n):
            energy.add_operator(-FIELD, f"X {q}")
        return qulacs, circuit, energy

    def setup():
        _, circuit, energy = prepare()
        return lambda: circuit.backprop(energy)

    def result(output):
        qulacs, circuit, energy = prepare()
        state = qulacs.QuantumState(n)
        circuit.update_quantum_state(state)
        return energy.get_expectation_value(state), [-np.reshape(output, theta.shape)]

    rounds = 2 if n > 16 else ROUNDS.get(n)
    return Contender("qulacs, backprop", setup, result, needs="qulacs", most_rounds=rounds)


def jax_energy(n, jax, pairs="ring", scan=None):
    """The energy as a function of one set of angles, in jax; a scan of the layers compiles sooner than all of them."""
    np_ = jax.numpy
    index, bits = np.arange(2**n), lambda x, q: x >> (n - 1 - q) & 1
    source = index.copy()
    for control, target in ring(n):
        source = source[index ^ (bits(index, control) << (n - 1 - target))]
    diagonal = -sum((1.0 - 2 * (bits(index, i) ^ bits(index, j)) for i, j in couplings(n, pairs)), np.zeros(2**n))

    def layer(psi, x):
        for q in range(n):
            c, s, turn = np_.cos(x[0, q] / 2), np_.sin(x[0, q] / 2), np_.exp(-0.5j * x[1, q])
            rows = psi.reshape(2**q, 2, -1)
            a, b = rows[:, 0], rows[:, 1]
            psi = np_.stack([turn * (c * a - s * b), turn.conj() * (s * a + c * b)], 1).reshape(-1)
        return psi[source], None

    def energy(x):
        psi = np_.zeros(2**n, complex).at[0].set(1.0)
        if not (n >= 8 if scan is None else scan):
            for part in x:
                psi = layer(psi, part)[0]
        else:
            psi = jax.lax.scan(layer, psi, x)[0]
        flipped = sum(psi.reshape(2**q, 2, -1)[:, ::-1].reshape(-1) for q in range(n))
        return np_.sum((psi.conj() * (diagonal * psi - FIELD * flipped)).real)

    return energy


def with_jax(n, theta, pairs="ring"):
    """jitted jax, over a batch where there is one."""

    def setup():
        jax = import_jax()
        energy, x = jax_energy(n, jax, pairs), jax.device_put(theta)
        several = theta.ndim > 3
        function = jax.jit(jax.value_and_grad((lambda y: jax.vmap(energy)(y).sum()) if several else energy))
        return lambda: jax.block_until_ready(function(x))

    rounds = ROUNDS[16] if n > 12 or theta.ndim > 3 else None
    return Contender(
        "jax, jitted", setup, lambda out: (float(out[0]), [np.asarray(out[1])]), needs="jax", most_rounds=rounds
    )


def contenders(n, pairs="ring"):
    """Everybody, at one number of qubits."""
    theta, rounds = angles(n), ROUNDS.get(n) if n > 16 else None
    value = with_qad(n, theta, pairs, gradient=False)
    frozen = [Contender("qad, frozen", with_qad(n, theta, pairs, frozen=True), by_angle(theta))]
    return [
        Contender("qad", with_qad(n, theta, pairs), by_angle(theta), forward=value, most_rounds=rounds),
        *(frozen if n <= 10 else []),
        Contender("qad, built anew", with_qad(n, theta, pairs, anew=True), by_angle(theta), most_rounds=rounds),
        with_lightning(n, theta, pairs),
        with_qulacs(n, theta, pairs),
        *([with_jax(n, theta, pairs)] if n < 20 else []),
    ]


def cases():
    """Five sizes, two Hamiltonians, and a batch."""
    for n in SIZES:
        yield Case(f"{n} qubits", contenders(n))
    for name, pairs in (("the field alone", "none"), ("all pairs", "all")):
        theta = angles(16)
        yield Case(f"16 qubits, {name}", [
            Contender("qad", with_qad(16, theta, pairs), by_angle(theta)),
            with_qulacs(16, theta, pairs),
        ])  # fmt: skip
    theta = angles(8, 1000)
    yield Case("1000 sets of parameters, 8 qubits", [
        Contender("qad", with_qad(8, theta, anew=True), by_angle(theta), most_rounds=ROUNDS[16]),
        with_jax(8, theta),
    ], tolerance=1e-9)  # fmt: skip
