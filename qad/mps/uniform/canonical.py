"""The canonical form of infinite chains."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.mps.chain.checks import check_kind
from qad.mps.uniform.state import UniformMPS
from qad.mps.uniform.transfer import check_finite, check_single, environments

if TYPE_CHECKING:
    from numpy.typing import NDArray


def uniform_schmidt_form(psi: UniformMPS) -> tuple[UniformMPS, list[NDArray[Any]]]:
    """A uniform state in right-canonical gauge, its bonds in the basis of Schmidt vectors.

    Parameters
    ----------
    psi : UniformMPS
        Of plain arrays, with one dominant eigenvalue of its transfer operator.

    Returns
    -------
    state : UniformMPS
        The same state; every tensor is an isometry from its left bond.
    weights : list of arrays
        Schmidt coefficients of the bond left of each site, descending; their squares sum to 1.

    Raises
    ------
    ArgumentError
        If the state is a sum of several ones, or not finite.

    Notes
    -----
    R. Orús and G. Vidal, PRB 78, 155117 (2008).  Directions of weight below rounding are dropped.

    Examples
    --------
    >>> import numpy as np, qad
    >>> state, weights = uniform_schmidt_form(qad.mps.uniform.UniformMPS.random(bond=3, seed=1))
    >>> a = state[0].reshape(3, -1)
    >>> np.allclose(a @ a.conj().T, np.eye(3))
    True
    """
    check_kind(psi, UniformMPS)
    check_single(psi)
    return schmidt_form(psi)


def schmidt_form(psi: UniformMPS) -> tuple[UniformMPS, list[NDArray[Any]]]:
    """The form itself; of a sum of several states, that of an arbitrary one of them."""
    check_finite(psi)
    lefts, rights = environments(psi)
    roots = [root(r.T) for r in (rights[-1], *rights[:-1])]  # of the environment right of the bond left of site i
    weights, bases, inverses = [], [], []
    for left, (x, x_inverse) in zip(lefts, roots, strict=True):
        values, vectors = np.linalg.eigh(phased(x.conj().T @ phased(left) @ x))
        values, vectors = values[::-1], vectors[:, ::-1]
        weights.append(np.sqrt(np.maximum(values, 0.0) / values.sum()))
        bases.append(x @ vectors)
        inverses.append(vectors.conj().T @ x_inverse)
    tensors = []
    for i, tensor in enumerate(psi):
        new = np.tensordot(np.tensordot(inverses[i], tensor, 1), bases[(i + 1) % len(psi)], 1)
        rows = new.reshape(len(new), -1)
        tensors.append(new / (np.linalg.norm(rows) / np.sqrt(len(rows))))
    return UniformMPS(tensors), weights


def phased(matrix: np.ndarray) -> np.ndarray:
    """A fixed point with its arbitrary phase taken out: Hermitian, of positive trace."""
    matrix = matrix * (np.conj(np.trace(matrix)) / abs(np.trace(matrix)))
    return (matrix + matrix.conj().T) / 2


def root(environment: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """``x`` with ``x x^H`` the positive matrix `environment`, and its (pseudo)inverse."""
    values, vectors = np.linalg.eigh(phased(environment))
    kept = values > 1e-15 * values[-1]
    size = np.sqrt(values[kept])
    return vectors[:, kept] * size, (vectors[:, kept] / size).conj().T
