"""Repetition, reversal and padding."""

import numpy as np
import pytest

import qad
from tests.cases import Case, normal
from tests.rules.points import check_layouts

TABLE = [
    (np.flip, (2, 3)),
    (lambda x: np.flip(x, 0), (2, 3)),
    (lambda x: np.flip(x, axis=(0, 2)), (2, 3, 2)),
    (np.flip, ()),
    (np.fliplr, (2, 3)),
    (np.flipud, (2, 3)),
    (np.rot90, (2, 3)),
    (lambda x: np.rot90(x, 2), (2, 3)),
    (lambda x: np.rot90(x, k=-1, axes=(1, 2)), (2, 3, 2)),
    (lambda x: np.roll(x, 1), (2, 3)),
    (lambda x: np.roll(x, -2, axis=1), (2, 3)),
    (lambda x: np.roll(x, (1, 2), (0, 1)), (2, 3)),
    (lambda x: np.roll(x, 1, axis=(0, 1)), (2, 3)),
    (lambda x: np.roll(x, (1, 2), (0, -2)), (4, 3)),
    (lambda x: np.roll(x, 1), (0,)),
    (lambda x: np.tile(x, 3), (2, 3)),
    (lambda x: np.tile(x, (2, 1)), (2, 3)),
    (lambda x: np.tile(x, (2, 3, 1)), (3,)),
    (lambda x: np.tile(x, (2, 2)), (2, 1, 3)),
    (lambda x: np.tile(x, 2), ()),
    (lambda x: np.tile(x, ()), (2,)),
    (lambda x: np.tile(x, [2, 0]), (2, 3)),
    (lambda x: np.tile(x, np.array([1, 1])), (2, 3)),
    (lambda x: np.repeat(x, 3), (2, 3)),
    (lambda x: np.repeat(x, 2, axis=0), (2, 3)),
    (lambda x: np.repeat(x, 2, axis=-1), (2, 3)),
    (lambda x: x.repeat([0, 2, 1], 1), (2, 3)),
    (lambda x: np.repeat(x, [1, 2]), (2,)),
    (lambda x: np.repeat(x, [2], 0), (3, 1)),
    (lambda x: np.repeat(x, 0), (3,)),
    (lambda x: np.repeat(x, 3), ()),
    (lambda x: np.repeat(x, np.int64(2), 1), (2, 0)),
    (lambda x: np.pad(x, 1), (2, 3)),
    (lambda x: np.pad(x, ((0, 1), (2, 0))), (2, 3)),
    (lambda x: np.pad(x, (1, 2)), (2, 3)),
    (lambda x: np.pad(x, ((1, 2),), constant_values=3.0), (2, 3)),
    (lambda x: np.pad(x, [(1,), (0,)]), (2, 3)),
    (lambda x: np.pad(x, 1, "constant", constant_values=((1, 2), (3, 4))), (2, 3)),
    (lambda x: np.pad(x, 2, "edge"), (2, 3)),
    (lambda x: np.pad(x, (1, 4), mode="reflect"), (3,)),
    (lambda x: np.pad(x, ((1, 0), (2, 5)), "symmetric"), (2, 3)),
    (lambda x: np.pad(x, 4, "wrap"), (2, 3)),
    (lambda x: np.pad(x, 0), (2,)),
    (lambda x: np.pad(x, 2), (0,)),
]
CASES = [
    Case(lambda x, f=f: f(x * x) * 2.0, normal(*shape, kind), name=f"{i}")
    for i, (f, shape) in enumerate(TABLE)
    for kind in (float, complex)
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_derivatives(case):
    case.check()


@pytest.mark.parametrize("f, shape", TABLE, ids=range(len(TABLE)))
def test_values_are_those_of_numpy(f, shape):
    x = normal(*shape, complex)
    for t in (qad.tensor(x), qad.tensor(x, requires_grad=True)):
        np.testing.assert_array_equal(f(t).numpy(), f(x))


def test_counts_of_any_integers():
    """Also of uint64, which NumPy refuses; fractions are refused by both."""
    x = qad.tensor([1.0, 2.0])
    np.testing.assert_array_equal(np.repeat(x, np.array([2, 1], np.uint64)).numpy(), [1.0, 1.0, 2.0])
    with pytest.raises(TypeError, match="cast"):
        np.repeat(x, np.array([2.0, 1.0]))


@pytest.mark.parametrize(
    "f", [np.flip, lambda x: np.tile(x, 2), lambda x: np.repeat(x, [1, 2], 0), lambda x: np.pad(x, 1, "wrap")]
)
def test_layouts(f):
    check_layouts(lambda x: f(x * x), (2, 3))


def test_widths_by_axis():
    """NumPy takes a dictionary since 2.4."""
    x = normal(2, 3)
    value, pullback = qad.vjp(lambda x: np.pad(x, {-1: (0, 2)}), x)
    np.testing.assert_array_equal(value, np.pad(x, ((0, 0), (0, 2))))
    np.testing.assert_array_equal(pullback(value)[0], x)


def test_numpy_itself_complains():
    x = qad.tensor(normal(3), requires_grad=True)
    for f in (lambda: np.repeat(x, [1, 2]), lambda: np.pad(x, -1), lambda: np.repeat(x, 2, 1), lambda: np.flip(x, 1)):
        with pytest.raises(ValueError):
            f()
