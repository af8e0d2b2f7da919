"""Canonical forms: the gauge of a chain chosen by orthogonal factorisations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError, ShapeError
from qad.extend import like
from qad.mps.gauge import carry, left_isometry
from qad.mps.state import MPS

if TYPE_CHECKING:
    from collections.abc import Sequence

ISOMETRIC = 100.0  # times rounding: how far an isometry may be from one


def schmidt_form(psi: MPS) -> tuple[MPS, list[np.ndarray]]:
    """An open chain in right-canonical gauge, its bonds in the basis of Schmidt vectors.

    Parameters
    ----------
    psi : MPS
        Open, of plain arrays and any norm but zero.

    Returns
    -------
    state : MPS
        The same state, normalised.  Every tensor is an isometry from its left bond, ``sum_{s,b} A[a,s,b] conj(A[c,s,b])
        = delta_ac``, and what stands left of bond i has the metric ``diag(weights[i]**2)``.
    weights : list of arrays
        Schmidt coefficients of the bond left of each site, descending; the sum of their squares is 1.

    Raises
    ------
    ShapeError
        If the chain is periodic.
    ArgumentError
        If its norm is zero.

    Notes
    -----
    QR from the left, then singular values from the right: ``O(n phys**2 bond**3)``.  U. Schollwöck,
    Ann. Phys. 326, 96 (2011), section 4.

    Examples
    --------
    >>> import qad
    >>> state, weights = schmidt_form(qad.mps.MPS.product([0, 1, 0]))
    >>> state, weights[1]
    (MPS(3 sites, open, bonds 1-1-1-1, complex128), array([1.]))
    """
    if psi.periodic:
        raise ShapeError(
            f"the chain is periodic, with an outer bond of {psi.bonds[0]}: only open ones have a Schmidt form"
        )
    tensors, carried = [], like(*psi).ones((1, 1), psi.dtype)
    for tensor in psi:
        tensor, carried = left_isometry(carry(carried, tensor))
        if not (size := np.linalg.norm(carried)) > 0:
            raise ArgumentError(f"the state has norm {size}: it cannot be normalised")
        carried = carried / size
        tensors.append(tensor)
    weights = []
    for site in reversed(range(len(psi))):
        left, phys, right = tensors[site].shape
        tensor = tensors[site].reshape(-1, right) @ carried
        u, s, v = np.linalg.svd(tensor.reshape(left, -1), full_matrices=False)
        tensors[site] = v.reshape(len(s), phys, -1)
        carried = u * s
        weights.append(s)
    tensors[0] = tensors[0] * (carried[0, 0] / abs(carried[0, 0]))
    return MPS(tensors), weights[::-1]


def right_canonical(tensors: Sequence[np.ndarray]) -> bool:
    """Whether all site tensors but the first are isometries from their left bond, up to rounding."""
    for tensor in tensors[1:]:
        rows = tensor.reshape(len(tensor), -1)
        error = np.abs(rows @ rows.conj().T - like(rows).eye(len(rows), dtype=rows.dtype)).max()
        if not error <= ISOMETRIC * np.finfo(rows.dtype).eps:
            return False
    return bool(np.linalg.norm(tensors[0]) > 0)
