"""Environments of the cell: dominant eigenvectors of the transfer operator, and their way through the cell."""

import numpy as np

from qad.extend import value_of
from qad.linalg import dominant_eig, linear_solve


def pass_right(left, tensor):
    """``sum_s A_s^H left A_s``: a left environment (bra, ket) past one site."""
    bond, _, right = tensor.shape
    half = (left @ tensor.reshape(bond, -1)).reshape(-1, right)
    return tensor.reshape(-1, right).conj().mT @ half


def pass_left(tensor, right):
    """``sum_s A_s right A_s^H``: a right environment (ket, bra) past one site."""
    bond = tensor.shape[0]
    half = (tensor.reshape(-1, tensor.shape[2]) @ right).reshape(bond, -1)
    return half @ tensor.reshape(bond, -1).conj().mT


def through(cell, left):
    """A left environment past a whole cell."""
    for tensor in cell:
        left = pass_right(left, tensor)
    return left


def back_through(cell, right):
    """A right environment past a whole cell."""
    for tensor in reversed(tuple(cell)):
        right = pass_left(tensor, right)
    return right


def environments(psi, start=None):
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
    eye = np.eye(psi.bonds[0], dtype=value_of(psi[0]).dtype)
    _, left = dominant_eig(lambda x: through(psi, x), eye if start is None else start)
    _, right = dominant_eig(lambda x: back_through(psi, x), eye)
    return along(psi, left, right)


def isometric_environments(psi, start=None):
    """`environments` of a right-canonical cell: the right fixed point is known, the left one solves a linear system.

    ``left - E(left) + tr(left) / bond = 1 / bond``, whose trace says ``tr(left) = 1``.  Derivatives hold along
    changes that keep the cell right-canonical.
    """
    eye = np.eye(psi.bonds[0], dtype=value_of(psi[0]).dtype)
    share = eye / len(eye)
    left = linear_solve(lambda x: x - through(psi, x) + np.trace(x) * share, share, start, tol=1e-11)
    return along(psi, left, eye)


def along(psi, left, right):
    """Environments of every site from those of the cell."""
    lefts, rights = [left], [right]
    for tensor in psi.tensors[:-1]:
        lefts.append(pass_right(lefts[-1], tensor))
    for tensor in psi.tensors[:0:-1]:
        rights.append(pass_left(tensor, rights[-1]))
    return lefts, rights[::-1]
