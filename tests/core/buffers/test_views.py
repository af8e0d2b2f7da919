"""Programs of views and writes: values as NumPy's, and derivatives, eager and frozen, of what NumPy's views show."""

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError
from qad.core.tape.tensor import value_of
from qad.core.trees import flatten
from tests.core.buffers.view_programs import PROGRAMS, row_by_two_indices

X = np.array([1.0, 2.0, 3.0])


def loss(program):
    def f(x):
        y = program(x)
        return (abs(y) ** 2 * np.arange(1.0, 1 + y.size).reshape(y.shape)).sum()

    return f


@pytest.fixture(params=PROGRAMS, ids=lambda f: f.__name__)
def program(request):
    return request.param


def test_values_and_derivatives_are_numpys(program):
    expected = program(X.copy())
    np.testing.assert_allclose(qad.vjp(program, X)[0], expected, rtol=1e-14)
    np.testing.assert_allclose(qad.jvp(program, (X,), (X,))[0], expected, rtol=1e-14)
    np.testing.assert_allclose(value_of(program(qad.tensor(X))), expected, rtol=1e-14)
    qad.check_grads(program, (X,))


def test_batches_are_numpys(program):
    xs = np.stack([X, 0.9 * X[::-1]])
    values = qad.vmap(program)(xs)
    np.testing.assert_allclose(values, np.stack([program(x.copy()) for x in xs]), rtol=1e-13)
    f = loss(program)
    slopes = qad.vmap(qad.grad(f))(xs)
    np.testing.assert_allclose(slopes, np.stack([qad.grad(f)(x) for x in xs]), rtol=1e-12)


FROZEN = {
    "value_and_grad": lambda f: lambda x: qad.value_and_grad(f)(x),
    "jvp": lambda f: lambda x: qad.jvp(f, (x,), (x,)),
    "hessian": lambda f: lambda x: qad.hessian(f)(x),
    "checkpoint": lambda f: lambda x: qad.grad(qad.checkpoint(f))(x),
    "vmap": lambda f: lambda x: qad.vmap(f)(np.stack([x, x])),
}


@pytest.mark.parametrize("transform", FROZEN)
def test_frozen_derivatives_are_the_eager_ones(program, transform):
    eager = FROZEN[transform](loss(program))
    frozen = qad.freeze(eager)
    for x in (0.9 * X, X):
        for a, b in zip(flatten(frozen(x))[0], flatten(eager(x))[0], strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-11)


def test_frozen_functions_are_the_plain_ones(program):
    frozen, of_loss = qad.freeze(program), qad.freeze(loss(program))
    for x in (0.9 * X, X):
        np.testing.assert_allclose(frozen(x), program(x.copy()), rtol=1e-13)
        np.testing.assert_allclose(qad.grad(of_loss)(x), qad.grad(loss(program))(x), rtol=1e-11)
    assert frozen.stats.replays >= 1


def test_the_case_that_gave_196():
    def f(x):
        return np.sum(row_by_two_indices(x))

    for step in (qad.value_and_grad(f), qad.freeze(qad.value_and_grad(f))):
        for _ in range(2):
            value, gradient = step(X)
            assert value == f(X.copy()) == 140.0
            np.testing.assert_allclose(gradient, [48.0, 40.0, 144.0])


def test_views_of_constants_without_any_transform():
    b = qad.zeros((3, 3))
    t, r, flat, part = b.T, b[1], b.reshape(-1), qad.zeros((2, 2), complex)
    real = part.real
    b[0] = 1.0
    r += 2.0
    part[0] = 3 + 1j
    np.testing.assert_array_equal(t.numpy(), [[1, 2, 0]] * 3)
    np.testing.assert_array_equal(flat.numpy(), b.numpy().reshape(-1))
    np.testing.assert_array_equal(real.numpy(), [[3, 3], [0, 0]])


def test_a_snapshot_keeps_what_it_shows():
    b = qad.zeros(3)
    before, view = b.numpy(), b[1:].numpy()
    other = np.asarray(b)
    b[:] = 1.0
    b[1] += 1.0
    for array in (before, view, other):
        np.testing.assert_array_equal(array, 0)
    other[:] = 5.0
    np.testing.assert_array_equal(b.numpy(), [1.0, 2.0, 1.0])
    with pytest.raises(ValueError, match="read-only"):
        before[0] = 1.0


def test_a_detached_tensor_follows_without_a_gradient():
    def f(x):
        b = (x * x).copy()
        d = qad.stop_gradient(b)
        b[0] = x[1]
        return (d * x).sum()

    np.testing.assert_allclose(qad.grad(f)(X), [2.0, 4.0, 9.0])


def test_a_view_taken_under_no_grad_stays_constant():
    def f(x):
        b = (x * x).copy()
        with qad.no_grad():
            t = b[1:]
        b[1] = x[0]
        return (t * x[1:]).sum()

    np.testing.assert_allclose(qad.grad(f)(X), [0.0, 1.0, 9.0])


def test_a_parameter_takes_steps_through_views_too():
    w = qad.tensor(np.ones((2, 2)), requires_grad=True)
    with qad.no_grad():
        w -= 0.5
        w[1][:] = 4.0
        w.T[0] += 1.0
    (w * w).sum().backward()
    np.testing.assert_array_equal(w.grad, [[3.0, 1.0], [10.0, 8.0]])


def test_what_the_tape_recorded_keeps_the_values_of_its_time():
    def f(x):
        b = np.outer(x, x).copy()
        t = b.T
        y = np.sin(t) * t[0]
        b[:] = 7.0
        return y.sum() + t.sum()

    def same(x):
        t = np.outer(x, x).T
        return (np.sin(t) * t[0]).sum()

    np.testing.assert_allclose(qad.grad(f)(X), qad.grad(same)(X), rtol=1e-14)


def test_a_modulus_whose_operand_is_overwritten():
    """Forward mode remembers the operand of a modulus, to make ``|z|^2`` smooth: that of its own time."""

    def f(x):
        z = x * (1 + 1j)
        a = abs(z)
        z[0] = 5.0
        other = abs(x * 1j)
        other[1] = x[2]
        return (a * a + other**2).sum()

    expected = qad.grad(f)(X)
    np.testing.assert_allclose(qad.jvp(f, (X,), (X,))[1], expected @ X, rtol=1e-14)
    np.testing.assert_allclose(expected, [6.0, 8.0, 24.0], rtol=1e-14)


MODES = [qad.grad, lambda f: lambda x: qad.jvp(f, (x,), (x,)), lambda f: lambda x: qad.vmap(f)(x[None])]


@pytest.mark.parametrize("transform", MODES)
def test_arguments_and_views_of_them_are_not_written_into(transform):
    for write in (
        lambda x: x.__setitem__(0, 1.0),
        lambda x: x[1:].__setitem__(0, 1.0),
        lambda x: x.reshape(3, 1).T.fill(0.0),
        lambda x: x.real.sort(),
    ):
        with pytest.raises(ArgumentError, match="an argument of a transform"):
            transform(lambda x, write=write: write(x) or x.sum())(X)


def test_views_that_numpy_makes_read_only_are_refused():
    for view in (lambda b: np.broadcast_to(b, (2, 3, 3)), np.diagonal, np.diag, lambda b: b.diagonal()[1:]):
        with pytest.raises(ArgumentError, match="read-only"):
            qad.grad(lambda x, view=view: view(np.outer(x, x).copy()).fill(0.0))(X)
        with pytest.raises(ValueError, match="read-only"):
            view(np.outer(X, X)).fill(0.0)


def test_frozen_functions_write_a_result_where_out_says():
    def f(x):
        y = np.zeros_like(x)
        np.sum(np.outer(x, x), 0, out=y)
        np.clip(y, 2.0, 20.0, out=y)
        return y

    frozen = qad.freeze(f)
    for x in (X, 2 * X):
        np.testing.assert_array_equal(frozen(x), f(x))
    for by_place in (lambda x: x.sum(0, None, np.zeros_like(x[0])), lambda x: np.sum(x, 0, None, np.zeros_like(x[0]))):
        with pytest.raises(ArgumentError, match=r"y\[\.\.\.\] = (x|np)\.sum"):
            qad.freeze(by_place)(X)


def test_nan_to_num_in_place():
    def f(x):
        b = np.outer(x, x)
        b[0, 1] = np.inf
        t = b.T
        np.nan_to_num(b, copy=False, posinf=0.0)
        return (t * t).sum()

    for gradient in (qad.grad(f), lambda x: qad.jvp(f, (x,), (x,))[1]):
        assert np.all(np.isfinite(gradient(X)))
    assert f(X.copy()) == value_of(f(qad.tensor(X))) == 192.0
    with pytest.raises(ArgumentError, match=r"y\[\.\.\.\] = np.nan_to_num"):
        qad.freeze(f)(X)


@pytest.mark.parametrize("order", "CF")
def test_ravels_of_buffers_are_views_where_numpys_are(order):
    for turned in (lambda b: b, lambda b: b.T, lambda b: b[:, ::2], lambda b: b[1], lambda b: b[:, 1]):
        b, wanted = qad.zeros((2, 3)), np.zeros((2, 3))
        np.ravel(turned(b), order)[-1] = np.ravel(turned(wanted), order)[-1] = 2.0
        assert np.array_equal(qad.extend.value_of(b), wanted)


@pytest.mark.parametrize("part", [lambda y: y.T, lambda y: y[0], lambda y: y[:, 0]], ids=["whole", "row", "column"])
def test_a_ravel_of_a_result_is_not_written_into_nor_read_after_writes(part):
    """How NumPy's result of an operation lies in memory is not known: that of a transposed array is transposed."""
    for order in "CF":
        y = np.sin(qad.tensor(np.arange(6.0).reshape(2, 3).T, requires_grad=True))
        y[0, 0] = 5.0  # a buffer now
        flat = np.ravel(part(y), order)
        assert np.array_equal(qad.extend.value_of(flat), np.ravel(qad.extend.value_of(part(y)), order))
        with pytest.raises(ArgumentError, match="lies in memory"):
            flat[0] = 1.0
        y[0, 0] = 3.0
        with pytest.raises(ArgumentError, match="lies in memory"):
            flat + 1


def test_what_is_read_of_a_buffer_without_gradients_is_constant_at_any_time():
    b = qad.zeros(3)
    b[:] = qad.tensor(np.ones(3), requires_grad=True)
    for _ in range(2):
        with qad.no_grad():
            assert not b.requires_grad
        assert (b * 2).requires_grad


def test_a_parameter_does_not_remember_the_views_of_all_its_steps():
    x = qad.tensor(np.ones((2, 2)), requires_grad=True)
    views = [x[0], x.T]
    assert not isinstance(x.buffer, list)
    for view in views:
        with pytest.raises(ArgumentError, match="argument"):
            view[0] = 1.0


@pytest.mark.parametrize("empty", [True, False])
def test_a_view_that_was_taken_without_gradients_shows_later_writes_without_one(empty):
    x, b = qad.tensor(3.0, requires_grad=True), qad.zeros(3)
    if not empty:
        b[2] = x
    with qad.no_grad():
        view = b[:2]
    b[0] = x
    ((view**2).sum() + x).backward()
    assert x.grad == 1.0 and view.numpy()[0] == 3.0


def test_a_gradient_inside_of_no_grad_goes_through_views():
    with qad.no_grad():
        b = qad.zeros(3)
        view = b[:2]

        def f(x):
            b[0] = x
            return (view**2).sum()

        assert qad.grad(f)(3.0) == 6.0
