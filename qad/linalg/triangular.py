"""Triangular systems."""

import numpy as np
import scipy.linalg

from qad.extend import defjvp, defvjp, primitive


@primitive
def solve_upper(r, b):
    """``r^-1 b`` for upper triangular `r` (..., n, n), `b` (..., n, k); what is below the diagonal must be zero."""
    if r.ndim == 2 and type(r) is np.ndarray:
        return scipy.linalg.solve_triangular(r, b, check_finite=False)
    return np.linalg.solve(r, b)


@primitive
def solve_lower(r, b):
    """``r^-1 b`` for lower triangular `r`."""
    if r.ndim == 2 and type(r) is np.ndarray:
        return scipy.linalg.solve_triangular(r, b, lower=True, check_finite=False)
    return np.linalg.solve(r, b)


defvjp(solve_upper, lambda g, x, r, b: np.triu(-(solve_lower(r.mT, g) @ x.mT)), lambda g, x, r, b: solve_lower(r.mT, g))
defvjp(solve_lower, lambda g, x, r, b: np.tril(-(solve_upper(r.mT, g) @ x.mT)), lambda g, x, r, b: solve_upper(r.mT, g))
defjvp(solve_upper, lambda t, x, r, b: -solve_upper(r, np.triu(t) @ x), lambda t, x, r, b: solve_upper(r, t))
defjvp(solve_lower, lambda t, x, r, b: -solve_lower(r, np.tril(t) @ x), lambda t, x, r, b: solve_lower(r, t))
