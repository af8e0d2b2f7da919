"""Parts of matrices over the last two axes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from qad.typing import Array


def adjoint(x: Array) -> Array:
    """Conjugate transpose (..., n, m) of `x` (..., m, n)."""
    return x.conj().mT


def skew(x: Array) -> Array:
    """Skew-Hermitian part of `x` (..., n, n)."""
    return (x - x.conj().mT) * 0.5


def hermitian(x: Array) -> Array:
    """Hermitian part of `x` (..., n, n)."""
    return (x + x.conj().mT) * 0.5


def diagonal_of(x: Array) -> Array:
    """Diagonals (..., n) of `x` (..., n, n)."""
    return np.diagonal(x, axis1=-2, axis2=-1)
