"""Results belong to the caller: what a transform hands out is writable, and shares memory with nothing else.

Not with an argument, an array that the function captured, another result, the result of another call, or what the
transform keeps (the tape of a pullback, a cache).
"""

from itertools import combinations

import numpy as np
import pytest

import qad
from qad.core.trees import flatten
from tests.cases import normal

KINDS = {"real": float, "complex": complex}


def arrays(tree):
    return [x for x in flatten(tree)[0] if isinstance(x, np.ndarray)]


class Setting:
    """An argument, a second one, and what functions capture, of one kind."""

    def __init__(self, kind):
        self.x, self.y = normal(3, kind), normal(3, kind, seed=1)
        self.square, self.scalar = normal(3, 3, kind), np.array(normal(kind))
        self.k, self.matrix = normal(3, kind, seed=2), normal(3, 3, kind, seed=3)
        self.held = [self.x, self.y, self.square, self.scalar, self.k, self.matrix]

    def functions(self):
        """Functions of a vector to a vector, or to containers of arrays."""
        k, matrix = self.k, self.matrix
        return {
            "itself": lambda x, y: x,
            "a slice": lambda x, y: x[1:],
            "all of it": lambda x, y: x[...],
            "reversed": lambda x, y: x[::-1],
            "a column": lambda x, y: x[:, None],
            "reshaped": lambda x, y: x.reshape(3, 1).T,
            "broadcast": lambda x, y: np.broadcast_to(x, (2, 3)),
            "broadcast to rows": lambda x, y: np.broadcast_to(x[:, None], (3, 4)),
            "its real part": lambda x, y: x.real,
            "conjugate": lambda x, y: np.conj(x),
            "as it is": lambda x, y: np.ravel(np.atleast_1d(x)),
            "a constant": lambda x, y: k,
            "a constant's view": lambda x, y: k[:2],
            "scaled by a constant": lambda x, y: k * x,
            "added to a constant": lambda x, y: x + k,
            "a product": lambda x, y: matrix @ x,
            "a transposed product": lambda x, y: x @ matrix.T,
            "of one, as zeros": lambda x, y: 0 * x,
            "of the other alone": lambda x, y: y,
            "a sum": lambda x, y: x + y,
            "stacked": lambda x, y: np.concatenate([x, y, x, y, x, y, x, y, x, y, x, y, x, y, x, y]),
            "stopped": lambda x, y: qad.stop_gradient(x),
            "an array to be written into": lambda x, y: written(x),
        }

    def trees(self):
        """Functions to containers."""
        k = self.k
        return {
            "twice the same": lambda x, y: (x, x),
            "twice the same result": lambda x, y: (lambda z: [z, z])(2 * x),
            "with views of itself": lambda x, y: {"all": x, "part": x[1:], "turned": x[::-1]},
            "a result and its view": lambda x, y: (lambda z: [z, z[1:], z.reshape(1, 3)])(x * y),
            "with constants": lambda x, y: [x, k, k[:1], k],
            "both": lambda x, y: [y, x, y],
        }

    def losses(self):
        k, matrix = self.k, self.matrix
        return {
            "sum": lambda x, y: np.sum(x.real),
            "sum by a constant": lambda x, y: np.sum((k * x).real),
            "sum of both": lambda x, y: np.sum((x + y).real),
            "difference": lambda x, y: np.sum((x - y).real),
            "product": lambda x, y: np.sum((x * y).real),
            "vdot": lambda x, y: np.vdot(k, x).real,
            "unused": lambda x, y: np.sum(y.real),
            "constant": lambda x, y: 3.0,
            "zero": lambda x, y: np.sum((0 * x).real),
            "an entry": lambda x, y: x[1].real,
            "squares": lambda x, y: 0.5 * np.sum(qad.abs2(x)),
            "form": lambda x, y: ((matrix @ x) @ x).real,
            "trace": lambda x, y: np.trace(np.outer(x, k)).real,
            "einsum": lambda x, y: np.einsum("i,ij,j->", x, matrix, k).real,
            "broadcast": lambda x, y: np.sum(np.broadcast_to(x, (4, 3)).real),
        }


def written(x):
    out = qad.zeros_like(x)
    out[1:] = x[1:]
    return out


def check(made, setting, *more):
    """The results of two calls of `made`: writable, and in memory of their own."""
    results = [*arrays(made()), *arrays(made())]
    for x in results:
        assert x.flags.writeable
    for x in results:
        for held in (*setting.held, *more):
            assert not np.shares_memory(x, held)
    for a, b in combinations(results, 2):
        assert not np.shares_memory(a, b)
    first, again = made(), made()
    expected = [x.copy() for x in arrays(again)]
    for x in arrays(first):
        x.fill(7)
    for x, y in zip(arrays(again), expected, strict=True):
        np.testing.assert_array_equal(x, y)
    for x, y in zip(arrays(made()), expected, strict=True):
        np.testing.assert_array_equal(x, y)


def cases(method):
    names = getattr(Setting(float), method)()
    return pytest.mark.parametrize("name", names)


both_kinds = pytest.mark.parametrize("kind", KINDS)


@both_kinds
@cases("losses")
def test_of_losses(name, kind):
    s = Setting(KINDS[kind])
    f, x, y = s.losses()[name], s.x, s.y
    v = normal(3, KINDS[kind], seed=5)
    check(lambda: qad.grad(f)(x, y), s)
    check(lambda: qad.grad(f, (0, 1))(x, y), s)
    check(lambda: qad.grad(lambda p: f(p["a"], p["b"][0]))({"a": x, "b": [y]}), s)
    check(lambda: qad.grad(lambda xs: f(*xs))([x, y]), s)
    check(lambda: qad.value_and_grad(f, (1, 0), convention="jax")(x, y), s)
    check(lambda: qad.hvp(f, (x, y), (v, v)), s, v)
    check(lambda: qad.vhp(f, (x, y), (v, v)), s, v)
    check(lambda: qad.hessian(f)(x, y), s)
    check(lambda: qad.hessian(f, (0, 1))(x, y), s)
    check(lambda: qad.vmap(qad.grad(f))(np.stack([x, y]), np.stack([y, x])), s)
    check(lambda: qad.grad(qad.checkpoint(f), (0, 1))(x, y), s)
    leaves = [qad.tensor(z, requires_grad=True) for z in (x, y)]

    def taped():
        for leaf in leaves:
            leaf.zero_grad()
        loss = f(*leaves)
        if type(loss) is qad.Tensor and loss.requires_grad:
            loss.backward()
        return [leaf.grad for leaf in leaves if leaf.grad is not None]

    check(taped, s, *(leaf.numpy() for leaf in leaves))


@both_kinds
@cases("functions")
def test_of_functions(name, kind):
    s = Setting(KINDS[kind])
    f, x, y = s.functions()[name], s.x, s.y
    transforms(f, s)
    arguments = (0, 1)
    if kind == "real":
        check(lambda: qad.jacobian(f)(x, y), s)
        check(lambda: qad.jacobian(f, arguments)(x, y), s)
        check(lambda: qad.value_and_jacobian(lambda p: {"out": f(p["x"], p["y"])})({"x": x, "y": y}), s)
    else:
        check(lambda: qad.wirtinger(f)(x, y), s)
        check(lambda: qad.wirtinger(f, arguments)(x, y), s)


@both_kinds
@cases("trees")
def test_of_trees(name, kind):
    s = Setting(KINDS[kind])
    f = s.trees()[name]
    transforms(f, s)
    if kind == "real":
        check(lambda: qad.value_and_jacobian(f, (0, 1))(s.x, s.y), s)


def transforms(f, s):
    """Those that take any function."""
    x, y = s.x, s.y
    out = qad.vjp(f, x, y)[0]
    w = qad.tree_map(lambda z: np.ones(np.shape(z), np.asarray(z).dtype), out)
    v = np.ones(3, x.dtype)
    pullback = qad.vjp(f, x, y)[1]
    check(lambda: qad.vjp(f, x, y)[0], s)
    check(lambda: pullback(w), s, *arrays(w))
    check(lambda: qad.jvp(f, (x, y), (v, v)), s, v)
    check(lambda: qad.jvp(lambda p: f(p["a"], p["b"]), ({"a": x, "b": y},), ({"a": v, "b": v},)), s, v)
    check(lambda: qad.vmap(f)(x[None], y[None]), s)
    check(lambda: qad.vmap(f, in_axes=(None, 0))(x, np.stack([y, y])), s)
    check(lambda: qad.checkpoint(f)(x, y), s)

    def with_aux(x, y):
        return np.sum(x.real), {"out": f(x, y), "x": x, "plain": s.k, "view": s.k[1:], "again": x}

    check(lambda: qad.value_and_grad(with_aux, has_aux=True)(x, y), s)
    check(lambda: qad.grad(with_aux, (0, 1), has_aux=True)(x, y), s)


@both_kinds
def test_of_arrays_without_axes(kind):
    s = Setting(KINDS[kind])
    z, one = s.scalar, np.array(1.0, KINDS[kind])
    for f in (lambda z: z.real, lambda z: 2 * z.real, lambda z: 3.0, lambda z: s.scalar.real):
        check(lambda f=f: qad.value_and_grad(f)(z), s)
        check(lambda f=f: qad.jvp(f, (z,), (one,)), s, one)
        check(lambda f=f: qad.vjp(f, z)[0], s)
        check(lambda f=f: qad.hessian(f)(z), s)
    for f in (lambda z: z, lambda z: z * 1, lambda z: z[None], lambda z: s.scalar):
        check(lambda f=f: qad.jvp(f, (z,), (one,)), s, one)
        check(lambda f=f: qad.checkpoint(f)(z), s)
        check(lambda f=f: qad.vmap(f)(z[None]), s)


@both_kinds
def test_of_solutions(kind):
    s = Setting(KINDS[kind])
    a = 0.1 * s.matrix
    check(lambda: qad.fixed_point(lambda x, b: a @ x + b, s.x, s.y), s, a)
    check(lambda: qad.fixed_point(lambda x: s.k, s.x), s)
    check(lambda: qad.fixed_point(lambda p: {"a": a @ p["a"], "b": p["b"]}, {"a": s.x, "b": s.y}), s, a)
    check(lambda: qad.linalg.linear_solve(lambda x: x + a @ x, s.y), s, a)
    check(lambda: qad.linalg.linear_solve(lambda x: x, s.y), s)
    check(lambda: qad.linalg.linear_solve(lambda x: x, s.y, s.y), s)
    check(lambda: qad.grad(lambda b: np.sum(qad.linalg.linear_solve(lambda x: x, b).real))(s.y), s)
    check(lambda: qad.grad(lambda b: np.sum(qad.fixed_point(lambda x, b: b, s.x, b).real))(s.y), s)


def test_a_check_keeps_and_changes_nothing():
    x = normal(3)
    before = x.copy()
    assert qad.check_grads(lambda x: x, (x,)) is None
    np.testing.assert_array_equal(x, before)


def test_identity_matrices_that_are_kept_are_not_handed_out():
    x = normal(3)
    for _ in range(2):
        j = qad.jacobian(lambda x: x)(x)
        np.testing.assert_array_equal(j, np.eye(3))
        j[...] = 5.0
        both = qad.jacobian(lambda x, y: x + y, (0, 1))(x, x)
        assert not np.shares_memory(*both)
        both[0][...] = 5.0
        np.testing.assert_array_equal(both[1], np.eye(3))
