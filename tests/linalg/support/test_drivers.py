"""Drivers of LAPACK: what is done where one of them fails."""

from unittest.mock import patch

import numpy as np
import pytest

import qad
from qad.linalg.support.drivers import singular_triples


def failing(*args, **kwargs):
    """What ``np.linalg.svd`` does for rare matrices, for which others depend on the version of LAPACK."""
    raise np.linalg.LinAlgError("SVD did not converge")


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("shape", [(4, 3), (3, 4), (2, 5, 4, 4)])
def test_matrices_for_which_divide_and_conquer_fails(shape, full):
    rng = np.random.default_rng(0)
    a = rng.normal(size=shape) + 1j * rng.normal(size=shape)
    expected = np.linalg.svd(a, full_matrices=full)
    with patch.object(np.linalg, "svd", failing):
        found = singular_triples(a, full)
    assert [x.shape for x in found] == [x.shape for x in expected]
    np.testing.assert_allclose(found.S, expected.S, rtol=1e-13)
    k = min(shape[-2:])
    np.testing.assert_allclose((found.U[..., :k] * found.S[..., None, :]) @ found.Vh[..., :k, :], a, atol=1e-13)


def test_derivatives_are_the_same():
    a = np.random.default_rng(1).normal(size=(4, 3))
    expected = qad.grad(lambda a: qad.linalg.svd(a, full_matrices=False)[1][0])(a)
    with patch.object(np.linalg, "svd", failing):
        found = qad.grad(lambda a: qad.linalg.svd(a, full_matrices=False)[1][0])(a)
    np.testing.assert_allclose(found, expected, atol=1e-13)


def test_numbers_that_are_not_finite_stay_refused():
    with patch.object(np.linalg, "svd", failing), pytest.raises(np.linalg.LinAlgError, match="did not converge"):
        singular_triples(np.full((2, 2), np.nan))
