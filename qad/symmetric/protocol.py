"""NumPy's functions on symmetric tensors: those that mean the same for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.contract.notation.einsum import einsum
from qad.core.errors import ArgumentError
from qad.symmetric.contraction import tensordot, trace, vdot
from qad.symmetric.operators import FUNCTIONS
from qad.symmetric.tensor import SymTensor, as_symmetric

if TYPE_CHECKING:
    from typing import Any

__all__ = ["norm"]


def norm(a: SymTensor) -> Any:
    """The Frobenius norm.

    Parameters
    ----------
    a : SymTensor

    Returns
    -------
    number

    Examples
    --------
    >>> import qad
    >>> qad.symmetric.norm(qad.symmetric.eye(qad.symmetric.Leg({0: 3, 1: 1}, flow=+1)))
    np.float64(2.0)
    """
    return as_symmetric(a, "norm").norm()


def _einsum(*operands, out=None, optimize=True, **others):
    if out is not None or others:
        raise ArgumentError("einsum of symmetric tensors takes subscripts, operands and optimize only")
    return einsum(*operands, optimize=optimize or "auto")


def _norm(x, ord=None, axis=None, keepdims=False):
    if ord not in (None, "fro") or axis is not None or keepdims:
        raise ArgumentError("norm of a symmetric tensor: only the Frobenius norm of all of it is known")
    return x.norm()


def _trace(a, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    if offset or dtype is not None or out is not None:
        raise ArgumentError("trace of a symmetric tensor takes axis1 and axis2 only")
    return trace(a, axis1, axis2)


FUNCTIONS |= {
    np.einsum: _einsum,
    np.tensordot: tensordot,
    np.trace: _trace,
    np.vdot: vdot,
    np.transpose: lambda a, axes=None: a.transpose() if axes is None else a.transpose(axes),
    np.linalg.norm: _norm,
    np.shape: lambda a: a.shape,
    np.ndim: lambda a: a.ndim,
}
