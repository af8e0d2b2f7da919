"""`vmap`: axes, containers, nesting with the other transforms, and what it refuses."""

from dataclasses import dataclass
from operator import attrgetter

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError, BatchError, LeakedTensorError, ShapeError
from tests.cases import normal

X = normal(5, 3)
A = normal(3, 3)


def quartic(x):
    return np.sum(np.sin(x) ** 4) * x[0]


def rows(f, *stacks):
    return np.stack([f(*row) for row in zip(*stacks, strict=True)])


# -- axes and containers -----------------------------------------------------------------------------------------------


def test_axes_of_arguments_and_results():
    y = qad.vmap(lambda a, x: a @ x, in_axes=(None, 1), out_axes=1)(A, X.T)
    np.testing.assert_allclose(y, A @ X.T)
    y = qad.vmap(np.outer, in_axes=(0, -1), out_axes=-1)(X, X.T)
    np.testing.assert_allclose(y, np.einsum("bi,bj->ijb", X, X))


def test_axes_of_trees():
    def f(p, x):
        return {"y": p["a"] @ x + p["b"], "shared": p["a"].sum()}

    p = {"a": A, "b": X}
    out = qad.vmap(f, in_axes=({"a": None, "b": 0}, 0), out_axes={"y": 0, "shared": None})(p, X)
    np.testing.assert_allclose(out["y"], X @ A.T + X)
    np.testing.assert_allclose(out["shared"], A.sum())
    stacked = {"a": np.stack([A] * 5), "b": X}
    np.testing.assert_allclose(qad.vmap(f)(stacked, X)["y"], out["y"])


@dataclass
class Pair:
    left: np.ndarray
    right: np.ndarray


def test_dataclasses_come_back():
    out = qad.vmap(lambda p: Pair(p.right * 2, p.left))(Pair(X, X + 1))
    np.testing.assert_allclose(out.left, 2 * (X + 1))
    np.testing.assert_allclose(out.right, X)


def test_what_is_shared_is_repeated():
    y = qad.vmap(lambda x: np.ones(2))(X)
    assert y.shape == (5, 2)
    y[0] = 7
    assert y[1, 0] == 1


def test_results_own_their_memory():
    x = X.copy()
    one, two, three = qad.vmap(lambda x: (x, x, x[::-1]))(x)
    one[:], two[:], three[:] = 1, 2, 3
    np.testing.assert_array_equal(x, X)
    assert one[0, 0] == 1 and two[0, 0] == 2


def test_keyword_arguments_are_shared():
    np.testing.assert_allclose(qad.vmap(lambda x, *, c: c @ x)(X, c=A), X @ A.T)


def test_integers_masks_and_indices():
    i = np.array([2, 0, 1, 1, 0])
    np.testing.assert_array_equal(qad.vmap(lambda x, i: x[i])(X, i), X[np.arange(5), i])
    np.testing.assert_array_equal(qad.vmap(lambda i: np.take(qad.tensor(A), i, axis=1))(i), A.T[i])
    np.testing.assert_array_equal(qad.vmap(lambda x: x[np.argsort(x)])(X), np.sort(X))
    np.testing.assert_array_equal(qad.vmap(lambda x: np.where((x > 0) & ~(x > 1), x, 0))(X), X * (X > 0) * (X <= 1))
    np.testing.assert_array_equal(qad.vmap(lambda x: np.argmax(x))(X), X.argmax(1))
    np.testing.assert_array_equal(qad.vmap(lambda x: (x > 0).sum())(X), (X > 0).sum(1))


INDICES = [
    (lambda x, i: x[i], (4, 2)), (lambda x, i: x[:, i], (2, 4)), (lambda x, i: x[i, :, i], (4, 2, 4)),
    (lambda x, i: x[..., i, 0], (2, 4, 3)), (lambda x, i: x[1, i], (2, 4)), (lambda x, i: x[:, [0, 1], i], (2, 3, 4)),
    (lambda x, i: x[None, np.add(i, [0, 1])], (5,)), (lambda x, i: np.take(x, i, axis=-1), (2, 4)),
    (lambda x, i: np.take_along_axis(x, np.stack([i, i])[:, None], axis=1), (2, 4)),
]  # fmt: skip


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("f, shape", INDICES)
def test_indices_that_differ_between_examples(f, shape, shared):
    i, x = np.array([3, 0, 2]), normal(3, *shape)

    def loss(x, i):
        return (f(x, i) ** 3).sum()

    if shared:
        got = qad.vmap(lambda i: f(qad.tensor(x[0]), i))(i), qad.vmap(qad.grad(loss), (None, 0))(x[0], i)
        pairs = [(x[0], k) for k in i]
    else:
        got, pairs = (qad.vmap(f)(x, i), qad.vmap(qad.grad(loss))(x, i)), list(zip(x, i, strict=True))
    np.testing.assert_array_equal(got[0], [f(*pair) for pair in pairs])
    np.testing.assert_allclose(got[1], [qad.grad(loss)(*pair) for pair in pairs])


# -- nesting -----------------------------------------------------------------------------------------------------------


def test_derivatives_of_examples():
    np.testing.assert_allclose(qad.vmap(qad.grad(quartic))(X), rows(qad.grad(quartic), X))
    np.testing.assert_allclose(qad.vmap(qad.hessian(quartic))(X), rows(qad.hessian(quartic), X))
    np.testing.assert_allclose(qad.vmap(qad.jacobian(np.sin))(X), rows(qad.jacobian(np.sin), X))

    def hvp(x, v):
        return qad.hvp(quartic, (x,), (v,))[0]

    np.testing.assert_allclose(qad.vmap(hvp)(X, X + 1), rows(hvp, X, X + 1))

    def push(x, v):
        return qad.jvp(np.sin, (x,), (v,))[1]

    np.testing.assert_allclose(qad.vmap(push, (0, None))(X, X[0]), np.cos(X) * X[0])


def test_derivatives_of_a_batch():
    def loss(x):
        return np.sum(qad.vmap(quartic)(x) ** 2)

    def looped(x):
        return sum(quartic(row) ** 2 for row in x)

    np.testing.assert_allclose(qad.grad(loss)(X), qad.grad(looped)(X))
    np.testing.assert_allclose(qad.hvp(loss, (X,), (X,)), qad.hvp(looped, (X,), (X,)))
    np.testing.assert_allclose(qad.hessian(loss)(X), qad.hessian(looped)(X))
    np.testing.assert_allclose(qad.jvp(loss, (X,), (X,))[1], qad.jvp(looped, (X,), (X,))[1])
    np.testing.assert_allclose(
        qad.jacobian(qad.vmap(quartic))(X), qad.jacobian(lambda x: np.stack([quartic(r) for r in x]))(X)
    )


def test_complex_derivatives():
    z = normal(4, 3, complex)

    def f(z):
        return np.abs(np.sum(z * z * z.conj())) ** 2

    np.testing.assert_allclose(qad.vmap(qad.grad(f))(z), rows(qad.grad(f), z))
    for part in (attrgetter("zz"), attrgetter("zzbar")):

        def second(z, part=part):
            return part(qad.hessian(f)(z))

        np.testing.assert_allclose(qad.vmap(second)(z), rows(second, z), atol=1e-12)
    np.testing.assert_allclose(
        qad.vmap(qad.wirtinger(np.abs))(z), np.swapaxes([qad.wirtinger(np.abs)(r) for r in z], 0, 1)
    )


def test_constants_of_an_outer_level_are_differentiated():
    """The closed-over Tensor has a lower level than the batch; a mask of the batch chooses from it."""

    def loss(w):
        return np.sum(qad.vmap(lambda x: np.where(x > 0, w * x, w**2) @ w)(X))

    def looped(w):
        return sum(np.where(x > 0, w * x, w**2) @ w for x in X)

    np.testing.assert_allclose(qad.grad(loss)(A[0]), qad.grad(looped)(A[0]))


def test_a_batch_inside_an_unbatched_gradient():
    """The leaf of the gradient is shared, its cotangent is not."""
    g = qad.vmap(lambda x: qad.grad(lambda w: np.sin(w @ x))(A[0]))(X)
    np.testing.assert_allclose(g, np.cos(X @ A[0])[:, None] * X)


def test_nested_batches():
    y = qad.vmap(lambda x: qad.vmap(lambda a: np.linalg.solve(np.eye(3) * 9 + a, x) @ x)(normal(4, 3, 3)))(X)
    expected = [[np.linalg.solve(np.eye(3) * 9 + a, x) @ x for a in normal(4, 3, 3)] for x in X]
    np.testing.assert_allclose(y, expected)
    table = qad.vmap(qad.vmap(np.dot, (None, 0)), (0, None))(X, A)
    np.testing.assert_allclose(table, X @ A.T)
    g = qad.vmap(qad.vmap(qad.grad(quartic)))(np.stack([X, X + 1]))
    np.testing.assert_allclose(g, [rows(qad.grad(quartic), X), rows(qad.grad(quartic), X + 1)])


def test_stop_gradient_no_grad_and_checkpoint():
    def f(x):
        return np.sum(x * qad.stop_gradient(x))

    np.testing.assert_allclose(qad.vmap(qad.grad(f))(X), X)
    np.testing.assert_allclose(qad.grad(lambda x: qad.vmap(f)(x).sum())(X), X)
    saved = qad.checkpoint(quartic)
    np.testing.assert_allclose(qad.vmap(qad.grad(saved))(X), rows(qad.grad(quartic), X))
    np.testing.assert_allclose(qad.grad(lambda x: qad.vmap(saved)(x).sum())(X), rows(qad.grad(quartic), X))
    with qad.no_grad():
        np.testing.assert_allclose(qad.vmap(qad.grad(quartic))(X), rows(qad.grad(quartic), X))


def test_level_zero_tensors_keep_their_tape():
    x = qad.tensor(X, requires_grad=True)
    qad.vmap(quartic)(x).sum().backward()
    np.testing.assert_allclose(x.grad, rows(qad.grad(quartic), X))


def test_functions_without_a_rule_run_once_per_example():
    @qad.extend.primitive
    def cube(x):
        return np.asarray([float(v) ** 3 for v in x])

    qad.extend.defvjp(cube, lambda g, ans, x: g * 3 * x**2)
    np.testing.assert_allclose(qad.vmap(cube)(X), X**3)
    np.testing.assert_allclose(qad.vmap(qad.grad(lambda x: cube(x).sum()))(X), 3 * X**2)
    np.testing.assert_allclose(qad.grad(lambda x: qad.vmap(cube)(x).sum())(X), 3 * X**2)


def test_functions_without_a_rule_may_have_several_results():
    @qad.extend.primitive
    def parts(x):
        return np.asarray(x[:2]) * 2.0, np.asarray(x[0] + x[2])

    first, second = qad.vmap(parts)(X)
    np.testing.assert_allclose(first, 2 * X[:, :2])
    np.testing.assert_allclose(second, X[:, 0] + X[:, 2])


# -- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x if x[0] > 0 else -x,
        lambda x: max(x[0], x[1]),
        lambda x: np.sin(x[0]) if (x > 0).any() else x[0],
        lambda x: sorted(x),
    ],
)
def test_branches_name_where(f):
    with pytest.raises(BatchError, match=r"qad\.where"):
        qad.vmap(f)(X)


def test_masks_of_examples_select_no_entries():
    with pytest.raises(BatchError, match=r"qad\.where"):
        qad.vmap(lambda x: x[x > 0])(X)


@pytest.mark.parametrize("f", [lambda x: x[0].item(), lambda x: x.tolist(), lambda x: range(x[0])])
def test_numbers_are_refused(f):
    with pytest.raises(BatchError, match="keep it a Tensor"):
        qad.vmap(f)(X)


def test_sizes_and_axes_are_checked():
    with pytest.raises(ShapeError, match=r"5 in argument \[0\] and 3 in argument \[1\]"):
        qad.vmap(np.add)(X, A)
    with pytest.raises(ShapeError, match="no axis 0: write None in in_axes"):
        qad.vmap(np.add)(X, 1.0)
    with pytest.raises(ArgumentError, match="in_axes has 1 entries for 2"):
        qad.vmap(np.add, in_axes=(0,))(X, X)
    with pytest.raises(ArgumentError, match="give an axis"):
        qad.vmap(np.add, in_axes=None)(X, X)
    with pytest.raises(ArgumentError, match="out_axes=None is for what is equal"):
        qad.vmap(np.sin, out_axes=None)(X)
    with pytest.raises(ArgumentError, match="integers and None"):
        qad.vmap(np.sin, in_axes=("rows",))(X)


def test_leaks_are_noticed():
    kept = []
    qad.vmap(lambda x: kept.append(x) or x)(X)
    with pytest.raises(LeakedTensorError):
        np.sin(kept[0])
    with pytest.raises(LeakedTensorError):
        qad.vmap(lambda x: kept[0])(X)


@pytest.mark.parametrize("outer", [(0, 0), (None, 0), (0, None)])
@pytest.mark.parametrize("inner", [(0, 0), (None, 0), (0, None)])
def test_indices_that_differ_in_two_nested_batches(outer, inner):
    rng = np.random.default_rng(0)
    x, index = rng.standard_normal((2, 3, 2, 4)), rng.integers(0, 4, (2, 3, 2))
    pick = {(0, 0): lambda t, a, b: t[a, b], (0, None): lambda t, a, b: t[a, 0], (None, 0): lambda t, a, b: t[0, b],
            (None, None): lambda t, a, b: t[0, 0]}  # fmt: skip
    kinds = list(zip(outer, inner, strict=True))
    whole = [
        t[tuple(slice(None) if axis == 0 else 0 for axis in kind)] for t, kind in zip((x, index), kinds, strict=True)
    ]
    slope = qad.grad(lambda x, i: np.sum(x[:, i] ** 2) + np.sum(x[0][i] ** 3))
    found = qad.vmap(qad.vmap(slope, in_axes=inner), in_axes=outer)(*whole)
    for a in range(2):
        for b in range(3):
            one = [pick[kind](t, a, b) for t, kind in zip((x, index), kinds, strict=True)]
            np.testing.assert_allclose(found[a, b], slope(*one))
