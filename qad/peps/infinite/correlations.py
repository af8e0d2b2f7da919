"""Correlation lengths of infinite states, from the transfer operators of their environments."""

from __future__ import annotations

import numpy as np
import scipy  # loads scipy.sparse.linalg when it is first used

from qad.core.errors import ArgumentError
from qad.peps.checks import check_kind
from qad.peps.infinite.environment import Environment
from qad.peps.models import plain

SMALL = 400  # dimension up to which all eigenvalues are computed


def correlation_length(env: Environment, direction: str = "row") -> float:
    """The correlation length of an infinite state, in sites, as its environment has it.

    Parameters
    ----------
    env : Environment
    direction : "row" or "column"
        Along which.

    Returns
    -------
    float
        ``-n / log|t_1 / t_0|`` for the two largest eigenvalues t of the transfer operator of the n sites after which
        the edges repeat. It grows with `chi`, and is infinite for a superposition of several phases.

    Notes
    -----
    V. Nebendahl and W. Duer, Phys. Rev. B 87, 075413 (2013).

    Examples
    --------
    >>> import qad
    >>> state = qad.peps.PEPS.random(bond=2, symmetry="c4v", seed=0)
    >>> 0.5 < qad.peps.correlation_length(qad.peps.environment(state, chi=12)) < 1
    True
    """
    if direction not in ("row", "column"):
        raise ArgumentError(f"the direction is 'row' or 'column', not {direction!r}")
    upper, lower, length = edges(env, 0 if direction == "row" else 3)
    values = leading(upper, lower)
    if len(values) < 2 or not values[1] > 0:
        return 0.0
    ratio = min(values[1] / values[0], 1.0)
    return float(-length / np.log(ratio)) if ratio < 1 else float("inf")


def edges(env: Environment, k: int) -> tuple[list[np.ndarray], list[np.ndarray], int]:
    """Edges of direction k along a line, those of the other side that face them, and how many repeat."""
    check_kind(env, Environment)
    rows, columns = len(env.cell.places), len(env.cell.places[0])
    length = columns if k == 0 else rows
    near = [(0, i) if k == 0 else (i, 0) for i in range(length)]
    far = [(-1, i) if k == 0 else (i, -1) for i in range(length)]
    upper = [plain(env.edge(k, *place)) for place in near]
    lower = [plain(env.edge((k + 2) % 4, *place)) for place in far]
    if k == 3:  # the left edges run upwards
        upper, lower = ([x.transpose(2, 1, 0) for x in group] for group in (upper, lower))
    return upper, [x.transpose(2, 1, 0) for x in lower], length


def leading(upper: list[np.ndarray], lower: list[np.ndarray]) -> np.ndarray:
    """The two largest moduli of eigenvalues of the transfer operator of pairs of edges."""
    size = (upper[0].shape[0], lower[0].shape[0])

    def product(v):
        v = v.reshape(size)
        for x, y in zip(reversed(upper), reversed(lower), strict=True):
            right = np.tensordot(x, v, (2, 0))  # out of the upper edge
            v = np.tensordot(right, y, ([1, 2], [1, 2]))
        return v.ravel()

    n, dtype = size[0] * size[1], upper[0].dtype
    if n <= SMALL:
        matrix = np.stack([product(v) for v in np.eye(n, dtype=dtype)], axis=1)
        return np.sort(np.abs(np.linalg.eigvals(matrix)))[::-1][:2]
    operator = scipy.sparse.linalg.LinearOperator((n, n), matvec=product, dtype=dtype)
    start = np.random.default_rng(0).standard_normal(n).astype(dtype)
    values = scipy.sparse.linalg.eigs(operator, k=4, v0=start, return_eigenvectors=False)
    return np.sort(np.abs(values))[::-1][:2]
