"""What is measured in states of definite charge: local expectation values, correlations, densities, entanglement.

An operator on a site is taken apart by the charge that it adds; an environment that one of its parts has passed has
that charge, and only the opposite part of another operator brings it back to none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import Tensor, like, stack_of, unrecorded, value_of
from qad.mps.canonical import isometric_columns, isometric_rows, lost_of
from qad.mps.reached import orders_of
from qad.symmetric.contraction import tensordot
from qad.symmetric.create import from_dense
from qad.symmetric.generic import leg_sizes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qad.mps.conserving.quantities import Charge, Quantities
    from qad.mps.conserving.state import SymmetricMPS
    from qad.symmetric.tensor import SymTensor
    from qad.typing import Array, Real, Scalar

    Parts: TypeAlias = dict[Charge, SymTensor]


class SectorEntropy(NamedTuple):
    """What one sector has of the entanglement across a bond.

    Attributes
    ----------
    weight : float
        The probability of the charge: the sum p of its squared Schmidt values.
    entropy : float
        In nats, of its squared Schmidt values divided by p; the whole is ``sum p * (entropy - log p)``.
    """

    weight: Any
    entropy: Any


# -- operators on single sites -----------------------------------------------------------------------------------------


def parts_of(matrix: Array, site: int, conserved: Quantities) -> Parts:
    """A matrix on a site by the charge that its parts add, symmetric tensors of legs (out, in).

    Parts without any weight are left out, unless the matrix is recorded: their derivative is not zero.
    """
    group, leg, order = conserved.symmetry, conserved.legs[site], conserved.orders[site]
    charges = [conserved.charges[site][k] for k in order]
    change = [[group.minus(out, in_) for in_ in charges] for out in charges]
    matrix, found = matrix[np.ix_(order, order)], {}
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


def past(environment: SymTensor | None, ket: SymTensor, bra: SymTensor) -> SymTensor:
    """An environment of legs (bra, ket) past one more site; none is that of no sites."""
    half = ket if environment is None else tensordot(environment, ket, 1)
    return tensordot(bra.conj(), half, ([0, 1], [0, 1]))


def closed(left: SymTensor, right: SymTensor | None) -> Scalar:
    """The number that environments on both sides of a bond make; none on the right is that of no sites."""
    return left.data.sum() if right is None else tensordot(left, right, ([0, 1], [0, 1]))


def environments(psi: SymmetricMPS) -> tuple[list[Any], list[SymTensor], list[Any]]:
    """Environments left of every site, site tensors scaled evenly, and environments right of every site."""
    tensors, rights = list(psi), [None]
    for site in reversed(range(len(tensors))):
        tensor, right = tensors[site], rights[-1]
        half = tensor if right is None else tensordot(tensor, right, ([2], [1]))
        axes = ([1, 2], [1, 2])
        environment = tensordot(tensor.conj(), half, axes)
        size = np.linalg.norm(stack_of(environment.data).ravel())
        if not 0 < size < np.inf:
            raise ArgumentError("the state is zero or not finite: nothing can be measured in it")
        tensors[site] = tensor * (size**-0.5).astype(tensor.data.real.dtype)
        rights.append(environment * (1 / size).astype(tensor.data.real.dtype))
    lefts = [None]
    for tensor in tensors[:-1]:
        lefts.append(past(lefts[-1], tensor, tensor))
    return lefts, tensors, rights[-2::-1]


# -- what is measured --------------------------------------------------------------------------------------------------


def local_expectations(psi: SymmetricMPS, operators: list[Array]) -> Array:
    """``<O_i>`` on every site."""
    values, neutral = [], psi.conserved.symmetry.neutral
    for site, (left, tensor, right) in enumerate(zip(*environments(psi), strict=True)):
        norm2 = closed(past(left, tensor, tensor), right)
        part = parts_of(operators[site], site, psi.conserved).get(neutral)
        zero = norm2 * like(operators[site]).zeros((), operators[site].dtype)
        value = zero if part is None else closed(past(left, applied(part, tensor), tensor), right)
        values.append(value / norm2)
    return np.stack(values)


def correlations(
    psi: SymmetricMPS,
    ones: list[Array],
    others: list[Array],
    openings: tuple[list[Array], list[Array]],
    between: list[Array] | None,
) -> Array:
    """``<A_i B_j>`` of all pairs of sites; see `qad.mps.correlators.Pair` for the matrices."""
    lefts, tensors, rights = environments(psi)
    n, table = len(tensors), {}
    closing, opening = ([[parts_of(m, site, psi.conserved) for site, m in enumerate(row)] for row in rows]
                        for rows in ((ones, others), openings))  # fmt: skip
    kets = [tensor if between is None else strung(between[i], i, tensor, psi) for i, tensor in enumerate(tensors)]
    for i in range(n):
        norm2 = closed(past(lefts[i], tensors[i], tensors[i]), rights[i])
        zero = norm2 * like(ones[i]).zeros((), np.result_type(ones[i].dtype, others[i].dtype))
        both = parts_of(ones[i] @ others[i], i, psi.conserved).get(psi.conserved.symmetry.neutral)
        here = zero if both is None else closed(past(lefts[i], applied(both, tensors[i]), tensors[i]), rights[i])
        table[i, i] = here / norm2
        for first in (0, 1):
            passed = {c: past(lefts[i], applied(p, tensors[i]), tensors[i]) for c, p in opening[first][i].items()}
            for j in range(i + 1, n):
                value = met(passed, closing[1 - first][j], tensors[j], rights[j], zero)
                table[(i, j) if first == 0 else (j, i)] = value / norm2
                passed = {charge: past(left, kets[j], tensors[j]) for charge, left in passed.items()}
    return np.stack([np.stack([table[i, j] for j in range(n)]) for i in range(n)])


def strung(matrix: Array, site: int, tensor: SymTensor, psi: SymmetricMPS) -> SymTensor:
    """A site tensor after a part of a string, which must not change the charge."""
    parts, neutral = parts_of(matrix, site, psi.conserved), psi.conserved.symmetry.neutral
    if any(charge != neutral and stack_of(value_of(part.data)).any() for charge, part in parts.items()):
        raise ArgumentError(
            f"the string changes the charge on site {site}: give psi.without_symmetry(), or a string that conserves"
        )
    return applied(parts[neutral], tensor) if neutral in parts else 0.0 * tensor


def met(passed: Parts, parts: Parts, tensor: SymTensor, right: SymTensor | None, zero: Scalar) -> Scalar:
    """What the parts of an operator on a site make of environments of the opposite charges."""
    opposite = tensor.symmetry.opposite
    return zero + sum(
        closed(past(passed[opposite(charge)], applied(part, tensor), tensor), right)
        for charge, part in parts.items()
        if opposite(charge) in passed
    )


def reduced_density(psi: SymmetricMPS, sites: Sequence[int]) -> Array:
    """The density matrix of some sites, dense, its basis in the order of the sites' own; not of trace 1 yet."""
    lefts, tensors, rights = environments(psi)
    environment = lefts[sites[0]]
    for site in range(sites[0], sites[-1] + 1):
        environment = opened(environment, tensors[site], site in sites)
    right = rights[sites[-1]]
    axes = ([0, environment.ndim - 1], [0, 1])
    if right is None:
        environment = environment.transpose(0, environment.ndim - 1, *range(1, environment.ndim - 1))
        dense = environment.to_dense()[0, 0]
    else:
        dense = tensordot(environment, right, axes).to_dense()  # (bra, ket) of every site
    dims, m = [psi.phys[site] for site in sites], len(sites)
    for axis, site in enumerate(np.repeat(sites, 2)):
        dense = np.take(dense, np.argsort(psi.conserved.orders[site]), axis=axis)
    size = int(np.prod(dims))
    return dense.transpose(*range(1, 2 * m, 2), *range(0, 2 * m, 2)).reshape(size, size)


def opened(environment: SymTensor | None, tensor: SymTensor, keep: bool) -> SymTensor:
    """An environment (bra, pairs of physical legs, ket) past a site whose physical legs are summed over, or kept."""
    bra = tensor.conj()
    if environment is None:
        if not keep:
            return tensordot(bra, tensor, ([0, 1], [0, 1]))
        return tensordot(bra, tensor, ([0], [0])).transpose(1, 0, 2, 3)
    half = tensordot(environment, tensor, 1)  # bra, pairs, s, b
    inner = half.ndim - 3
    if not keep:
        return tensordot(bra, half, ([0, 1], [0, half.ndim - 2]))
    found = tensordot(bra, half, ([0], [0]))  # s' b' pairs s b
    return found.transpose(1, *range(2, 2 + inner), 0, 2 + inner, 3 + inner)


# -- entanglement ------------------------------------------------------------------------------------------------------


def factors_from_left(tensors: Sequence[SymTensor]) -> list[SymTensor]:
    """What isometric forms from the left carry across every inner bond, of size near one."""
    carried, factors, exact = None, [], orders_of([t.data for t in tensors]) > 1
    for tensor in tensors[:-1]:
        whole = tensor if carried is None else tensordot(carried, tensor, 1)
        carried = unit(isometric_rows(whole)[1])
        check_full(exact, len(factors) + 1, lost_of(whole, 2, leg_sizes(carried, 0)))
        factors.append(carried)
    return factors


def factors_from_right(tensors: Sequence[SymTensor]) -> list[SymTensor]:
    """What isometric forms from the right carry across every inner bond, of size near one."""
    carried, factors, exact = None, [], orders_of([t.data for t in tensors]) > 1
    for tensor in tensors[:0:-1]:
        whole = tensor if carried is None else tensordot(tensor, carried, 1)
        carried, rest = isometric_columns(whole)
        carried = unit(carried)
        check_full(exact, len(tensors) - 1 - len(factors), lost_of(whole, 1, leg_sizes(rest, 0)))
        factors.append(carried)
    return factors[::-1]


def check_full(exact: bool, bond: int, lost: dict[Charge, int]) -> None:
    """Raise where second derivatives would miss what a bond may be filled with."""
    if exact and lost:
        raise ArgumentError(
            f"bond {bond} has directions that carry no weight yet but could: second derivatives of its entanglement "
            "would miss them. Give psi.without_symmetry(), or drop them beforehand, outside of the differentiated "
            "function: psi.truncate(cutoff=1e-12)"
        )


def unit(factor: SymTensor) -> SymTensor:
    """A factor divided by its size, which is no part of the derivative."""
    size = np.linalg.norm(stack_of(unrecorded(factor.data)).ravel())
    return factor * (1 / size).astype(factor.data.real.dtype)


def centers(psi: SymmetricMPS) -> list[SymTensor]:
    """For every inner bond a matrix whose singular values are the Schmidt values, but for a factor."""
    sides = zip(factors_from_left(psi.tensors), factors_from_right(psi.tensors), strict=True)
    return [tensordot(left, right, 1) for left, right in sides]


def unit_sectors(center: SymTensor) -> list[Array]:
    """The matrices of the sectors of a bond, of norm 1 together."""
    center = center.resplit(1)
    size = center.norm()
    if not (stack_of(value_of(size)) > 0).all():
        raise ArgumentError("the state is zero or not finite: it has no entanglement")
    return [matrix * (1 / size) for matrix in center.sectors()]


def entropies_by_sector(center: SymTensor, matrix_entropy: Callable[[Array], Real]) -> dict[Any, SectorEntropy]:
    """Weight and entropy of every sector of a bond from its centre."""
    center = center.resplit(1)
    size, found = center.norm(), {}
    for sector, matrix in zip(center.layout.sectors, center.sectors(), strict=True):
        part = np.linalg.norm(matrix)
        if stack_of(value_of(part)) > 0:
            own = SectorEntropy((part / size) ** 2, matrix_entropy(matrix * (1 / part)))
            found[center.symmetry.shown(sector.charge)] = own
    return found
