"""Means in density chains, whole and cut, beside dense matrices, and the bound of what a cut does to them."""

import numpy as np
import pytest

from qad.mps import MPS, OpSum, density, density_measure, density_trace, heisenberg, xxz

N = 4
REAL = OpSum(N).add(0.7, "Sx", 0, "Sy", 3).add(1.0, "Sz", 1).add(-0.3, "Sp", 1, "Sm", 2).add(-0.3, "Sm", 1, "Sp", 2)
OPERATORS = {
    "a Hamiltonian": xxz(N, 0.5),
    "its square": heisenberg(N) @ heisenberg(N),
    "a sum": REAL,
    "not Hermitian": OpSum(N).add(1.0 + 0.5j, "Sp", 0, "Sm", 3).add(2j, "Sz", 1),
}


def mixture(conserve=None):
    """Three pure states in shares, and the dense matrix; with charges of one sector each."""
    sectors = {} if conserve is None else {"conserve": conserve, "sector": 0}
    states = [MPS.random(N, 4, seed=seed, **sectors) for seed in range(3)]
    shares = [0.6, 0.3, 0.2]
    vectors = [psi.to_dense().ravel() for psi in states]
    dense = sum(share * np.outer(v, v.conj()) for share, v in zip(shares, vectors, strict=True))
    return sum(
        (share * density(psi) for share, psi in zip(shares[1:], states[1:], strict=True)), 0.6 * density(states[0])
    ), dense


def matrix_of(rho):
    """The dense density matrix of a chain of pairs."""
    order = [*range(0, 2 * N, 2), *range(1, 2 * N, 2)]
    return rho.to_dense().reshape([2] * (2 * N)).transpose(order).reshape(2**N, 2**N)


@pytest.mark.parametrize("conserve", [None, "Sz"])
@pytest.mark.parametrize("name", OPERATORS)
def test_means_of_operators_on_the_chain(name, conserve):
    rho, dense = mixture(conserve)
    operator = OPERATORS[name]
    matrix = (operator.mpo() if isinstance(operator, OpSum) else operator).to_dense()
    found = density_measure(rho, operator)
    assert density_trace(rho) == pytest.approx(1.1, abs=1e-13)
    assert found == pytest.approx(np.trace(matrix @ dense) / 1.1, abs=1e-13)
    assert density_measure(3j * rho, operator) == pytest.approx(found, abs=1e-13)
    if name != "not Hermitian":
        assert abs(found.imag) < 1e-14


@pytest.mark.parametrize("conserve", [None, "Sz"])
@pytest.mark.parametrize("bond", [4, 9, 13])
@pytest.mark.parametrize("name", OPERATORS)
def test_means_of_cut_chains_err_no_more_than_the_bound(name, bond, conserve):
    rho, dense = mixture(conserve)
    operator = OPERATORS[name]
    matrix = (operator.mpo() if isinstance(operator, OpSum) else operator).to_dense()
    before, (cut, error) = density_measure(rho, operator), rho.truncate(bond)
    assert error == pytest.approx(np.linalg.norm(matrix_of(cut) - dense), rel=1e-8)
    assert error > 1e-4
    found, left = density_measure(cut, operator), matrix_of(cut)
    assert found == pytest.approx(np.trace(matrix @ left) / np.trace(left), abs=1e-13)
    bound = np.linalg.norm(matrix - before * np.eye(2**N)) * error / abs(density_trace(cut))
    assert abs(found - before) <= bound
    if name != "not Hermitian":
        assert abs(found.imag) <= bound
