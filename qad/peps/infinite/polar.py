"""The unitary matrices, or isometries, nearest to given ones."""

from __future__ import annotations

import numpy as np

NEARLY, ROUGHLY, MOST_STEPS = 0.5, 1e-8, 8  # distances of ``x^H x`` from 1


def polar(x: np.ndarray) -> np.ndarray:
    """The unitary polar factor of a matrix that is not wide, or each of a stack.

    By the steps of Newton and Schulz, ``x (3 - x^H x) / 2``, where `x` is nearly unitary: products alone, which double
    the digits.
    """
    eye = np.eye(x.shape[-1])
    for _ in range(MOST_STEPS):
        off = x.conj().mT @ x - eye
        size = np.sqrt(np.vdot(off, off).real)
        if not size < NEARLY:
            break
        x = x - x @ off / 2
        if size < ROUGHLY:  # what is left is the square of that
            return x
    left, _, right = np.linalg.svd(x, full_matrices=False)
    return left @ right
