"""A replay gives NumPy's numbers in NumPy's dtypes, whatever its passes write for an operator: a sweep."""

import operator

import numpy as np
import pytest

import qad

DTYPES = ["?", "i1", "u1", "i2", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"]
CONSTANTS = [0, 1, 2, 3, -1, -2, True, 0.5, 2.0, 1.0, -1.0, 2j, np.int8(2), np.float32(2), np.array([2, 2, 2], "i1")]
OPERATORS = [
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow,
    operator.lshift, operator.and_, operator.xor, operator.lt,
]  # fmt: skip
UFUNCS = sorted({u for u in vars(np).values() if isinstance(u, np.ufunc)}, key=lambda u: u.__name__)
BINARY = [*OPERATORS, np.power, np.float_power, np.multiply, np.true_divide, np.maximum, np.copysign, np.divmod]

# Old NumPy (2.0) gives ``truths ** 2.0`` as bytes and ``truths ** 3.0`` as doubles, by the value of the exponent: where
# that is an argument, a replay gives the dtype of the power.
BY_EXPONENT = (np.array([True]) ** 2.0).dtype != (np.array([True]) ** 3.0).dtype

pytestmark = pytest.mark.filterwarnings("ignore")


def operands(dtype):
    return np.array([0, 1, 2], dtype), np.array(1, dtype), np.dtype(dtype).type(2)


def by_exponent(fn, base):
    return BY_EXPONENT and fn is operator.pow and isinstance(base, np.ndarray)


def check(f, name):
    """Replays against plain calls: value, dtype and kind."""
    frozen = qad.freeze(f)
    for x in (x for dtype in DTYPES for x in operands(dtype)):
        try:
            with np.errstate(all="ignore"):
                expected = f(x)
        except (TypeError, ValueError, OverflowError):  # no such function of this dtype
            continue
        with np.errstate(all="ignore"):
            for found in (frozen(x), frozen(x)):
                pairs = zip(found, expected, strict=True) if type(expected) is tuple else [(found, expected)]
                for one, two in pairs:
                    what = f"{name} of {x!r}: {one!r}, but {two!r}"
                    assert type(one) is type(two) or type(two) is complex, what  # of 2j / np.float64(1)
                    assert np.asarray(one).dtype == np.asarray(two).dtype, what
                    assert np.array_equal(one, two, equal_nan=np.asarray(two).dtype.kind in "fc"), what


@pytest.mark.parametrize("ufunc", [u for u in UFUNCS if u.nin == 1], ids=lambda u: u.__name__)
@pytest.mark.sampled(16)
def test_functions_of_one_operand(ufunc):
    check(ufunc, ufunc.__name__)


@pytest.mark.parametrize("fn", BINARY, ids=lambda fn: fn.__name__)
@pytest.mark.sampled(1)
def test_functions_of_two_operands(fn):
    check(lambda x: fn(x, x), f"{fn.__name__}(x, x)")
    for c in CONSTANTS:
        check(lambda x, c=c: fn(x, c), f"{fn.__name__}(x, {c!r})")
        if not ((fn is operator.lt and type(c) is complex) or by_exponent(fn, c)):
            check(lambda x, c=c: fn(c, x), f"{fn.__name__}({c!r}, x)")


@pytest.mark.parametrize("x", [2.0, -0.5, 2 - 1j])
@pytest.mark.parametrize("fn", OPERATORS[:7], ids=lambda fn: fn.__name__)
def test_operators_of_pythons_numbers(fn, x):
    for c in (2, True, 0.5, 2j, np.float32(2), np.int8(2), np.array([1, 2], "i1"), np.array([True, False])):
        for f in (lambda x, c=c: fn(x, c), lambda x, c=c: fn(c, x))[: 1 if by_exponent(fn, c) else 2]:
            try:
                expected = f(x)
            except TypeError:
                continue
            frozen = qad.freeze(f)
            for found in (frozen(x), frozen(x)):
                assert type(found) is type(expected)
                assert np.asarray(found).dtype == np.asarray(expected).dtype
                np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u8", "f2"])
@pytest.mark.parametrize("f", [
    np.multiply.outer, np.add.outer, np.power.outer, np.hypot.outer, lambda a, s: np.tensordot(a, s, 0),
    lambda a, s: np.diff(a, append=s), lambda a, s: np.sum(a, initial=s), lambda a, s: np.full_like(a, s),
])  # fmt: skip
def test_numbers_of_numpy_among_further_operands(f, dtype):
    """They were taken for shapes and axes, as Python's integers, and lost their dtype."""
    a, s = np.array([100, 3], dtype), np.dtype(dtype).type(100)
    frozen = qad.freeze(lambda a, s: f(a, s))
    with np.errstate(all="ignore"):
        expected = f(a, s)
        for found in (frozen(a, s), frozen(a, s)):
            assert found.dtype == expected.dtype
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("dtype", [">c16", ">i4", ">f4", "<f8"])
def test_plus_turns_bytes_as_numpy_does(dtype):
    b = np.array([1, 2], dtype)
    for f in (np.positive, operator.pos):
        frozen = qad.freeze(lambda b, f=f: f(b))
        for found in (frozen(b), frozen(b)):
            assert found.dtype.str == f(b).dtype.str
