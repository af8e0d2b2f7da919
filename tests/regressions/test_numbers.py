"""Results without axes: NumPy's numbers never change, and its arrays are written in place under all of their names."""

import numpy as np
import pytest

import qad
from qad.core.mutation.aliases import is_number, unsure
from qad.core.tape.tensor import Tensor

V = np.array([0.3, 1.0, 2.0])
SOURCES = {"number": lambda v: v[0] * 1.0, "view": lambda v: v[..., 0], "array": lambda v: np.copy(v[0])}
FUNCTIONS = {
    "copy": lambda x: x.copy(), "np.copy": np.copy, "T": lambda x: x.T, "real": lambda x: x.real, "np.real": np.real,
    "conj": lambda x: x.conj(), "item": lambda x: x[()], "dots": lambda x: x[...], "first": lambda x: x[None][0],
    "reshape": lambda x: x.reshape(()), "squeeze": lambda x: x[None].squeeze(), "prod": np.prod, "sum": np.sum,
    "where": lambda x: np.where(x > 0, x, 0), "select": lambda x: np.select([x > 0], [x], 0.0), "abs": np.abs,
    "astype": lambda x: x.astype(complex), "add.reduce": lambda x: np.add.reduce(x[None]), "positive": np.positive,
    "tensordot": lambda x: np.tensordot(x[None], x[None], 1), "matmul": lambda x: x[None] @ x[None],
    "vecdot": lambda x: np.vecdot(x[None], x[None]), "einsum": lambda x: np.einsum("i,i->", x[None], x[None]),
    "einsum of pairs": lambda x: np.einsum("i,i->", x[None], x[None], optimize=True), "vdot": lambda x: np.vdot(x, x),
    "einsum of one": lambda x: np.einsum("...->...", x), "median": lambda x: np.median(x[None]), "flip": np.flip,
    "quantile": lambda x: np.quantile(x[None], 0.5), "interp": lambda x: np.interp(x, [0.0, 5.0], [0.0, 2.0]),
    "norm": lambda x: np.linalg.norm(x[None]), "matrix_norm": lambda x: np.linalg.matrix_norm(x[None, None]),
    "multi_dot": lambda x: np.linalg.multi_dot([x[None], x[None, None], x[None]]), "roll": lambda x: np.roll(x, 1),
    "det": lambda x: np.linalg.det(x[None, None]), "tile": lambda x: np.tile(x, ()),
    "trace": lambda x: np.trace(x[None, None]),
    "i0": np.i0, "expand_dims": lambda x: np.expand_dims(x, ()), "resize": lambda x: np.resize(x, ()),
    "real_if_close": np.real_if_close, "broadcast_arrays": lambda x: np.broadcast_arrays(x, x)[0],
    "piecewise": lambda x: np.piecewise(x, [x > 0], [lambda y: 2 * y, 0.0]), "clip": lambda x: np.clip(x, 0, 1),
}  # fmt: skip
ROADS = {
    "constant": lambda f: f(qad.tensor(V)),
    "grad": lambda f: qad.grad(f)(V),
    "jvp": lambda f: qad.jvp(f, (V,), (V,)),
    "grad of grad": lambda f: qad.grad(lambda v: qad.grad(f)(v).sum())(V),
    "vmap": lambda f: qad.vmap(f)(np.stack([V, V])),
    "vmap of grad": lambda f: qad.vmap(qad.grad(f))(np.stack([V, V])),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("road", ROADS)
def test_results_without_axes_are_numbers_where_numpys_are(name, source, road):
    f, make = FUNCTIONS[name], SOURCES[source]
    wanted = type(f(make(V.copy()))) is not np.ndarray
    seen = []

    def program(v):
        out = f(make(v))
        assert type(out) is Tensor and out.shape == ()
        known = not (type(out.buffer) is tuple and out.buffer[1] is unsure)  # else it is refused to be written into
        seen.append(is_number(out) if known else wanted)
        return v.sum()

    ROADS[road](program)
    assert seen == [wanted]


@pytest.mark.parametrize(
    "road", [lambda f: f, lambda f: lambda x: _first(qad.vmap(f)(np.stack([x, x])))], ids=["one", "vmap"]
)
@pytest.mark.parametrize(
    "program",
    [
        lambda x: _twice(np.median(x)), lambda x: _twice(np.linalg.norm(x)),
        lambda x: _twice(np.where(x[0] > 0, x[0], 0.0)),
        lambda x: _twice(np.copy(x[0])), lambda x: _twice(x[0].copy()), lambda x: _twice(np.tensordot(x, x, 1)),
        lambda x: _seen(x[..., -1].copy()), lambda x: _seen(np.copy(x[0])),
    ],
)  # fmt: skip
def test_in_place_operators_change_arrays_and_name_numbers_anew(program, road):
    value, g = road(qad.value_and_grad(program))(V)
    np.testing.assert_allclose(value, program(V.copy()), rtol=1e-14)
    h = 1e-6
    slopes = [(program(V + h * e) - program(V - h * e)) / (2 * h) for e in np.eye(3)]
    np.testing.assert_allclose(g, slopes, atol=1e-8)


def _first(stacks):
    return [stack[0] for stack in stacks]


def _twice(a):
    b = a
    a *= 3.0
    return 1.0 * a + 5.0 * b


def _seen(a):
    t = np.real(a.T)
    a *= 3.0
    return 1.0 * a + 5.0 * t


@pytest.mark.filterwarnings("ignore:Mean of empty slice")
@pytest.mark.parametrize("axis", [0, 1, None])
@pytest.mark.parametrize("function", [np.median, np.nanmedian])
def test_medians_of_nothing_are_nan_as_numpys(function, axis):
    with np.errstate(invalid="ignore"):
        got, wanted = function(qad.tensor(np.zeros((2, 0))), axis), function(np.zeros((2, 0)), axis)
    np.testing.assert_array_equal(qad.extend.value_of(got), wanted)
