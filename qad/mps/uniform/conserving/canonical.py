"""The canonical form of infinite chains of definite charge: `qad.mps.uniform.canonical`, sector by sector."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.mps.chain.densities import passed_left, passed_right
from qad.mps.uniform.conserving.transfer import fixed_point
from qad.symmetric.contraction import tensordot
from qad.symmetric.decompositions import svd
from qad.symmetric.scaling import scale
from qad.symmetric.truncation import truncated_svd

if TYPE_CHECKING:
    from qad.mps.uniform.conserving.state import SymmetricUniformMPS
    from qad.symmetric.tensor import SymTensor

LEAST = 1e-15  # of the largest eigenvalue of an environment: below that is rounding


def schmidt_form(psi: SymmetricUniformMPS) -> tuple[list[SymTensor], list[np.ndarray]]:
    """Right isometries, their bonds in the basis of Schmidt vectors, and the Schmidt values left of every site.

    The values stand sector after sector in the order of the bond, and their squares add up to 1.
    """
    lefts, rights = environments(psi)
    roots = [root(r.transpose(1, 0)) for r in (rights[-1], *rights[:-1])]  # right of the bond left of site i
    weights, bases, inverses = [], [], []
    for left, (x, x_inverse) in zip(lefts, roots, strict=True):
        matrix = tensordot(tensordot(x.conj(), left, ([0], [0])), x, 1)
        u, values, _ = svd(matrix, 1)
        weights.append(np.sqrt(values / values.sum()))
        bases.append(tensordot(x, u, 1))
        inverses.append(tensordot(u.conj(), x_inverse, ([0], [0])))
    tensors = []
    for i, tensor in enumerate(psi):
        new = tensordot(tensordot(inverses[i], tensor, 1), bases[(i + 1) % len(psi)], 1)
        tensors.append((new * (np.sqrt(new.shape[0]) / new.norm())).resplit(1))
    return tensors, weights


def environments(psi: SymmetricUniformMPS) -> tuple[list[SymTensor], list[SymTensor]]:
    """The environments (bra, ket) left and right of every site, each of trace 1."""
    lefts, rights = [fixed_point(psi.tensors, True)], [fixed_point(psi.tensors, False)]
    for tensor in psi.tensors[:-1]:
        lefts.append(unit(passed_left(lefts[-1], tensor, tensor)))
    for tensor in psi.tensors[:0:-1]:
        rights.append(unit(passed_right(rights[-1], tensor, tensor)))
    return lefts, rights[::-1]


def unit(environment: SymTensor) -> SymTensor:
    """An environment of trace 1."""
    return environment * (1 / sum(np.trace(m) for m in environment.sectors()).real)


def root(environment: SymTensor) -> tuple[SymTensor, SymTensor]:
    """``x`` with ``x x^H`` the positive matrix `environment`, and its (pseudo)inverse."""
    u, values, *_ = truncated_svd(environment, cutoff=LEAST, split=1, multiplets="cut")
    size = np.sqrt(values)
    return scale(u, size), scale(u.conj(), 1 / size).transpose(1, 0)
