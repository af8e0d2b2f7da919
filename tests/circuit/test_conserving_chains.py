"""Circuits on chains of definite charge against those on ordinary chains."""

import numpy as np
import pytest

import qad
from qad.circuit.observables import Operator, Projector
from qad.core.errors import ArgumentError, GradientTypeError, ShapeError
from qad.mps import MPS, SymmetricMPS

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
def test_the_state_is_that_of_the_ordinary_chain(conserve, modulo, dtype, tol):
    c = circuit(modulo=modulo, dtype=dtype)
    found, plain = c.mps(conserve=conserve), c.mps()
    expected = c.state()
    assert isinstance(found.state, SymmetricMPS) and found.state.conserved.names == tuple(np.atleast_1d(conserve))
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
    phi = MPS.random(7, 5, conserve="N", sector=3, sites="fermion")
    np.testing.assert_allclose(found.overlap(phi), c.mps().overlap(phi.without_symmetry()), atol=1e-12)
    assert set(found.sample(100, seed=1).sum(axis=1).tolist()) == {3}


def test_truncation_is_that_of_the_largest_weights():
    """On neighbours both engines cut the same bonds."""
    c = qad.Circuit(8).x([0, 2, 4, 6])
    for layer in range(4):
        for k in range(layer % 2, 7, 2):
            c = c.unitary(unitary(2, 10 * layer + k), k, k + 1)
    found, plain = c.mps(max_bond=5, conserve="N"), c.mps(max_bond=5)
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
        (lambda: qad.Circuit(3).mps(conserve="N").overlap(MPS.random(3, 2)), ShapeError, "takes a SymmetricMPS"),
        (lambda: qad.Circuit(3).mps(conserve="N").amplitude("11"), ArgumentError, "named by 3 bits"),
        (
            lambda: qad.grad(lambda t: qad.Circuit(2).rz(t, 0).mps(conserve="N").expectation("ZI"))(0.3),
            GradientTypeError,
            "leave conserve out",
        ),
    ],
)
def test_refusals(call, error, message):
    with pytest.raises(error, match=message):
        call()
