"""What NumPy 2.5 brought, on every NumPy that qad supports: by the meaning of it."""

import warnings

import numpy as np
import pytest

import qad
from qad.core.tape.dispatch import FUNCTIONS

X = np.array([0.5, -1.0, 3.0, 0.25, -1.0, 2.0])
DESCENDS = np.lib.NumpyVersion(np.__version__) >= "2.5.0"


def sort(x, **options):
    """``np.sort``, with an option that only NumPy 2.5 hands on to Tensors."""
    return np.sort(x, **options) if DESCENDS else FUNCTIONS[np.sort](x, **options)


def test_sorting_in_descending_order():
    x = qad.tensor(X, requires_grad=True)
    np.testing.assert_array_equal(sort(x, descending=True).numpy(), np.sort(X)[::-1])
    np.testing.assert_array_equal(sort(x, descending=False).numpy(), np.sort(X))
    weights = np.arange(6.0)
    g = qad.grad(lambda x: np.sum(sort(x, descending=True) * weights))(X)
    np.testing.assert_array_equal(g, [2.0, 4.5, 0.0, 3.0, 4.5, 1.0])  # the two that are equal share
    qad.check_grads(lambda x: np.sum(sort(x, descending=True) ** 2 * weights[:5]), (np.unique(X),))


def test_sorting_in_descending_order_along_axes():
    a = np.random.default_rng(0).normal(size=(3, 4))
    for axis in (0, 1, -1, None):
        expected = np.flip(np.sort(a, axis=axis), 0 if axis is None else axis)
        np.testing.assert_array_equal(
            sort(qad.tensor(a, requires_grad=True), axis=axis, descending=True).numpy(), expected
        )


def test_what_is_not_a_number_comes_last_in_both_orders():
    x = qad.tensor([1.0, np.nan, 3.0], requires_grad=True)
    np.testing.assert_array_equal(sort(x, descending=True).numpy(), [3.0, 1.0, np.nan])
    np.testing.assert_array_equal(sort(x).numpy(), [1.0, 3.0, np.nan])


@pytest.mark.skipif(not DESCENDS, reason="NumPy 2.5 sorts in descending order")
def test_descending_order_is_numpys():
    for x in (X, np.append(X, np.nan), X.reshape(2, 3)):
        found = np.sort(qad.tensor(x, requires_grad=True), descending=True)
        np.testing.assert_array_equal(found.numpy(), np.sort(x, descending=True))


def test_fix_of_a_tensor_does_not_warn():
    """NumPy deprecates the name for plain arrays; a Tensor takes the name that stays."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = np.fix(qad.tensor(X, requires_grad=True))
        stacked = qad.vmap(np.fix)(X.reshape(2, 3))
    assert type(found) is np.ndarray
    np.testing.assert_array_equal(found, np.trunc(X))
    np.testing.assert_array_equal(stacked, np.trunc(X).reshape(2, 3))
