"""Writing into Tensors: values as NumPy's, derivatives of both modes and orders, views, levels, cost, refusals."""

import operator
import tracemalloc

import numpy as np
import pytest

import qad
from qad.core.buffers.parts import exchanged
from qad.core.buffers.primitive import last_of_equals
from tests.cases import Case, needs_fast, normal


def slots(b, x):
    b[0] = x[0]
    for k in range(1, 4):
        b[k, 1] = (b[k - 1] * x[k % 3]).sum()
    return b


def overwritten(b, x):
    b[0] = x
    b[0, :2] = x[1] * b[0, 1:]
    b[...] = b * b[0, 2]
    b[1:3] = 2.0
    return b


def added(b, x):
    b += x
    b[1:3] += x * x
    b[2, 1] += x[0]
    b[:, 0] *= b[:, 1]
    b -= 2 * b[0]
    b /= 3.0
    return b


def views(b, x):
    for i, row in enumerate(b):
        row[:] = x * i
        row[1] += x[2]
        row *= x
    s, block = b[1], b[2:]
    b[1, 2] = x[0] ** 2
    b[:, 0] = s[1] * x[1]
    block[1][0] = 7 * x[1]
    block[:, ::-1][0, 0] = x[0]
    return b * s


def chosen(b, x):
    b[[0, 2, 0], [1, 1, 1]] = x
    b[np.array([3, -1])] += x
    b[np.arange(12).reshape(4, 3) % 5 == 0] = x
    return b


def functions(b, x):
    np.add.at(b, ([0, 0, 1], [1, 1, 2]), x)
    np.put(b, [3, -1], x)
    np.copyto(b[2], x * x)
    np.place(b, np.eye(4, 3, dtype=bool), x[:2])
    np.putmask(b, np.eye(4, 3, 1, dtype=bool), x)
    np.put_along_axis(b, np.array([[2], [1], [0], [1]]), x[1], 1)
    return b


def of_a_result(b, x):
    t = np.exp(b + x)
    t[0] = 0
    t /= t.sum()
    return t


def cached(b, x):
    z = np.zeros_like(b)
    b[:] = 2 * x
    z[:] = np.sin(b)
    b[:] = z * x
    return z * b


PROGRAMS = [slots, overwritten, added, views, chosen, functions, of_a_result, cached]


def fill_diagonal(x):
    b = np.zeros_like(x, shape=(3, 3))
    np.fill_diagonal(b, x)
    b[1].fill(x[0])
    return b @ b


def with_buffer(program):
    def f(x):
        return program(qad.zeros((4, 3), x.dtype), x)

    return f


NUMBERS = np.array([[0, 2], [1, 1], [-1, 0], [2, 2], [0, 1]])  # an index for each of five examples, some with equals


def chosen_by_example(xs):
    def f(i, x):
        b = np.outer(x, x)
        b[i] = x
        b[i[0]] *= x[0]
        b[i[1]][2] += x[1]
        return b

    return qad.vmap(f)(NUMBERS, xs)


def added_by_example(xs):
    def f(i, x):
        b = np.zeros_like(x, shape=(3, 2))
        np.add.at(b, (i, 1), x[:2])
        b.T[0, i[0]] = x[2]
        return b * b

    return qad.vmap(f)(NUMBERS, xs)


CASES = [Case(with_buffer(p), normal(3, dtype), name=p.__name__) for p in PROGRAMS for dtype in (float, complex)]
CASES += [Case(fill_diagonal, normal(3)), Case(lambda x: qad.full((2, 2), x[0]) * x[:2], normal(3))]
CASES += [
    Case(
        lambda z, x, part=part: exchanged(z, x, part=part),
        (normal(2, 3, complex), normal(*shape)),
        name=f"exchanged {part}",
    )
    for part in ("real", "imag")
    for shape in ((2, 3), (3,))
]
CASES += [Case(chosen_by_example, normal(5, 3)), Case(added_by_example, normal(5, 3, complex))]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_derivatives(case):
    case.check()


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", [float, complex, np.float32])
def test_values_are_numpys(program, dtype):
    x = normal(3, dtype)
    out = qad.vjp(with_buffer(program), x)[0]
    expected = program(np.zeros((4, 3), dtype), x)
    assert out.dtype == expected.dtype
    np.testing.assert_allclose(out, expected, rtol=1e-5 if dtype is np.float32 else 1e-13)


def test_the_challenge_with_caches_made_outside():
    cache, z = qad.zeros(4), qad.zeros(4)

    def f(y):
        cache[:] = 2 * y
        z[:] = np.sin(cache)
        return z

    y = normal(4)
    for _ in range(2):  # what an earlier call left there does not matter
        np.testing.assert_allclose(qad.grad(lambda y: f(y).sum())(y), 2 * np.cos(2 * y))
    np.testing.assert_allclose(qad.jvp(f, (y,), (y,))[1], 2 * np.cos(2 * y) * y)
    np.testing.assert_allclose(qad.hvp(lambda y: f(y).sum(), (y,), (y,))[0], -4 * np.sin(2 * y) * y)


def test_what_was_read_before_a_write_keeps_its_value():
    def f(x):
        b = qad.zeros(2)
        b[:] = x
        before = np.exp(b)  # its rule needs it, b's rule needs b
        square = b * b
        b[0] = 5.0
        return (before * square).sum() + b.sum()

    x = normal(2)
    np.testing.assert_allclose(qad.grad(f)(x), np.exp(x) * (x**2 + 2 * x) + [0, 1])


def test_all_names_of_a_tensor_see_a_write():
    def f(x):
        y = 2 * x
        same = y
        y += x
        y[0] = 0
        return (same * same).sum()

    np.testing.assert_allclose(qad.grad(f)(np.array([1.0, 2.0])), [0.0, 36.0])


def test_levels_nest():
    """A buffer of the outer function takes values of the inner one, and of both in turn."""

    def outer(x):
        def inner(y):
            b = qad.zeros(3)
            b[0] = x
            b[1] = b[0] * y
            b[2] = x * b[1]
            b[0] = y * b[2]
            return (b * b).sum()  # x²y² + x⁴y² + x⁴y⁴

        return qad.grad(inner)(x * x)  # 2x⁴ + 2x⁶ + 4x¹⁰

    np.testing.assert_allclose(qad.grad(outer)(1.5), 8 * 1.5**3 + 12 * 1.5**5 + 40 * 1.5**9)
    np.testing.assert_allclose(qad.jvp(outer, (1.5,), (1.0,))[1], 8 * 1.5**3 + 12 * 1.5**5 + 40 * 1.5**9)


def test_a_buffer_that_outlived_its_transform_says_so():
    b = qad.zeros(3)

    def f(x):
        b[0] = x
        return b.sum()

    assert qad.grad(f)(2.0) == 1.0
    for use in (lambda: b * 2, lambda: b[0], lambda: qad.grad(f)(2.0)):
        with pytest.raises(qad.errors.LeakedTensorError):
            use()
    b[:] = 1.0
    np.testing.assert_array_equal(b.numpy(), 1.0)


def test_no_grad_writes_constants():
    x = qad.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    with qad.no_grad():
        y[0] = 3 * x[1]
    y.sum().backward()
    np.testing.assert_array_equal(x.grad, [0.0, 4.0])


def test_a_parameter_takes_a_step():
    x = qad.tensor([1.0, 2.0], requires_grad=True)
    loss = (x * x).sum()
    same = x
    loss.backward()
    with qad.no_grad():
        x -= 0.25 * x.grad
        x[0] = 7.0
    assert same is x
    assert x.is_leaf
    np.testing.assert_array_equal(x.numpy(), [7.0, 1.0])


def test_constant_buffers_are_arrays():
    b = qad.empty((2, 2), complex)
    b[:] = [[1, 2], [3, 4j]]
    row, before = b[1], b.numpy()
    b[1, 0] = 0
    np.testing.assert_array_equal(row.numpy(), [0, 4j])
    assert before[1, 0] == 3
    row += 1
    np.testing.assert_array_equal(b.numpy(), [[1, 2], [1, 1 + 4j]])
    assert not b.requires_grad
    assert qad.full_like(b, 2).dtype == complex
    assert qad.ones_like(np.ones(2)).shape == qad.empty_like(np.ones(2)).shape == (2,)


class Watchman:
    """A function that does nothing to its argument, but remembers what was allocated since it was last come by."""

    def __init__(self, also=lambda: None):
        self.large, self.before, self.also = 0, None, also
        self.pass_by = qad.extend.primitive(self._pass_by)
        qad.extend.defvjp(self.pass_by, lambda g, ans, x: self.pass_by(g), linear=True)

    def _pass_by(self, x):
        self.also()
        now, top = tracemalloc.get_traced_memory()
        self.large += self.before is not None and max(top, now) - self.before > 1_000_000
        self.before = now
        tracemalloc.reset_peak()
        return x * 1.0


@needs_fast
@pytest.mark.parametrize("transform", [
    lambda f: qad.grad(f)(0.9),
    lambda f: qad.jvp(f, (0.9,), (1.0,)),
    lambda f: qad.hvp(f, (0.9,), (1.0,)),
    lambda f: qad.grad(qad.grad(f))(0.9),
])  # fmt: skip
@pytest.mark.sampled(2)
def test_the_cost_of_a_write_does_not_grow_with_the_buffer(transform):
    """Between two writes of a hundred nothing of the size of the buffer is allocated, in no pass."""

    def large(also=lambda: None):
        watchman = Watchman(also)

        def f(x):
            b = qad.zeros(1_000_000)
            b[0] = x
            for k in range(1, 100):
                b[k] = watchman.pass_by(b[k - 1]) * x
            return b[99] + b[:3].sum()

        tracemalloc.start()
        transform(f)
        tracemalloc.stop()
        return watchman.large

    assert large() <= 8
    assert large(lambda: np.ones(1_000_000)) > 90  # so it would be seen


def test_a_value_that_does_not_fit_changes_nothing():
    def f(x):
        b = qad.zeros((2, 3))
        b[0] = x
        for index, value in (((...,), np.ones(2)), ((1,), x[:2]), ((slice(1), [0, 1, 2]), np.ones((2, 1)))):
            with pytest.raises(qad.errors.ShapeError, match=r"does not fit.*value\[:, None\]"):
                b[index] = value
        with pytest.raises(IndexError):
            b[5] = x
        b[...] = b
        return b.sum()

    np.testing.assert_array_equal(qad.grad(f)(normal(3)), 1)


REFUSED = {
    "an argument": (lambda x: x.__setitem__(0, 1.0), "y = x.copy"),
    "an argument, by +=": (lambda x: x.__iadd__(1.0), "x = x \\+ y"),
    "a view of an argument": (lambda x: x[1:].__setitem__(0, 1.0), "y = x.copy"),
    "a view that is read-only": (lambda x: np.diagonal(np.outer(x, x)).__setitem__(0, 1.0), "x = x.copy"),
    "a view that shows entries several times": (
        lambda x: np.broadcast_to(2 * x, (2, 3)).__setitem__(0, 1.0),
        "x = x.copy",
    ),
    "an ndarray": (lambda x: np.zeros(3).__setitem__(0, x[0]), "qad.zeros"),
    "an ndarray, by +=": (lambda x: np.zeros(3).__iadd__(x), "qad.zeros"),
    "an ndarray, by add.at": (lambda x: np.add.at(np.zeros(3), [0, 0, 1], x), "qad.zeros"),
    "an ndarray, by copyto": (lambda x: np.copyto(np.zeros(3), x), "qad.zeros"),
    "complex into real": (lambda x: qad.zeros(3).__setitem__(0, 1j * x[0]), "dtype=complex"),
    "into integers": (lambda x: qad.zeros(3, int).__setitem__(0, x[0]), "dtype=float"),
    "a list of Tensors": (lambda x: qad.zeros(3).__setitem__(slice(2), [x[0], x[1]]), "qad.array"),
    "another shape, in place": (lambda x: qad.zeros(3).resize(2), "np.resize"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals_name_the_way(name):
    f, message = REFUSED[name]
    for transform in (qad.vjp, lambda f, x: qad.jvp(f, (x,), (x,)), lambda f, x: qad.vmap(f)(x[None])):
        if name == "into integers" and transform is not qad.vjp:
            continue
        with pytest.raises(qad.QadError, match=message):
            transform(f, normal(3))


def test_a_view_of_a_whole_without_a_name_may_be_written_into():
    def lone(x):
        y = qad.zeros(4).reshape(2, 2)
        y[0] = x
        return (y * y).sum()

    np.testing.assert_array_equal(qad.grad(lone)(np.array([1.0, 2.0])), [2.0, 4.0])


@pytest.mark.parametrize("name", ["floordiv", "mod", "and", "or", "xor", "lshift", "rshift"])
def test_operators_in_place_reach_every_name(name):
    a = np.array([5, 2, 7])
    x = qad.array_api.asarray(a)
    other, view = x, x[1:]
    x = getattr(operator, f"i{name}")(x, 2)
    assert x is other
    expected = getattr(operator, f"i{name}")(a.copy(), 2)
    np.testing.assert_array_equal(x.numpy(), expected)
    np.testing.assert_array_equal(view.numpy(), expected[1:])


def test_entries_named_twice():
    assert last_of_equals(slice(None), (4,)) is None
    assert last_of_equals(np.array([0, 2]), (4,)) is None
    np.testing.assert_array_equal(last_of_equals(np.array([0, 1, -4]), (4,)), [False, True, True])
    np.testing.assert_array_equal(last_of_equals((np.array([0, 0]), np.array([1, 1])), (4, 3)), [False, True])


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_frozen_programs_write_too(program):
    def f(x):
        return (with_buffer(program)(x) ** 2).sum()

    gradient = qad.freeze(qad.grad(f))
    for seed in range(2):
        x = normal(3, seed=seed)
        np.testing.assert_allclose(gradient(x), qad.grad(f)(x), rtol=1e-12)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_batches_write_too(program):
    f = with_buffer(program)

    def loss(x):
        return (f(x) ** 2).sum()

    xs = normal(5, 3)
    for g in (lambda x: f(x) * 1.0, qad.grad(loss), lambda x: qad.hvp(loss, (x,), (x,))[0]):
        expected = [qad.extend.value_of(g(x)) for x in xs]
        np.testing.assert_allclose(qad.vmap(g)(xs), np.stack(expected), rtol=1e-12)
    outer = qad.grad(lambda xs: qad.vmap(loss)(xs).sum())(xs)
    np.testing.assert_allclose(outer, np.stack([qad.grad(loss)(x) for x in xs]), rtol=1e-12)
