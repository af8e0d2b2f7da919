"""Functions without derivative: they run on the bare values and return plain arrays and numbers.

Integer- and boolean-valued functions, step functions, functions that ask for a dtype or a shape, and functions like
``zeros_like`` that take only the shape and dtype of an array.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.extend import AXIS, ENTRIES, attach, implements, passes_through, refuse_out, shifted, value_of
from qad.extend.batching import of_outlines
from qad.rules.reductions.axes import rows_of

if TYPE_CHECKING:
    from qad.typing import Function, Value

passes_through(  # comparisons, logic, bits
    np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal,
    np.logical_and, np.logical_or, np.logical_xor, np.logical_not,
    np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert, np.left_shift, np.right_shift, np.bitwise_count,
    np.isnan, np.isinf, np.isfinite, np.isnat, np.signbit, np.isclose, np.allclose, np.array_equal, np.array_equiv,
    np.isin,
)  # fmt: skip
passes_through(np.isreal, np.iscomplex, np.isposinf, np.isneginf, np.trunc, np.round, np.around, batch=ENTRIES)
passes_through(np.any, np.all, np.count_nonzero, batch=AXIS)
passes_through(  # steps
    np.floor, np.ceil, np.rint, np.floor_divide, np.spacing, np.gcd, np.lcm,
    np.digitize, np.searchsorted, np.histogram_bin_edges,
)  # fmt: skip


def _place(fn: Function, default: int | None) -> Function:
    """A rule of ``argmax`` and its like: without an axis the example is flattened."""

    def rule(batched, x, axis=default, **more):
        if axis is None:
            return fn(rows_of(x), axis=1, **more)
        return fn(x, axis=shifted(axis, x.ndim), **more)

    return rule


for _fn, _default in ((np.argmax, None), (np.argmin, None), (np.argsort, -1)):
    passes_through(_fn, batch=_place(_fn, _default))
passes_through(
    np.argpartition,
    batch=lambda batched, x, kth, axis=-1, *how: np.argpartition(x, kth, shifted(axis, x.ndim), *how),
)
passes_through(  # indices and counts
    np.nanargmax, np.nanargmin, np.lexsort, np.argwhere, np.nonzero, np.flatnonzero, np.diag_indices_from,
    np.tril_indices_from, np.triu_indices_from, np.unravel_index, np.ravel_multi_index, np.ix_, np.packbits,
    np.unpackbits,
)  # fmt: skip
passes_through(  # questions about the array
    np.shape, np.ndim, np.size, np.iscomplexobj, np.isrealobj, np.result_type, np.can_cast, np.min_scalar_type,
    np.common_type, np.shares_memory, np.may_share_memory, np.array_repr, np.array_str, np.array2string,
    np.einsum_path,
)  # fmt: skip
passes_through(np.zeros, np.ones, np.empty, np.eye, np.identity, np.tri)
of_outlines(
    np.shape, np.ndim, np.size, np.iscomplexobj, np.isrealobj, np.result_type, np.can_cast, np.min_scalar_type,
    np.common_type, np.zeros_like, np.ones_like, np.empty_like, np.zeros, np.ones, np.empty, np.eye, np.identity,
    np.tri, np.full, np.full_like,
)  # fmt: skip


@implements(np.fix)
def fix(x: Value, out: object = None) -> Value:
    """``np.fix`` under the name that NumPy keeps."""
    refuse_out(out, "np.fix")
    return np.trunc(x)


if hasattr(np, "in1d"):  # until NumPy 2.3
    implements(np.in1d)(lambda ar1, ar2, **options: np.isin(ar1, ar2, **options).ravel())  # noqa: NPY201


def _method(fn: Function) -> Function:
    def method(x, *args, **kwargs):
        return fn(value_of(x), *args, **kwargs)

    method.__name__ = fn.__name__
    return method


for _fn in (np.argmax, np.argmin, np.argsort, np.argpartition, np.any, np.all, np.nonzero, np.searchsorted, np.round):
    attach(_fn.__name__, _method(_fn))
