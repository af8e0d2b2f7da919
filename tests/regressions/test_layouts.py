"""Reshapes that are views or copies, as the layout in memory allows, and what is written through them."""

from contextlib import suppress

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError
from qad.core.looking.observer import plain_roads

X = np.array([1.0, 2.0, 3.0])


def written_through_reshape(make):
    def f(x):
        b = make(x)
        r = b.reshape(-1)
        b[0] = 0.5
        r[1] = 2.0
        return (r * np.arange(r.size)).sum() + (b * b).sum()

    return f


def product(x):
    return np.outer(x, x * x)


@pytest.mark.parametrize(
    "make",
    [
        lambda x: (product(x).T * 1)[None].repeat(2, 0).sum(0),
        lambda x: (np.stack([product(x)] * 2).T * 1).sum(0),
        lambda x: np.zeros_like((np.stack([product(x)] * 2).T * 1).sum(0)),
        lambda x: np.einsum("ij,jk->ki", product(x), product(x)),
        lambda x: product(x)[:, [1, 0]],
    ],
)
def test_a_reshape_of_uncertain_layout_is_right_or_refused_under_vmap(make):
    f, batch = written_through_reshape(make), np.stack([X, 2 * X])
    for mapped in (qad.vmap(f), lambda x: qad.vmap(qad.value_and_grad(f))(x)[0]):
        with suppress(ArgumentError):
            np.testing.assert_allclose(mapped(batch), [f(x) for x in batch])
    np.testing.assert_allclose(qad.vmap(lambda x: make(x).reshape(-1))(batch), [make(x).reshape(-1) for x in batch])
    for context in (plain_roads(), qad.profile(show=False)):  # where the short-cuts of reshape step aside
        with context, suppress(ArgumentError):
            np.testing.assert_allclose(qad.vmap(f)(batch), [f(x) for x in batch])


@pytest.mark.parametrize(
    "make",
    [
        product,
        lambda x: product(x).T * 2.0,
        lambda x: np.tril(product(x)).sum(0)[None] * np.ones((2, 1)),
        lambda x: np.stack([product(x), product(x)]).sum(0),
        lambda x: np.take(product(x), [1, 0], 1),
        lambda x: product(x)[[1, 0]],
        lambda x: (product(x).T * 1).sum(0),
    ],
)
def test_a_reshape_of_a_layout_that_is_numpys_is_not_refused_under_vmap(make):
    f, batch = written_through_reshape(make), np.stack([X, 2 * X])
    np.testing.assert_allclose(qad.vmap(f)(batch), [f(x) for x in batch])
    np.testing.assert_allclose(qad.vmap(qad.value_and_grad(f))(batch)[0], [f(x) for x in batch])


def test_an_array_made_of_a_number_under_vmap_is_not_taken_for_its_view():
    def f(x):
        b = x.sum()
        c = b[None]
        c += 1.0
        return b + c[0]

    with pytest.raises(ArgumentError, match="of a number"):
        qad.vmap(f)(np.stack([X, X]))
    with pytest.raises(ArgumentError, match="of a number"):
        qad.vmap(qad.grad(f))(np.stack([X, X]))


def test_what_take_gives_lies_in_memory_as_numpys():
    f = written_through_reshape(lambda x: np.take(product(x), [1, 0], 1))
    np.testing.assert_allclose(qad.value_and_grad(f)(X)[0], f(X))
    np.testing.assert_allclose(f(qad.tensor(X)).numpy(), f(X))
