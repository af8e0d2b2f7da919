"""Small and large problems have small and large solutions; whose squares no float holds is refused."""

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError
from qad.linalg.support.lengths import length

SCALES = [1e-300, 1e-165, 1e-150, 1e-70, 1e-40, 1.0, 1e40, 1e70, 1e160, 1e300]
RANDOM = np.random.default_rng(0)
N = 20
GENERAL = RANDOM.normal(size=(N, N))
POSITIVE = GENERAL @ GENERAL.T / N + np.eye(N)
CONTRACTION = POSITIVE / 4 / np.linalg.norm(POSITIVE, 2)
B = RANDOM.normal(size=N)
LEVELS, VECTORS = np.linalg.eigh(POSITIVE)
FIXED = np.linalg.solve(np.eye(N) - CONTRACTION, B)
SOLVED = np.linalg.solve(POSITIVE, B)
LARGEST = np.abs(np.linalg.eigvals(np.abs(GENERAL))).max()

each_scale = pytest.mark.parametrize("scale", SCALES)
within_reach = pytest.mark.parametrize("scale", [scale for scale in SCALES if 1e-77 < scale < 1e77])


@each_scale
@pytest.mark.parametrize("method", ["anderson", "plain"])
def test_fixed_points(scale, method):
    def found(scale):
        return qad.fixed_point(lambda x: CONTRACTION @ x + scale * B, np.zeros(N), method=method)

    np.testing.assert_allclose(found(scale) / scale, FIXED, rtol=1e-9)
    assert np.isclose(qad.grad(lambda s: found(s).sum())(scale), FIXED.sum(), rtol=1e-9)


@within_reach
def test_linear_equations(scale):
    def found(b):
        return qad.linalg.linear_solve(lambda x: POSITIVE @ x, b * B)

    np.testing.assert_allclose(found(scale) / scale, SOLVED, rtol=1e-9)
    np.testing.assert_allclose(qad.linalg.linear_solve(lambda x: scale * (POSITIVE @ x), scale * B), SOLVED, rtol=1e-9)
    assert np.isclose(qad.grad(lambda b: found(b).sum())(scale), SOLVED.sum(), rtol=1e-9)
    assert np.isclose(qad.grad(lambda b: scale * found(b).sum())(1.0) / scale, SOLVED.sum(), rtol=1e-9)


@each_scale
@pytest.mark.parametrize("method", ["lanczos", "lobpcg"])
@pytest.mark.sampled(2)
def test_lowest_levels(scale, method):
    def found(s):
        return qad.linalg.lowest_eig(lambda v: s * (POSITIVE @ v), B, method=method)

    value, vector = found(scale)
    assert np.isclose(value / scale, LEVELS[0], rtol=1e-9)
    assert np.isclose(abs(vector @ VECTORS[:, 0]), 1.0)
    assert np.isclose(qad.grad(lambda s: found(s)[0])(scale), LEVELS[0], rtol=1e-9)


@each_scale
def test_dominant_eigenvalues(scale):
    def found(s):
        return qad.linalg.dominant_eig(lambda v: s * (np.abs(GENERAL) @ v), np.ones(N), "both")[0]

    assert np.isclose(found(scale) / scale, LARGEST, rtol=1e-9)
    assert np.isclose(qad.grad(found)(scale), LARGEST, rtol=1e-9)


@each_scale
def test_exponentials_of_a_large_operator_for_a_short_time(scale):
    found = qad.linalg.expm_multiply(scale * GENERAL, B, 0.5 / scale)
    np.testing.assert_allclose(found, qad.linalg.expm_multiply(GENERAL, B, 0.5), rtol=1e-8, atol=1e-8)


@each_scale
def test_norms_of_symmetric_tensors(scale):
    legs = [qad.symmetric.Leg({0: 3, 1: 2}, flow=flow) for flow in (1, -1)]
    tensor = qad.symmetric.random(legs, charge=0, seed=0)
    assert np.isclose((scale * tensor).norm() / scale, tensor.norm())
    assert np.isclose(qad.grad(lambda s: (s * tensor).norm())(scale), tensor.norm())


def test_overlaps_that_no_float_holds_are_refused_at_both_ends():
    psi = qad.mps.MPS.random(n=6, bond=4, seed=0)
    for scale in 1e-100, 1e100:
        far = qad.mps.MPS([scale * t for t in psi.tensors])
        with pytest.raises(ArgumentError, match="the overlap is exp"):
            qad.mps.overlap(far, psi)
    up, down = (qad.mps.MPS.product([k] * 4) for k in (0, 1))
    assert qad.mps.overlap(up, down) == 0


@each_scale
def test_lengths(scale):
    x = scale * np.array([3.0, 4.0j])
    assert np.isclose(length(x) / scale, 5.0)
    assert np.isclose(length(np.float32(1e-30) * np.ones(4, np.float32)), 2e-30)
    assert length(np.zeros(3)) == length(np.zeros(0)) == 0.0
