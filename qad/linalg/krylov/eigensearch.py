"""Searches for one eigenpair of an operator on plain vectors: ARPACK and LOBPCG, through SciPy."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
import scipy  # loads scipy.sparse.linalg when it is first used

from qad.core.errors import ConvergenceError
from qad.extend import like
from qad.linalg.support import tolerances

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Protocol, TypeAlias

    class VectorOperator(Protocol):
        """A linear function of plain vectors."""

        name: str

        def __call__(self, v: np.ndarray) -> np.ndarray: ...
        def linear_operator(self) -> Any: ...

    Search: TypeAlias = Callable[..., tuple[Any, np.ndarray]]  # (operator, start, maxiter, error) -> value, vector


SMALL = 8  # ARPACK needs room: smaller operators are diagonalised


def dominant(
    operator: VectorOperator, start: np.ndarray, maxiter: int, tol: float = 0, which: str = "LM"
) -> tuple[Any, np.ndarray]:
    """The eigenvalue of largest modulus, by ARPACK; with `which` "LR" that of largest real part."""
    if start.size < SMALL:
        return _dense(operator, start.size, which)
    return _arpack(scipy.sparse.linalg.eigs, operator, operator.linear_operator(), start, which, maxiter, tol)


def lowest(operator: VectorOperator, start: np.ndarray, maxiter: int, error: float = 0.0) -> tuple[Any, np.ndarray]:
    """The lowest eigenvalue of a Hermitian operator, by ARPACK's Lanczos; its residual may be as large as `error`.

    ARPACK multiplies the start by the operator, which would hide an eigenvalue zero; so the operator is shifted.
    """
    if start.size < SMALL:
        return _dense(operator, start.size, "SA")
    matrix = operator.linear_operator()
    shift = 2.1 * np.linalg.norm(operator(start)) / np.linalg.norm(start) or 1.0
    shifted = scipy.sparse.linalg.LinearOperator(
        matrix.shape, matvec=lambda v: matrix.matvec(v) + shift * np.ravel(v), dtype=matrix.dtype
    )
    value, vector = _arpack(scipy.sparse.linalg.eigsh, operator, shifted, start, "SA", maxiter, error / shift)
    return value - shift, vector


def _arpack(search, operator, matrix, start, which, maxiter, tol):
    try:
        values, vectors = search(matrix, k=1, which=which, v0=start, tol=tol, maxiter=maxiter)
    except scipy.sparse.linalg.ArpackNoConvergence as error:
        raise ConvergenceError(
            f"{operator.name}: ARPACK did not converge in {operator.calls} products ({maxiter} restarts): "
            "raise maxiter, or the next eigenvalue is as large as this one"
        ) from error
    return values[0], vectors[:, 0]


def _dense(operator, n, which):
    columns = like(*operator.start).eye(n, dtype=operator.packing.dtype)
    matrix = np.stack([operator(c) for c in columns], axis=1)
    values, vectors = np.linalg.eigh(matrix) if which == "SA" else np.linalg.eig(matrix)
    k = 0 if which == "SA" else np.argmax(np.abs(values) if which == "LM" else values.real)
    return values[k], vectors[:, k]


def preconditioned(preconditioner: Callable[[np.ndarray], np.ndarray] | None) -> Search:
    """The search for the lowest eigenvalue by LOBPCG, with an approximate inverse of a plain vector, or None.

    Reference: A. V. Knyazev, SIAM J. Sci. Comput. 23, 517 (2001).
    """

    def find(operator, start, maxiter, error=0.0):
        if start.size < SMALL:
            return _dense(operator, start.size, "SA")
        size = np.linalg.norm(operator(start)) / np.linalg.norm(start)
        least = max(tolerances.SOLVED, tolerances.noise(start.dtype, 1))
        tol = max(error, least * size, tolerances.tiny(start.dtype))
        columns = None if preconditioner is None else lambda x: preconditioner(x[:, 0])[:, None]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # what is not converged raises below
            values, vectors, history = scipy.sparse.linalg.lobpcg(
                operator.linear_operator(), start[:, None], M=columns, tol=tol, maxiter=maxiter, largest=False,
                retResidualNormsHistory=True,
            )  # fmt: skip
        residual = np.abs(history[-1]).min()
        if not residual <= 100 * tol:
            raise ConvergenceError(
                f"{operator.name}: LOBPCG is at a residual of {residual:.3g} after {len(history)} steps, and needs "
                f"{tol:.3g}: raise maxiter, or give a better preconditioner"
            )
        return values[0], vectors[:, 0]

    return find
