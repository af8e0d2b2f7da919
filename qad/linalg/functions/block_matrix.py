"""Derivatives of analytic matrix functions by block matrices: ``f([[A, E], [0, A]]) = [[f(A), L(A, E)], [0, f(A)]]``.

L is the Frechet derivative (Higham, "Functions of Matrices", theorem 3.6).  As ``tr(X L(A, E)) = tr(E L(A, X))``, the
unconjugated cotangent of A is ``L(A, g^T)^T``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from qad.typing import Array


def frechet(f: Callable[[Array], Array], a: Array, e: Array) -> Array:
    """``L(a, e)`` (..., n, n) of the function `f` of matrices."""
    n = a.shape[-1]
    top = np.concatenate([a, e], axis=-1)
    bottom = np.concatenate([a * 0.0, a], axis=-1)
    return f(np.concatenate([top, bottom], axis=-2))[..., :n, n:]


def each(f: Callable[[np.ndarray], np.ndarray], a: np.ndarray) -> np.ndarray:
    """`f` of every matrix of the stack `a` (..., n, n), in the precision of `a`: SciPy widens some answers."""
    if not a.size:
        return a
    flat = np.stack([f(x) for x in a.reshape(-1, *a.shape[-2:])])
    narrow = np.result_type(a.real.dtype, np.complex64) if flat.dtype.kind == "c" else a.real.dtype
    return flat.reshape(*a.shape[:-2], *flat.shape[1:]).astype(narrow, copy=False)
