"""Pseudoinverses of lower rank: one derivative, no second one, and none where a cutoff drops what is not zero."""

from functools import partial

import numpy as np
import pytest

import qad
from tests.linalg.decompositions.test_svd import SECOND

second = pytest.mark.parametrize("second", SECOND.values(), ids=SECOND)


def weighed_pinv(a):
    return np.sum(np.random.default_rng(3).standard_normal(a.shape).T * np.linalg.pinv(a))


@second
@pytest.mark.parametrize("a", [np.array([[1.0, 0], [2, 0], [3, 0]]), np.outer([1.0, 2, 3], [1, 2])], ids=str)
def test_the_pseudoinverse_has_no_second_derivative_at_lower_rank(second, a):
    e, d = np.random.default_rng(4).standard_normal((2, 3, 2))
    assert np.isfinite(qad.grad(weighed_pinv)(a)).all()
    with pytest.raises(qad.QadError, match="rank-deficient"):
        second(weighed_pinv, a, e)
    found = second(weighed_pinv, d, e)  # of full rank
    exact = qad.hvp(weighed_pinv, (d,), (e,))[0]
    np.testing.assert_allclose(found, exact if np.ndim(found) else np.sum(e * exact), rtol=1e-9)


def test_pinv_whose_cutoff_drops_values_that_are_not_zero():
    rng = np.random.default_rng(0)
    q, r = (np.linalg.qr(rng.standard_normal((3, 3)))[0] for _ in range(2))
    a, w, e = (q * [1.0, 0.5, 0.05]) @ r, *rng.standard_normal((2, 3, 3))

    def loss(a, **cut):
        return np.sum(w * qad.linalg.pinv(a, **cut))

    def followed(a):
        return np.sum(w.T * qad.linalg.funm_svd(lambda s: np.where(s > 0.2, 1 / np.where(s > 0.2, s, 1.0), 0.0), a))

    for cut in ({"rcond": 0.2}, {"rtol": 0.2}):
        for derivative in (lambda f: qad.grad(f)(a), lambda f: qad.jvp(f, (a,), (e,))):
            with pytest.raises(qad.QadError, match="funm_svd"):
                derivative(partial(loss, **cut))
    h = 1e-6
    change = (loss(a + h * e, rcond=0.2) - loss(a - h * e, rcond=0.2)) / (2 * h)
    np.testing.assert_allclose(np.sum(e * qad.grad(followed)(a)), change, rtol=1e-7)
    low = (q * [1.0, 0.5, 0.0]) @ r
    np.testing.assert_allclose(qad.grad(lambda a: loss(a, rcond=1e-10))(low), qad.grad(loss)(low), rtol=1e-9)
