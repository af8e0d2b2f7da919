"""What a transform hands out is a copy, in plain code and wherever it is recorded: a later write does not reach it."""

import numpy as np
import pytest

import qad

X = np.array([1.0, 2.0, 3.0])
MADE = {
    "vmap": qad.vmap(lambda r: r),
    "primal of jvp": lambda b: qad.jvp(lambda r: r.T, (b,), (b,))[0],
    "tangent of jvp": lambda b: qad.jvp(lambda r: r.T, (b,), (b,))[1],
    "checkpoint": qad.checkpoint(lambda r: r.T),
    "freeze": qad.freeze(lambda r: r.T),
    "vjp": lambda b: qad.vjp(lambda r: r.T, b)[0],
    "aux": lambda b: qad.grad(lambda r: (r.sum(), r.T), has_aux=True)(b)[1],
}
ROADS = {
    "grad": lambda f: qad.value_and_grad(f)(X)[0],
    "jvp": lambda f: qad.jvp(f, (X,), (X,))[0],
    "vmap": lambda f: qad.vmap(f)(X[None])[0],
    "freeze": lambda f: qad.freeze(f)(X),
    "frozen gradient": lambda f: qad.freeze(qad.value_and_grad(f))(X)[0],
}


@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize("name", MADE)
def test_results_are_copies_on_every_road(name, road):
    def f(x):
        b = np.outer(x, x).copy()
        t = MADE[name](b)
        before = np.sum(t**2)
        b[0] = 5.0
        return before + np.sum(t**4)

    np.testing.assert_allclose(ROADS[road](f), f(X), rtol=1e-14)
    assert f(X) == 9800.0
