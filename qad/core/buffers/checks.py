"""What is refused of writes, in a sentence each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError, GradientTypeError, ShapeError
from qad.core.tape.tensor import Tensor, value_of

if TYPE_CHECKING:
    from qad.typing.words import Value


def check_shape(there: tuple[int, ...], v: Value, x: Tensor) -> None:
    """Raise unless `v` fits at an index that names this shape, before anything is changed; numbers always do."""
    shape = v.shape if hasattr(v, "shape") else np.shape(v)
    if not shape:
        return
    if len(shape) > len(there) or any(n not in (1, m) for n, m in zip(shape[::-1], there[::-1], strict=False)):
        raise ShapeError(
            f"a value of shape {shape} does not fit at an index that names shape {there} of a buffer of shape {x.shape}"
            ": an axis of length 1 is stretched, and inserted with value[:, None]"
        )


def check_kind(x: Tensor, v: Value) -> None:
    """Raise unless the dtype of `v` fits into that of `x`."""
    dtype = v.dtype if hasattr(v, "dtype") else np.result_type(value_of(v))
    recorded = type(v) is Tensor and v.requires_grad
    if (dtype.kind == "c" and x.dtype.kind != "c") or (recorded and x.dtype.kind not in "fc"):
        raise GradientTypeError(
            f"a value of dtype {dtype} does not fit in a buffer of dtype {x.dtype}: make it with "
            f"qad.zeros(shape, dtype={'complex' if dtype.kind == 'c' else 'float'}), or write value.real"
        )


def argument() -> ArgumentError:
    return ArgumentError(
        "an argument of a transform, or a leaf, cannot be written into, nor can a view of one: write x = x + y "
        "instead of x += y, or y = x.copy() and then y[...] = value; a parameter takes a step under "
        "qad.no_grad(): x -= step * x.grad"
    )


def number() -> ArgumentError:
    return ArgumentError("a number cannot be written into: make an array with x = qad.zeros(shape)")


def detached() -> ArgumentError:
    return ArgumentError(
        "a result of which x.detach() or qad.stop_gradient(x) was taken cannot be written into, since that would not "
        "follow: write y = y.copy() first"
    )


def read_only() -> ArgumentError:
    return ArgumentError(
        "NumPy makes this view read-only (np.broadcast_to and np.diagonal do): write into the whole, with "
        "b[i, i] = value or into np.einsum('ii->i', b) for a diagonal, or take a copy first: x = x.copy()"
    )


def unsure() -> ArgumentError:
    return ArgumentError(
        "it depends on how an array lies in memory whether this reshape is a view, which shows what is written: write "
        "y = x.reshape(shape).copy(), or make x = x.copy() first, which lies in C order"
    )
