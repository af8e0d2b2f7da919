"""Where environments begin, and how many states of a bond they keep, so that the cut stays where it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy  # loads scipy.sparse.linalg when it is first used

from qad.contract import einsum

if TYPE_CHECKING:
    from collections.abc import Callable

FIELD = 0.1  # which chooses a phase, relative
TINY = 1e-8  # singular values of two quarters, relative: what is left out has a weight of its square


def rank_at_gap(values: np.ndarray, chi: int, window: float) -> int:
    """The number of `values`, which fall, to keep: where neighbours differ most, within ``(1 -+ window) chi``.

    Never one that is tiny, whose vector is rounding.
    """
    most = max(1, int(np.sum(values > TINY * values[0])))
    low, high = min(most, max(1, int(np.ceil((1 - window) * chi)))), min(most, int((1 + window) * chi))
    if most <= chi or low >= high:
        return min(most, chi)
    return low + int(np.argmax(values[low - 1 : high] / np.maximum(values[low : high + 1], TINY * values[0])))


def boundary(site: np.ndarray) -> np.ndarray:
    """The vector that closes the first leg of a site, from ones: no symmetry is broken, no sector is left out."""
    row = einsum("ulvl->vu", site)
    v = np.ones(len(row), row.dtype) / np.sqrt(len(row))
    row = row @ row + np.linalg.norm(row) ** 2 * np.eye(len(row))
    for _ in range(50 if row.any() else 0):
        v = row @ v
        v = v / np.linalg.norm(v)
    return v


def favoured(tensor: np.ndarray) -> np.ndarray:
    """The tensor in a field without symmetry, which only changes the weights that there are."""
    return tensor * (1 + FIELD * np.random.default_rng(0).uniform(-1, 1, tensor.shape))


def two_largest(edge: np.ndarray) -> tuple[float, float]:
    """Magnitudes of the second and the first eigenvalue of a row of an edge and its mirror image.

    The first one is taken out before the second is looked for: of an eigenvalue that is there twice, as in a sum of two
    phases, powers of the operator on one vector show one.
    """
    k = len(edge)

    def transfer(x: np.ndarray) -> np.ndarray:
        return einsum("apb,ac,cpd->bd", edge.conj(), x.reshape(k, k), edge).ravel()

    def adjoint(x: np.ndarray) -> np.ndarray:
        return einsum("apb,bd,cpd->ac", edge, x.reshape(k, k), edge.conj()).ravel()

    def without_first(x: np.ndarray) -> np.ndarray:
        return transfer(x) - right * (first * (left.conj() @ x) / (left.conj() @ right))

    try:
        first, right = largest(transfer, k, edge.dtype)
        left = largest(adjoint, k, edge.dtype)[1]
        second = largest(without_first, k, np.result_type(edge.dtype, right, left))[0]
    except scipy.sparse.linalg.ArpackError:  # levels crowd
        return 1.0, 1.0
    return tuple(sorted((abs(second), abs(first))))


def largest(operator: Callable[[np.ndarray], np.ndarray], k: int, dtype: np.dtype) -> tuple[complex, np.ndarray]:
    """The eigenvalue of largest magnitude of an operator on matrices of size `k`, and its vector."""
    if k < 4:
        values, vectors = np.linalg.eig(np.array([operator(x) for x in np.eye(k * k, dtype=dtype)]).T)
    else:
        linear = scipy.sparse.linalg.LinearOperator((k * k, k * k), matvec=operator, dtype=dtype)
        start = np.random.default_rng(0).standard_normal(k * k).astype(dtype)
        values, vectors = scipy.sparse.linalg.eigs(linear, k=1, v0=start)
    n = np.argmax(np.abs(values))
    return values[n], vectors[:, n]


def turn(new: np.ndarray, old: np.ndarray) -> np.ndarray:
    """The unitary r for which ``r^T new conj(r)`` is most like the edge `old`, from their common transfer matrix."""
    k = len(old)

    def transfer(x: np.ndarray) -> np.ndarray:
        return einsum("apb,ac,cpd->bd", new.conj(), x.reshape(k, k), old).ravel()

    x = np.random.default_rng(0).standard_normal(k * k).astype(new.dtype)
    if k > 1:
        operator = scipy.sparse.linalg.LinearOperator((k * k, k * k), matvec=transfer, dtype=new.dtype)
        try:
            x = scipy.sparse.linalg.eigs(operator, k=1, v0=x, tol=1e-6)[1][:, 0]
        except scipy.sparse.linalg.ArpackError:  # levels crowd: any guess serves, as the basis follows the steps
            x = transfer(x)
    x = x if np.iscomplexobj(new) else (x * x[np.argmax(np.abs(x))].conj()).real
    return unitary(x.reshape(k, k)).conj()


def unitary(matrix: np.ndarray) -> np.ndarray:
    """The unitary factor of a square matrix, also of a singular one."""
    u, _, vh = np.linalg.svd(matrix)
    return u @ vh


def rank_without_ties(values: np.ndarray, chi: int) -> int:
    """The largest number up to `chi` of `values`, which fall, that cuts between two clearly different ones."""
    most = min(chi, int(np.sum(values > 1e-12 * values[0])))
    clear = [k for k in range(1, most + 1) if k == len(values) or values[k] < 0.999 * values[k - 1]]
    return clear[-1] if clear else most
