"""What a function asks of its argument instead of its type, it is told as of the plain argument."""

from numbers import Number

import numpy as np
import pytest

import qad

NUMBERS = [2.0, 2 + 1j, np.float64(2), np.float32(2), np.int64(2), np.bool_(True), np.complex64(2)]
ARRAYS = [np.array(2.0), np.ones(2), np.ones((2, 2), int)]
NAMES = [
    "shape", "dtype", "ndim", "size", "itemsize", "nbytes", "flags", "T", "flat", "real", "imag", "conjugate",
    "sum", "astype", "item", "tolist", "reshape", "ravel", "copy", "dot", "partition", "__len__", "__iter__",
    "__getitem__", "__setitem__", "__contains__", "__abs__", "no_such_name",
]  # fmt: skip


def raised(f, *args):
    try:
        f(*args)
    except (TypeError, AttributeError, IndexError) as error:
        return TypeError if isinstance(error, TypeError) else type(error)
    return None


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("x", NUMBERS + ARRAYS, ids=lambda x: f"{type(x).__name__}{np.shape(x)}")
def test_attributes(x, name):
    frozen = qad.freeze(lambda s: s * (2 if hasattr(s, name) else 3))
    expected = x * (2 if hasattr(x, name) else 3)
    np.testing.assert_array_equal(frozen(x), expected)
    np.testing.assert_array_equal(frozen(x), expected)


@pytest.mark.parametrize("x", NUMBERS + ARRAYS, ids=lambda x: f"{type(x).__name__}{np.shape(x)}")
def test_questions(x):
    questions = {
        "scalar": np.isscalar, "number": lambda s: isinstance(s, Number), "iterable": np.iterable, "ndim": np.ndim,
        "shape": lambda s: raised(lambda: s.shape), "len": lambda s: raised(len, s), "iter": lambda s: raised(iter, s),
        "list": lambda s: raised(list, s), "first": lambda s: raised(lambda: s[0]), "sizes": np.shape,
        "for": lambda s: raised(lambda: [0 for _ in s]), "generic": lambda s: isinstance(s, np.generic),
    }  # fmt: skip
    for name, ask in questions.items():
        told = []
        qad.freeze(lambda s, ask=ask, told=told: told.append(ask(s)) or s * 2)(x)
        assert told == [ask(x)], name


def test_try_and_except():
    def tried(s):
        try:
            s.shape  # noqa: B018
        except AttributeError:
            return s * 3
        return s * 2

    for x in (2.0, np.float64(2), 1j):
        frozen = qad.freeze(tried)
        assert frozen(x) == frozen(x) == tried(x)


def test_what_a_number_has_and_a_traced_one_has_not_is_refused():
    with pytest.raises(AttributeError, match="is_integer"):
        qad.freeze(lambda s: s * (2 if hasattr(s, "is_integer") else 3))(2.0)


def test_membership():
    frozen = qad.freeze(lambda x: x * (2 if 3.0 in x else 1))
    for x in (np.array([3.0, 1.0]), np.array([2.0, 1.0]), np.array([1.0, 3.0])):
        np.testing.assert_array_equal(frozen(x), x * (2 if 3.0 in x else 1))


@pytest.mark.filterwarnings("ignore")
def test_the_item_of_an_array_of_one_entry():
    for f in (
        lambda x: x * x[x > 0.5].item(),
        lambda x: x * x[:1].item(),
        lambda x: x * x[:1, None].item(0),
        lambda x: x * (x[x > 0.5] > 0).item(),
    ):
        frozen = qad.freeze(f)
        for x in (np.array([3.0, 0.2]), np.array([3.0, 0.2]), np.array([2.0, 0.2]), np.array([3.0, 0.2])):
            np.testing.assert_array_equal(frozen(x), f(x))
    with pytest.raises(ValueError, match="size 1"):
        qad.freeze(lambda x: x * x.item())(np.ones(2))
