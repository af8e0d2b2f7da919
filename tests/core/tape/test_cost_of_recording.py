"""What recording costs grows with the length of the program and no faster; calls are counted."""

import numpy as np
import pytest

import qad
from tests.counting import calls, steps


def sines(n):
    def f(x):
        for _ in range(n):
            x = np.sin(x)
        return x

    return f


def filters(n):
    """A chain of functions that neither write into a buffer nor surely allocate."""

    def f(x):
        for k in range(n):
            x = np.convolve(x, np.ones(3), "same") if k % 2 else np.clip(x, -1.0, 2.0)
        return np.sum(x)

    return f


def written(n):
    def f(x):
        y = qad.zeros(n + 1)
        y[0] = x
        for k in range(n):
            y[k + 1] = np.sin(y[k])
        return y[n]

    return f


X = np.array(0.3)

COSTS = {
    "grad of a scalar chain": lambda n: qad.grad(sines(n))(X),
    "jvp of a scalar chain": lambda n: qad.jvp(sines(n), (X,), (X,)),
    "hvp of a scalar chain": lambda n: qad.hvp(sines(n), (X,), (X,)),
    "backward of a scalar chain": lambda n: sines(n)(qad.tensor(0.3, requires_grad=True)).backward(),
    "checkpoint of a scalar chain": lambda n: qad.grad(qad.checkpoint(sines(n)))(X),
    "freeze of a scalar chain": lambda n: qad.freeze(sines(n))(X),
    "freeze of the gradient of a scalar chain": lambda n: qad.freeze(qad.grad(sines(n)))(X),
    "freeze of the gradient of a chain of filters": lambda n: qad.freeze(qad.grad(filters(n)))(np.ones(5)),
    "grad of a chain of writes": lambda n: qad.grad(written(n))(X),
}


@pytest.mark.parametrize("case", COSTS)
@pytest.mark.sampled(1)
def test_recording_is_linear_in_the_length_of_a_chain(case):
    few, many = (calls(lambda n=n: COSTS[case](n)) for n in (100, 800))
    assert many < 8.5 * few


def views(n):
    """A chain of views of views."""

    def f(x):
        for _ in range(n):
            x = x.T[:]
        return np.sum(x)

    return f


MATRIX = np.ones((2, 2))
CHAINS_OF_VIEWS = {
    "grad": lambda n: qad.grad(views(n))(MATRIX),
    "hvp": lambda n: qad.hvp(views(n), (MATRIX,), (MATRIX,)),
    "of a buffer": lambda n: qad.grad(lambda x: views(n)(x + 1.0))(MATRIX),
    "freeze": lambda n: qad.freeze(qad.grad(views(n)))(MATRIX),
    "vmap": lambda n: qad.vmap(views(n))(np.ones((3, 2, 2))),
}


@pytest.mark.parametrize("case", CHAINS_OF_VIEWS)
def test_recording_is_linear_in_the_length_of_a_chain_of_views(case):
    """No view walks down to the array that it shows; instructions are counted, for a walk calls nothing."""
    few, many = (steps(lambda n=n: CHAINS_OF_VIEWS[case](n)) for n in (25, 200))
    assert many < 8.5 * few
