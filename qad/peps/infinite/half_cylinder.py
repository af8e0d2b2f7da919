"""Entanglement spectra of infinite cylinders that are cut in two."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.peps.infinite.correlations import edges

if TYPE_CHECKING:
    from qad.peps.infinite.environment import Environment

MOST = 4096  # dimension of the bonds that the cut crosses


def entanglement_spectrum(env: Environment, circumference: int, cut: str = "column") -> np.ndarray:
    """The levels ``-log p`` of half of an infinite cylinder, ascending; p are the eigenvalues of its density matrix.

    Parameters
    ----------
    env : Environment
        Its edges, joined to a ring, stand for the half cylinders on both sides of the cut.
    circumference : int
        Sites around the cylinder; a multiple of the sites after which the edges repeat.
    cut : "column" or "row"
        Whether the cut runs along a column, between it and the next, or along a row.

    Returns
    -------
    float array
        At most one for each state of the bonds that are cut: without the levels of eigenvalues that rounding does not
        tell from zero.

    Raises
    ------
    ArgumentError
        If the cut crosses more than 4096 states, or the edges do not fit the ring.

    Notes
    -----
    With the rings sigma of the two sides, ``sqrt(sigma_L^T) sigma_R sqrt(sigma_L^T)``: J. I. Cirac, D. Poilblanc, N.
    Schuch and F. Verstraete, Phys. Rev. B 83, 245134 (2011). Edges are those of the plane: the ring must be wider than
    the correlation length.

    Examples
    --------
    >>> import numpy as np, qad
    >>> env = qad.peps.environment(qad.peps.PEPS.random(bond=2, symmetry="c4v", seed=0), chi=12)
    >>> levels = qad.peps.entanglement_spectrum(env, circumference=4)
    >>> levels.shape, round(float(np.exp(-levels).sum()), 12)
    ((16,), 1.0)
    """
    if cut not in ("row", "column"):
        raise ArgumentError(f"the cut runs along a 'row' or a 'column', not {cut!r}")
    near, far, length = edges(env, 0 if cut == "row" else 3)
    if circumference < 1 or circumference % length:
        raise ArgumentError(f"the circumference is a positive multiple of {length}, not {circumference!r}")
    first, second = (ring([group[i % length] for i in range(circumference)]) for group in (near, far))
    values, vectors = np.linalg.eigh(first.T)
    root = vectors * np.sqrt(np.maximum(values, 0))
    weights = np.linalg.eigvalsh(root.conj().T @ second @ root)[::-1]
    weights = weights[weights > len(weights) * np.finfo(weights.dtype).eps * weights[0]]
    return -np.log(weights / weights.sum())


def ring(tensors: list[np.ndarray]) -> np.ndarray:
    """Edges ``[before, (ket, bra), after]`` joined to a ring: a positive matrix from ket to bra."""
    bonds = [round(x.shape[1] ** 0.5) for x in tensors]
    if np.prod(bonds) > MOST:
        raise ArgumentError(f"the cut crosses {np.prod(bonds)} states: take a circumference with at most {MOST}")
    total = np.eye(tensors[0].shape[0])[:, None, None, :]  # first, kets, bras, last
    for x, d in zip(tensors, bonds, strict=True):
        x = x.reshape(x.shape[0], d, d, x.shape[2])
        total = np.einsum("akbc,cxyd->akxbyd", total, x, optimize=True)
        a, k, _, b, _, c = total.shape
        total = total.reshape(a, k * d, b * d, c)
    matrix = np.trace(total, axis1=0, axis2=3)
    matrix = matrix / np.trace(matrix)  # an edge has any phase
    return (matrix + matrix.conj().T) / 2
