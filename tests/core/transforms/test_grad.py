"""`grad`, `value_and_grad`, `vjp`: conventions, containers, nesting, ownership."""

from dataclasses import dataclass, field

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError, GradientTypeError, LeakedTensorError, ShapeError

Z = np.array([1 + 2j, 3 - 1j])
X = np.array([0.3, 0.4])


def cubic(z):
    return (z * z.conj() * z).real.sum()


def test_convention_is_steepest_ascent():
    g = qad.grad(lambda z: (z * z.conj()).real.sum())(Z)
    np.testing.assert_array_equal(g, 2 * Z)


def test_value_and_grad_of_several_arguments():
    value, (ga, gb) = qad.value_and_grad(lambda a, b: (a * b).sum(), argnums=(0, 1))(X, 2 * X)
    assert value == pytest.approx(2 * X @ X)
    np.testing.assert_array_equal(ga, 2 * X)
    np.testing.assert_array_equal(gb, X)
    assert isinstance(value, np.float64)


def test_negative_argnum():
    np.testing.assert_array_equal(qad.grad(lambda a, b: (a * b).sum(), argnums=-1)(X, 2 * X), X)


@pytest.mark.parametrize("argnums", [2, -3])
def test_argnum_out_of_range(argnums):
    with pytest.raises(ArgumentError, match="argnums names argument"):
        qad.grad(lambda a, b: (a * b).sum(), argnums=argnums)(X, X)


def test_has_aux():
    (_value, aux), g = qad.value_and_grad(lambda x: ((x * x).sum(), {"double": 2 * x}), has_aux=True)(X)
    np.testing.assert_array_equal(aux["double"], 2 * X)
    assert type(aux["double"]) is np.ndarray
    g2, aux2 = qad.grad(lambda x: ((x * x).sum(), x), has_aux=True)(X)
    np.testing.assert_array_equal(g, g2)
    np.testing.assert_array_equal(aux2, X)


@dataclass
class Model:
    weight: np.ndarray
    scale: float
    name: str = field(default="m", metadata={"static": True})


def test_pytrees_come_back_in_their_own_shape():
    tree = {"a": [Z, (X,)], "model": Model(X, 2.0), "none": None}

    def loss(t):
        return (t["a"][0] * 1j).real.sum() + (t["a"][1][0] * t["model"].weight).sum() * t["model"].scale

    g = qad.grad(loss)(tree)
    assert g["none"] is None
    np.testing.assert_array_equal(g["a"][0], [-1j, -1j])
    assert isinstance(g["model"], Model)
    assert g["model"].name == "m"
    assert g["model"].scale == pytest.approx(X @ X)
    np.testing.assert_array_equal(g["model"].weight, 2 * X)


def test_real_input_gets_real_gradient():
    g = qad.grad(lambda x: (x * (2 + 3j) * x).real.sum())(X)
    assert g.dtype == np.float64
    np.testing.assert_allclose(g, 4 * X)


def test_projection_happens_at_every_real_node():
    """``Re((|z|^2 (1+2j))^2)``: projecting at the leaves only is wrong."""

    def f(z):
        w = (z * z.conj()).real * (1 + 2j)
        return (w * w).real.sum()

    qad.check_grads(f, (Z,))


@pytest.mark.parametrize("dtype", [np.float32, np.complex64, np.float64, np.complex128])
def test_dtype_is_kept(dtype):
    x = np.ones(3, dtype)
    g = qad.grad(lambda x: (x * x.conj() * np.float64(2)).real.sum())(x)
    assert g.dtype == dtype


def test_python_numbers():
    g = qad.grad(lambda z: (z * z.conj()).real)(1 + 2j)
    assert g == 2 + 4j
    assert isinstance(qad.grad(lambda x: x * x)(3.0), np.float64)


def test_unused_arguments_get_zeros():
    _ga, gb = qad.grad(lambda a, b: (a * a).sum(), argnums=(0, 1))(X, Z)
    np.testing.assert_array_equal(gb, np.zeros(2, complex))
    assert gb.dtype == complex
    np.testing.assert_array_equal(qad.grad(lambda a: 1.0)(X), np.zeros(2))


@pytest.mark.parametrize(
    "loss", [lambda x, y: (x + y).sum(), lambda x, y: (x - y).sum() + x.sum(), lambda x, y: (x * y).sum()]
)
@pytest.mark.parametrize("a", [X, Z])
def test_gradients_own_writable_memory(loss, a):
    f = qad.value_and_grad(lambda x, y: loss(x, y).real, argnums=(0, 1))
    x, y = a.copy(), a.copy()
    first = f(x, y)[1]
    kept = [g.copy() for g in first]
    assert not any(np.shares_memory(p, q) for p in first for q in (x, y))
    assert not np.shares_memory(*first)
    for g in first:
        g[...] = 77
    np.testing.assert_array_equal(x, a)
    np.testing.assert_array_equal(y, a)
    for g, k in zip(f(x, y)[1], kept, strict=True):
        np.testing.assert_array_equal(g, k)


def test_nested_grad():
    def inner(x):
        return (x * x * x).sum()

    np.testing.assert_allclose(qad.grad(lambda x: qad.grad(inner)(x).sum())(X), 6 * X)
    third = qad.grad(lambda x: qad.grad(lambda y: qad.grad(inner)(y).sum())(x).sum())(X)
    np.testing.assert_allclose(third, [6, 6])


def test_no_perturbation_confusion():
    """d/dx [x d/dy (x + y)] is 1: the inner derivative must not see the outer x."""
    assert qad.grad(lambda x: x * qad.grad(lambda y: x + y)(1.0))(2.0) == 1.0
    assert qad.grad(lambda x: x * qad.grad(lambda y: x * y * y)(x))(2.0) == pytest.approx(6 * 4.0)
    assert qad.jvp(lambda x: x * qad.jvp(lambda y: x + y, (1.0,), (1.0,))[1], (2.0,), (1.0,))[1] == 1.0


def test_closures_over_outer_tensors():
    t = qad.tensor([1.0, 2.0], requires_grad=True)
    g = qad.grad(lambda b: (t * b * b).sum())(np.array([2.0, 3.0]))
    (g * g).sum().backward()
    np.testing.assert_allclose(t.grad, 8 * np.array([1.0, 2.0]) * np.array([4.0, 9.0]))


def test_leaked_tensors_raise():
    leaked = []
    qad.grad(lambda z: (leaked.append(z * 2), cubic(z))[1])(Z)
    with pytest.raises(LeakedTensorError, match="finished transform"):
        leaked[0] * 2
    with pytest.raises(LeakedTensorError):
        qad.grad(lambda z: cubic(z * leaked[0]))(Z)
    with pytest.raises(LeakedTensorError):
        qad.grad(lambda z: leaked[0])(Z)
    with pytest.raises(LeakedTensorError):
        qad.jvp(lambda z: leaked[0], (Z,), (Z,))


def test_inner_result_leaking_outwards_raises():
    """The silent trap of levels: without a check the outer gradient would be 0."""
    kept = []

    def outer(x):
        qad.grad(lambda y: (kept.append(y * y), (y * y).sum())[1])(x)
        return (kept[0] * x).sum()

    with pytest.raises(LeakedTensorError):
        qad.grad(outer)(X)


def test_complex_output_names_the_ways_out():
    with pytest.raises(GradientTypeError, match=r"qad\.wirtinger, qad\.vjp or qad\.jacobian.*out\.real"):
        qad.grad(lambda z: z.sum())(Z)


def test_vector_output():
    with pytest.raises(ShapeError, match=r"out\.sum\(\)"):
        qad.grad(lambda x: x * x)(X)


def test_integer_leaves_name_their_place():
    with pytest.raises(GradientTypeError, match=r"argument 0\['a'\]\[1\] has dtype int64"):
        qad.grad(lambda t: t["a"][0].sum())({"a": [X, np.arange(3)]})
    with pytest.raises(GradientTypeError, match="argument 0 has type int"):
        qad.grad(lambda x: x * 1.0)(3)


def test_vjp_pullback_may_be_called_again():
    out, pullback = qad.vjp(lambda z, w: {"p": z * w, "q": (z * 1j,)}, Z, Z.conj())
    assert set(out) == {"p", "q"}
    for _ in range(2):
        gz, gw = pullback({"p": np.ones(2), "q": (np.zeros(2),)})
        np.testing.assert_allclose(gz, Z)
        np.testing.assert_allclose(gw, Z.conj())


def test_vjp_pullback_by_some_primals_alone():
    """The others are not visited: the rule of a function of one of them is not called."""
    visited = []

    @qad.extend.primitive
    def doubled(x):
        return 2 * x

    qad.extend.rule(doubled, lambda g, y, x: visited.append(x) or 2 * g)

    def f(a, b):
        q, r = np.linalg.qr(a)
        return q @ (r * doubled(b["b"])), doubled(b["c"]), 3.0

    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((3, 3)), {"b": rng.standard_normal((3, 3)), "c": rng.standard_normal(2)}
    w = rng.standard_normal((3, 3)), np.ones(2), 1.0
    _, pullback = qad.vjp(f, a, b)
    by_a, by_b = pullback(w)
    assert len(visited) == 2
    np.testing.assert_array_equal(pullback(w, argnums=(0,))[0], by_a)
    assert len(visited) == 2
    (alone,) = pullback(w, argnums=(1,))
    for name in b:
        np.testing.assert_array_equal(alone[name], by_b[name])
    np.testing.assert_array_equal(by_b["c"], [2.0, 2.0])
    _, pullback = qad.vjp(lambda a, b: a * 2, a, a)
    np.testing.assert_array_equal(pullback(np.ones((3, 3)), argnums=(1,))[0], np.zeros((3, 3)))


@pytest.mark.parametrize("argnums, words", [(2, "there are 2 positional"), ([0], "a tuple of"), ((0, -2), "twice")])
def test_pullbacks_check_their_argnums(argnums, words):
    _, pullback = qad.vjp(lambda a, b: a * b, X, 2 * X)
    with pytest.raises(ArgumentError, match=words):
        pullback(X, argnums=argnums)
    np.testing.assert_array_equal(pullback(X, argnums=-1)[0], X * X)


def test_vjp_checks_its_cotangent():
    _, pullback = qad.vjp(lambda x: x * x, X)
    with pytest.raises(ShapeError, match="cotangent has shape"):
        pullback(np.ones(3))
    with pytest.raises(GradientTypeError, match="complex"):
        pullback(np.ones(2) * 1j)
    with pytest.raises(ArgumentError, match="nested like"):
        pullback((np.ones(2),))


def test_errors_wrapped_by_numpy_are_unwrapped():
    buffer = np.zeros(3)

    def fill(x):
        buffer[0] = x[0] if hasattr(type(x), "__getitem__") else x.sum()
        return x.sum()

    with pytest.raises(qad.errors.RecordedTensorError, match=r"np\.stack"):
        qad.grad(fill)(X)


def test_writing_into_what_vjp_returned_leaves_its_pullback_right():
    """Rules use the answers: of exp, of the identity."""
    for f in (np.exp, lambda x: x, lambda x: (x, x * x)):
        x = np.array([0.5, 1.0])
        out, pullback = qad.vjp(f, x)
        w = qad.core.trees.tree_map(np.ones_like, out)
        (expected,) = pullback(w)
        qad.core.trees.tree_map(lambda y: y.fill(7), out)
        np.testing.assert_array_equal(pullback(w)[0], expected)
        np.testing.assert_array_equal(x, [0.5, 1.0])


@pytest.mark.parametrize("kind", [np.float64, np.complex128, np.float32, np.complex64, np.array])
def test_scalars_and_arrays_without_axes_come_back_as_they_were(kind):
    x = kind(0.5)
    for f in (lambda x: abs(x) ** 2, lambda x: (x * x).real, lambda x: x[..., None].real.sum(), lambda x: 1.0):
        for g in (qad.grad(f)(x), qad.hvp(f, (x,), (x,))[0], qad.vjp(f, x)[1](1.0)[0]):
            assert type(g) is type(x) and g.dtype == x.dtype


def test_gradients_in_the_convention_of_jax():
    z, w = np.array([1 + 2j, 3.0]), np.array([2.0])

    def f(z, w):
        return (qad.abs2(z).sum() * w).sum()

    ours, theirs = qad.grad(f, (0, 1))(z, w), qad.grad(f, (0, 1), convention="jax")(z, w)
    np.testing.assert_allclose(theirs[0], ours[0].conj())
    np.testing.assert_allclose(theirs[1], ours[1])
    assert theirs[1].dtype == float
    value, gradient = qad.value_and_grad(f, convention="jax")(z, w)
    assert value == f(z, w)
    np.testing.assert_allclose(gradient, ours[0].conj())
    with pytest.raises(ArgumentError, match="'steepest', 'jax'"):
        qad.grad(f, convention="torch")
