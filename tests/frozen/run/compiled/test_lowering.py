"""Every kind of step that the compiled loop knows: the bits of NumPy, or rounding where it has its own order."""

import numpy as np
import pytest

import qad
from benchmarks.freeze import polynomial
from qad.frozen.run.compiled import lowering
from qad.frozen.run.compiled.lowering import loop_of
from tests.frozen.run.compiled.running import both, normal

pytest.importorskip("llvmlite")

REAL = ("f4", "f8")
ALL = (*REAL, "c8", "c16")


def long(f):
    """A function of enough steps, one of them in question."""

    def g(x, y):
        z = f(x, y)
        for _ in range(lowering.FEWEST):
            z = z * 0.5 + 1
        return z

    return g


def agree(f, *points, exact=True, steps=lowering.FEWEST):
    """Whether a function gives the same with the loop and without it, and runs in it."""
    one, two, count = both(f, *points)
    assert count >= steps
    for a, b in zip(qad.core.trees.flatten(one)[0], qad.core.trees.flatten(two)[0], strict=True):
        assert type(a) is type(b)
        assert np.asarray(a).dtype == np.asarray(b).dtype
        if exact:
            np.testing.assert_array_equal(a, b)
        else:
            eps = np.finfo(np.asarray(b).dtype).eps
            np.testing.assert_allclose(a, b, rtol=30 * eps, atol=30 * eps * np.abs(b).max(initial=1))


UNARY = {
    "exp": np.exp, "sqrt of squares": lambda x: np.sqrt(x * x), "log": lambda x: np.log(x * x), "tanh": np.tanh,
    "negative": np.negative, "conj": np.conjugate, "square": np.square, "power": lambda x: x**3, "abs": np.abs,
    "reciprocal": lambda x: 2.5 / x, "real": lambda x: x.real * 3, "imag": lambda x: x.imag * 3,
}  # fmt: skip


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one_argument(name, dtype):
    f = long(lambda x, y: UNARY[name](x) + 0 * y[0])
    agree(f, (normal(5, 3, dtype=dtype), normal(5, 3, dtype=dtype, seed=1)))


@pytest.mark.parametrize("dtype", REAL)
def test_sine_and_cosine(dtype):
    agree(long(lambda x, y: np.sin(x) * np.cos(y.T)), (normal(6, 6, dtype=dtype), normal(6, 6, dtype=dtype, seed=1)),
          exact=False)  # fmt: skip


SHAPES = {
    "equal": ((4, 5), (4, 5)), "row": ((4, 5), (5,)), "column": ((4, 5), (4, 1)), "outer": ((4, 1), (1, 5)),
    "three axes": ((3, 1, 5), (4, 1)), "scalar": ((3, 4), ()), "ones": ((1, 1), (1,)), "both scalars": ((), ()),
    "long": ((7, 2), (2,)),
}  # fmt: skip


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("name", SHAPES)
def test_broadcasting(name, dtype):
    x, y = (normal(*shape, dtype=dtype, seed=i) for i, shape in enumerate(SHAPES[name]))
    agree(long(lambda x, y: (x + y) * (x - y) / (y + 10)), (x, y), (y * 2 + 0 * x, y) if x.shape == y.shape else (x, y))


LAYOUTS = {
    "transposed": lambda x: x.T, "reversed": lambda x: x[::-1, ::-1], "apart": lambda x: x[::2, 1::2],
    "row": lambda x: x[1], "column": lambda x: x[:, 1], "broadcast": lambda x: np.broadcast_to(x[0], x.shape),
    "entry": lambda x: x[1, 2], "reshaped": lambda x: x.T.reshape(3, -1), "new axis": lambda x: x[:, None] + x,
}  # fmt: skip


@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts(name):
    agree(long(lambda x, y: LAYOUTS[name](x * y) * 2 + LAYOUTS[name](y)), (normal(6, 6), normal(6, 6, seed=1)))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("size", [6, 200])
def test_arguments_of_any_layout(order, size):
    """Large arguments are read where they are; those in another order are copied."""
    x, y = (np.array(normal(size, size, seed=seed), order=order) for seed in (0, 1))
    apart = np.repeat(x, 2, axis=0)[::2], np.asfortranarray(y)
    agree(long(lambda x, y: x * y + x), (x, y), apart, (x.T, y[::-1]), (np.array(x), np.array(y)))


SUMS = {
    "all": lambda x: x.sum(), "first": lambda x: x.sum(0), "last": lambda x: x.sum(-1), "two": lambda x: x.sum((0, 2)),
    "middle": lambda x: x.sum(1), "kept": lambda x: x.sum((0, -1), keepdims=True),
    "of a transpose": lambda x: x.T.sum(0), "of one": lambda x: x[:1].sum(0),
    "of minus zeros": lambda x: np.copysign(1, (x * -0.0)[:1].sum(0)) * x,
}  # fmt: skip


@pytest.mark.parametrize(
    "name, dtype", [(name, dtype) for name in SUMS for dtype in (REAL if name == "of minus zeros" else ALL)]
)
def test_sums(name, dtype):
    x = normal(3, 20, 4, dtype=dtype)
    x = np.abs(x) if name == "of minus zeros" else x
    agree(long(lambda x, y: SUMS[name](x * y)), (x, x), exact=False)


PRODUCTS = {
    "matrices": ((4, 3), (3, 5)), "vector": ((4, 3), (3,)), "covector": ((3,), (3, 5)), "numbers": ((3,), (3,)),
    "stack": ((6, 2, 2), (6, 2, 2)), "one against many": ((2, 2), (6, 2, 3)), "large": ((30, 20), (20, 10)),
    "large stack": ((3, 9, 9), (3, 9, 9)), "stack and vector": ((6, 2, 3), (3,)), "ones": ((1, 1), (1, 1)),
    "two stacks": ((2, 1, 2, 3), (1, 4, 3, 2)),
}  # fmt: skip


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("name", PRODUCTS)
def test_products(name, dtype):
    x, y = (normal(*shape, dtype=dtype, seed=i) for i, shape in enumerate(PRODUCTS[name]))
    agree(long(lambda x, y: x @ y), (x, y), exact=False)
    if y.ndim > 1:
        agree(long(lambda x, y: (2 * x) @ (2 * y.swapaxes(-1, -2)).swapaxes(-1, -2)), (x, y), exact=False)


@pytest.mark.parametrize("dtype", ALL)
def test_put_together(dtype):
    x = normal(4, 3, dtype=dtype)
    parts = (
        lambda x, y: np.concatenate([x * 2, y, x], 1),
        lambda x, y: np.stack([x * 2, y.conj()]),
    )
    for part in parts:
        agree(long(part), (x, x + 1))


def test_entries_put_together():
    """The gradient of a function of entries is an array of numbers."""
    agree(qad.value_and_grad(polynomial), (normal(8),), (normal(8, seed=1),), exact=False)


def test_hessians_with_few_entries():
    """Vectors that are written, added, taken and summed at known places."""

    def spring(x):
        return np.sum((x[1:] - x[:-1] ** 2) ** 2) + np.sum(np.sin(x[2:]) * x[:-2])

    def repulsion(x):
        r = x.reshape(-1, 2)
        apart = r[:, None] - r[None]
        return np.sum(1 / (np.sum(apart * apart, -1) + np.eye(len(r))))

    for f in (spring, repulsion):
        agree(qad.hessian(f), (normal(12),), (normal(12, seed=1),), exact=False)


def test_inner_loops_are_those_of_numpy():
    assert loop_of(np.add, "dd->d") != loop_of(np.add, "ff->f")
    assert loop_of(np.add, "dd->f") is None
    for ufunc in (np.add, np.exp, np.matmul, np.conjugate, np.positive):
        assert all(isinstance(part, int) for part in loop_of(ufunc, "DD->D"[2 - ufunc.nin :]))


@pytest.mark.parametrize("seed", range(20))
def test_random_views_and_functions(seed):
    """Random operations on random views, real and complex."""
    rng = np.random.default_rng(seed)
    views = [*LAYOUTS.values(), lambda x: x, lambda x: x]
    script = [(rng.integers(len(views)), rng.integers(6)) for _ in range(12)]
    binary = [np.add, np.multiply, np.subtract, lambda a, b: a.conj() * b, lambda a, b: a + b.real, lambda a, b: a @ b]

    def f(x, y):
        values = [x, y]
        for view, operation in script:
            a, b = values[-1], views[view](values[-2])
            try:
                z = binary[operation](a, b)
            except ValueError:  # shapes that do not fit
                continue
            values.append(z * 0.5 if z.shape == (6, 6) else np.sum(z) * 0.1 * x)
        return values[2:]

    dtype = ALL[seed % 4]
    agree(f, (normal(6, 6, dtype=dtype, seed=seed), normal(6, 6, dtype=dtype, seed=seed + 1)), exact=False, steps=1)


@pytest.mark.parametrize("turned", ["first", "second", "result"])
def test_operations_on_arrays_of_two_layouts_run_along_the_fastest_axis_of_the_result(turned):
    from qad.frozen.run.compiled.lowering import ufunc_rows
    from qad.frozen.run.compiled.rows import Operand

    arrays = {name: np.empty((64, 32)) for name in ("first", "second", "result")}
    arrays[turned] = np.empty((32, 64)).T
    *operands, out = map(Operand.of, arrays.values())
    (row,) = ufunc_rows(np.add, operands, out)
    assert row.steps[-1] == 8
    assert row.count == (64 if turned == "result" else 32)


@pytest.mark.parametrize("dtype", ["f8", "c16"])
def test_views_of_what_lapack_gives(dtype):
    """A step that the loop does not know allocates; of a small array of it views are taken in a buffer."""

    def f(x):
        u, s, vh = np.linalg.svd(x)
        left, right = u[:, :2] * s[:2], vh[:2].conj().T
        y = left @ right.conj().T
        return u.T @ y @ vh.T + left @ left.T + right @ right.T - u[:, 1:] @ vh[1:], u

    agree(f, (normal(4, 4, dtype=dtype),), exact=False, steps=10)


# -- loops of NumPy's that are wrong at some strides -----------------------------------------------------------------


@pytest.mark.parametrize("columns", range(1, 10))
@pytest.mark.parametrize("ufunc", [np.negative, np.signbit, np.isfinite, np.absolute, np.sqrt, np.exp])
@pytest.mark.parametrize("dtype", REAL)
def test_columns_of_a_matrix(ufunc, dtype, columns):
    """`np.negative` is wrong at strides of 64 bytes where the result lies apart, in NumPy 2.4."""

    def f(x):
        for _ in range(lowering.FEWEST):
            x = x + 0.25
        rows = x[:, :2]
        return ufunc(rows) * 2.0, ufunc(rows[:, 0]) * 2.0, ufunc(rows.T) * 2.0

    frozen = qad.freeze(f)
    x = normal(5, columns + 1, dtype=dtype) ** 2
    frozen(x * 0.5)
    for a, b in zip(frozen(x), f(x), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


def test_arrays_are_joined_flat():
    """By ``axis=None``, which the compiled loop leaves to NumPy."""
    f = qad.freeze(lambda x, y: np.concatenate([2 * x, 3 * y], axis=None))
    x, y = np.arange(4.0).reshape(2, 2), np.arange(3.0)
    for _ in range(3):
        np.testing.assert_array_equal(f(x, y), [0, 2, 4, 6, 0, 3, 6])
