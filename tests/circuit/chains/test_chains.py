"""The chain engine: states, measurements and gradients against the state vector; what it refuses."""

import numpy as np
import pytest

import qad
from qad.circuit.chains.operators import site_operators
from qad.circuit.observables.operators import Operator, Projector
from qad.core.errors import ArgumentError, BatchError, GradientTypeError, ShapeError
from tests.cases import Case, normal
from tests.circuit.dense import dense_state, random_circuit, random_sum, random_unitary
from tests.circuit.engines.test_derivatives import H3, ansatz

PHI = qad.mps.MPS.random(3, 2, seed=4)


def begun(psi):
    """The circuit of all instructions, from another beginning."""
    return ansatz(normal(9), "auto", psi)


CASES = [
    Case(lambda theta: ansatz(theta).mps().expectation(H3), normal(9), order=1, name="energy of a chain"),
    Case(lambda theta, phi: ansatz(theta).mps().overlap(phi), (normal(9), PHI), order=1, name="overlap of chains"),
    Case(lambda psi: begun(psi).mps().expectation(H3), (PHI,), order=1, name="beginning in a chain"),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_derivatives(case):
    case.check()


@pytest.mark.slow
def test_circuits_begin_in_chains():
    """By chains, networks and amplitudes as from the dense state; values and gradients, real tensors too."""
    for psi in (1.3 * PHI, qad.mps.MPS.random(3, 2, dtype=float, seed=4)):
        dense = begun(psi.to_dense())
        np.testing.assert_array_equal(begun(psi).state(), dense.state())
        np.testing.assert_allclose(begun(psi).mps().state.to_dense(), dense.state(), atol=1e-14)
        np.testing.assert_allclose(begun(psi).network("011").value(), dense.amplitude("011"), atol=1e-14)
        for exact, found in (
            (lambda p: begun(p).expectation(H3), lambda p: begun(p).mps().expectation(H3)),
            (lambda p: begun(p).expectation("IXY"), lambda p: begun(p).network("IXY").value()),
        ):
            slopes = qad.grad(found)(psi), qad.grad(exact)(psi)
            qad.tree_map(lambda a, b: np.testing.assert_allclose(a, b, atol=1e-13), *slopes)
    long = qad.mps.MPS.random(30, 8)
    held = qad.Circuit(30, initial=long).mps(bond=8)
    np.testing.assert_allclose(abs(held.overlap(long)), 1.0, atol=1e-10)


@pytest.mark.parametrize("seed", range(8))
def test_random_circuits_agree_with_the_state_vector(seed):
    """Every kind of gate, far apart and controlled; gradients by angles, matrices and coefficients."""
    rng = np.random.default_rng(seed)
    n = 1 + seed % 5
    c, H = random_circuit(rng, n, 20, nonunitary=seed > 3), random_sum(rng, n, 6)
    np.testing.assert_allclose(c.mps().state.to_dense().ravel(), dense_state(c), rtol=1e-11, atol=1e-11)

    def loss(theta, matrices, coefficients, chain):
        other = c.with_parameters(theta)
        other.matrices = list(matrices)
        observable = qad.PauliSum(zip(H.strings, coefficients, strict=True))
        return (other.mps() if chain else other).expectation(observable)

    args = np.asarray(c.parameters), tuple(c.matrices), H.coefficients
    value, exact = qad.value_and_grad(loss, (0, 1, 2))(*args, False)
    found = qad.grad(loss, (0, 1, 2))(*args, True)
    qad.tree_map(lambda a, b: np.testing.assert_allclose(a, b, atol=1e-11 * max(1, abs(value))), found, exact)


def test_directions_in_which_a_bond_grows_are_not_lost():
    """At zero the state is a product, and only the derivative entangles it."""

    def f(t):
        return qad.Circuit(2).h([0, 1]).rzz(t, 0, 1).mps().expectation(qad.PauliSum({"ZY": 1.0}))

    np.testing.assert_allclose(qad.grad(f)(0.0), 1.0)
    assert qad.Circuit(2).h([0, 1]).rzz(0.0, 0, 1).mps().bond == 1


def layers(theta, n):
    c = qad.Circuit(n)
    for layer in theta:
        c.ry(layer[0], range(n)).rz(layer[1], range(n)).cx(range(0, n - 1, 2), range(1, n, 2))
        c.cx(range(1, n - 1, 2), range(2, n, 2))
    return c


def test_truncation():
    """Value and gradient approach the exact ones as the bond grows; the error tells how well."""
    n, theta = 12, normal(4, 2, 12) / 2
    H = qad.PauliSum.on_sites(
        n, [(-1.0, "ZZ", (i, i + 1)) for i in range(n - 1)] + [(-1.0, "X", [i]) for i in range(n)]
    )
    value, gradient = qad.value_and_grad(lambda t: layers(t, n).expectation(H))(theta)
    errors = []
    for bond in (6, 12, 16):
        run = layers(theta, n).mps(bond=bond)
        found, slope = qad.value_and_grad(lambda t, b=bond: layers(t, n).mps(b, bra_bond=64).expectation(H))(theta)
        errors.append((run.error, abs(found - value), np.linalg.norm(slope - gradient)))
        assert run.bond == bond
        fidelity = qad.abs2(np.vdot(run.state.to_dense(), layers(theta, n).state()))
        assert abs(1 - fidelity - run.error) < 0.4 * run.error + 1e-12
    assert errors[0] > errors[1] > errors[2]
    np.testing.assert_allclose(errors[2], 0.0, atol=1e-9)


def test_a_hundred_qubits():
    """Shallow: the light cone of every term is small, so that a few qubits give the exact gradient."""
    n, theta = 100, np.tile(normal(2, 2, 1), (1, 1, 100))
    H = qad.PauliSum.on_sites(n, [(1.0, "ZZ", (50, 51)), (0.3, "X", [52])])
    small = qad.PauliSum.on_sites(12, [(1.0, "ZZ", (6, 7)), (0.3, "X", [8])])
    value, gradient = qad.value_and_grad(lambda t: layers(t, n).mps(16).expectation(H))(theta)
    exact, slope = qad.value_and_grad(lambda t: layers(t, 12).expectation(small))(theta[..., :12])
    np.testing.assert_allclose(value, exact, atol=1e-12)
    np.testing.assert_allclose(gradient[..., 44:56], slope, atol=1e-11)
    assert np.abs(gradient[..., :44]).max() < 1e-12


def test_what_is_measured():
    rng = np.random.default_rng(2)
    c = random_circuit(rng, 4, 25)
    u = random_unitary(rng, 8)
    several = [Operator(u + u.conj().T, [3, 0, 2]), Projector("01", [2, 1]), "XYZI", np.diag([1.0, 2.0])]
    np.testing.assert_allclose(c.mps().expectation(several), c.expectation(several), atol=1e-12)
    H = qad.mps.heisenberg(4)
    np.testing.assert_allclose(c.mps().expectation(H), qad.mps.expectation(c.mps().state, H).real, atol=1e-12)
    np.testing.assert_allclose(c.mps().amplitude("0110"), c.amplitude("0110"), atol=1e-13)
    assert qad.Circuit(3).x(1).mps().sample(2).tolist() == [[0, 1, 0]] * 2
    single = random_circuit(np.random.default_rng(2), 4, 25, dtype=np.complex64).mps(cutoff=1e-12)
    assert single.state.dtype == np.complex64
    np.testing.assert_allclose(single.expectation(several[:1]), c.expectation(several[:1]), rtol=1e-4, atol=1e-5)


def test_states_that_vanish():
    def loss(a):
        return qad.Circuit(3).cx(0, 2).operator(a, 0).cx([0, 1], [1, 2]).mps().expectation("ZZI")

    value, slope = qad.value_and_grad(loss)(np.diag([0.0, 1.0]))
    assert value == 0.0
    np.testing.assert_array_equal(slope, 0.0)


def test_rows_of_site_operators_are_small():
    c = qad.Circuit(6).controlled(0, 5, 2).x(3).exp_pauli(0.3, "XYZ", (5, 0, 3)).swap(1, 4)
    sim = c.mps()
    bonds = [
        max(w.shape[0] for w in site_operators(op, None if v is None else v)[1])
        for op, v in zip(sim.run.program.instructions, (None, np.array([0.9, 0.1]), None), strict=True)
    ]
    assert bonds == [2, 2, 4]


@pytest.mark.parametrize(
    "wrong, error, message",
    [
        (lambda: qad.Circuit(2, initial=np.ones(4) / 2).mps(), ArgumentError, "MPS.from_dense"),
        (lambda: qad.Circuit(2, initial=PHI), ShapeError, "an initial MPS of 2 qubits"),
        (
            lambda: qad.Circuit(2, initial=qad.mps.MPS.product([0, 1], conserve="Sz")),
            ArgumentError,
            "without_symmetry",
        ),
        (lambda: begun(PHI).mps(conserve="N"), ArgumentError, "leave conserve out"),
        (lambda: qad.Circuit(2).ry(np.zeros(3), 0).mps(), ShapeError, "no batch"),
        (lambda: qad.Circuit(2).mps(bond=0), ArgumentError, "bond"),
        (lambda: qad.Circuit(2).mps(cutoff=1.5), ArgumentError, "cutoff"),
        (lambda: qad.Circuit(2).mps().amplitude("0"), ArgumentError, "2 bits"),
        (lambda: qad.Circuit(2).mps().overlap(qad.mps.MPS.random(3, 2)), ShapeError, "2 qubits"),
        (lambda: qad.Circuit(2).mps().expectation(qad.mps.heisenberg(3)), ShapeError, "3 sites"),
        (lambda: qad.Circuit(2).mps().expectation("XYZ"), ShapeError, "observable"),
        (lambda: qad.grad(lambda t: qad.Circuit(1).ry(t, 0).mps().state)(0.1), GradientTypeError, "expectation"),
        (
            lambda: qad.hvp(lambda t: qad.Circuit(1).ry(t, 0).mps().expectation("Z"), (0.1,), (1.0,)),
            ArgumentError,
            "first derivatives only",
        ),
    ],
)
def test_refusals(wrong, error, message):
    with pytest.raises(error, match=message):
        wrong()


def test_frozen_at_other_angles():
    """What a run has kept is for its numbers, not for the buffer in which a replay hands them over."""
    f = qad.value_and_grad(CASES[0].f)
    frozen = qad.freeze(f)
    for scale in (1.0, 0.5, -0.3):
        found, expected = frozen(scale * normal(9)), f(scale * normal(9))
        np.testing.assert_allclose(found[0], expected[0], rtol=1e-13)
        np.testing.assert_allclose(found[1], expected[1], rtol=0, atol=1e-13)
    assert frozen.stats.recordings == 1


def test_batches_are_refused():
    with pytest.raises(BatchError, match="write a loop"):
        qad.vmap(CASES[0].f)(normal(2, 9))
