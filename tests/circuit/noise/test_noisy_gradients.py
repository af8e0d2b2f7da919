"""Circuits: gradients of noisy expectation values, whatever the observable; programs of other packages."""

import numpy as np
import pytest
import scipy.sparse

import qad
from qad.circuit import NoisyCircuit, Operator, Projector, amplitude_damping, depolarizing, flip

RNG = np.random.default_rng(0)
MATRIX = RNG.standard_normal((4, 4)) + 1j * RNG.standard_normal((4, 4))
MATRIX = MATRIX + MATRIX.conj().T
OBSERVABLES = {
    "real strings": qad.PauliSum({"ZZ": 1.0, "XI": 0.5}),
    "a string with Y": qad.PauliSum({"YX": 1.0, "IY": 0.5, "ZX": 0.3}),
    "a string": "XY",
    "the constant": qad.PauliSum({"II": 2.0}),
    "a matrix": Operator(MATRIX),
    "a matrix on one qubit": Operator(np.array([[1.0, 2j], [-2j, 0.5]]), [1]),
    "a sparse matrix": Operator(scipy.sparse.csr_array(MATRIX)),
    "a projector": Projector("1", [1]),
}


def noisy(angles, gamma, dtype=complex, engine="auto"):
    c = qad.Circuit(2).ry(angles[0], 0).cx(0, 1).rx(angles[1], 1).rz(angles[2], 0).h(0)
    noise = NoisyCircuit(2, dtype=dtype, engine=engine).append(c).channel(depolarizing(0.1), 0)
    return noise.channel(amplitude_damping(gamma), 1).channel(flip(0.2, "Y"), 0)


@pytest.mark.parametrize("name", OBSERVABLES)
def test_gradients_of_noisy_expectation_values(name):
    angles, observable = np.array([0.3, 0.7, -0.4]), OBSERVABLES[name]

    def value(angles, gamma):
        return noisy(angles, gamma).expectation(observable)

    qad.check_grads(value, (angles, np.array(0.25)))
    c = noisy(angles, 0.25)
    matrix = np.eye(4)
    if isinstance(observable, (str, qad.PauliSum)):
        matrix = (qad.PauliSum({observable: 1.0}) if isinstance(observable, str) else observable).matrix()
    elif "projector" in name:
        matrix = np.kron(np.eye(2), np.diag([0.0, 1.0]))
    else:
        small = observable.matrix.toarray() if observable.sparse else observable.matrix
        matrix = small if len(small) == 4 else np.kron(np.eye(2), small)
    assert value(angles, 0.25) == pytest.approx(np.trace(c.density_matrix() @ matrix).real, abs=1e-12)


def test_gradients_by_the_coefficients_of_a_noisy_observable():
    angles = np.array([0.3, 0.7, -0.4])

    def value(coefficients):
        terms = zip(("ZZ", "XY", "YI"), coefficients, strict=True)
        return noisy(angles, 0.25).expectation(qad.PauliSum(dict(terms)))

    qad.check_grads(value, (np.array([1.0, -0.5, 0.7]),))


@pytest.mark.parametrize("engine", ["numpy", "compiled"])
def test_noisy_gradients_of_both_engines_in_both_precisions(engine):
    pytest.importorskip("llvmlite")
    angles, observable = np.array([0.3, 0.7, -0.4]), OBSERVABLES["a string with Y"]
    exact = qad.grad(lambda a: noisy(a, 0.25, engine="numpy").expectation(observable))(angles)
    for dtype, tolerance in ((np.complex128, 1e-12), (np.complex64, 1e-5)):
        found = qad.grad(lambda a, d=dtype: noisy(a, 0.25, d, engine).expectation(observable))(angles)
        np.testing.assert_allclose(found, exact, atol=tolerance)


@pytest.mark.parametrize("strings", [{"Y": 1.0}, {"X": 1.0}, {"Z": 2.0, "Y": 0.5}])
def test_a_real_cotangent_of_a_pauli_sum(strings):
    """The cotangent of a complex image may be real, and the image of a real state complex."""
    H = qad.PauliSum(strings)
    weights = np.array([0.3, 0.8])
    for x in (np.array([0.6, 0.8]), np.array([0.6, 0.8j])):
        qad.check_grads(lambda x: np.sum(weights * H.apply(x).real) + np.sum(H.apply(x).imag ** 2), (x,))


@pytest.mark.parametrize("kind", [int, bool])
@pytest.mark.parametrize("loss", ["tr(y, m)", "tr(y)", "trace(rectangular)", "np.trace", "linalg.trace"])
def test_cotangents_are_never_integers_or_bools(kind, loss):
    """The cotangent of a scalar loss is 1, and 1 times an array of integers would be one of integers."""
    seen = []

    @qad.extend.primitive
    def watched(x):
        return x * 1

    qad.extend.defvjp(watched, lambda g, ans, x: (seen.append(g.dtype), g)[1])
    m = np.array([[1, 0], [1, 1]], kind)
    losses = {
        "tr(y, m)": lambda y: qad.tr(y, m),
        "tr(y)": qad.tr,
        "trace(rectangular)": lambda y: np.trace(y[:1]),
        "np.trace": np.trace,
        "linalg.trace": np.linalg.trace,
    }
    x = np.array([[0.1, 0.2], [0.3, 0.4]])
    gradient = qad.grad(lambda x: losses[loss](watched(np.sin(x))))(x)
    assert {dtype.kind for dtype in seen} == {"f"}
    expected = {"tr(y, m)": m.T, "trace(rectangular)": np.diag([1, 0])}.get(loss, np.eye(2)) * np.cos(x)
    np.testing.assert_allclose(gradient, expected, rtol=1e-14)


def test_an_opaque_gate_of_openqasm_that_is_not_used():
    head = 'OPENQASM 2.0;\ninclude "qelib1.inc";\nopaque magic(a, b) x, y;\nopaque other q;\nqreg q[2];\nh q[0];\n'
    np.testing.assert_allclose(qad.Circuit.from_qasm(head).probabilities()[:, 0], [0.5, 0.5])
    with pytest.raises(qad.errors.QasmError, match="'other' is opaque, without a matrix"):
        qad.Circuit.from_qasm(head + "other q[1];")


@pytest.mark.parametrize(
    "name", ["none", "one", "two", "five", "adjoint of five", "controlled", "Grover", "identities"]
)
@pytest.mark.sampled(3)
def test_global_phases_of_pennylane(name):
    qml = pytest.importorskip("pennylane", reason="the optional package pennylane is not installed")
    from qad.interop.pennylane import from_pennylane

    phase = {
        "none": [qml.GlobalPhase(0.3)],
        "one": [qml.GlobalPhase(0.3, wires=1)],
        "two": [qml.GlobalPhase(0.3, wires=[0, 1])],
        "five": [qml.GlobalPhase(0.3, wires=range(5))],
        "adjoint of five": [qml.adjoint(qml.GlobalPhase(0.3, wires=range(5)))],
        "controlled": [qml.ctrl(qml.GlobalPhase(0.3, wires=range(3)), [3, 4])],
        "Grover": [qml.GroverOperator(wires=range(5))],  # a phase of -1 in its decomposition
        "identities": [qml.Identity(), qml.Identity(range(5))],
    }[name]
    operations = [qml.RX(0.4, 0), *phase, qml.CNOT([0, 4])]
    initial = np.random.default_rng(0).standard_normal((2,) * 5) + 0j
    initial /= np.linalg.norm(initial)
    found = (qad.Circuit(5, initial=initial) + from_pennylane(operations, wires=range(5))).state()
    matrix = qml.matrix(qml.tape.QuantumScript(operations), wire_order=range(5))
    np.testing.assert_allclose(found.reshape(-1), matrix @ initial.reshape(-1), atol=1e-12)


def test_a_complex_pauli_sum_is_no_observable_of_a_noisy_circuit():
    with pytest.raises(qad.errors.ArgumentError, match="not Hermitian"):
        NoisyCircuit(1).expectation(qad.PauliSum({"Z": 1j}))


@pytest.mark.parametrize("p", [-0.1, 1.1, np.nan, 0.1j])
@pytest.mark.parametrize("channel", [depolarizing, flip, amplitude_damping])
def test_what_is_no_probability(channel, p):
    with pytest.raises(qad.errors.ArgumentError, match="between 0 and 1"):
        channel(p)


def test_what_is_no_pauli_matrix():
    for name in ("A", "I", "XY"):
        with pytest.raises(qad.errors.ArgumentError, match="'X', 'Y' or 'Z'"):
            flip(0.1, name)


def test_states_that_are_not_normalised():
    """The variance in an eigenstate of norm 1/2 was 1/8; a zero state had an IndexError for samples."""
    half = qad.Circuit(1).h(0).operator(np.diag([1.0, 0.0]), 0)
    assert half.variance("Z") == pytest.approx(0)
    assert half.variance("X") == pytest.approx(1)
    assert half.counts(10) == {"0": 10}
    qad.check_grads(lambda t: qad.Circuit(1).ry(t, 0).operator(np.diag([1.0, 0.5]), 0).variance("Z"), (0.4,))
    with pytest.raises(qad.errors.ArgumentError, match="nothing can be drawn"):
        qad.Circuit(1).operator(np.diag([0.0, 1.0]), 0).sample(3)


def test_batches_of_angles_in_noisy_circuits_are_refused():
    with pytest.raises(qad.errors.ShapeError, match="no batches"):
        NoisyCircuit(1).append(qad.Circuit(1).rx(np.array([0.1, 0.2]), 0)).expectation("Z")
    found = qad.vmap(lambda t: NoisyCircuit(1).append(qad.Circuit(1).rx(t, 0)).expectation("Z"))(np.array([0.1, 0.2]))
    np.testing.assert_allclose(found, np.cos([0.1, 0.2]))


@pytest.mark.parametrize("angle", [0.3, np.float64(0.3), np.array(0.3)], ids=["float", "float64", "array"])
@pytest.mark.parametrize("transform", [lambda f: f, qad.grad, qad.value_and_grad], ids=["value", "grad", "both"])
def test_a_circuit_of_one_angle_is_frozen(angle, transform):
    """One angle that was a Python float could not be indexed in the frozen function."""

    def energy(x):
        return qad.Circuit(2).rx(x, 0).cnot(0, 1).expectation("IZ")

    plain, frozen = transform(energy), qad.freeze(transform(energy))
    for x in (angle, angle + 0.1, angle + 0.2):
        np.testing.assert_allclose(frozen(x), plain(x), atol=1e-15)
