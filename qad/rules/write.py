"""Writing into Tensors: items, operators such as ``+=``, NumPy's functions that write."""

import numpy as np

from qad.core.buffers import adopt, write
from qad.core.errors import ArgumentError, RecordedTensorError
from qad.core.levels import CONSTANT, limit
from qad.core.node import ANSWER
from qad.extend import Tensor, attach, implements, operand, value_of
from qad.rules.index import along, settled

# -- items -----------------------------------------------------------------------------------------


def set_item(x, index, value):
    """``x[index] = value``, recorded."""
    mark = value.buffer if type(value) is Tensor else None
    if getattr(mark, "root", None) is not x or not _same(mark.index, index):
        _to(x, settled(index), operand(value))
    # else it is the last step of x[index] += y, which has written already


def _same(one, two):
    return type(one) is type(two) and not isinstance(one, np.ndarray) and one == two


def _to(x, index, value, add=False):
    """Write into `x`, which must be a Tensor if anything recorded is written."""
    if type(x) is not Tensor:
        if type(value) is Tensor and value.level != CONSTANT:
            raise RecordedTensorError(
                "a recorded value would be written into a plain ndarray, where its gradient is lost: make that array "
                "with qad.zeros(shape), which records what is written"
            )
        raise ArgumentError("a Tensor was given where NumPy writes into an array: write x.numpy()")
    if _parameter(x):
        return _step(x, index, value, add)
    write(x, index, value, add)
    return None


def _parameter(x) -> bool:
    """Whether `x` is a leaf of the tape under `qad.no_grad`, which takes a step that is not recorded."""
    return x.level == 0 and x.is_leaf and not limit() < 0


def _step(x, index, value, add):
    array = x.value.copy()
    (np.add.at if add else np.ndarray.__setitem__)(array, index, value_of(value))
    x.value = x.node[ANSWER] = array


attach("__setitem__", set_item)

# -- x += y and its kin ------------------------------------------------------------------------------


def _in_place(name, ufunc):
    def operator(x, y):
        result = ufunc(x, y)
        if not x.shape and not isinstance(value_of(x), np.ndarray):
            return result  # numbers do not change
        if _parameter(x):
            _step(x, ..., result, False)
        else:
            adopt(x, result)
        return x

    attach(f"__i{name}__", operator)


for _name, _ufunc in (
    ("add", np.add), ("sub", np.subtract), ("mul", np.multiply), ("truediv", np.divide), ("pow", np.power),
    ("matmul", np.matmul), ("mod", np.remainder), ("floordiv", np.floor_divide), ("and", np.bitwise_and),
    ("or", np.bitwise_or), ("xor", np.bitwise_xor), ("lshift", np.left_shift), ("rshift", np.right_shift),
):  # fmt: skip
    _in_place(_name, _ufunc)

# -- NumPy's functions that write --------------------------------------------------------------------


def add_at(a, indices, b):
    """``np.add.at``: entries that an index names several times add up."""
    _to(a, settled(indices), operand(b), add=True)


implements((np.add, "at"))(add_at)


@implements(np.copyto)
def copyto(dst, src, casting="same_kind", where=True):
    src = operand(src)
    _to(dst, ..., src if where is True else np.where(where, src, dst))


@implements(np.put)
def put(a, ind, v, mode="raise"):
    indices = np.atleast_1d(np.asarray(value_of(ind))).ravel()
    if mode != "raise":
        indices = indices % a.size if mode == "wrap" else np.clip(indices, 0, a.size - 1)
    values = np.resize(np.arange(np.size(v)), indices.shape)
    _to(a, np.unravel_index(indices % a.size, a.shape), np.ravel(operand(v))[values])


@implements(np.place)
def place(arr, mask, vals):
    mask = np.array(value_of(mask), bool).reshape(arr.shape)
    _to(arr, mask, np.ravel(operand(vals))[np.arange(mask.sum()) % np.size(vals)])


@implements(np.putmask)
def putmask(a, mask, values):
    mask = np.array(value_of(mask), bool).reshape(a.shape)
    _to(a, mask, np.ravel(operand(values))[np.flatnonzero(mask) % np.size(values)])


@implements(np.put_along_axis)
def put_along_axis(arr, indices, values, axis):
    if axis is None:
        return put(arr, indices, values)
    index = list(np.ogrid[tuple(slice(n) for n in arr.shape)])
    index[len(along(axis, 0, arr.ndim)) - 1] = np.array(value_of(indices))
    return _to(arr, tuple(index), operand(values))


@implements(np.fill_diagonal)
def fill_diagonal(a, val, wrap=False):
    if wrap or a.ndim != 2:
        raise ArgumentError("np.fill_diagonal of a Tensor is for a matrix, without wrap: write a[i, i] = value")
    steps = np.arange(min(a.shape))
    _to(a, (steps, steps), operand(val) if np.ndim(val) == 0 else np.ravel(operand(val))[steps % np.size(val)])


attach("fill", lambda x, value: set_item(x, ..., value))
attach("put", put)
