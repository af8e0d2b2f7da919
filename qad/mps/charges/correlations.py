"""Correlations in states of definite charge.

An operator on a site is taken apart by the charge that it adds; an environment that one of its parts has passed has
that charge, and only the opposite part of another operator brings it back to none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import Tensor, stack_of, value_of
from qad.mps.chain.densities import between as closed
from qad.mps.chain.densities import environments, passed_left, site_density
from qad.mps.charges.axes import turned
from qad.symmetric.contraction import tensordot
from qad.symmetric.create import from_dense

if TYPE_CHECKING:
    from qad.mps.chain.state import MPS
    from qad.mps.charges.quantities import Charge, Quantities
    from qad.symmetric.tensor import SymTensor
    from qad.typing import Array, Scalar

    Parts: TypeAlias = dict[Charge, SymTensor]


# -- operators on single sites -----------------------------------------------------------------------------------------


def parts_of(matrix: Array, site: int, conserved: Quantities) -> Parts:
    """A matrix on a site by the charge that its parts add, symmetric tensors of legs (out, in).

    Parts without any weight are left out, unless the matrix is recorded: their derivative is not zero.
    """
    group, leg, order = conserved.symmetry, conserved.legs[site], conserved.orders[site]
    charges = [conserved.charges[site][k] for k in order]
    change = [[group.minus(out, in_) for in_ in charges] for out in charges]
    matrix, found = turned(matrix, conserved.states[site])[np.ix_(order, order)], {}
    plain = np.abs(stack_of(value_of(matrix)))
    for charge in sorted({c for row in change for c in row}):
        here = np.array([[c == charge for c in row] for row in change])
        if type(matrix) is Tensor or (plain * here).any():
            part = matrix * here.astype(matrix.real.dtype)
            found[charge] = from_dense(part, (leg, leg.conj()), charge=group.shown(charge), tol=0.0)
    return found


def applied(part: SymTensor, tensor: SymTensor) -> SymTensor:
    """A site tensor after an operator on its physical leg."""
    return tensordot(tensor, part, ([1], [1])).transpose(0, 2, 1)


def correlations(
    psi: MPS,
    ones: list[Array],
    others: list[Array],
    openings: tuple[list[Array], list[Array]],
    between: list[Array] | None,
) -> Array:
    """``<A_i B_j>`` of all pairs of sites; see `qad.mps.measure.correlators.Pair` for the matrices."""
    (lefts, tensors, rights), frames = environments(psi.tensors), psi.conserved.frames
    n, table = len(tensors), {}
    closing, opening = ([[parts_of(m, site, psi.conserved) for site, m in enumerate(row)] for row in rows]
                        for rows in ((ones, others), openings))  # fmt: skip
    kets = [tensor if between is None else strung(between[i], i, tensor, psi) for i, tensor in enumerate(tensors)]
    for i in range(n):
        density = site_density(lefts[i], tensors[i], rights[i + 1], frames[i])
        norm2 = density.trace()
        table[i, i] = (density * (ones[i] @ others[i]).T).sum() / norm2
        for first in (0, 1):
            passed = {
                c: passed_left(lefts[i], applied(p, tensors[i]), tensors[i]) for c, p in opening[first][i].items()
            }
            for j in range(i + 1, n):
                value = met(passed, closing[1 - first][j], tensors[j], rights[j + 1], 0.0 * table[i, i])
                table[(i, j) if first == 0 else (j, i)] = value / norm2
                passed = {charge: passed_left(left, kets[j], tensors[j]) for charge, left in passed.items()}
    return np.stack([np.stack([table[i, j] for j in range(n)]) for i in range(n)])


def strung(matrix: Array, site: int, tensor: SymTensor, psi: MPS) -> SymTensor:
    """A site tensor after a part of a string, which must not change the charge."""
    parts, neutral = parts_of(matrix, site, psi.conserved), psi.conserved.symmetry.neutral
    if any(charge != neutral and stack_of(value_of(part.data)).any() for charge, part in parts.items()):
        raise ArgumentError(
            f"the string changes the charge on site {site}: give psi.without_symmetry(), or a string that conserves"
        )
    return applied(parts[neutral], tensor) if neutral in parts else 0.0 * tensor


def met(passed: Parts, parts: Parts, tensor: SymTensor, right: SymTensor, zero: Scalar) -> Scalar:
    """What the parts of an operator on a site make of environments of the opposite charges."""
    opposite = tensor.symmetry.opposite
    return zero + sum(
        closed(passed_left(passed[opposite(charge)], applied(part, tensor), tensor), right)
        for charge, part in parts.items()
        if opposite(charge) in passed
    )
