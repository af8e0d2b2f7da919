"""`jvp` and `hvp`."""

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError, GradientTypeError, ShapeError

Z = np.array([1 + 2j, 3 - 1j])
V = np.array([1j, 2.0 + 0.5j])


def loss(z):
    return (z * z.conj() * z).real.sum()


def test_jvp_agrees_with_grad():
    value, moved = qad.jvp(loss, (Z,), (V,))
    assert value == loss(Z)
    assert moved == pytest.approx(np.vdot(qad.grad(loss)(Z), V).real)


def test_jvp_of_pytrees_and_constant_outputs():
    out, moved = qad.jvp(lambda t: {"a": t["x"] * 2, "b": np.ones(3)}, ({"x": Z},), ({"x": V},))
    np.testing.assert_array_equal(moved["a"], 2 * V)
    np.testing.assert_array_equal(moved["b"], np.zeros(3))
    assert type(moved["a"]) is np.ndarray
    assert type(out["a"]) is np.ndarray


def test_hvp_against_differences_and_reverse_over_reverse():
    (h,) = qad.hvp(loss, (Z,), (V,))
    e = 1e-6
    np.testing.assert_allclose(h, (qad.grad(loss)(Z + e * V) - qad.grad(loss)(Z - e * V)) / (2 * e), rtol=1e-8)
    again = qad.grad(lambda z: (qad.grad(loss)(z) * V.conj()).sum().real)(Z)
    np.testing.assert_allclose(h, again, rtol=1e-12)


def test_hvp_of_several_arguments():
    a, b = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    ha, hb = qad.hvp(lambda a, b: (a * b).sum(), (a, b), (b, a))
    np.testing.assert_array_equal(ha, a)
    np.testing.assert_array_equal(hb, b)


def test_forward_over_forward():
    second = qad.jvp(lambda x: qad.jvp(lambda y: y * y * y, (x,), (1.0,))[1], (2.0,), (1.0,))[1]
    assert second == pytest.approx(12.0)


def test_transposition_needs_no_forward_rule():
    @qad.extend.primitive
    def cube(x):
        return x * x * x

    qad.extend.defvjp(cube, lambda g, y, x: 3.0 * g * x * x)
    np.testing.assert_allclose(qad.jvp(cube, (Z,), (V,))[1], 3 * Z**2 * V)


def test_own_forward_rule_is_used():
    @qad.extend.primitive
    def double(x):
        return x * 2.0

    qad.extend.defvjp(double, lambda g, y, x: 2.0 * g)
    qad.extend.defjvp(double, lambda t, y, x: 20.0 * t)
    np.testing.assert_allclose(qad.jvp(double, (Z,), (V,))[1], 20 * V)


def test_shared_forward_rule_is_told_which_arguments_move():
    @qad.extend.primitive
    def both(x, y):
        return x + y, x - y

    told = []

    def forward(tangents, ans, x, y):
        told.append([t is None for t in tangents])
        s, t = (0.0 * x if t is None else t for t in tangents)
        return s + t, s - t

    qad.extend.defvjp(both, shared=lambda needed, g, ans, x, y: [])
    qad.extend.defjvp(both, shared=forward)
    plus, minus = qad.jvp(lambda y: both(Z, y), (Z,), (V,))[1]
    np.testing.assert_array_equal(plus, V)
    np.testing.assert_array_equal(minus, -V)
    assert told == [[True, False]]


def power(x, *, n=1):
    return np.sum(x**n)


def test_keyword_arguments_are_passed_on():
    x, v = np.array([1.0, 2.0]), np.array([1.0, -1.0])
    value, pullback = qad.vjp(power, x, n=3)
    assert value == 9.0
    np.testing.assert_allclose(pullback(1.0)[0], 3 * x**2)
    assert qad.jvp(power, (x,), (v,), n=3) == (9.0, pytest.approx(3 - 12))
    for product in (qad.hvp, qad.vhp):
        np.testing.assert_allclose(product(power, (x,), (v,), n=3)[0], 6 * x * v)
    with pytest.raises(TypeError):
        qad.jvp(power, (x,), (v,), m=3)


def test_bad_tangents():
    with pytest.raises(ArgumentError, match=r"qad\.jvp\(f, \(x,\), \(t,\)\)"):
        qad.jvp(loss, Z, V)
    with pytest.raises(ShapeError, match="tangent has shape"):
        qad.jvp(loss, (Z,), (V[:1],))
    with pytest.raises(GradientTypeError, match="tangent is complex"):
        qad.jvp(loss, (Z.real,), (V,))
    with pytest.raises(ArgumentError, match="nested like"):
        qad.jvp(loss, (Z,), ([V],))


def test_tangents_own_writable_memory():
    x, t = np.ones(3), np.ones(3)
    _, moved = qad.jvp(lambda x: (x, x.reshape(1, 3), np.broadcast_to(x, (2, 3))), (x,), (t,))
    products = qad.hvp(lambda a, b: a.sum() * b.sum(), (x, x), (t, t))
    for i, a in enumerate((*moved, *products)):
        a[...] = i
    np.testing.assert_array_equal(t, np.ones(3))
    assert [a.flat[0] for a in (*moved, *products)] == [0, 1, 2, 3, 4]


def test_tangents_have_the_dtype_of_the_output():
    """A real tangent that a complex constant has turned complex by addition alone."""
    x = np.float32(2.0)
    for f in (lambda x: x + 1j, lambda x: np.concatenate([x[None], [1j]]), lambda x: x + np.float64(1.0), lambda x: x):
        out, moved = qad.jvp(f, (x,), (x,))
        assert moved.dtype == out.dtype and type(moved) is type(out)


@pytest.mark.parametrize("x, kind", [(3.0, np.float64), (np.float64(3.0), np.float64), (np.array(3.0), np.ndarray)])
def test_tangents_of_a_constant_gradient_are_of_the_kind_of_the_argument(x, kind):
    """The gradient of a linear function depends on no tangent; what it gives at a number is a number all the same."""
    g, t = qad.jvp(qad.grad(lambda x: np.sum(np.atleast_1d(x))), (x,), (x,))
    assert (type(g), type(t), float(g), float(t)) == (kind, kind, 1.0, 0.0)
