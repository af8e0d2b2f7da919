"""Second derivatives of single values at small gaps: right to a ten-thousandth, or refused."""

import numpy as np
import pytest

import qad
from qad import linalg as la
from tests.linalg.draw import draw


@pytest.mark.parametrize("value", [
    lambda a: np.linalg.eigvalsh(a)[3], lambda a: np.linalg.eigh(a)[0][3],
    lambda a: la.truncated_eigh(a, 1, multiplets="cut")[0][0],
    lambda a: la.svdvals(a)[0], lambda a: np.linalg.svd(a)[1][0], lambda a: np.linalg.norm(a, 2),
])  # fmt: skip
@pytest.mark.parametrize("gap", [2.0**-37, 2.0**-36, 2.0**-35, 2.0**-34, 2.0**-30, 2.0**-20])
@pytest.mark.sampled(12)
def test_the_second_derivative_of_one_value_is_good_to_a_ten_thousandth(value, gap):
    """Of a matrix whose entries and eigenvectors are exact."""
    for seed in range(10):
        e = draw(4, 4, real=True, seed=seed)
        e, low = e + e.T, np.random.default_rng(seed).uniform(0.5, 2.5, 2)
        a = np.diag([*low, 3.0 - gap / 2, 3.0 - gap / 2])
        a[2, 3] = a[3, 2] = gap / 2
        turn = np.eye(4)
        turn[2:, 2:] = np.array([[1.0, 1.0], [-1.0, 1.0]]) / np.sqrt(2)
        c = turn.T @ e @ turn
        dv = turn[:, :3] @ (c[:3, 3] / np.array([*(3.0 - low), gap]))
        check_second(value, a, e, np.outer(dv, turn[:, 3]) + np.outer(turn[:, 3], dv), gap)


def check_second(value, a, e, right, gap):
    try:
        found = qad.hvp(value, (a,), (e,))[0]
    except qad.QadError:
        assert gap < 1e-10
        return
    np.testing.assert_allclose(found, right, atol=1e-4 * np.abs(right).max())
