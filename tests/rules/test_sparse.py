"""``qad.sparse``: SciPy's sparse matrices on the left of Tensors."""

import numpy as np
import pytest
import scipy.sparse

import qad
from qad.core.errors import ArgumentError

DENSE = np.array([[0.0, 2.0, 0.0], [1.0, 0.0, 3.0]]) * (1 + 1j)


@pytest.mark.parametrize("kind", [scipy.sparse.csr_array, scipy.sparse.coo_matrix])
def test_products_on_both_sides(kind):
    s = qad.sparse(kind(DENSE))
    x, y = np.arange(6.0).reshape(3, 2) + 1j, np.ones(2)
    np.testing.assert_allclose(s @ x, DENSE @ x)
    np.testing.assert_allclose(y @ s, y @ DENSE)
    np.testing.assert_allclose(s.T @ y, DENSE.T @ y)
    qad.check_grads(lambda x, y: y @ (s @ x) + (y @ s) @ x, (x, y))


def test_what_is_refused():
    with pytest.raises(ArgumentError, match="ndarray is no sparse matrix"):
        qad.sparse(DENSE)
