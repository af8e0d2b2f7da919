"""ufuncs with keywords, and their methods."""

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError, GradientTypeError
from tests.cases import Case, apart, normal
from tests.rules.points import check_values

R, C, D = normal(4, 3), normal(4, 3, complex), apart(4, 3)
MASK = np.array([True, False, True])

METHODS = [
    Case(np.add.reduce, C, name="add.reduce"),
    Case(lambda x: np.multiply.reduce(x, axis=1, keepdims=True), C, name="multiply.reduce"),
    Case(lambda x: np.maximum.reduce(x, axis=None), D, name="maximum.reduce"),
    Case(lambda x: np.subtract.reduce(x, axis=1), C, name="subtract.reduce"),
    Case(lambda x: np.hypot.reduce(x, axis=(0, 1)), R, name="hypot.reduce"),
    Case(lambda x: np.logaddexp.reduce(x, axis=1), R, name="logaddexp.reduce"),
    Case(lambda x: np.divide.reduce(x, axis=0, keepdims=True), C, name="divide.reduce"),
    Case(lambda x: np.power.reduce(x, initial=2.0), abs(R) + 0.5, name="power.reduce"),
    Case(lambda x: np.add.accumulate(x, axis=1), C, name="add.accumulate"),
    Case(np.multiply.accumulate, C, name="multiply.accumulate"),
    Case(lambda x: np.maximum.accumulate(x, axis=-1), D, name="maximum.accumulate"),
    Case(lambda x: np.subtract.accumulate(x), R, name="subtract.accumulate"),
    Case(lambda x: np.add.reduceat(x, [0, 2, 1], axis=1), C, name="add.reduceat"),
    Case(lambda x: np.multiply.reduceat(x, [0, 1, 3]), C, name="multiply.reduceat"),
    Case(np.multiply.outer, (R[:, 0], C), name="multiply.outer"),
    Case(np.subtract.outer, (C, np.array(0.5)), name="subtract.outer"),
    Case(lambda x: np.hypot.outer(x, [1.0, 2.0]), R[0], name="hypot.outer"),
    Case(lambda x: np.sin(x, dtype=complex), R, name="sin-dtype"),
    Case(lambda x, y: np.vecdot(x, y, axis=0), (C, C[::-1]), name="vecdot-axis"),
]


@pytest.mark.parametrize("case", METHODS, ids=str)
def test_methods_and_keywords(case):
    check_values(case)
    case.check()


MASKED = [  # what NumPy leaves to chance is thrown away, for the differences
    Case(lambda x: np.where(x > 0, np.log(x, where=x > 0), 0), normal(3, 4), name="log-where"),
    Case(lambda x, y: np.divide(x, y, where=MASK)[:, MASK], (C, R[0]), name="divide-where"),
    Case(lambda x: np.divmod(x, 0.7, where=MASK)[1][:, MASK], D, name="divmod-where"),
]
CASES = METHODS + MASKED[1:]  # in a batch the first one's mask would select another number in each example


@pytest.mark.filterwarnings("ignore:'where' used without 'out'")
@pytest.mark.parametrize("case", MASKED, ids=str)
def test_entries_outside_of_a_mask_are_zero(case):
    """And are not computed there: the logarithm of a negative number would warn."""
    case.check()


def test_values_under_a_mask():
    found = np.sqrt(qad.tensor([4.0, -1.0]), where=[True, False])
    np.testing.assert_array_equal(found.numpy(), [2.0, 0.0])
    assert np.isnan(qad.tensor([1.0, np.nan]), where=np.array([True, True]))[1]


def test_ufuncs_without_derivative_have_their_methods():
    t = qad.tensor([[1.0, 0.0], [2.0, 3.0]], requires_grad=True)
    np.testing.assert_array_equal(np.logical_and.reduce(t, axis=1), [False, True])
    np.testing.assert_array_equal(np.greater.outer(t, np.array([0.5, 2.5])), np.greater.outer(t.numpy(), [0.5, 2.5]))


@pytest.mark.parametrize(
    "call, kind, message",
    [
        (lambda x: np.sin(x, out=np.zeros((4, 3))), ArgumentError, "out="),
        (lambda x: np.add.reduce(x, out=np.zeros(3)), ArgumentError, "out="),
        (lambda x: np.subtract.reduce(x, axis=None), ArgumentError, "one axis at a time"),
        (lambda x: np.subtract.reduce(x, where=MASK), ArgumentError, "np.where"),
        (lambda x: np.subtract.reduce(x[:0]), ArgumentError, "initial="),
        (lambda x: np.matmul(x, x.T, axes=[(0, 1), (0, 1), (0, 1)]), ArgumentError, "np.moveaxis"),
        (lambda x: np.sin(x * 1j, dtype=float), GradientTypeError, "x.real"),
        (lambda x: np.negative.at(x, 0), ArgumentError, "argument of a transform"),
    ],
)
def test_refusals(call, kind, message):
    with pytest.raises(kind, match=message):
        qad.vjp(call, R)
