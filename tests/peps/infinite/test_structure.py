"""Structure factors against sums of correlators, entanglement spectra against dense cylinders."""

import numpy as np
import pytest

from qad import peps
from qad.core.errors import ArgumentError, ShapeError
from tests.peps.states import near_product

X = np.array([[0, 0.5], [0.5, 0]])
WEIGHT = 1.2  # of a product beside random tensors: correlations fall by ten from site to site


@pytest.mark.parametrize("cell, momentum", [(["A"], (np.pi, np.pi)), (["A"], (0, 2 * np.pi / 3)), (["AB"], (0, 0))])
@pytest.mark.sampled(1)
def test_structure_factors_are_sums_of_correlators(cell, momentum):
    state, q = near_product(cell, 0, weight=WEIGHT), np.array(momentum)
    env = peps.environment(state, 8)
    mean = peps.local_expectations(state, X, env)
    alone = 0.25 - (mean**2).mean()
    steps = [(r, c) for r in range(-2, 3) for c in range(-3, 4) if (r, c) != (0, 0) and abs(r) + abs(c) < 4]
    total = 0.0
    for start in env.cell.first:
        for step in steps:
            at = start[0] + step[0], start[1] + step[1]
            there = mean[at[0] % mean.shape[0], at[1] % mean.shape[1]]
            total += np.cos(q @ step) * (correlator(state, start, at, env) - mean[start] * there)
    total = total / len(env.cell.first)
    found = peps.structure_factor(state, X, momentum, 8)
    assert found - alone == pytest.approx(total, rel=0.02)
    assert abs(total) > 5e-4


def correlator(state, start, at, env):
    """<X X> on two sites."""
    rho = peps.reduced_density(state, [start, at], env)
    return float(np.einsum("stuv,us,vt->", rho, X, X).real)


def test_fluctuations_of_products():
    x = np.array([0.6, 0.8]).reshape(2, 1, 1, 1, 1)
    mean = 0.48
    for q in (0.0, np.pi):
        found = peps.structure_factor(peps.PEPS([x]), X, (q, 0.0), 1)
        assert found == pytest.approx(0.25 - mean**2, abs=1e-12)


def test_bad_waves_and_operators():
    state = peps.PEPS.random(2)
    with pytest.raises(ArgumentError, match="do not repeat"):
        peps.structure_factor(state, X, (1.0, 0.0), 4)
    with pytest.raises(ShapeError):
        peps.structure_factor(state, np.eye(3), (0.0, 0.0), 4)


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("cut", ["column", "row"])
@pytest.mark.sampled(2)
def test_spectra_of_half_cylinders(cut, dtype):
    state, n = near_product(["A"], 0, dtype, weight=0.8), 4
    found = peps.entanglement_spectrum(peps.environment(state, 12), n, cut)
    assert 2**n - 2 <= len(found) <= 2**n  # edges are not quite those of a ring, whose least weights may be lost
    weights = np.pad(np.exp(-found), (0, 2**n - len(found)))
    np.testing.assert_allclose(weights, dense_spectrum(state.tensors[0], n, cut), atol=3e-5)
    assert 0.5 < weights[0] < 1 - 5e-4
    up = np.zeros((2,) * 5, dtype)
    up[0, 0, 0, 0, 0] = 1.0
    np.testing.assert_allclose(
        peps.entanglement_spectrum(peps.environment(peps.PEPS([up]), 4), n, cut), [0.0], atol=1e-12
    )


def dense_spectrum(x, n, cut):
    """The same from the leading eigenvectors of the transfer operator of a ring, as a dense matrix."""
    x = x.transpose(0, 2, 1, 4, 3) if cut == "row" else x
    double = np.einsum("suldr,sULDR->lLrRuUdD", x, x.conj()).reshape(4, 4, 4, 4)  # left, right, up, down
    total = np.eye(4)[None, None]  # left legs, right legs, first, last
    for _ in range(n):
        total = np.einsum("abud,lrde->albrue", total, double)
        shape = total.shape
        total = total.reshape(shape[0] * shape[1], shape[2] * shape[3], *shape[4:])
    transfer = np.einsum("abuu->ab", total)
    sides = []
    for matrix in (transfer.T, transfer):
        values, vectors = np.linalg.eig(matrix)
        v = vectors[:, np.argmax(np.abs(values))].reshape((2, 2) * n)
        m = v.transpose(*range(0, 2 * n, 2), *range(1, 2 * n, 2)).reshape(2**n, 2**n)
        sides.append(m / np.trace(m))
    spectrum = np.sort(np.linalg.eigvals(sides[0].T @ sides[1]).real)[::-1]
    return spectrum / spectrum.sum()


def test_cuts_that_are_none():
    env = peps.environment(near_product(["AB", "BA"], 0), 6)
    with pytest.raises(ArgumentError, match="multiple of 2"):
        peps.entanglement_spectrum(env, 3)
    with pytest.raises(ArgumentError, match="4096"):
        peps.entanglement_spectrum(env, 14)
    with pytest.raises(ArgumentError, match="column"):
        peps.entanglement_spectrum(env, 4, "diagonal")
