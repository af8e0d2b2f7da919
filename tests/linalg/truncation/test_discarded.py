"""The error of a truncation, differentiated: that of the values which are left out, where these are not rounding."""

import numpy as np
import pytest

import qad
from qad import linalg as la
from tests.linalg.draw import with_eigenvalues, with_values

ERRORS = {
    "svd": lambda a: la.truncated_svd(a, 2, multiplets="cut")[3],
    "eigh": lambda a: la.truncated_eigh((a + a.T) / 2, 2, multiplets="cut")[2],
    "svd, iterative": lambda a: la.truncated_svd(a, 2, multiplets="cut", method="iterative")[3],
}
errors = pytest.mark.parametrize("error", ERRORS.values(), ids=ERRORS)


@errors
@pytest.mark.parametrize("values", [[1.0, 0.5, 0, 0], [1.0, 0.5, 3e-17, 1e-17]], ids=str)
def test_where_nothing_is_discarded_the_error_is_a_constant(error, values):
    """Its gradient was the direction of rounding, of length one."""
    a = with_eigenvalues(values, real=True)
    value, gradient = qad.value_and_grad(error)(a)
    assert value == 0.0
    np.testing.assert_array_equal(gradient, 0.0)
    assert qad.jvp(error, (a,), (np.ones((4, 4)),))[1] == 0.0


@errors
@pytest.mark.parametrize("small", [1e-13, 1e-11])
def test_where_next_to_nothing_is_discarded_a_derivative_is_refused(error, small):
    a = with_eigenvalues([1.0, 0.5, small, small / 2], real=True)
    assert np.isfinite(error(a))
    with pytest.raises(qad.QadError, match="so little is discarded"):
        qad.grad(error)(a)
    kept = qad.grad(lambda a: la.truncated_svd(a, 2)[1].sum() + 0.0 * la.truncated_svd(a, 2)[3])(a)
    assert np.isfinite(kept).all()


@pytest.mark.parametrize("small", [1e-8, 1e-3])
def test_what_is_discarded_has_the_derivative_of_its_own_values(small):
    a = with_values([1.0, 0.5, small, small / 2], real=True)

    def of_values(a):
        return np.linalg.norm(la.svdvals(a)[2:])

    found, right = qad.grad(ERRORS["svd"])(a), qad.grad(of_values)(a)
    np.testing.assert_allclose(found, right, atol=30 * 2.2e-16 / small)


def test_a_stack_in_which_one_matrix_discards_nothing():
    stack = np.stack([with_values([1.0, 0.5, 0, 0], real=True), with_values([1.0, 0.5, 0.2, 0.1], real=True)])
    gradient = qad.grad(lambda a: la.truncated_svd(a, 2)[3].sum())(stack)
    np.testing.assert_array_equal(gradient[0], 0.0)
    np.testing.assert_allclose(gradient[1], qad.grad(ERRORS["svd"])(stack[1]), atol=1e-12)
    np.testing.assert_allclose(qad.vmap(qad.grad(ERRORS["svd"]))(stack), gradient, atol=1e-12)
