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


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "dia", "dok", "lil"])
def test_a_matrix_that_is_refilled_keeps_what_it_held_at_each_product(kind):
    """A gradient took the last content of a work matrix for all products."""
    s = scipy.sparse.coo_array(np.diag([1.0, 2.0, 3.0])).asformat(kind)

    def fill(i):
        s.setdiag(1.0 * (np.arange(3) == i))

    def f(product):
        def loss(x):
            t = 0.0
            for i in range(3):
                fill(i)
                t = t + np.sum(product(x * x))
            return t

        return loss

    for product in (lambda y: qad.sparse(s) @ y, lambda y: y @ s, lambda y: qad.sparse(s).T @ y):
        for transform in (lambda g: g, qad.checkpoint):
            np.testing.assert_allclose(qad.grad(transform(f(product)))(np.ones(3)), [2, 2, 2])
        np.testing.assert_allclose(qad.hessian(f(product))(np.ones(3)), 2 * np.eye(3))
    wrapped = qad.sparse(s)
    back = qad.vjp(lambda x: wrapped @ x, np.ones(3))[1]
    fill(0)
    np.testing.assert_allclose(wrapped @ np.ones(3), [0, 0, 1])
    np.testing.assert_allclose(back(np.ones(3))[0], [0, 0, 1])


def test_the_copy_is_nobodys_to_write_into():
    s = qad.sparse(scipy.sparse.csr_array(np.eye(2)))
    with pytest.raises(ValueError, match="read-only"):
        s.matrix.data[0] = 2.0
    s.tocsr().data[0] = 2.0
    np.testing.assert_allclose(qad.sparse(s) @ np.ones(2), [1, 1])
