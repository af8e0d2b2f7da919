"""Writing into Tensors: items, operators such as ``+=``, NumPy's functions and methods that write."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError, BatchError, RecordedTensorError
from qad.extend import Tensor, as_array, attach, implements, operand, value_of
from qad.extend.batching import is_batched
from qad.extend.memory import held, is_buffer, is_number, is_parameter, step, write
from qad.rules.elementwise.complex import imag, real
from qad.rules.shapes.flat import Flat, unraveled
from qad.rules.shapes.gather import is_mask, masked
from qad.rules.shapes.index import along, settled

if TYPE_CHECKING:
    from qad.typing import Function, Index, Value

# -- items -----------------------------------------------------------------------------------------


def set_item(x: Value, index: Index, value: Value) -> None:
    """``x[index] = value``, recorded."""
    index = settled(index)
    if not _is_view(value, x, index):
        _to(x, index, operand(value))


def _is_view(value: Value, x: Value, index: Index) -> bool:
    """Whether `value` is the view ``x[index]``, as at the end of ``x[index] += y``, which has written."""
    return is_buffer(value) and is_buffer(x) and x.level.shows_at(index, value.level)


def _to(x: Value, index: Index, value: Value, add: bool = False) -> None:
    """Write into `x`, which must be a Tensor if anything recorded is written."""
    if type(x) is not Tensor:
        if type(value) is Tensor and value.requires_grad:
            raise RecordedTensorError(
                "a recorded value would be written into a plain ndarray, where its gradient is lost: make that array "
                "with qad.zeros(shape), which records what is written"
            )
        raise ArgumentError("a Tensor was given where NumPy writes into an array: write x.numpy()")
    if is_mask(index):  # of `qad.vmap`
        index, value, add = ..., masked(x, index, value, add), False
    (step if is_parameter(x) else write)(x, index, value, add)


attach("__setitem__", set_item)


def _part_setter(part: Function) -> Function:
    def set_part(x, value):
        if x.dtype.kind != "c" and part is imag:
            raise ArgumentError("a real array has no imaginary part to be written into: make it with dtype=complex")
        shown = part(x)
        if not _is_view(value, shown, ...):
            _to(shown, ..., operand(value))

    return set_part


attach("real", Tensor.real.setter(_part_setter(real)))
attach("imag", Tensor.imag.setter(_part_setter(imag)))
attach("flat", property(Flat, lambda x, value: Flat(x).__setitem__(slice(None), value)))

# -- x += y and its kin ------------------------------------------------------------------------------


def _in_place(name: str, ufunc: np.ufunc) -> None:
    def operator(x, y):
        result = ufunc(x, y)
        if is_number(x) and not is_parameter(x):
            return result  # numbers do not change
        (step if is_parameter(x) else write)(x, ..., result)
        return x

    attach(f"__i{name}__", operator)


for _name, _ufunc in (
    ("add", np.add), ("sub", np.subtract), ("mul", np.multiply), ("truediv", np.divide), ("pow", np.power),
    ("matmul", np.matmul), ("mod", np.remainder), ("floordiv", np.floor_divide), ("and", np.bitwise_and),
    ("or", np.bitwise_or), ("xor", np.bitwise_xor), ("lshift", np.left_shift), ("rshift", np.right_shift),
):  # fmt: skip
    _in_place(_name, _ufunc)

# -- methods of ufuncs -------------------------------------------------------------------------------


def add_at(a: Value, indices: Index, b: Value) -> None:
    """``np.add.at``: entries that an index names several times add up."""
    _to(a, settled(indices), operand(b), add=True)


implements((np.add, "at"))(add_at)
implements((np.subtract, "at"))(lambda a, indices, b: add_at(a, indices, -operand(b)))


@implements((None, "at"))
def at(ufunc: np.ufunc, a: Value, indices: Index, *b: Value) -> None:
    """``ufunc.at``: entries that an index names several times are changed as often, one time after the other."""
    if type(a) is not Tensor:
        return _to(a, indices, operand(*b))
    places = np.arange(a.size).reshape(a.shape)[settled(indices)]
    if b:
        y = np.broadcast_to(operand(*b), places.shape).reshape(-1)
        b = (held(y) if type(y) is Tensor else y.copy(),)  # it may show what is about to change
    places = places.reshape(-1)
    for chosen in _rounds(places):
        index = unraveled(places[chosen], a.shape)
        set_item(a, index, ufunc(a[index], *(y[chosen] if a.ndim else y[chosen][0] for y in b)))
    return None


def _rounds(places: Value) -> list[Value]:
    """Positions in `places`, in groups within which no index repeats: first occurrences, second occurrences, ..."""
    order = np.argsort(places, kind="stable")
    starts = np.searchsorted(places[order], places[order])
    times = np.arange(places.size) - starts
    return [np.sort(order[times == k]) for k in range(times.max(initial=-1) + 1)]


# -- NumPy's functions that write --------------------------------------------------------------------


@implements(np.copyto)
def copyto(dst: Value, src: Value, casting: str = "same_kind", where: Value = True) -> None:
    src = operand(src)
    _to(dst, ..., src if where is True else np.where(where, src, dst))


@implements(np.put)
def put(a: Value, ind: Value, v: Value, mode: str = "raise") -> None:
    indices = np.atleast_1d(as_array(value_of(ind))).ravel()
    if mode != "raise":
        indices = indices % a.size if mode == "wrap" else np.clip(indices, 0, a.size - 1)
    values = np.resize(np.arange(np.size(v)), indices.shape)
    values = np.ravel(operand(v))[values]
    _to(a, unraveled(indices % a.size, a.shape), values if a.ndim else values[-1])


@implements(np.place)
def place(arr: Value, mask: Value, vals: Value) -> None:
    if is_batched(mask):
        if np.size(vals) != 1:
            raise BatchError(
                "np.place under qad.vmap: a mask selects another number of entries in each example, which take their "
                "values in turn: write np.where(mask, values, x) with values of the shape of x"
            )
        return putmask(arr, mask, vals)
    mask = as_array(value_of(mask)).astype(bool).reshape(arr.shape)
    return _to(arr, mask, np.ravel(operand(vals))[np.arange(int(mask.sum())) % np.size(vals)])


@implements(np.putmask)
def putmask(a: Value, mask: Value, values: Value) -> None:
    """``np.putmask``; a mask that differs between the examples of `qad.vmap` chooses between whole arrays."""
    if is_batched(mask):
        values = np.ravel(operand(values))[np.arange(a.size) % np.size(values)].reshape(a.shape)
        return _to(a, ..., np.where(mask.astype(bool).reshape(a.shape), values, a))
    mask = as_array(value_of(mask)).astype(bool).reshape(a.shape)
    return _to(a, mask, np.ravel(operand(values))[np.flatnonzero(mask) % np.size(values)])


@implements(np.put_along_axis)
def put_along_axis(arr: Value, indices: Value, values: Value, axis: int | None) -> None:
    if axis is None:
        return put(arr, indices, values)
    index = list(np.ogrid[tuple(slice(n) for n in arr.shape)])
    index[len(along(axis, 0, arr.ndim)) - 1] = as_array(value_of(indices)).copy()
    return _to(arr, tuple(index), operand(values))


@implements(np.fill_diagonal)
def fill_diagonal(a: Value, val: Value, wrap: bool = False) -> None:
    if wrap or a.ndim != 2:
        raise ArgumentError("np.fill_diagonal of a Tensor is for a matrix, without wrap: write a[i, i] = value")
    steps = np.arange(min(a.shape))
    _to(a, (steps, steps), operand(val) if np.ndim(val) == 0 else np.ravel(operand(val))[steps % np.size(val)])


def _sorting(function: Function) -> Function:
    """A method that sorts a Tensor in place, and returns nothing."""
    return lambda x, *args, **kwargs: _to(x, ..., function(x, *args, **kwargs))


attach("fill", lambda x, value: set_item(x, ..., value))
attach("put", put)
attach("sort", _sorting(np.sort))
attach("partition", _sorting(np.partition))
