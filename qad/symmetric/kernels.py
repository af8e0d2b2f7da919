"""What moves and products of sectors do with the elements of arrays, in NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from qad.symmetric.gemms import Gemms
    from qad.symmetric.moves import Move

__all__ = ["copied", "multiplied"]


def copied(x: np.ndarray, out: np.ndarray, table: Move) -> None:
    """Write the blocks of `x` (..., size) into `out` (..., size), which is in C order."""
    x, lead, item = np.ascontiguousarray(x), x.shape[:-1], x.itemsize
    ahead, behind = [s * item for s in _steps(x)], [s * item for s in _steps(out)]
    for start, to, shape, reads, writes in table.views:
        shape = (*lead, *shape)
        here = np.ndarray(shape, x.dtype, x, start * item, (*ahead, *[s * item for s in reads]))
        there = np.ndarray(shape, x.dtype, out, to * item, (*behind, *[s * item for s in writes]))
        there[...] = here


def _steps(x):
    """The strides in front of the last axis, in elements: those of arrays without a batch are none."""
    return [x.shape[-1]] if x.ndim == 2 else []


def multiplied(x: np.ndarray, y: np.ndarray, out: np.ndarray, plan: Gemms) -> None:
    """Write the product of each sector of `x` (..., size) and `y` (..., size) into `out` (..., size)."""
    lead = out.shape[:-1]
    for one, two, three, m, k, n in plan.rows:
        a = x[..., one : one + m * k].reshape((*lead, k, m) if plan.turned[0] else (*lead, m, k))
        b = y[..., two : two + k * n].reshape((*lead, n, k) if plan.turned[1] else (*lead, k, n))
        a, b = a.mT if plan.turned[0] else a, b.mT if plan.turned[1] else b
        c = out[..., three : three + m * n]
        if lead:
            c[...] = (a @ b).reshape(c.shape)
        else:
            np.matmul(a, b, out=c.reshape(m, n))
