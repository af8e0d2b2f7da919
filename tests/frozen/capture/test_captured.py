"""What a frozen function captured is watched: arrays of every layout, views of them, and nothing that is gone."""

import gc
import weakref

import numpy as np
import pytest

import qad
from qad.frozen.capture.array_contents import SMALL, contents, while_they_live
from qad.frozen.capture.bindings import Bindings

BIG = np.arange(SMALL // 4, dtype=float)  # larger than what is compared byte by byte


def views():
    matrix = np.arange(12.0).reshape(3, 4)
    return {
        "an array": matrix.copy(),
        "a row": matrix[1],
        "a column": matrix[:, 2],
        "transposed": matrix.copy().T,
        "backwards": matrix[::-1, ::-2],
        "of Fortran order": np.asfortranarray(matrix)[1:, ::-2],
        "of other bytes": matrix.view(np.uint8)[:, ::3],
        "of memory that is no array": np.frombuffer(bytearray(48)),
        "without axes": matrix[1, 1, ...],
        "large": BIG.copy(),
        "a large view": BIG.copy()[5:-5],
    }


@pytest.mark.parametrize("name", views())
@pytest.mark.parametrize("look", [contents, while_they_live])
def test_a_change_of_any_entry_is_seen(name, look):
    array = views()[name]
    watch = Bindings(look([array]))
    assert watch.hold()
    for index in (0, -1, array.size // 2):
        place = np.unravel_index(index % array.size, array.shape)
        before = array[place].copy()
        array[place] = 77
        assert not watch.hold()
        array[place] = before
        assert watch.hold()


@pytest.mark.parametrize("array", [np.zeros((0, 3))[1:], np.zeros(0)[::1], np.broadcast_to(np.arange(3.0), (4, 3))])
def test_arrays_that_are_empty_or_read_only(array):
    assert Bindings(contents([array])).hold()
    assert Bindings(while_they_live([array])).hold()


def test_a_view_whose_owner_has_no_name():
    row = np.ones((3, 4))[1]
    f = qad.freeze(lambda x: x * row)
    f(np.ones(4))
    row[2] = 5
    np.testing.assert_array_equal(f(np.ones(4)), row)
    assert f.stats.reasons == ["what the function captured has changed: an array of shape (4,)"]


def test_an_array_that_was_met_transposed_alone():
    matrix = np.ones((3, 4))
    read = {"turned": matrix.__array__}
    f = qad.freeze(lambda x: read["turned"]().T @ x)
    f(np.ones(3))
    matrix[2, 1] = 5
    np.testing.assert_array_equal(f(np.ones(3)), matrix.T @ np.ones(3))


def test_one_memory_is_compared_once():
    stack = np.ones((2, 3, 4))
    assert len(contents([stack[0], stack[0].T, stack[0].copy().T, stack[1]])) == 3
    square = np.ones((4, 4))
    row_and_column = Bindings(contents([square[0], square[:, 0]]))
    square[2, 0] = 5
    assert not row_and_column.hold()
    whole = np.ones((3, 4))
    assert len(contents([whole, whole.T, whole[1:]])) == 1


def test_two_entries_that_are_exchanged_are_seen():
    """Sums over rows and columns would not tell: a spin flip on a plaquette."""
    spins = np.zeros((300, 300))
    spins[:2, :2] = [[1, 2], [2, 1]]
    f = qad.freeze(lambda x: x * spins[0, 0])
    assert f(1.0) == 1
    spins[:2, :2] = [[2, 1], [1, 2]]
    assert f(1.0) == 2


def test_memory_that_is_gone_is_not_kept():
    made = []

    def f(x):
        ones = np.ones((3, 3))
        made.append(weakref.ref(ones))
        return ones[1:] @ x

    frozen = qad.freeze(f)
    frozen(np.ones(3))
    gc.collect()
    assert made[0]() is None
    np.testing.assert_array_equal(frozen(np.ones(3)), [3, 3])


def test_a_large_array_is_copied_once():
    table = np.ones((100, 100))
    frozen = qad.freeze(lambda x: table @ x, passes=())
    frozen(np.ones(100))
    (constant,) = frozen.program.constants.values()
    (copy,) = frozen._captured.copies.values()
    assert constant is copy
    assert copy is not table
    table[3, 4] = 5.0
    assert frozen(np.ones(100))[3] == 104


@pytest.mark.parametrize("make", [np.ascontiguousarray, np.asfortranarray, lambda x: x.astype("datetime64[s]")])
def test_an_array_is_compared_as_it_lies_in_memory(make):
    array = make(np.arange(12.0).reshape(3, 4))
    ((form, *_),) = bindings = contents([array])
    assert form == {"f": "memory" if array.flags.c_contiguous else "turned", "M": "array"}[array.dtype.kind]
    watch = Bindings(bindings)
    array[1, 2] += array.dtype.type(5) if array.dtype.kind == "f" else np.timedelta64(5, "s")
    assert not watch.hold() and watch.broken() == ["an array of shape (3, 4)"]
    array[1, 2] -= array.dtype.type(5) if array.dtype.kind == "f" else np.timedelta64(5, "s")
    assert watch.hold() and not watch.broken()


def test_copies_that_only_the_tape_knows_are_not_compared():
    table = np.ones((50, 50))
    f = qad.freeze(qad.hessian(lambda x: np.sum(np.tanh(table @ x) ** 2)))
    f(np.ones(50))
    (branches,) = f._entries.values()
    arrays = [each for each in branches.branches[0].captured.listed if "array" in str(each[2]) or each[0] == "memory"]
    assert next(array for form, array, *_ in arrays if form == "memory") is table
    assert len(arrays) <= 2
    table[0, 0] = 2
    np.testing.assert_allclose(f(np.ones(50)), qad.hessian(lambda x: np.sum(np.tanh(table @ x) ** 2))(np.ones(50)))
