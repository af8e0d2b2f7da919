"""Lanczos' iteration on the tape."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import value_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.typing import Function, Value

__all__ = ["check", "lanczos"]


def check(steps: int, number: int, reorthogonalize: bool) -> None:
    """Refuse what Lanczos' iteration cannot do, in the package's words."""
    if steps < number:
        raise ArgumentError("`num_krylov_vecs` >= `numeig` required!")
    if number > 1 and not reorthogonalize:
        raise ArgumentError(
            f"Got numeig = {number} > 1 and `reorthogonalize = False`. Use `reorthogonalize=True` for `numeig > 1`"
        )


def lanczos(
    apply: Function, vector: Value, steps: int, number: int, tol: float, delta: float, interval: int,
    reorthogonalize: bool,
) -> tuple[Value, list[Value]]:  # fmt: skip
    """Lowest eigenpairs of a Hermitian operator by Lanczos' iteration.

    Parameters
    ----------
    apply : callable
        Takes a vector, of any shape, to another of that shape.
    vector : array
        Where to start.
    steps : int
        The largest number of vectors in the basis.
    number : int
        How many pairs are wanted.
    tol, interval : float, int
        Every `interval` steps the energies are compared; stop where they moved by less than `tol`.
    delta : float
        Stop where the next basis vector is shorter: the basis spans an invariant subspace.
    reorthogonalize : bool
        Orthogonalise each vector against the whole basis; needed for more than one pair.

    Returns
    -------
    energies : array, shape (number,)
        Of the dtype of the vectors.
    states : list of arrays, of the shape of `vector`

    Notes
    -----
    The derivative is that of the iteration as it ran; stopping is decided on bare values.  That is exact for what was
    computed, converged or not.  One exception: after a stop by `delta` the states do not feel a perturbation that leads
    out of the invariant subspace; the energies do, to first order.
    """
    basis, diagonal, norms, energies = [], [], [], None
    vector = vector / np.linalg.norm(vector)
    for step in range(steps):
        norm = np.linalg.norm(vector)
        if norm < delta:
            break
        vector = _orthogonal(vector / norm, basis if reorthogonalize else ())
        basis.append(vector)
        norms.append(norm)
        image = apply(vector)
        diagonal.append(np.vdot(vector, image).real)
        if step and step % interval == 0 and step >= number - 1:
            former, energies = energies, np.linalg.eigvalsh(value_of(_tridiagonal(diagonal, norms)))[:number]
            if former is not None and np.linalg.norm(energies - former) < tol:
                break
        vector = image - diagonal[-1] * vector
        if step:
            vector = vector - norm * basis[-2]
    return _ritz_pairs(basis, _tridiagonal(diagonal, norms), number)


def _orthogonal(vector: Value, basis: Sequence[Value]) -> Value:
    for earlier in basis:
        vector = vector - np.vdot(earlier, vector) * earlier
    return vector


def _tridiagonal(diagonal: Sequence[Value], norms: Sequence[Value]) -> Value:
    """The operator in the basis of Lanczos: real."""
    matrix = np.diag(np.stack(diagonal))
    if len(norms) > 1:
        side = np.stack(norms[1:])
        matrix = matrix + np.diag(side, 1) + np.diag(side, -1)
    return matrix


def _ritz_pairs(basis: Sequence[Value], matrix: Value, number: int) -> tuple[Value, list[Value]]:
    energies, u = np.linalg.eigh(matrix)
    vectors = np.stack(basis)
    states = [np.tensordot(u[:, n], vectors, 1) for n in range(min(number, len(basis)))]
    return energies[:number].astype(vectors.dtype), [state / np.linalg.norm(state) for state in states]
