"""Eigenvalues of rows of edges."""

import numpy as np
import pytest

from qad.peps.infinite.transfer import two_largest


def test_an_eigenvalue_that_is_there_twice_is_seen():
    """Of two equal ones powers on a single vector show one: two copies of an edge, in a mixed basis."""
    rng = np.random.default_rng(3)
    for k in (1, 2, 5, 12):
        one, turn = rng.standard_normal((k, 2, k)), np.linalg.qr(rng.standard_normal((2 * k, 2 * k)))[0]
        both = np.zeros((2 * k, 2, 2 * k))
        both[:k, :, :k], both[k:, :, k:] = one, one @ np.eye(k)
        edge = np.einsum("ai,ipj,bj->apb", turn, both, turn)
        first, second = two_largest([edge], [edge])
        assert second == pytest.approx(first, rel=1e-9)
        transfer = np.einsum("apb,cpd->acbd", one, one).reshape(k * k, k * k)
        assert first == pytest.approx(np.abs(np.linalg.eigvals(transfer)).max(), rel=1e-9)
        if k > 1:
            values = np.sort(np.abs(np.linalg.eigvals(transfer)))[::-1]
            assert two_largest([one], [one]) == pytest.approx(tuple(values[:2]), rel=1e-9)
