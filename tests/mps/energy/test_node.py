"""The energy's own node: both routes against the ordinary sweep, scales, checks, memory."""

import tracemalloc

import numpy as np
import pytest

import qad
from qad.contract.run.compiler import has_compiler
from qad.core.errors import ArgumentError
from qad.mps import MPO, MPS, OpSum, blbq, energy, heisenberg, ising, j1j2, long_range_ising
from qad.mps.chain.sandwich import operator_matrices, quotient
from qad.mps.energy import hamiltonian
from qad.mps.energy.hamiltonian import Hamiltonian
from qad.mps.energy.sweep import Sweep
from qad.mps.energy.sweep_table import Sparse, Table
from tests.cases import Case

COMPLEX = OpSum(6).add(1j, "Sp", 2, "Sm", 5).add(-1j, "Sm", 2, "Sp", 5).add(1.0, "Y", 3).mpo()
OPERATORS = {
    "heisenberg": heisenberg(6),
    "ising": ising(6, 0.7),
    "second neighbours": j1j2(6, 1.0, 0.4),
    "ring": heisenberg(6, periodic=True),
    "no identity channel": 2 * heisenberg(6) + ising(6, 1.0),
    "complex": COMPLEX,
    "exponential": long_range_ising(6, 0.5, 1.0),
    "square": ising(6, 0.7) @ ising(6, 0.7),
}
KINDS = ["all channels", "table"] if has_compiler() else ["all channels"]
PSI = MPS.random(4, 2, seed=3)
CASES = [
    Case(lambda *t: energy(MPS(t), heisenberg(4)), PSI.tensors, name="energy"),
    Case(lambda *t: energy(MPS(t), ising(4, 0.3)), tuple(t.real for t in PSI), name="energy"),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_derivatives(case):
    case.check()


def by_route(kind, H, psi):
    """The energy and its gradient by one kind of route."""
    H = MPO(H.tensors)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hamiltonian, "has_compiler", lambda: kind == "table")
        found = qad.value_and_grad(energy)(psi, H)
    assert isinstance(*H.remembered[Hamiltonian].routes.values(), Table if kind == "table" else Sweep)
    return found


@pytest.mark.parametrize("H", OPERATORS.values(), ids=OPERATORS)
@pytest.mark.parametrize("dtype", [float, complex, np.float32, np.complex64])
@pytest.mark.parametrize("kind", KINDS)
def test_both_routes_are_the_ordinary_sweep(H, dtype, kind):
    psi = 1.3 * MPS.random(6, 5, dtype=dtype, seed=1)
    E, g = by_route(kind, H, psi)
    expected, slopes = qad.value_and_grad(lambda psi: quotient(psi.tensors, operator_matrices(H, psi.dtype)))(psi)
    tolerance = 1e-12 if psi.dtype in (np.float64, np.complex128) else 2e-4
    assert pytest.approx(expected, abs=tolerance) == E
    assert E.dtype == np.empty(0, dtype).real.dtype
    for a, b in zip(g, slopes, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, atol=tolerance)


def test_other_dimensions_than_two():
    psi, H = MPS.random(5, 4, phys=3, seed=1), blbq(5, 0.3)
    expected, slopes = qad.value_and_grad(lambda psi: quotient(psi.tensors, operator_matrices(H, psi.dtype)))(psi)
    for kind in KINDS:
        E, g = by_route(kind, H, psi)
        assert pytest.approx(expected, abs=1e-12) == E
        np.testing.assert_allclose(g[2], slopes[2], atol=1e-12)


def test_sparse_routes_make_few_products():
    """One member of E, one of F: 28 products where all channels together take 50."""
    step = Sparse(heisenberg(6)[2])
    assert (step.early, step.late) == ([0], [4])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_scales_are_taken_out(kind, scale):
    psi = MPS.random(60, 3, seed=1)
    E, g = by_route(kind, heisenberg(60), psi)
    same, smaller = by_route(kind, heisenberg(60), MPS([scale * t for t in psi]))
    assert pytest.approx(E, rel=1e-12) == same
    np.testing.assert_allclose(smaller[30] * scale, g[30], atol=1e-12)


@pytest.mark.parametrize("factors", [("Sp", 0), ("Sp", 1, "Sm", 3), ("Sz", 0, "Sp", 4)])
def test_operators_that_are_not_hermitian(factors):
    psi = MPS.random(5, 3, dtype=float)
    with pytest.raises(ArgumentError, match="not Hermitian"):
        energy(psi, heisenberg(5) + OpSum(5).add(1e-3, *factors).mpo())
    with pytest.raises(ArgumentError, match="not Hermitian"):
        energy(MPS.random(5, 3), 1j * heisenberg(5))
    nearly = heisenberg(5) + OpSum(5).add(1e-9, *factors).mpo()
    assert energy(psi, nearly) == pytest.approx(energy(psi, heisenberg(5)), abs=1e-8)


def test_the_check_is_made_once(monkeypatch):
    psi, H = MPS.random(6, 3), heisenberg(6)
    energy(psi, H)
    monkeypatch.setattr(hamiltonian, "check_hermitian", None)
    qad.grad(energy)(psi, H)


def test_norms_that_vanish():
    with pytest.raises(ArgumentError, match="norm zero"):
        energy(0.0 * MPS.random(4, 2), heisenberg(4))


def test_many_gradients_of_one_evaluation():
    psi, H = MPS.random(4, 2, seed=1), heisenberg(4)
    _, pullback = qad.vjp(lambda psi: energy(psi, H), psi)
    once, twice = pullback(np.array(1.0))[0], pullback(np.array(2.0))[0]
    np.testing.assert_allclose(2 * once[1], twice[1])
    v = MPS.random(4, 2, seed=2)
    (curvature,) = qad.hvp(lambda psi: energy(psi, H), (psi,), (v,))
    step = 1e-6
    moved = [qad.grad(energy)(MPS([a + s * step * b for a, b in zip(psi, v, strict=True)]), H) for s in (1, -1)]
    np.testing.assert_allclose(curvature[2], (moved[0][2] - moved[1][2]) / (2 * step), atol=1e-8)


@pytest.mark.slow
def test_memory_of_the_gradient_is_linear():
    def peak(n):
        psi, H = MPS.random(n, 8, seed=0), heisenberg(n)
        qad.grad(energy)(psi, H)
        tracemalloc.start()
        qad.grad(energy)(psi, H)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    small, large = peak(100), peak(1000)
    assert large < 11 * small


def test_a_table_where_there_is_a_compiler(monkeypatch):
    psi, H = MPS.random(6, 4, seed=1), heisenberg(6)
    first = qad.grad(energy)(psi, H)
    assert isinstance(*H.remembered[Hamiltonian].routes.values(), Table if has_compiler() else Sweep)
    for _ in range(3):
        for one, two in zip(qad.grad(energy)(psi, H), first, strict=True):
            np.testing.assert_array_equal(one, two)
    monkeypatch.setattr(hamiltonian, "has_compiler", lambda: False)
    H = heisenberg(6)
    qad.grad(energy)(psi, H)
    assert isinstance(*H.remembered[Hamiltonian].routes.values(), Sweep)


def test_a_table_serves_many_gradients_of_one_evaluation():
    psi, H = MPS.random(6, 4, seed=1), heisenberg(6)
    by_route(KINDS[-1], H, psi)
    _, pullback = qad.vjp(lambda psi: energy(psi, H), psi)
    once, twice = pullback(np.array(1.0))[0], pullback(np.array(2.0))[0]
    np.testing.assert_allclose(2 * once[3], twice[3], rtol=1e-14)
