"""Forward mode through frozen and checkpointed functions: refused where that of the function itself is.

It was the transpose of the pullback at a cotangent of zero, in which the checks of degenerate spectra saw nothing.
"""

import numpy as np
import pytest

import qad
from qad.core.trees import flatten

A, D = np.diag([1.0, 2.0, 2.0]), np.arange(9.0).reshape(3, 3)
DEFECTIVE = np.array([[0.0, 1.0], [0.0, 0.0]])
WITHOUT = {
    "largest of eigvalsh": (lambda x: np.linalg.eigvalsh(x + x.T)[-1], A, D),
    "all of eigvalsh": (lambda x: np.linalg.eigvalsh(x + x.T), A, D),
    "eigh": (lambda x: qad.linalg.eigh(x + x.T)[1][1, 1] ** 2, A, D),
    "svd": (lambda x: qad.linalg.svd(x)[0][0, 0] ** 2, np.eye(3), D),
    "eigvals": (lambda x: np.linalg.eigvals(x).real.max(), DEFECTIVE, np.array([[0.3, 0.5], [1.0, 0.2]])),
    "truncated_svd": (lambda x: qad.linalg.truncated_svd(x, 1, multiplets="cut")[0][0, 0] ** 2, np.eye(3), D),
}
KINDS = {"plain": lambda f: f, "frozen": qad.freeze, "checkpointed": qad.checkpoint}
WAYS = {
    "jvp": lambda f, x, d: qad.jvp(f, (x,), (d,)),
    "vmap of jvp": lambda f, x, d: qad.vmap(lambda d: qad.jvp(f, (x,), (d,))[1])(d[None]),
    "jvp of a caller": lambda f, x, d: qad.jvp(lambda y: 2 * f(y), (x,), (d,)),
    "frozen jvp": lambda f, x, d: qad.freeze(lambda x, d: qad.jvp(f, (x,), (d,))[1])(x, d),
    "jvp of grad": lambda f, x, d: qad.jvp(qad.grad(lambda x: np.sum(f(x))), (x,), (d,)),
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("name", WITHOUT)
def test_what_has_no_derivative_is_refused(name, kind, way):
    f, x, d = WITHOUT[name]
    if "all of" in name and way is WAYS["jvp of grad"]:
        f = WITHOUT["largest of eigvalsh"][0]  # the sum has one
    with pytest.raises(qad.QadError):
        way(kind(f), x, d)


def program(x, y, k):
    """Several outputs, one of whole numbers, one that depends on nothing."""
    z = np.sin(x) * y
    return {"a": z.sum(), "b": (z @ z, x.shape[0] * k)}, np.ones(2)


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("kind", [qad.freeze, qad.checkpoint])
def test_tangents_are_those_of_the_function(kind, dtype):
    rng = np.random.default_rng(0)
    x, y, dx, dy = (rng.standard_normal(3) + (1j * rng.standard_normal(3) if dtype is complex else 0) for _ in range(4))
    held = kind(program)
    for _ in range(3):
        for f in (
            lambda g: lambda x, y: g(x, y, 2),
            lambda g: lambda x, y: g(x, x * y, 2),
            lambda g: lambda x, y: g(x, Y, 2),
        ):
            found, right = (qad.jvp(f(g), (x, y), (dx, dy)) for g in (held, program))
            leaves = [np.asarray(z) for z in flatten(found)[0]]
            for one, two in zip(leaves, map(np.asarray, flatten(right)[0]), strict=True):
                assert one.dtype == two.dtype
                np.testing.assert_allclose(one, two, rtol=1e-13)


Y = np.array([0.5, 1.0, -2.0])


@pytest.mark.parametrize("kind", [qad.freeze, qad.checkpoint])
def test_nests_of_forward_mode(kind):
    def f(x):
        return np.sum(np.sin(x) ** 3 * Y)

    held, x, d = kind(f), np.array([0.3, 0.4, -1.0]), np.array([1.0, -2.0, 0.5])
    for _ in range(2):
        for way in (
            lambda g: qad.hvp(g, (x,), (d,))[0],
            lambda g: qad.hessian(g)(x),
            lambda g: qad.jvp(lambda x: qad.jvp(g, (x,), (d,))[1], (x,), (d,))[1],
            lambda g: qad.grad(lambda x: qad.jvp(g, (x,), (d,))[1])(x),
            lambda g: qad.jvp(lambda x: qad.hvp(g, (x,), (d,))[0], (x,), (d,))[1],
            lambda g: qad.vmap(lambda d: qad.jvp(g, (x,), (d,))[1])(np.eye(3)),
        ):
            np.testing.assert_allclose(way(held), way(f), rtol=1e-12, atol=1e-14)
