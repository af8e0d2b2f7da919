"""The square of an absolute value has its second derivative at zero, however it is written and whoever looks on."""

import numpy as np
import pytest

import qad
from qad.core.debug.observer import plain_roads

UP, ZERO = np.array(1j), np.array(0j)
X, V = np.zeros(2), np.array([1.0, -2.0])


def of_one(f):
    """A program of an absolute value that is formed once."""
    return lambda z: f(abs(z))


SQUARES = {
    "r * r": of_one(lambda r: r * r),
    "np.multiply(r, r)": of_one(lambda r: np.multiply(r, r)),
    "abs(z) * abs(z), two of them": lambda z: abs(z) * abs(z),
    "abs(z) * abs(z).conj()": lambda z: np.abs(z) * np.abs(z).conj(),
    "r ** 2": of_one(lambda r: r**2),
    "r ** 2.0": of_one(lambda r: r**2.0),
    "r ** np.float64(2)": of_one(lambda r: r ** np.float64(2)),
    "r ** np.array(2)": of_one(lambda r: r ** np.array(2)),
    "np.square(r)": of_one(np.square),
    "np.power(r, 2)": of_one(lambda r: np.power(r, 2)),
    "np.float_power(r, 2)": of_one(lambda r: np.float_power(r, 2)),
    "abs(abs(z)) ** 2": of_one(lambda r: abs(r) ** 2),
    "r[None] ** 2": of_one(lambda r: (r[None] ** 2)[0]),
    "a reshaped r": of_one(lambda r: np.sum(np.square(r.reshape((1, 1)).T))),
    "r @ r": of_one(lambda r: (lambda v: v @ v)(r[None])),
    "np.dot(r, r)": of_one(lambda r: (lambda v: np.dot(v, v))(r[None])),
    "np.inner(r, r)": of_one(lambda r: (lambda v: np.inner(v, v))(r[None])),
    "np.vdot(r, r)": of_one(lambda r: np.vdot(r, r)),
    "np.vdot(z, z)": lambda z: np.vdot(z, z).real,
    "z * conj(z)": lambda z: (z * z.conj()).real,
    "norm(z) ** 2": lambda z: np.linalg.norm(z) ** 2,
    "norm of a vector, squared": lambda z: np.square(np.linalg.norm(z[None])),
    "norm along an axis, squared": lambda z: np.sum(np.linalg.norm(z[None, None], axis=0) ** 2),
    "hypot(x, y) ** 2": lambda z: np.hypot(z.real, z.imag) ** 2,
    "hypot times itself": lambda z: (lambda x, y: np.hypot(x, y) * np.hypot(x, y))(z.real, z.imag),
    "fabs(x) ** 2 + fabs(y) ** 2": lambda z: np.fabs(z.real) ** 2 + np.square(np.fabs(z.imag)),
    "abs2(z)": qad.abs2,
}


def along(f):
    return qad.hvp(f, (ZERO,), (UP,))[0]


def looked_at(context):
    def road(f):
        with context():
            return along(f)

    return road


def on_the_tape(f):
    """Level 0 records the loss, and a transform differentiates the gradient that it gives."""

    def gradient(z):
        leaf = qad.tensor(z.numpy(), requires_grad=True)
        f(leaf).backward()
        return leaf.grad

    step = 1e-6  # the gradient is linear
    return (gradient(qad.tensor(step * UP)) - gradient(qad.tensor(-step * UP))) / (2 * step)


ROADS = {
    "hvp": along,
    "vhp": lambda f: qad.vhp(f, (ZERO,), (UP,))[0],
    "profile": looked_at(lambda: qad.profile(show=False)),
    "debug": looked_at(qad.debug),
    "plain": looked_at(plain_roads),
    "gradient of jvp": lambda f: qad.grad(lambda z: qad.jvp(f, (z,), (UP,))[1])(ZERO),
    "checkpoint": lambda f: along(qad.checkpoint(f)),
    "vmap outside": lambda f: qad.vmap(lambda z: qad.hvp(f, (z,), (UP,))[0])(np.zeros(2, complex))[1],
    "vmap inside": lambda f: qad.hvp(lambda z: qad.vmap(f)(z).sum(), (ZERO[None],), (UP[None],))[0][0],
    "freeze": lambda f: qad.freeze(lambda z: qad.hvp(f, (z,), (UP,))[0])(ZERO),
    "frozen inside": lambda f: along(qad.freeze(f)),
    "hessian": lambda f: 2 * np.conj(qad.hessian(f)(ZERO).zz * UP + qad.hessian(f)(ZERO).zzbar * np.conj(UP)),
    "tape": on_the_tape,
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize("square", SQUARES)
def test_the_square_of_an_absolute_value_is_smooth_at_zero(square, road):
    np.testing.assert_allclose(ROADS[road](SQUARES[square]), 2j, atol=1e-9)


@pytest.mark.parametrize("square", [name for name in SQUARES if not name.startswith("norm")])
def test_forward_over_forward_too(square):
    def slope(z):
        return qad.jvp(SQUARES[square], (z,), (UP,))[1]

    assert qad.jvp(slope, (ZERO,), (UP,))[1] == 2.0


def test_of_real_numbers_too():
    for f in (lambda x: abs(x) * abs(x), lambda x: np.fabs(x) * np.fabs(x), lambda x: np.abs(x) ** 2):
        np.testing.assert_array_equal(qad.hvp(lambda x, f=f: np.sum(f(x)), (X,), (V,))[0], 2 * V)


def test_higher_even_powers():
    def fourth(f):
        for _ in range(4):
            f = (lambda g: lambda z: qad.jvp(g, (z,), (np.array(1 + 0j),))[1])(f)
        return f(ZERO)

    assert fourth(lambda z: abs(z) ** 4) == fourth(lambda z: abs(z) ** np.float64(4)) == 24.0


def test_products_of_different_sizes_stay_products():
    u, v = np.array([1 + 2j, 0j]), np.array([3 - 1j, 2j])
    for f in (lambda u, v: abs(u) * abs(v), lambda u, v: np.multiply(np.abs(u), np.abs(v))):
        qad.check_grads(f, (u[:1], v[:1]))
    x = qad.tensor(u, requires_grad=True)
    assert "op=multiply" in repr(abs(x[0]) * abs(x[1]))
    assert "op=multiply" in repr(abs(x) * abs(qad.tensor(v)))


def test_a_norm_at_zero_has_no_second_derivative_but_its_square_has():
    z = np.zeros(3, complex)
    with pytest.raises(qad.errors.ArgumentError, match="second derivative"):
        qad.hvp(np.linalg.norm, (z,), (z + 1,))
    np.testing.assert_array_equal(qad.hvp(lambda z: np.linalg.norm(z) ** 2, (z,), (z + 1j,))[0], z + 2j)


def test_debug_looks_into_batches():
    with np.errstate(all="ignore"), qad.debug(), pytest.raises(qad.errors.NotFiniteError, match="log gave -inf"):
        qad.vmap(lambda x: np.sum(np.log(x)))(np.array([[1.0, 2.0], [0.0, 3.0]]))


def test_profile_counts_batches():
    with qad.profile(show=False) as p:
        qad.vmap(lambda x: np.sum(np.sin(x) * x) + x @ x)(np.ones((5, 3)))
    assert p.rows["sin"].calls == p.rows["multiply"].calls == p.rows["matmul"].calls == 1


@pytest.mark.parametrize("point", [np.array(0.5), np.float64(0.5), 0.5])
def test_a_tangent_without_axes_is_of_the_kind_of_its_value(point):
    for f in (lambda x: x, lambda x: x * x, lambda x: np.sin(x[None]).sum()):
        gradient = qad.grad(lambda x, f=f: np.sum(f(x) ** 2))
        quick = [type(x) for x in qad.jvp(gradient, (point,), (1.0,))]
        with plain_roads():
            assert [type(x) for x in qad.jvp(gradient, (point,), (1.0,))] == quick
        with qad.profile(show=False):
            assert [type(x) for x in qad.jvp(gradient, (point,), (1.0,))] == quick


def written_operand(x):
    z = x * 1.0
    z[1] = 2.0 * x[1]
    r = abs(z)
    z[0] = 5.0
    return np.sum(r * r) + 0 * np.sum(z)


def written_between(x):
    z = x * 1.0
    r = abs(z)
    z[0] = 5.0
    return np.sum(abs(z) * r)


def written_root(x):
    r = abs(x * 1.0)
    r[0] = 7.0
    return np.sum(r * r) + np.sum(r[:] ** 2)


def swapped_root(x):
    r = abs(x * 1.0)
    before = r**2
    r[0], r[1] = r[1], r[0]
    return np.sum(before * np.array([1.0, 3.0])) + np.sum(r**2 * np.array([1.0, 10.0]))


@pytest.mark.parametrize("f", [written_operand, written_between, written_root, swapped_root])
def test_a_root_forgets_where_it_came_from_when_something_is_written(f):
    x, v = np.array([1.0, -2.0]), np.array([0.5, 1.5])
    for context in (np.errstate, plain_roads):
        with context():
            value, slope = qad.jvp(f, (x,), (v,))
            assert value == f(x) == qad.vmap(f)(x[None])[0]
            np.testing.assert_allclose(slope, qad.grad(f)(x) @ v)
            np.testing.assert_allclose(slope, (f(x + 1e-6 * v) - f(x - 1e-6 * v)) / 2e-6)
            np.testing.assert_allclose(qad.jvp(lambda x: qad.vmap(f)(x[None])[0], (x,), (v,))[1], slope)
