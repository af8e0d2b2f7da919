"""Environments of the cell: dominant eigenvectors of the transfer operator, and their way through the cell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy

from qad.core.errors import ArgumentError, BatchError
from qad.extend import like, stack_of, value_of
from qad.linalg import dominant_eig, linear_solve
from qad.mps.kernels.dense import past_left, past_right, through_left, through_right

if TYPE_CHECKING:
    from qad.mps.uniform.state import UniformMPS
    from qad.typing import Array

SINGLE = 1 - 1e-12  # ratio of the eigenvalues of a transfer operator, above which they count as equal


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


def refuse_batch(*arrays: Array) -> None:
    """Raise for arrays that hold one for each example of `qad.vmap`."""
    if any(np.ndim(stack_of(x)) > np.ndim(x) for x in arrays):
        raise BatchError(
            "an infinite chain under qad.vmap: its environments are found by iterations, whose number differs from "
            "example to example: write a loop over the examples, as in np.stack([f(x) for x in examples])"
        )


def check_finite(psi: UniformMPS) -> None:
    """Raise where a state holds inf or nan."""
    if not all(np.isfinite(t).all() for t in psi):
        raise ArgumentError("the cell holds inf or nan")


def check_single(psi: UniformMPS) -> None:
    """Raise where a plain state is a sum of several, of which every result would be that of an arbitrary one."""
    refuse_batch(*psi)
    if any(type(t) is not np.ndarray for t in psi):
        return
    check_finite(psi)
    if psi.bonds[0] == 1:
        return
    second, first = largest_two(psi)
    if second > SINGLE * first:
        raise ArgumentError(
            "the state is a sum of several ones (its transfer operator has more than one eigenvalue of the largest "
            "magnitude), so that it has no values of its own: take one of them, or a larger cell"
        )


def largest_two(psi: UniformMPS, bra: UniformMPS | None = None) -> np.ndarray:
    """The magnitudes of the second and of the first eigenvalue of the transfer operator of the cell.

    With another state as the bra, those of the mixed one.
    """
    return np.sort(np.append(abs(leading(psi, psi if bra is None else bra, 2)[0]), 0.0))[-2:]


def leading(psi: UniformMPS, bra: UniformMPS, count: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues of the largest magnitudes of the mixed transfer operator, or all, and the first one's vector.

    The vector has legs (bra, ket), and is a right environment.
    """
    shape, dtype = (bra.bonds[0], psi.bonds[0]), np.result_type(psi.dtype, bra.dtype, np.float64)
    size = shape[0] * shape[1]

    def apply(x):
        return through_right(x.reshape(shape).astype(dtype, copy=False), psi.tensors, bra.tensors).reshape(-1)

    if size < 16:
        values, vectors = np.linalg.eig(np.array([apply(row) for row in np.eye(size, dtype=dtype)]).T)
    else:
        operator = scipy.sparse.linalg.LinearOperator((size, size), apply, dtype=dtype)
        start = np.random.default_rng(0).standard_normal(size).astype(dtype)  # the identity might lack the second
        values, vectors = scipy.sparse.linalg.eigs(operator, count, v0=start)
    return values, vectors[:, np.argmax(abs(values))].reshape(shape)
