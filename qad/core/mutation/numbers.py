"""Results without axes: NumPy returns numbers, which never change, and arrays, which are written in place.

``x += 1`` gives a number another name and changes an array under all of its names.  So a result must be of the kind
that NumPy gives.  Where that does not follow from how it was computed, and under `qad.vmap`, where values do not tell,
it is said here.
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from qad.core.mutation.aliases import Written, is_number
from qad.core.tape import hooks
from qad.core.tape.tensor import Tensor, handle_of
from qad.core.vmap.layouts import bottom

if TYPE_CHECKING:
    from qad.typing import Function

NUMBERS: frozenset[Any] = frozenset((
    np.interp, np.linalg.matrix_norm, np.linalg.multi_dot, np.linalg.norm, np.linalg.vecdot,
    np.linalg.vector_norm, np.median, np.nanmedian, np.nanpercentile, np.nanquantile, np.percentile, np.quantile,
    np.vecdot,
))  # fmt: skip
ARRAYS: frozenset[Any] = frozenset((
    np.copy, np.expand_dims, np.i0, np.linalg.tensordot, np.real_if_close, np.resize, np.roll, np.select, np.tensordot,
    np.tile, np.where,
))  # fmt: skip


def as_number(x: Any) -> Any:
    """`x`; a Tensor without axes as a number."""
    if type(x) is not Tensor or x.shape:
        return x
    value = x.value
    if type(value) is ndarray:
        value = value[()]
    elif isinstance(value, np.generic) and x.buffer is None:  # most often
        return x
    elif type(value) is Tensor:
        value = as_number(value)
    elif isinstance(bottom(value)[0], ndarray) and not bottom(value)[1]:
        value = value[()]
    number = handle_of(x, value)
    if x.source is not None and x.source[1] is x.value:  # it is still the root of what it was made of
        number.source = x.source[0], value, x.tangent
    return number


def as_array(x: Any) -> Any:
    """`x`; a Tensor without axes as an array, which may be written into."""
    if type(x) is Tensor and not x.shape and is_number(x):
        x = handle_of(x)
        x.buffer = Written()
    return x


def as_numpy_gives(fn: Any, handler: Function) -> Function:
    """The `handler` of NumPy's function `fn`, whose results without axes are of NumPy's kind."""
    kind = as_number if fn in NUMBERS else as_array if fn in ARRAYS else None
    if kind is None:
        return handler

    @wraps(handler)
    def of_kind(*args, **kwargs):
        out = handler(*args, **kwargs)
        return kind(out) if type(out) is Tensor and not out.shape else out

    return of_kind


hooks.registered = as_numpy_gives
