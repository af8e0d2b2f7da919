"""Circuits on symmetric chains against those on plain ones."""

import numpy as np
import pytest

import qad
from qad.circuit.observables.operators import Operator, Projector
from qad.core.errors import ArgumentError, GradientTypeError, ShapeError
from qad.mps import MPS
from tests.cases import Case, normal


def hop(angle):
    cosine, sine = np.cos(angle), np.sin(angle)
    return np.eye(4) * cosine + (1 - cosine) * np.diag([1.0, 0, 0, 1.0]) + 1j * sine * SWAPPED


SWAPPED = np.zeros((4, 4))
SWAPPED[1, 2] = SWAPPED[2, 1] = 1.0


def hops(t):
    """A chain of three qubits, one of them 1."""
    c = qad.Circuit(3).x(1).unitary(hop(0.6), 0, 1).unitary(hop(0.8), 1, 2)
    return c.rz(t, range(3)).unitary(hop(0.5), 0, 2).cp(t, range(3), [1, 2, 0]).unitary(hop(0.4), 1, 2)


CASES = [
    Case(
        lambda t: hops(t).mps(conserve="N").expectation("IZI") + hops(t).mps(conserve="N").amplitude("001").real,
        normal(3),
        order=1,
        name="energy of a symmetric chain",
    )
]
ONES = np.array([bin(k).count("1") for k in range(8)])


def unitary(qubits, seed, modulo=99):
    """A random unitary matrix that conserves the number of ones, or that number modulo something."""
    rng = np.random.default_rng(seed)
    size = 2**qubits
    h = rng.normal(size=(size, size)) + 1j * rng.normal(size=(size, size))
    ones = ONES[:size] % modulo
    return qad.linalg.expm(1j * np.where(ones[:, None] == ones, h + h.conj().T, 0))


def circuit(n=7, modulo=99, seed=0, dtype=complex):
    c = qad.Circuit(n, dtype=dtype).x([0, 2, 3])
    rng = np.random.default_rng(seed)
    for k in range(12):
        size = int(rng.integers(2, 4))
        c = c.unitary(unitary(size, k, modulo), *rng.permutation(n)[:size].tolist())
        c = c.rz(rng.normal(), int(rng.integers(n))).cp(rng.normal(), *rng.permutation(n)[:2].tolist())
    return c


@pytest.mark.parametrize("dtype, tol", [(complex, 1e-12), (np.complex64, 1e-4)])
@pytest.mark.parametrize("conserve, modulo", [("N", 99), ("Sz", 99), ("parity", 2), (("N", "parity"), 99)])
@pytest.mark.sampled(2)
def test_the_state_is_that_of_the_ordinary_chain(conserve, modulo, dtype, tol):
    c = circuit(modulo=modulo, dtype=dtype)
    found, plain = c.mps(conserve=conserve), c.mps()
    expected = c.state()
    assert found.state.conserved.names == tuple(np.atleast_1d(conserve))
    np.testing.assert_allclose(found.state.without_symmetry().to_dense(), expected, atol=tol)
    assert found.state.dtype == dtype and found.bond >= plain.bond > 4
    assert found.error < 1e-12 or dtype is not complex
    H = qad.PauliSum.on_sites(7, [(1.0, "ZZ", (0, 5)), (0.5, "XX", (1, 4)), (0.5, "YY", (1, 4)), (0.2, "Z", (6,))])
    np.testing.assert_allclose(found.expectation(H), plain.expectation(H), atol=tol)
    for bits in ("1011000", "0101100", "1111000"):
        np.testing.assert_allclose(found.amplitude(bits), plain.amplitude(bits), atol=tol)


def test_what_is_measured():
    c = circuit()
    found = c.mps(conserve="N")
    matrix = np.random.default_rng(3).normal(size=(4, 4))
    matrix = matrix + matrix.T
    observables = [
        Operator(matrix, (4, 1)),
        Projector("10", (5, 2)),
        qad.mps.OpSum(7).add(1.0, "Sz", 0, "Sz", 3).mpo(),
        "ZIIIIIZ",
    ]
    expected = [c.mps().expectation(o) for o in observables]
    np.testing.assert_allclose(found.expectation(observables), expected, atol=1e-12)
    phi = MPS.random(7, 5, conserve="N", sector=3, kind="fermion")
    np.testing.assert_allclose(found.overlap(phi), c.mps().overlap(phi.without_symmetry()), atol=1e-12)
    assert set(found.sample(100, seed=1).sum(axis=1).tolist()) == {3}


def test_truncation_is_that_of_the_largest_weights():
    """On neighbours both engines cut the same bonds."""
    c = qad.Circuit(8).x([0, 2, 4, 6])
    for layer in range(4):
        for k in range(layer % 2, 7, 2):
            c = c.unitary(unitary(2, 10 * layer + k), k, k + 1)
    found, plain = c.mps(bond=5, conserve="N"), c.mps(bond=5)
    assert found.bond == plain.bond == 5
    assert found.error == pytest.approx(plain.error, rel=1e-8) and found.error > 1e-4
    np.testing.assert_allclose(found.state.without_symmetry().to_dense(), plain.state.to_dense(), atol=1e-8)


def test_flips_go_to_another_sector():
    """X is no gate that conserves; on a qubit that is known to be 0 or 1 it changes the sector."""
    c = qad.Circuit(4).x(0).x(2).iswap(0, 1).x(2)
    assert c.mps(conserve="N").state.sector == 1
    assert c.mps(conserve="Sz").state.sector == 2
    entangled = qad.Circuit(2).x(0).unitary(unitary(2, 0), 0, 1).x(0)
    with pytest.raises(ArgumentError, match=r"\(flip\) on qubits \[0\] does not conserve 'N': parts of it add -1, 1"):
        entangled.mps(conserve="N").sample(1)
    np.testing.assert_allclose(
        entangled.mps(conserve="parity").state.without_symmetry().to_dense(), entangled.state(), atol=1e-14
    )


@pytest.mark.parametrize("n", [1, 2])
def test_few_qubits(n):
    found = qad.Circuit(n).x(n - 1).rz(0.3, n - 1).mps(conserve="N")
    assert found.state.sector == 1
    np.testing.assert_allclose(found.expectation("I" * (n - 1) + "Z"), -1.0)


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: qad.Circuit(3).h(0).mps(conserve="N").sample(1), ArgumentError, "does not conserve 'N'"),
        (lambda: qad.Circuit(3).rx(0.3, 0).mps(conserve="parity").sample(1), ArgumentError, "parts of it add 0, 1"),
        (lambda: qad.Circuit(3).mps(conserve="Lz"), ArgumentError, "knows no charges 'Lz'; it knows 'N', 'Sz'"),
        (lambda: qad.Circuit(3).mps(conserve="N").expectation("XII"), ArgumentError, r"the term X\(0\)"),
        (
            lambda: qad.Circuit(3).mps(conserve="N").overlap(MPS.random(3, 2)),
            ShapeError,
            "takes an open MPS of 3 qubits",
        ),
        (lambda: qad.Circuit(3).mps(conserve="N").amplitude("11"), ArgumentError, "named by 3 bits"),
        (
            lambda: qad.grad(lambda t: qad.Circuit(2).rz(t, 0).x(1).mps(conserve="N").expectation("ZI"))(0.3),
            ArgumentError,
            r"a gate \(flip\) on qubits \[1\] adds -1, 1 and stands behind a gate of which derivatives",
        ),
        (
            lambda: qad.grad(lambda t: qad.Circuit(2).rz(t, 0).mps(conserve="N").amplitude("10").real)(0.3),
            ArgumentError,
            "its derivative takes gates that do not conserve",
        ),
        (
            lambda: qad.grad(
                lambda t: qad.Circuit(2).rz(t, 0).mps(conserve="N").expectation(Operator(np.eye(2)[::-1], [1]))
            )(0.3),
            ArgumentError,
            "has derivatives of observables that conserve",
        ),
        (
            lambda: qad.grad(qad.grad(lambda t: qad.Circuit(2).rz(t, 0).mps(conserve="N").expectation("ZI")))(0.3),
            ArgumentError,
            "first derivatives only",
        ),
        (
            lambda: qad.grad(lambda t: qad.Circuit(2).rz(t, 0).mps(conserve="N").state.bond)(0.3),
            GradientTypeError,
            "not differentiable",
        ),
    ],
)
def test_refusals(call, error, message):
    with pytest.raises(error, match=message):
        call()


def ansatz(theta, n=6):
    """Hops, phases, controlled and three-qubit gates that conserve, on neighbours and apart."""
    c = qad.Circuit(n).x([0, 2, 3])
    for k in range(n - 1):
        c = c.exp_pauli(theta[k], "ZZ", [k, k + 1]).rz(theta[k + 1], k).cp(theta[-1], k, k + 1)
        c = c.unitary(hop(theta[k]), k, (k + 2) % n)
    return c.unitary(qad.linalg.expm(1j * theta[0] * unitary_generator()), 4, 0, 2).rz(theta[2], 1)


def unitary_generator():
    h = np.random.default_rng(5).normal(size=(8, 8))
    return np.where(ONES[:, None] == ONES, h + h.T, 0)


THETA = np.random.default_rng(4).normal(size=7)
PHI = MPS.random(6, 4, conserve="N", sector=3, kind="fermion", dtype=complex)
MEASURED = {
    "sum": lambda sim: sim.expectation(qad.PauliSum.on_sites(6, [(1.0, "ZZ", (0, 5)), (0.5, "XX", (1, 4)),
                                                                 (0.5, "YY", (1, 4))])),
    "matrix": lambda sim: sim.expectation(Operator(SWAPPED + np.diag([0, 1.0, 2.0, 0]), (4, 1))),
    "projector": lambda sim: sim.expectation(Projector("10", (5, 2))),
    "amplitude": lambda sim: abs(sim.amplitude("011001")) ** 2,
    "several": lambda sim: (sim.expectation(["ZIIIII", "IZZIII"]) * np.array([1.0, 2.0])).sum(),
}  # fmt: skip


@pytest.mark.parametrize("what, conserve", [*((what, "N") for what in MEASURED), ("sum", "parity")])
@pytest.mark.sampled(1)
def test_derivatives_are_those_of_the_ordinary_chain(what, conserve):
    value, found = qad.value_and_grad(lambda t: MEASURED[what](ansatz(t).mps(conserve=conserve)))(THETA)
    expected, slope = qad.value_and_grad(lambda t: MEASURED[what](ansatz(t).mps()))(THETA)
    np.testing.assert_allclose(value, expected, atol=1e-12)
    np.testing.assert_allclose(found, slope, atol=1e-11)


def test_frozen_derivatives():
    """The program is made of one set of angles and used with another one."""
    frozen = qad.freeze(qad.grad(lambda t: MEASURED["sum"](ansatz(t).mps(conserve="N"))))
    frozen(THETA)
    slope = qad.grad(lambda t: MEASURED["sum"](ansatz(t).mps()))(THETA + 0.1)
    np.testing.assert_allclose(frozen(THETA + 0.1), slope, atol=1e-11)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_derivatives(case):
    case.check()


def test_derivatives_by_matrices_and_overlaps():
    def overlap(u, conserve):
        sim = qad.Circuit(6).x([0, 2, 3]).unitary(u, 0, 3).unitary(unitary(3, 1), 2, 1, 5).mps(conserve=conserve)
        phi = PHI if conserve else PHI.without_symmetry()
        return abs(sim.overlap(phi)) ** 2

    u = unitary(2, 3)
    np.testing.assert_allclose(
        qad.grad(lambda u: overlap(u, "N"))(u), qad.grad(lambda u: overlap(u, None))(u), atol=1e-12
    )


def test_a_gate_at_a_point_where_it_conserves():
    """Directions that leave the sector change no measured number to first order."""

    def energy(t, conserve):
        c = qad.Circuit(4).x([0, 2]).rx(t[0], 1).unitary(hop(t[1]), 0, 1).exp_pauli(t[2], "XX", [1, 2])
        return c.unitary(hop(0.4), 2, 3).mps(conserve=conserve).expectation("ZZII")

    t = np.array([0.0, 0.7, 0.0])
    np.testing.assert_allclose(
        qad.grad(lambda t: energy(t, "N"))(t), qad.grad(lambda t: energy(t, None))(t), atol=1e-13
    )


def test_derivatives_of_truncated_chains():
    """They are those of the exact circuit up to what both chains cut off."""

    def c(t):
        return ansatz(t).mps(bond=6, bra_bond=20, conserve="N")

    exact = qad.grad(lambda t: MEASURED["sum"](ansatz(t).mps()))(THETA)
    found = qad.grad(lambda t: MEASURED["sum"](c(t)))(THETA)
    assert 0 < c(THETA).error < 0.05
    np.testing.assert_allclose(found, exact, atol=20 * c(THETA).error ** 0.5)
