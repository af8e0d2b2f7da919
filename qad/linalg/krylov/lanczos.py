"""Lanczos' method for the small effective problems of sweeps, one after another: lowest vectors, and exponentials.

Exponentials of what is not Hermitian are by Arnoldi's method.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import expm

from qad.extend import like
from qad.linalg.support.lengths import length
from qad.linalg.support.tolerances import SOLVED

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    Apply: TypeAlias = Callable[[np.ndarray], np.ndarray]


def lowest(apply: Apply, start: np.ndarray, tol: float, most: int) -> tuple[float, np.ndarray, float]:
    """A Ritz vector of least eigenvalue in the Krylov space of `start`.

    Parameters
    ----------
    apply : callable
        A Hermitian operator on vectors.
    start : ndarray (size,)
    tol : float
        Stop where the error of the eigenvalue is below this.
    most : int
        Largest dimension of the space.

    Returns
    -------
    value : float
    vector : ndarray (size,)
        Of norm 1.
    error : float
        Of the value: with r the norm of the residual, the smaller one of r and ``r**2 / gap`` to the next Ritz value
        (B. N. Parlett, The Symmetric Eigenvalue Problem, section 11.7).  Close levels have a small gap and take a
        small residual.
    """
    space = Krylov(start, most)
    while True:
        space.extend(apply)
        values, vectors = np.linalg.eigh(space.projected())
        residual = space.next_norm * abs(vectors[-1, 0])
        error = residual if len(values) == 1 else residual * min(1.0, residual / max(values[1] - values[0], residual))
        if space.full or error <= tol:
            return values[0], space.combine(vectors[:, 0]), 0.0 if space.complete else error


def exponential(
    apply: Apply, start: np.ndarray, factor: complex, tol: float, most: int, parts: list[Any] | None = None,
    hermitian: bool = True,
) -> tuple[np.ndarray, float]:  # fmt: skip
    """``exp(factor A) start`` for an operator A, of which `apply` gives the products; and a logarithm.

    It is scaled to the norm of `start`, for with a real `factor` it might overflow or vanish: the logarithm is that of
    what its norm gained.  The Krylov approximation of Y. Saad, SIAM J. Numer. Anal. 29, 209 (1992), with his first
    error estimate; a step that the space cannot resolve is halved.  The `parts` that it takes are put down: of each the
    space, its share of the step, and the logarithm of what the norm had gained before it.
    """
    done, gained, step = 0.0, 0.0, 1.0
    while done < 1.0:
        space = Krylov(start, most) if hermitian else Arnoldi(start, most)
        while True:
            space.extend(apply)
            weights, shift = space.exponential(factor * step)
            size = np.linalg.norm(weights)
            weights /= size
            if space.full or space.next_norm * abs(weights[-1]) * abs(factor) * step <= tol:
                break
        if space.full and not space.complete and space.next_norm * abs(weights[-1]) * abs(factor) * step > tol:
            step /= 2
            continue
        start = space.combine(weights * space.start_norm)
        if parts is not None:
            parts.append((space, step, gained))
        gained += float(np.log(size) + shift)
        done += step
        step = min(step, 1.0 - done)
    return start, gained


class Krylov:
    """An orthonormal basis of a Krylov space and the tridiagonal matrix in it."""

    def __init__(self, start: np.ndarray, most: int):
        self.most: int = min(most, start.size)
        self.basis: np.ndarray = like(start).empty((self.most + 1, start.size), start.dtype)
        self.start_norm: float = length(start)
        self.basis[0] = start / self.start_norm
        self.diagonal: list[float] = []
        self.columns: list[np.ndarray] = []  # what each product has of the basis so far
        self.beside: list[float] = []
        self.scale: float = 0.0

    @property
    def next_norm(self) -> float:
        """Norm of what the last product had outside of the space."""
        return self.beside[-1]

    @property
    def complete(self) -> bool:
        """Whether the space is invariant, up to rounding."""
        return len(self.diagonal) == self.basis.shape[1] or self.next_norm <= SOLVED / 10 * self.scale

    @property
    def full(self) -> bool:
        """Whether it cannot or need not grow further."""
        return len(self.diagonal) == self.most or self.complete

    def extend(self, apply: Apply) -> None:
        """One product more."""
        k = len(self.diagonal)
        vector = apply(self.basis[k])
        known = self.basis[: k + 1]
        overlaps = (known @ vector.conj()).conj()  # which copies no basis
        vector = vector - overlaps @ known
        vector -= (known @ vector.conj()).conj() @ known  # once more, against rounding
        norm, overlap = length(vector), on_host(overlaps[k])
        self.diagonal.append(overlap.real)
        self.columns.append(overlaps)
        self.beside.append(norm)
        self.scale = max(self.scale, abs(overlap), norm)
        if not self.full:
            self.basis[k + 1] = vector / norm

    def projected(self) -> np.ndarray:
        """The operator in this basis."""
        k = len(self.diagonal)
        matrix = np.zeros(k * k)
        matrix[:: k + 1] = self.diagonal
        matrix[1 :: k + 1] = matrix[k :: k + 1] = self.beside[:-1]
        return matrix.reshape(k, k)

    def exponential(self, factor: complex) -> tuple[np.ndarray, float]:
        """``exp(factor A)`` of the first vector in this basis, and the logarithm of what is divided out of it."""
        values, vectors = np.linalg.eigh(self.projected())
        powers = factor * values
        return vectors @ (np.exp(powers - powers.real.max()) * vectors[0].conj()), powers.real.max()

    def combine(self, weights: np.ndarray) -> np.ndarray:
        """The vector of these coordinates."""
        return like(self.basis).asarray(weights) @ self.basis[: len(weights)]


class Arnoldi(Krylov):
    """The same for an operator that is not Hermitian, whose matrix is that of Hessenberg."""

    def projected(self) -> np.ndarray:
        """The operator in this basis."""
        matrix = np.diag(np.array(self.beside[:-1]), -1).astype(self.basis.dtype)
        for k, column in enumerate(self.columns):
            matrix[: k + 1, k] = [on_host(x) for x in column]
        return matrix

    def exponential(self, factor: complex) -> tuple[np.ndarray, float]:
        """``exp(factor A)`` of the first vector in this basis, and the logarithm of what is divided out of it."""
        power = factor * self.projected()
        shift = np.linalg.eigvalsh((power + power.conj().T) / 2)[-1]
        return expm(power - shift * np.eye(len(power)))[:, 0], shift


def on_host(x: Any) -> Any:
    """A number or a small array as NumPy's, whatever the vectors are."""
    return x.get()[()] if hasattr(x, "get") else x
