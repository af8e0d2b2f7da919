"""What matrix functions ask of their arguments; refusals quote the shape or the value that offends."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError, GradientTypeError, ShapeError
from qad.extend import operand, stack_of, value_of
from qad.linalg.support import tolerances

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import SupportsInt

    from qad.typing import Array, ArrayLike, R


def matrices(a: ArrayLike, name: str) -> Array:
    """`a` as an operand: matrices (..., m, n) of finite floating-point numbers."""
    a = operand(a)
    bare = value_of(a)
    if np.ndim(bare) < 2:
        raise ShapeError(f"{name} takes matrices (..., m, n), not an array of shape {np.shape(bare)}")
    finite(bare, name)
    return a if bare.dtype.kind in "fc" else a.astype(float)


def square(a: ArrayLike, name: str) -> Array:
    """`a` as an operand: square matrices (..., n, n) of finite floating-point numbers."""
    a = operand(a)
    shape = np.shape(value_of(a))
    if len(shape) < 2 or shape[-1] != shape[-2]:
        raise ShapeError(f"{name} takes square matrices (..., n, n), not an array of shape {shape}")
    return matrices(a, name)


def finite(a: ArrayLike, name: str) -> None:
    """Raise unless every entry of the bare array `a` is finite."""
    a = stack_of(a)
    try:
        if np.isfinite(a).all():
            return
    except TypeError as error:
        raise GradientTypeError(
            f"{name}: takes arrays of numbers, not {type(a).__name__}; symmetric tensors go to qad.symmetric"
        ) from error
    bad = np.argwhere(~np.isfinite(a))
    where = ", ".join(map(str, bad[0]))
    others = f", and {len(bad) - 1} more are not finite" if len(bad) > 1 else ""
    raise ArgumentError(f"{name}: entry [{where}] is {a[tuple(bad[0])]}{others}: qad.debug() says since when")


def rows_fit(a: np.ndarray, b: np.ndarray, name: str) -> None:
    """Raise unless the bare `b` is a finite vector, or matrices, with as many rows as `a`, and a batch that fits."""
    n, rows = a.shape[-2], np.shape(b)[-min(np.ndim(b), 2) :][:1]
    if rows != (n,):
        raise ShapeError(
            f"{name}: a matrix of shape {a.shape} needs {n} rows on the right-hand side, a vector ({n},) or matrices "
            f"(..., {n}, k), not an array of shape {np.shape(b)}"
        )
    try:
        np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    except ValueError as error:
        raise ShapeError(f"{name}: the batches of shapes {a.shape} and {b.shape} do not broadcast") from error
    finite(b, f"{name} (right-hand side)")


def batch_entry(index: Sequence[SupportsInt] | np.ndarray) -> str:
    """`` of batch entry (...)``, or nothing where there is no batch."""
    return f" of batch entry {tuple(map(int, index))}" if len(index) else ""


def solvable(function: Callable[..., R], name: str, a: np.ndarray, *others: np.ndarray) -> R:
    """``function(a, *others)`` on bare arrays; a singular `a` is refused with its smallest singular value."""
    try:
        return function(a, *others)
    except np.linalg.LinAlgError as error:
        s = np.linalg.svd(a, compute_uv=False)
        at = np.unravel_index((s[..., -1] / np.maximum(s[..., 0], tolerances.tiny(s.dtype))).argmin(), s.shape[:-1])
        raise np.linalg.LinAlgError(
            f"{name}: the matrix{batch_entry(at)} is singular: its smallest singular value is {s[at][-1]:.3g}, its "
            f"largest {s[at][0]:.3g}. Use lstsq or pinv, or shift it"
        ) from error


def require_hermitian(a: np.ndarray, owner: str) -> None:
    """Raise unless the bare array `a` is Hermitian to half of its digits."""
    apart, size = largest_entry(a.real - a.real.mT), largest_entry(a.real)
    if a.dtype.kind == "c":
        apart, size = np.maximum(apart, largest_entry(a.imag + a.imag.mT)), np.maximum(size, largest_entry(a.imag))
    bad = np.argwhere(apart > tolerances.half(a.dtype) * size)
    if len(bad):
        raise ArgumentError(
            f"{owner}: the matrix{batch_entry(bad[0])} is not Hermitian: entries differ from those of its adjoint by "
            f"{apart[tuple(bad[0])]:.3g}. Write (A + A.mH) / 2, of which {owner} reads one triangle"
        )


def one_norm(x: np.ndarray) -> np.ndarray:
    """The largest column sum of each matrix."""
    return np.abs(x).sum(axis=-2).max(axis=-1, initial=0.0)


def largest_entry(x: np.ndarray) -> np.ndarray:
    """The largest modulus of the entries of each matrix."""
    return np.abs(x).max(axis=(-2, -1), initial=0.0)
