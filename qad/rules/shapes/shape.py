"""Functions that give the same entries another shape, or another order of axes.

The few primitives are methods of arrays, which take less time than NumPy's functions and which Tensors have
too; everything else is written in them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from qad.core.errors import ArgumentError, ShapeError
from qad.extend import (
    SHAPE,
    Tensor,
    attach,
    core,
    defbatch,
    implements,
    operand,
    quick,
    quick_with_metadata,
    rule,
    shifted,
    stack_of,
    unbroadcast,
)
from qad.extend.memory import held, is_buffer

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from qad.typing import Function, Shape, Value

# -- primitives ------------------------------------------------------------------------------------


def T(x: Value) -> Value:
    return x.T


def mT(x: Value) -> Value:
    return x.mT


def reshape(x: Value, shape: Shape) -> Value:
    return x.reshape(shape)


def transpose(x: Value, axes: Sequence[int]) -> Value:
    return x.transpose(axes)


def inverse(axes: Sequence[int]) -> tuple[int, ...]:
    """The permutation that undoes `axes`."""
    return tuple(sorted(range(len(axes)), key=axes.__getitem__))


def _reshape_each(batched: Sequence[bool], x: Value, shape: Shape) -> Value:
    shape = tuple(shape) if np.iterable(shape) else (shape,)
    if not len(x):  # of no examples, a length of -1 follows from the shape of one
        shape = np.broadcast_to(False, x.shape[1:]).reshape(shape).shape
    return x.reshape((len(x), *shape))


def _broadcast_to(batched: Sequence[bool], x: Value, shape: Shape, subok: bool = False) -> Value:
    shape = tuple(shape) if np.iterable(shape) else (shape,)
    return np.broadcast_to(x.reshape((len(x),) + (1,) * (len(shape) + 1 - x.ndim) + x.shape[1:]), (len(x), *shape))


rule(
    T,
    lambda g, y, x: g.T,
    linear=True,
    batch=lambda batched, x: x.transpose((0, *range(x.ndim - 1, 0, -1))),
    shows=True,
    root="moved",
    name="transpose",
)
rule(mT, lambda g, y, x: g.mT, linear=True, batch=core(2), shows=True, root="moved", name="matrix_transpose")
rule(
    reshape,
    lambda g, y, x, shape: g.reshape(x.shape),
    linear=True,
    batch=_reshape_each,
    shows="by order",
    root="moved",
)
rule(
    transpose,
    lambda g, y, x, axes: g.transpose(inverse(axes)),
    linear=True,
    batch=lambda batched, x, axes: x.transpose((0, *shifted(axes, x.ndim))),
    shows=True,
    root="moved",
)
rule(
    np.broadcast_to,
    lambda g, y, x, shape, subok=False: unbroadcast(g, x.shape),
    linear=True,
    batch=_broadcast_to,
    shows=True,
    root="moved",
)
_T, _mT = quick(T), quick(mT)
_quick_reshape, _transpose = quick_with_metadata(reshape), quick_with_metadata(transpose)

# -- reshapes --------------------------------------------------------------------------------------


@implements(np.reshape)
def reshaped(a: Value, shape: Shape, order: str = "C", *, copy: bool | None = None) -> Value:
    if copy is not None:
        return _reshaped_as_told(a, shape, order, copy)
    if order == "C":
        return _quick_reshape(a, shape)
    if order != "F":
        raise ArgumentError(
            f"order={order!r} asks for a layout in memory, which Tensors do not promise: write order='C' or order='F'"
        )
    backwards = tuple(shape)[::-1] if np.iterable(shape) else (shape,)
    return _T(_quick_reshape(_T(a), backwards))


def _reshaped_as_told(a: Value, shape: Shape, order: str, copy: bool) -> Value:
    """The reshaped array, as a copy or as a view."""
    y = reshaped(np.copy(a) if copy else a, shape, order)
    if not copy and y.size and not np.may_share_memory(stack_of(a), stack_of(y)):
        raise ArgumentError(f"to reshape {a.shape} to {y.shape} here takes a copy: leave copy=False out")
    return y


def reshape_method(x: Tensor, *shape: Any, order: str = "C", copy: bool | None = None) -> Value:
    shape = shape[0] if len(shape) == 1 else shape
    return _quick_reshape(x, shape) if order == "C" and copy is None else reshaped(x, shape, order, copy=copy)


@implements(np.ravel)
def ravel(a: Value, order: str = "C") -> Value:
    """``np.ravel``: a view where the entries follow one another in memory, else a copy."""
    y = reshaped(a, -1, order) if a.ndim else _quick_reshape(a, (1,))
    return a.level.raveled(y, order) if is_buffer(a) else y


def _as_numpy_shapes(function: Function) -> Function:
    """A handler for a function that only changes the shape, to the one NumPy gives."""

    def handler(a, *args, **kwargs):
        return _quick_reshape(a, function(np.empty(a.shape, bool), *args, **kwargs).shape)

    return handler


squeeze: Function = implements(np.squeeze)(_as_numpy_shapes(np.squeeze))
expand_dims: Function = implements(np.expand_dims)(_as_numpy_shapes(np.expand_dims))


def _each(function: Function) -> Function:
    """The handler of a function that adds axes to each of several arrays."""
    widen = _as_numpy_shapes(function)

    def handler(*arrays):
        widened = tuple([widen(a) if type(a) is Tensor else function(operand(a)) for a in arrays])
        return widened[0] if len(arrays) == 1 else widened

    return handler


atleast_1d: Function = implements(np.atleast_1d)(_each(np.atleast_1d))
atleast_2d: Function = implements(np.atleast_2d)(_each(np.atleast_2d))
atleast_3d: Function = implements(np.atleast_3d)(_each(np.atleast_3d))


@implements(np.broadcast_arrays)
def broadcast_arrays(*args: Value, subok: bool = False) -> tuple[Value, ...]:
    arrays = [operand(a) for a in args]
    shape = np.broadcast_shapes(*map(np.shape, arrays))
    return tuple([a if np.shape(a) == shape else np.broadcast_to(a, shape) for a in arrays])


for _function in (np.squeeze, np.expand_dims, np.atleast_1d, np.atleast_2d, np.atleast_3d):
    defbatch(_function, SHAPE)

# -- permutations of axes --------------------------------------------------------------------------


@implements(np.transpose)
def transposed(a: Value, axes: Sequence[int] | None = None) -> Value:
    if axes is None:
        return _T(a)
    n = a.ndim
    return _transpose(a, tuple([axis + n if axis < 0 else axis for axis in axes]))


def transpose_method(x: Tensor, *axes: Any) -> Value:
    return transposed(x, axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes or None)


@implements(np.swapaxes)
def swapaxes(a: Value, axis1: int, axis2: int) -> Value:
    axes, one, two = list(range(a.ndim)), normalize_axis_index(axis1, a.ndim), normalize_axis_index(axis2, a.ndim)
    axes[one], axes[two] = two, one
    return _transpose(a, tuple(axes))


def _permuting(function: Function) -> Function:
    """A handler for a function that moves axes: an array of shape (0, 1, 2, ...) shows where they go."""

    def handler(a, *args, **kwargs):
        return _transpose(a, function(np.empty(range(a.ndim)), *args, **kwargs).shape)

    return handler


moveaxis: Function = implements(np.moveaxis)(_permuting(np.moveaxis))
rollaxis: Function = implements(np.rollaxis)(_permuting(np.rollaxis))


def matrix_transpose(x: Value) -> Value:
    """The transpose of the last two axes."""
    if x.ndim < 2:
        raise ShapeError(f"a matrix transpose needs two axes, but the array has shape {x.shape}: use .T, or x[:, None]")
    return _mT(x)


implements(np.matrix_transpose)(matrix_transpose)
implements(np.linalg.matrix_transpose)(matrix_transpose)


def adjoint(x: Value) -> Value:
    """The conjugate transpose of the last two axes."""
    y = matrix_transpose(x)
    return y.conj() if y.dtype.kind == "c" else y


def matrix_adjoint(x: Value) -> Value:
    """The conjugate transpose of a matrix; for stacks of them there is `mH`."""
    if x.ndim != 2:
        raise ShapeError(f".H is for matrices, but the array has shape {x.shape}: write .mH for the last two axes")
    return adjoint(x)


for _name, _function in (("T", _T), ("mT", matrix_transpose), ("mH", adjoint), ("H", matrix_adjoint)):
    attach(_name, _function, property=True)
for _name, _function in (
    ("reshape", reshape_method),
    ("ravel", ravel),
    ("flatten", lambda x, order="C": held(reshaped(x, -1, order))),
    ("squeeze", squeeze),
    ("transpose", transpose_method),
    ("swapaxes", swapaxes),
):
    attach(_name, _function)
