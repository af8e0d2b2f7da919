"""Coarse graining of classical models: TRG and HOTRG on a torus of ``2**steps`` sites."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.contract import einsum
from qad.extend import value_of
from qad.linalg import split, truncated_eigh

if TYPE_CHECKING:
    from qad.typing import Array

CUTOFF = 1e-12  # relative singular values below this are rounding


def trg(tensor: Array, chi: int, steps: int) -> Array:
    """``ln Z`` per site: sites split along both diagonals, four halves joined to a site of twice the area.

    M. Levin and C. P. Nave, Phys. Rev. Lett. 99, 120601 (2007).
    """
    tensor, total = tensor.transpose(3, 0, 1, 2), 0.0  # right, up, left, down
    for n in range(steps):
        tensor, logarithm = scaled(tensor)
        total = total + logarithm / 2**n
        halves = []
        for axes in ((2, 1, 0, 3), (3, 2, 1, 0)):
            turned = tensor.transpose(axes)
            first, second = turned.shape[:2], turned.shape[2:]
            matrix = turned.reshape(first[0] * first[1], -1)
            p, q = split(matrix, chi, cutoff=CUTOFF, multiplets="drop")
            halves += [p.reshape(*first, -1), q.reshape(-1, *second)]
        tensor = einsum("war,lbg,abu,dgw->ruld", *halves)
    return total + np.log(einsum("ijij->", tensor)) / 2**steps


def hotrg(tensor: Array, chi: int, steps: int) -> Array:
    """``ln Z`` per site: pairs of sites, above each other and beside each other in turn, their bonds cut by isometries.

    Z. Y. Xie et al., Phys. Rev. B 86, 045139 (2012).
    """
    total = 0.0  # legs up, left, down, right
    for n in range(steps):
        tensor, logarithm = scaled(tensor)
        total = total + logarithm / 2**n
        tensor = paired(tensor, chi).transpose(1, 2, 3, 0)  # the other direction is next
    return total + np.log(einsum("ulul->", tensor)) / 2**steps


def paired(tensor: Array, chi: int) -> Array:
    """One site for two that stand above each other, the pairs of horizontal legs cut to `chi`."""
    left, left_out = isometry(tensor, "ulxr,xmdn,uLyr,yMdn->lmLM", chi)
    right, right_out = isometry(tensor, "ulxr,xmdn,ulyR,ymdN->rnRN", chi)
    basis = left if left_out <= right_out else right.conj()
    return einsum("ulxr,xmdn,lma,rnb->uadb", tensor, tensor, basis.conj(), basis)


def isometry(tensor: Array, subscripts: str, chi: int) -> tuple[Array, float]:
    """The leading eigenvectors of the Gram matrix of one pair of legs, and the weight of the others."""
    gram = einsum(subscripts, tensor, tensor, tensor.conj(), tensor.conj())
    d, e = gram.shape[:2]
    gram = gram.reshape(d * e, d * e)
    values, vectors, _ = truncated_eigh((gram + gram.conj().mT) / 2, chi, CUTOFF, multiplets="drop")
    kept, all_of_them = np.sum(value_of(values)), np.trace(value_of(gram)).real
    return vectors.reshape(d, e, -1), float(1 - kept / all_of_them)


def scaled(tensor: Array) -> tuple[Array, Array]:
    """The tensor over the size of its largest entry, and the logarithm of that."""
    size = np.max(np.abs(tensor))
    return tensor / size, np.log(size)
