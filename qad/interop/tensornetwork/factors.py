"""Factorisations of tensors: the axes before and after a pivot are rows and columns of a matrix."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ShapeError
from qad.extend import value_of

if TYPE_CHECKING:
    from typing import Any

    from qad.typing import Value

__all__ = ["svd", "qr", "rq", "square"]


def svd(
    tensor: Value, pivot: int, most: int | None = None, error: float | None = None, relative: bool = False
) -> tuple[Value, Value, Value, Value]:
    """Truncated singular value decomposition.

    Parameters
    ----------
    tensor : array, shape (*left, *right)
    pivot : int
        The number of axes in `left`.
    most : int, optional
        Keep at most so many singular values.
    error : float, optional
        Discard as many as keep the norm of the discarded ones within `error`.
    relative : bool
        `error` is relative to the largest singular value.

    Returns
    -------
    u : array, shape (*left, k)
    s : array, shape (k,)
        Of the dtype of `tensor`, as callers contract it with the other factors.
    vh : array, shape (k, *right)
    rest : array, shape (min(prod(left), prod(right)) - k,)
        The discarded singular values.

    Notes
    -----
    How many are kept is decided on bare values; the derivative is that of the kept factors of the full decomposition,
    the coupling to the discarded ones included (Francuz, Schuch, Vanhecke, arXiv:2311.11894).
    """
    left, right, matrix = pivoted(tensor, pivot)
    u, s, vh = np.linalg.svd(matrix, full_matrices=False)
    k = _rank(value_of(s), most, error, relative)
    s = s.astype(tensor.dtype)
    return u[:, :k].reshape(*left, k), s[:k], vh[:k].reshape(k, *right), s[k:]


def _rank(s: Value, most: int | None, error: float | None, relative: bool) -> int | np.integer[Any]:
    """The number of singular values to keep."""
    kept = len(s) if most is None else min(most, len(s))
    if error is None:
        return kept
    discarded = np.sqrt(np.cumsum(np.square(s[::-1])))  # norm of the last 1, 2, ... singular values
    limit = error * s[0] if relative else error
    return min(kept, np.count_nonzero(discarded > limit))


def qr(tensor: Value, pivot: int, positive: bool = False) -> tuple[Value, Value]:
    """QR decomposition: an isometry of shape (*left, k) and a triangle of shape (k, *right).

    With `positive` the diagonal of the triangle is real and not negative.
    """
    left, right, matrix = pivoted(tensor, pivot)
    q, r = _qr(matrix, positive)
    return q.reshape(*left, -1), r.reshape(-1, *right)


def rq(tensor: Value, pivot: int, positive: bool = False) -> tuple[Value, Value]:
    """RQ decomposition: a triangle of shape (*left, k) and an isometry of shape (k, *right); see `qr`."""
    left, right, matrix = pivoted(tensor, pivot)
    q, r = _qr(matrix.conj().T, positive)
    return r.conj().T.reshape(*left, -1), q.conj().T.reshape(-1, *right)


def _qr(matrix: Value, positive: bool) -> tuple[Value, Value]:
    q, r = np.linalg.qr(matrix)
    if not positive:
        return q, r
    phases = np.sign(np.diagonal(r))
    phases = np.where(phases == 0, 1, phases)
    return q * phases, phases.conj()[:, None] * r


def pivoted(tensor: Value, pivot: int) -> tuple[tuple[int, ...], tuple[int, ...], Value]:
    """The shapes of both sides of the pivot, and the matrix between them."""
    left, right = tensor.shape[:pivot], tensor.shape[pivot:]
    return left, right, tensor.reshape(prod(left), prod(right))


def square(matrix: Value) -> Value:
    """The matrix itself, if it is one and square."""
    if matrix.ndim != 2:
        raise ShapeError(f"Only matrices are supported, but the input has shape {matrix.shape}")
    if matrix.shape[0] != matrix.shape[1]:
        raise ShapeError(f"Only an N*N matrix is supported, but the input has shape {matrix.shape}")
    return matrix
