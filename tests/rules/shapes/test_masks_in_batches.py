"""np.putmask and np.place under qad.vmap, with masks that differ between the examples."""

import numpy as np
import pytest

import qad

X = np.array([0.3, 0.7, 1.1])


def masking(write, values):
    def f(x):
        b = x * 1.0
        write(b, b > 0.5, values(x))
        return b

    return f


MASKED = {
    "a number": masking(np.putmask, lambda x: 0.0),
    "an array of one": masking(np.putmask, lambda x: np.array([5.0], x.dtype)),
    "as many": masking(np.putmask, lambda x: -(x**2)),
    "as many constants": masking(np.putmask, lambda x: np.arange(x.size, dtype=x.dtype).reshape(x.shape)),
    "fewer, in turn": masking(np.putmask, lambda x: x.ravel()[:2]),
    "a sum": masking(np.putmask, lambda x: np.sum(x)),
    "a number that is placed": masking(np.place, lambda x: 0.0),
    "a sum that is placed": masking(np.place, lambda x: np.sum(x)),
}


@pytest.mark.parametrize("x", [X, np.arange(6.0).reshape(2, 3) / 5, X.astype("f4")], ids=["vector", "matrix", "single"])
@pytest.mark.parametrize("case", MASKED)
def test_a_mask_that_differs_between_examples(case, x):
    f, xs = MASKED[case], np.stack([x, 2 * x, 0.1 * x])
    rtol = 1e-5 if x.dtype == "f4" else 1e-12
    expected = np.stack([f(x) for x in xs])
    found = qad.vmap(f)(xs)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=rtol)
    np.testing.assert_allclose(qad.freeze(qad.vmap(f))(xs), expected, rtol=rtol)
    np.testing.assert_allclose(qad.vmap(qad.vmap(f))(np.stack([xs, xs]))[1], expected, rtol=rtol)
    gradients = np.stack([qad.grad(lambda x: np.sum(f(x) ** 2))(x) for x in xs])
    np.testing.assert_allclose(qad.vmap(qad.grad(lambda x: np.sum(f(x) ** 2)))(xs), gradients, rtol=rtol)
    np.testing.assert_allclose(qad.grad(lambda xs: np.sum(qad.vmap(f)(xs) ** 2))(xs), gradients, rtol=rtol)
    pushed = np.stack([qad.jvp(f, (x,), (np.ones_like(x),))[1] for x in xs])
    np.testing.assert_allclose(qad.jvp(qad.vmap(f), (xs,), (np.ones_like(xs),))[1], pushed, rtol=rtol)


def test_values_placed_in_turn_by_a_mask_that_differs_between_examples():
    with pytest.raises(qad.errors.BatchError, match="np.where"):
        qad.vmap(masking(np.place, lambda x: x[:2]))(np.stack([X, 2 * X]))
