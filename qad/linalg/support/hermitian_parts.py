"""Parts of matrices over the last two axes."""

import numpy as np


def adjoint(x):
    """Conjugate transpose (..., n, m) of `x` (..., m, n)."""
    return x.conj().mT


def skew(x):
    """Skew-Hermitian part of `x` (..., n, n)."""
    return (x - x.conj().mT) * 0.5


def hermitian(x):
    """Hermitian part of `x` (..., n, n)."""
    return (x + x.conj().mT) * 0.5


def diagonal_of(x):
    """Diagonals (..., n) of `x` (..., n, n)."""
    return np.diagonal(x, axis1=-2, axis2=-1)
