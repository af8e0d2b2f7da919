"""Functions that make arrays: Tensors that nothing has recorded yet, and that may be written into."""

from functools import wraps

import numpy as np

from qad.array_api.wrap import as_tensors, giving_tensors
from qad.core.errors import ArgumentError
from qad.extend import Tensor, value_of
from qad.extend.memory import buffer


def asarray(obj, /, *, dtype=None, device=None, copy=None):
    """`obj` as a Tensor: an array, a number, or nested lists of numbers and Tensors."""
    if isinstance(obj, (list, tuple)) and any(isinstance(x, (Tensor, list, tuple)) for x in obj):
        obj = np.stack([asarray(x) for x in obj])
    if type(obj) is not Tensor:
        return buffer(np.array(obj, dtype=dtype, copy=copy))
    if dtype is not None and np.dtype(dtype) != obj.dtype:
        if copy is False:
            raise ArgumentError(f"a change from {obj.dtype} to {dtype} takes a copy: leave copy=False out")
        return as_tensors(np.astype(obj, dtype))
    return np.copy(obj) if copy else obj


def _new(fn):
    """`fn` with its array in a Tensor that may be written into."""

    @wraps(fn)
    def call(*args, **kwargs):
        return buffer(fn(*args, **kwargs))

    return call


@_new
def arange(start, /, stop=None, step=1, *, dtype=None, device=None):
    """Evenly spaced numbers, without the end."""
    return np.arange(0, start, step, dtype=dtype) if stop is None else np.arange(start, stop, step, dtype=dtype)


@_new
def empty(shape, *, dtype=None, device=None):
    """An array of this shape, of any content."""
    return np.empty(shape, dtype or float)


@_new
def zeros(shape, *, dtype=None, device=None):
    """Zeros of this shape."""
    return np.zeros(shape, dtype or float)


@_new
def ones(shape, *, dtype=None, device=None):
    """Ones of this shape."""
    return np.ones(shape, dtype or float)


def full(shape, fill_value, *, dtype=None, device=None):
    """One number everywhere; a Tensor is recorded on."""
    if type(fill_value) is not Tensor:
        return buffer(np.full(shape, fill_value, dtype))
    y = np.broadcast_to(fill_value, shape)
    return y.copy() if dtype is None else as_tensors(np.astype(y, dtype))


@_new
def eye(n_rows, n_cols=None, /, *, k=0, dtype=None, device=None):
    """Ones on one diagonal."""
    return np.eye(n_rows, n_cols, k, dtype or float)


@_new
def empty_like(x, /, *, dtype=None, device=None):
    """An array of the shape of `x`, of any content."""
    return np.empty_like(value_of(x), dtype=dtype)


@_new
def zeros_like(x, /, *, dtype=None, device=None):
    """Zeros of the shape of `x`."""
    return np.zeros_like(value_of(x), dtype=dtype)


@_new
def ones_like(x, /, *, dtype=None, device=None):
    """Ones of the shape of `x`."""
    return np.ones_like(value_of(x), dtype=dtype)


def full_like(x, /, fill_value, *, dtype=None, device=None):
    """One number everywhere, in the shape and dtype of `x`."""
    return full(x.shape, fill_value, dtype=dtype or x.dtype)


def linspace(start, stop, /, num, *, dtype=None, device=None, endpoint=True):
    """Evenly spaced numbers; recorded in the ends."""
    return as_tensors(np.linspace(start, stop, num, endpoint, dtype=dtype))


def from_dlpack(x, /, *, device=None, copy=None):
    """Another package's array as a Tensor."""
    if type(x) is Tensor:
        return np.copy(x) if copy else x
    return buffer(np.from_dlpack(x).copy() if copy else np.from_dlpack(x))


meshgrid, tril, triu = map(giving_tensors, (np.meshgrid, np.tril, np.triu))
