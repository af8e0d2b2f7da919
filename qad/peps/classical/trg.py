"""Coarse graining of classical models: TRG and HOTRG on a torus of ``2**steps`` sites."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.contract import einsum
from qad.extend import value_of
from qad.linalg import funm_herm, split
from qad.showing.progress import bar_for

if TYPE_CHECKING:
    from qad.typing import Array


def trg(tensor: Array, chi: int, steps: int) -> tuple[Array, Array]:
    """Sites split along both diagonals, four halves joined to a site of twice the area.

    M. Levin and C. P. Nave, Phys. Rev. Lett. 99, 120601 (2007).

    Returns
    -------
    logarithm per site of what was divided out, Z of the last site, closed to a torus
    """
    tensor, total = tensor.transpose(3, 0, 1, 2), 0.0  # right, up, left, down
    with bar_for(label="lattice", total=steps) as bar:
        for n in range(steps):
            tensor, logarithm = scaled(tensor)
            total = total + logarithm / 2**n
            halves = []
            for axes in ((2, 1, 0, 3), (3, 2, 1, 0)):
                turned = tensor.transpose(axes)
                first, second = turned.shape[:2], turned.shape[2:]
                matrix = turned.reshape(first[0] * first[1], -1)
                k = rank_without_ties(np.linalg.svd(value_of(matrix), compute_uv=False), chi)
                p, q = split(matrix, k, multiplets="drop")
                halves += [p.reshape(*first, -1), q.reshape(-1, *second)]
            tensor = einsum("war,lbg,abu,dgw->ruld", *halves)
            bar.update()
    return total, einsum("ijij->", tensor)


def hotrg(tensor: Array, chi: int, steps: int) -> tuple[Array, Array]:
    """Pairs of sites, above each other and beside each other in turn, their bonds cut by isometries; returns as `trg`.

    Z. Y. Xie et al., Phys. Rev. B 86, 045139 (2012).
    """
    total = 0.0  # legs up, left, down, right
    with bar_for(label="lattice", total=steps) as bar:
        for n in range(steps):
            tensor, logarithm = scaled(tensor)
            total = total + logarithm / 2**n
            tensor = paired(tensor, chi).transpose(1, 2, 3, 0)  # the other direction is next
            bar.update()
    return total, einsum("ulul->", tensor)


def paired(tensor: Array, chi: int) -> Array:
    """One site for two that stand above each other, the pairs of horizontal legs cut to `chi`."""
    left, left_out = isometry(tensor, "ulxr,xmdn,uLyr,yMdn->lmLM", chi)
    right, right_out = isometry(tensor, "ulxr,xmdn,ulyR,ymdN->rnRN", chi)
    basis = left if left_out <= right_out else right.conj()
    return einsum("ulxr,xmdn,lma,rnb->uadb", tensor, tensor, basis.conj(), basis)


def isometry(tensor: Array, subscripts: str, chi: int) -> tuple[Array, float]:
    """A basis of the leading eigenvectors of the Gram matrix of one pair of legs, and the weight of the others.

    Of the space alone: ``U = Z (3 - Z^H Z) / 2`` with ``Z = P U0``, its projector P and a constant basis U0, which has
    derivatives where eigenvalues that are kept coincide.
    """
    gram = einsum(subscripts, tensor, tensor, tensor.conj(), tensor.conj())
    d, e = gram.shape[:2]
    gram = gram.reshape(d * e, d * e)
    gram = (gram + gram.conj().mT) / 2
    values, vectors = np.linalg.eigh(value_of(gram))
    k = rank_without_ties(values[::-1], chi)
    if k == len(values):
        return np.eye(k, dtype=gram.dtype).reshape(d, e, k), 0.0
    cut = (values[-k] + max(values[-k - 1], 0.0)) / 2
    z = funm_herm(lambda w: w > cut, gram) @ vectors[:, -k:]
    basis = 1.5 * z - 0.5 * z @ (z.conj().mT @ z)
    return basis.reshape(d, e, k), float(np.sum(values[:-k]) / np.sum(values))


def rank_without_ties(values: np.ndarray, chi: int) -> int:
    """The largest number up to `chi` of `values`, which fall, that cuts between two clearly different ones."""
    most = min(chi, int(np.sum(values > 1e-12 * values[0])))
    clear = [k for k in range(1, most + 1) if k == len(values) or values[k] < 0.999 * values[k - 1]]
    return clear[-1] if clear else most


def scaled(tensor: Array) -> tuple[Array, Array]:
    """The tensor over the size of its largest entry, and the logarithm of that."""
    size = np.max(np.abs(tensor))
    return tensor / size, np.log(size)
