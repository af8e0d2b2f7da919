"""Solutions of equations under `qad.vmap`, with derivatives of both orders: the same as example by example."""

import numpy as np
import pytest

import qad

POINTS = np.array([0.5, 0.8, 1.1])


def fixed(a):
    return qad.fixed_point(lambda x: np.cos(a * x), np.array(1.0))


def root(a):
    return qad.optimize.root(lambda z: z + 0.1 * z**3 - a, np.array(0.0), tol=1e-13)


def solved(a):
    return qad.linalg.linear_solve(lambda x: np.array([2.0, 3.0]) * x + a**2 * x[::-1], np.ones(2)).sum()


@pytest.mark.parametrize("f", [fixed, root, solved])
@pytest.mark.parametrize(
    "transform",
    [
        lambda f: f, qad.grad, qad.hessian, lambda f: qad.grad(qad.grad(f)),
        lambda f: lambda a: qad.hvp(f, (a,), (1.0,))[0], lambda f: lambda a: qad.jvp(f, (a,), (1.0,))[1],
    ],
    ids=["value", "grad", "hessian", "grad of grad", "hvp", "jvp"],
)  # fmt: skip
def test_a_batch_is_its_examples(f, transform):
    one = transform(f)
    np.testing.assert_allclose(qad.vmap(one)(POINTS), [one(a) for a in POINTS], rtol=1e-8)
