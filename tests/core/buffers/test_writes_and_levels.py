"""Writes into what the tape of another level has recorded, and into places that an index names in several axes."""

import numpy as np
import pytest

import qad
from qad.core.tape.entries import accumulate

X, Y = np.array([1.0, 2.0, 3.0]), np.array([0.5, 0.6, 0.7])
RECORDED = {
    "product": lambda b, y: (b * y).sum(), "matmul": lambda b, y: (b @ y) * 1.0, "quotient": lambda b, y: (y / b).sum(),
    "outer": lambda b, y: np.outer(b, y).sum(), "einsum": lambda b, y: qad.einsum("i,i->", b, y),
    "np.einsum": lambda b, y: (np.einsum("i,i,j->j", b, b, y) ** 2).sum(), "power": lambda b, y: (y**b).sum(),
    "hypot": lambda b, y: np.hypot(b, y).sum(), "maximum": lambda b, y: (np.maximum(b * 0.3, y) * b).sum(),
    "cross": lambda b, y: np.cross(b, y)[0], "vdot": lambda b, y: np.vdot(b, y) * 1.0,
    "kron": lambda b, y: np.kron(b, y).sum(),
    "solve": lambda b, y: np.linalg.solve(np.diag(b), y).sum(),
    "checkpoint": lambda b, y: qad.checkpoint(np.multiply)(b, y).sum(),
}  # fmt: skip
WRITES = {
    "item": lambda b: b.__setitem__(0, 9.0), "view": lambda b: b.T.__setitem__(0, 9.0),
    "in place": lambda b: b.__imul__(3.0),
    "fill": lambda b: b.fill(7.0), "at": lambda b: np.add.at(b, [0, 0], 2.0),
}  # fmt: skip
OUTER = {
    "grad": lambda f: qad.value_and_grad(f)(X),
    "jvp": lambda f: qad.jvp(f, (X,), (Y,)),
    "vmap": lambda f: qad.vmap(f)(np.stack([X, 2 * X])),
    "constant": lambda f: f(qad.tensor(X)),
    "frozen": lambda f: qad.freeze(qad.grad(f))(X),
}


@pytest.mark.parametrize("recorded", RECORDED)
@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("outer", OUTER)
@pytest.mark.parametrize(
    "buffer", [lambda x: (x * 1.0).copy(), lambda x: (qad.zeros(3) + x).copy()], ids=["computed", "made"]
)
def test_an_inner_gradient_keeps_what_it_saw_of_an_outer_buffer(recorded, write, outer, buffer):
    def f(x, written):
        def inner(y):
            b = buffer(x)
            s = RECORDED[recorded](b, y)
            if written:
                WRITES[write](b)
            return s

        return np.sum(qad.grad(inner)(Y) * X)

    wanted = OUTER[outer](lambda x: f(x, False))
    got = OUTER[outer](lambda x: f(x, True))
    for a, b in zip(wanted, got, strict=True) if type(wanted) is tuple else [(wanted, got)]:
        np.testing.assert_array_equal(qad.extend.value_of(b), qad.extend.value_of(a))


@pytest.mark.parametrize(
    "index", [np.stack([np.arange(12)] * 2), np.arange(12).reshape(1, 12), np.zeros((3, 2, 12), int)]
)
@pytest.mark.parametrize("size", [1, 12])
def test_values_are_stretched_along_an_index_of_several_axes(index, size):
    """NumPy's own ``np.add.at`` reads past the end of the value here."""
    v = np.arange(1.0, 1 + size)
    wanted = np.zeros(12)
    np.add.at(wanted, index.ravel(), np.broadcast_to(v, index.shape).ravel())
    got = np.zeros(12)
    accumulate(got, index, v)
    np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("transform", ["value", "grad", "jvp", "vmap"])
def test_ufuncs_at_indices_of_a_view_with_more_axes_than_its_root(transform):
    def f(x):
        b = x * 1.0
        row = np.expand_dims(b, 0)
        np.subtract.at(row, np.array([0, 0]), 0.5 * x)
        np.add.at(row, (..., [0, 0, -1]), x)
        return (b**2).sum()

    def plain(x):
        b = x - 0.5 * x - 0.5 * x
        b += np.array([x[0] + x[1], 0 * x[0], x[2]])
        return (b**2).sum()

    g = np.array([2 * (X[0] + X[1]), 2 * (X[0] + X[1]), 2 * X[2]])
    if transform == "value":
        assert float(f(qad.tensor(X))) == f(X) == plain(X)
    elif transform == "grad":
        np.testing.assert_allclose(qad.grad(f)(X), g, rtol=1e-14)
    elif transform == "jvp":
        np.testing.assert_allclose(qad.jvp(f, (X,), (Y,)), (plain(X), g @ Y), rtol=1e-14)
    else:
        np.testing.assert_allclose(qad.vmap(f)(np.stack([X, Y])), [plain(X), plain(Y)], rtol=1e-14)


@pytest.mark.parametrize("frozen", [False, True])
def test_additions_at_an_array_without_axes_whose_tangent_is_a_number(frozen):
    def f(x):
        b = np.copy(x.sum())
        np.add.at(b, (), x[0])
        np.subtract.at(b, ..., 2 * x[1])
        return b * 1.0

    def push(x, v):
        return qad.jvp(f, (x,), (v,))

    push = qad.freeze(push) if frozen else push
    for _ in range(2):
        np.testing.assert_allclose(push(X, Y), (3.0, Y.sum() + Y[0] - 2 * Y[1]), rtol=1e-14)
