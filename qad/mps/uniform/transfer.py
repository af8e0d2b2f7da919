"""Environments of the cell: dominant eigenvectors of the transfer operator, and their way through the cell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.extend import like, value_of
from qad.linalg import dominant_eig, linear_solve
from qad.mps.environments import past_left, past_right, through_left, through_right

if TYPE_CHECKING:
    from qad.mps.uniform.state import UniformMPS
    from qad.typing import Array


def environments(psi: UniformMPS, start: np.ndarray | None = None) -> tuple[list[Array], list[Array]]:
    """Left environments of sites 0..k-1 and right environments of sites 0..k-1, of any scale; differentiable.

    Parameters
    ----------
    psi : UniformMPS
    start : array (bond, bond), optional
        Where the search for the left fixed point begins.

    Returns
    -------
    lefts, rights : lists of arrays (bond, bond)
        ``lefts[i]`` of everything left of site i, ``rights[i]`` of everything right of it.
    """
    eye = like(psi[0]).eye(psi.bonds[0], dtype=value_of(psi[0]).dtype)
    _, left = dominant_eig(lambda x: through_left(x, psi.tensors), eye if start is None else start)
    _, right = dominant_eig(lambda x: through_right(x, psi.tensors), eye)
    return along(psi, left, right)


def isometric_environments(psi: UniformMPS, start: np.ndarray | None = None) -> tuple[list[Array], list[Array]]:
    """`environments` of a right-canonical cell: the right fixed point is known, the left one solves a linear system.

    ``left - E(left) + tr(left) / bond = 1 / bond``, whose trace says ``tr(left) = 1``.  Derivatives hold along
    changes that keep the cell right-canonical.
    """
    eye = np.eye(psi.bonds[0], dtype=value_of(psi[0]).dtype)
    share = eye / len(eye)
    left = linear_solve(lambda x: x - through_left(x, psi.tensors) + np.trace(x) * share, share, start, tol=1e-11)
    return along(psi, left, eye)


def along(psi: UniformMPS, left: Array, right: Array) -> tuple[list[Array], list[Array]]:
    """Environments of every site from those of the cell."""
    lefts, rights = [left], [right]
    for tensor in psi.tensors[:-1]:
        lefts.append(past_left(lefts[-1], tensor))
    for tensor in psi.tensors[:0:-1]:
        rights.append(past_right(rights[-1], tensor))
    return lefts, rights[::-1]
