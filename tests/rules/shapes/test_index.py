"""Indexing of every kind, and the functions that select entries."""

import operator

import numpy as np
import pytest

import qad
from tests.cases import Case, normal
from tests.rules.points import both_kinds, check_layouts

MASK = np.array([[True, False, True], [False, False, True], [True, True, False], [False, True, True]])
ROWS, COLUMNS = np.array([0, 2, 2, -1]), np.array([1, 1, 1, 0])
M, N = MASK[:, 0], None

INDICES = [  # of an array of shape (4, 3, 2)
    0,
    -1,
    slice(1, 3),
    slice(None, None, -2),
    ...,
    N,
    (0,),
    (),
    (1, 2),
    (1, 2, 0),
    (..., 0),
    (0, ..., 1),
    (N, 0, N, ..., N),
    (slice(1, None), slice(None), slice(0, 1)),
    (slice(3, 1),),
    np.int64(2),
    np.array(2),
    [0, 1],
    [[0, 0], [1, 3]],
    [],
    ROWS,
    (ROWS,),
    (ROWS, COLUMNS),
    (ROWS, COLUMNS, COLUMNS),
    (slice(None), COLUMNS),
    (slice(None), [0, 0]),
    (ROWS, slice(None), 0),
    (0, slice(None), [0, 0]),
    (ROWS, ..., N),
    (N, ROWS, 1),
    (ROWS[:, N], COLUMNS),
    (ROWS, slice(None), COLUMNS),
    MASK,
    M,
    (M, 0),
    (slice(None), MASK[0]),
    (M, ..., 0),
    (M, COLUMNS[:2]),
    (N, MASK),
    (MASK, 0),
    np.zeros((4, 3, 2), bool),
    True,
    False,
    ([True, False, True, True],),
    M.tolist(),
]


def repeated(x):
    """Doubly, so that the second derivative sees the scatter too."""
    return x[[0, 0, 1]] * x[[1, 0, 0]]


TABLE = [(lambda x, i=i: x[i], (4, 3, 2)) for i in INDICES]
TABLE += [
    (lambda x, i=i: x[i] * x[i] * x[i], (4, 3, 2))
    for i in (0, (slice(None), 1), ROWS, (ROWS, slice(None), COLUMNS), MASK)
]
TABLE += [
    (repeated, (4,)),
    (lambda x: x[()], ()),
    (lambda x: x[N, ..., N], ()),
    (lambda x: x[True], ()),
    (lambda x: x[0:0], (3,)),
    (lambda x: x[[]], (0,)),
    (lambda x: sum(row * row for row in x), (3, 2)),
    (lambda x: x[np.argmax(qad.tensor([1.0, 5.0, 2.0]))], (4,)),
    (lambda x: x[qad.tensor([1, 1])], (4,)),
    (lambda x: x[0, qad.tensor(1)], (4, 3)),
    (lambda x: x[[qad.tensor(1), 0]], (4,)),
    (lambda x: np.take(x, COLUMNS), (4, 3)),
    (lambda x: np.take(x, [[0, 3], [3, 3]], axis=0), (4, 3)),
    (lambda x: np.take(x, -1, axis=-1), (4, 3)),
    (lambda x: x.take(np.array([5, -4]), axis=1, mode="wrap"), (4, 3)),
    (lambda x: x.take(np.array([5, -4, 1]), 1, mode="clip"), (4, 3)),
    (lambda x: np.take_along_axis(x, np.array([[0], [2], [1], [1]]), 1), (4, 3)),
    (lambda x: np.take_along_axis(x, np.array([[0, 0, 3]]), axis=0), (4, 3)),
    (lambda x: np.take_along_axis(x, np.array([0, 5, 5]), None), (4, 3)),
    (lambda x: np.compress([False, True, True], x, axis=1), (4, 3)),
    (lambda x: x.compress(MASK.ravel()), (4, 3)),
    (lambda x: np.extract(MASK, x), (4, 3)),
    (lambda x: np.delete(x, [0, 2], axis=1), (4, 3)),
    (lambda x: np.delete(x, 1), (4, 3)),
    (lambda x: np.delete(x, slice(None, None, 2), -2), (4, 3)),
    (lambda x: np.where(MASK, x * x, 2.0), (4, 3)),
    (lambda x: np.where(MASK, 1j, x * x), (4, 3)),
    (lambda x: np.where(MASK, x[0] * x[1], x[:, :1]), (4, 3)),
    (lambda x: np.where(True, x * x, x), ()),
    (lambda x: np.where(M[:, N], x * x, x), (3,)),
    (lambda x: np.where(np.zeros((0, 3), bool), x, 0.0), (3,)),
    (lambda x: np.select([MASK, ~MASK[:, :1]], [x * x, 3.0 * x[0]], default=x[1] * x[2]), (4, 3)),
    (lambda x: np.select([MASK], [x]), (4, 3)),
    (lambda x: np.choose([0, 1, 1, 2], [x * x, 3.0, x[::-1]]), (4,)),
    (lambda x: np.choose([0, 5, -1], x, mode="clip"), (4, 3)),
]
CASES = both_kinds(TABLE)
CASES += [
    Case(lambda x, z: np.where(MASK, x, z), (normal(4, 3), normal(3, complex)), name="where-mixed"),
    Case(lambda x, z: np.where(MASK, z, x), (normal(4, 1), normal(4, 3, complex)), name="where-mixed"),
    Case(lambda x, z: np.select([MASK, ~MASK], [x, z]), (normal(4, 3), normal(4, 3, complex)), name="select-mixed"),
    Case(lambda z: z[1] * z[1].real, normal(3, complex), name="entry-and-its-real-part"),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_derivatives(case):
    case.check()


@pytest.mark.parametrize("index", [0, (slice(None, None, -1), 1), (ROWS, slice(None), COLUMNS), MASK], ids=str)
def test_layouts(index):
    check_layouts(lambda x: x[index], (4, 3, 2))


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_values(index):
    x = normal(4, 3, 2)
    np.testing.assert_array_equal(qad.tensor(x, requires_grad=True)[index].numpy(), x[index])


@pytest.mark.parametrize("name", ["take", "compress", "extract", "delete", "choose", "take_along_axis"])
def test_values_are_those_of_numpy(name):
    x, f = normal(4, 3), getattr(np, name)
    others = {"take": ([1, 1],), "delete": (1,), "take_along_axis": (np.array([[0], [0], [2], [1]]), 1)}
    for t in (qad.tensor(x), qad.tensor(x, requires_grad=True)):
        if name in others:
            found, expected = f(t, *others[name]), f(x, *others[name])
        elif name == "choose":
            found, expected = f([0, 1, 3], t), f([0, 1, 3], x)
        else:
            found, expected = f(MASK.ravel(), t), f(MASK.ravel(), x)
        np.testing.assert_array_equal(found.numpy(), expected)


def test_repeated_entries_add_up():
    np.testing.assert_array_equal(qad.grad(lambda x: x[[0, 0, 2]].sum())(np.ones(3)), [2, 0, 1])


def test_an_index_changed_after_it_was_used():
    def f(x):
        index, several = np.array([0, 1]), [0, 1]
        y = x[index].sum() + x[several].sum()
        index[:] = 2
        several[:] = [2, 2]
        return y

    np.testing.assert_array_equal(qad.grad(f)(np.ones(3)), [2, 2, 0])


def test_where_with_only_a_condition():
    (rows,) = np.where(qad.tensor([0.0, 1.0], requires_grad=True))
    assert rows.tolist() == [1]


def test_bad_indices():
    x = qad.tensor(normal(3), requires_grad=True)
    for index in (3, (0, 0), [1.5], "a"):
        with pytest.raises(IndexError):
            x[index]


WRITERS = [
    lambda x: np.put(x, [0], 1.0),
    lambda x: np.put_along_axis(x, np.array([0]), 1.0, 0),
    lambda x: np.place(x, [True, False, False], [1.0]),
    lambda x: np.putmask(x, [True, False, False], [1.0]),
    lambda x: np.copyto(x, 1.0),
    lambda x: np.fill_diagonal(x, 1.0),
    lambda x: operator.setitem(x, 0, 1.0),
    lambda x: np.take(x, 0, out=np.zeros(())),
    lambda x: np.compress([True], x, out=np.zeros(1)),
    lambda x: np.choose([0], x, out=np.zeros(1)),
    lambda x: np.take(x, 0, mode="bounce"),
    lambda x: np.select([True, False], [x]),
    lambda x: np.take_along_axis(x, np.zeros((1, 1), int), 0),
]


@pytest.mark.parametrize("f", WRITERS)
def test_what_is_refused(f):
    with pytest.raises(qad.errors.ArgumentError, match=r"write|'raise'|as many"):
        f(qad.tensor(normal(3), requires_grad=True))
