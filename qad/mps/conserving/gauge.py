"""Gauge of chains of definite charge: isometric forms and truncation, each sector as in `qad.mps.gauge`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import Tensor, stack_of, unrecorded, value_of
from qad.linalg import norm
from qad.mps.gauge import isometric, zero_weight
from qad.mps.reached import dropped_weightless, orders_of
from qad.symmetric.contraction import tensordot
from qad.symmetric.decompositions import qr, svd
from qad.symmetric.maps import bond_leg, columns_of, in_order_of, rows_of
from qad.symmetric.scaling import scale
from qad.symmetric.truncation import split

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.symmetric.tensor import SymTensor
    from qad.typing import Real

    Ranks = dict[tuple[int, ...], int]


def isometric_rows(tensor: SymTensor) -> tuple[SymTensor, SymTensor]:
    """``A = Q C`` between the last leg and those before it, Q an isometry from the new bond."""
    tensor = tensor.resplit(tensor.ndim - 1)
    pairs = [isometric(matrix) if reaches(matrix) else None for matrix in tensor.sectors()]
    bond = bond_leg(tensor.layout, [0 if x is None else x[0].shape[-1] for x in pairs], "canonicalize")
    right = columns_of(tensor.layout, bond, [c for _, c in in_order_of(bond, tensor.layout, pairs)])
    return rows_of(tensor.layout, bond, [x[0] for x in pairs if x is not None]), right


def isometric_columns(tensor: SymTensor) -> tuple[SymTensor, SymTensor]:
    """``A = C Q`` between the first leg and those behind it, Q an isometry from the new bond."""
    tensor = tensor.resplit(1)
    pairs = [isometric(matrix.mT) if reaches(matrix) else None for matrix in tensor.sectors()]
    bond = bond_leg(tensor.layout, [0 if x is None else x[0].shape[-1] for x in pairs], "canonicalize")
    right = columns_of(tensor.layout, bond, [q.mT for q, _ in in_order_of(bond, tensor.layout, pairs)])
    return rows_of(tensor.layout, bond, [x[1].mT for x in pairs if x is not None]), right


def reaches(matrix: Any) -> bool:
    """Whether a sector carries anything."""
    return bool(stack_of(unrecorded(matrix)).any())


def lost_of(tensor: SymTensor, split: int, bond: Any) -> Ranks:
    """The charges of which a canonical form of a tensor has fewer directions than it could, and how many it has."""
    kept = dict(zip(bond.charges, bond.dims, strict=True))
    sectors = tensor.resplit(split).layout.sectors
    ranks = {s.charge: (kept.get(s.charge, 0), min(s.rows, s.columns)) for s in sectors}
    return {charge: rank for charge, (rank, most) in ranks.items() if rank < most}


def swept_right(tensors: Sequence[SymTensor], center: int) -> list[SymTensor]:
    """The tensors with those before `center` made isometries from their right bond."""
    out, dropped = list(tensors), {}
    for site in range(center):
        whole = out[site]
        out[site], carried = isometric_rows(whole)
        dropped[site + 1] = lost_of(whole, 2, carried.legs[0])
        out[site + 1] = tensordot(carried, out[site + 1], 1)
    check_reached(tensors, dropped)
    return out


def swept_left(tensors: Sequence[SymTensor], center: int) -> list[SymTensor]:
    """The tensors with those behind `center` made isometries from their left bond."""
    out, dropped = list(tensors), {}
    for site in reversed(range(center + 1, len(out))):
        whole = out[site]
        carried, out[site] = isometric_columns(whole)
        dropped[site] = lost_of(whole, 1, out[site].legs[0])
        out[site - 1] = tensordot(out[site - 1], carried, 1)
    check_reached(tensors, dropped)
    return out


def canonical(tensors: Sequence[SymTensor], center: int) -> list[SymTensor]:
    """The tensors in mixed canonical form around `center`; the state and its norm are unchanged."""
    return [tensor.resplit(2) for tensor in swept_left(swept_right(tensors, center), center)]


def truncated(tensors: Sequence[SymTensor], max_bond: int | None, cutoff: float) -> tuple[list[SymTensor], Real]:
    """Tensors of smaller bonds, canonical around the last site, and the norm of what was discarded."""
    out = swept_left(tensors, 0)
    before, weightless = out[:], []
    errors: list[Any] = []
    recorded = any(type(t.data) is Tensor for t in tensors)
    for site in range(len(out) - 1):
        whole = out[site].resplit(2)
        plain = value_of(whole.data) is whole.data
        low, high = split(whole, max_bond, cutoff, multiplets="cut" if plain else "warn")
        out[site], carried = isometric_rows(low)
        carried = tensordot(carried, high, 1)
        kept, most = carried.shape[0], sum(min(s.rows, s.columns) for s in whole.layout.sectors)
        if kept < most:
            errors.append(norm((whole - tensordot(out[site], carried, 1)).data))
            if recorded and kept != max_bond and value_of(errors[-1]) <= zero_weight(value_of(whole.data)[None]):
                weightless.append((site + 1, kept, most))
        out[site + 1] = tensordot(carried, out[site + 1], 1)
    out[-1] = out[-1].resplit(2)
    if weightless:  # what only a cut further left took away is none of these
        uncut = swept_right([type(t)(t.layout, value_of(t.data)) for t in before], len(out) - 1)
        for bond, kept, most in weightless:
            if uncut[bond].shape[0] < most:
                dropped_weightless(bond, kept, most)
    return out, norm(np.stack(errors)) if errors else out[0].data.real.dtype.type(0)


def schmidt_form(tensors: Sequence[SymTensor]) -> tuple[list[SymTensor], list[np.ndarray]]:
    """The normalised state of plain tensors in right-canonical gauge, its bonds in the basis of Schmidt vectors.

    Beside it the Schmidt values of the bond left of each site, sector after sector in the order of the bond.
    """
    out, carried, weights = [], None, []
    for tensor in tensors:
        tensor, carried = qr(tensor if carried is None else tensordot(carried, tensor, 1), 2)
        if not (size := carried.norm()) > 0:
            raise ArgumentError(f"the state has norm {size}: it cannot be normalised")
        carried = carried * (1 / size)
        out.append(tensor)
    for site in reversed(range(len(out))):
        left, values, right = svd(tensordot(out[site], carried, 1), 1)
        out[site], carried = right.resplit(2), scale(left, values)
        weights.append(values)
    phase = carried * (1 / carried.norm())
    out[0] = tensordot(phase, out[0], 1).resplit(2)
    return out, weights[::-1]


def factors_from_left(tensors: Sequence[SymTensor]) -> list[SymTensor]:
    """What isometric forms from the left carry across every inner bond, of size near one."""
    carried, factors, exact = None, [], orders_of([t.data for t in tensors]) > 1
    for tensor in tensors[:-1]:
        whole = tensor if carried is None else tensordot(carried, tensor, 1)
        carried = unit(isometric_rows(whole)[1])
        check_full(exact, len(factors) + 1, lost_of(whole, 2, carried.legs[0]))
        factors.append(carried)
    return factors


def factors_from_right(tensors: Sequence[SymTensor]) -> list[SymTensor]:
    """What isometric forms from the right carry across every inner bond, of size near one."""
    carried, factors, exact = None, [], orders_of([t.data for t in tensors]) > 1
    for tensor in tensors[:0:-1]:
        whole = tensor if carried is None else tensordot(tensor, carried, 1)
        carried, rest = isometric_columns(whole)
        carried = unit(carried)
        check_full(exact, len(tensors) - 1 - len(factors), lost_of(whole, 1, rest.legs[0]))
        factors.append(carried)
    return factors[::-1]


def check_full(exact: bool, bond: int, lost: Ranks) -> None:
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


def check_reached(before: Sequence[SymTensor], dropped: dict[int, Ranks]) -> None:
    """Raise where a derivative is asked for that needs what was `dropped` of some bonds; see `qad.mps.reached`."""
    if not any(dropped.values()) or not any(type(t.data) is Tensor for t in before):
        return
    second = orders_of([t.data for t in before]) > 1
    plain = [type(t)(t.layout, value_of(t.data)) for t in before]
    sides = zip(grams_from_left(plain), grams_from_right(plain), strict=True)
    for bond, (left, right) in enumerate(sides, 1):
        for charge, kept in dropped.get(bond, {}).items():
            grams = [gram.get(charge, np.zeros(())) for gram in (left, right)]
            joint = rank_of(grams[0] + grams[1].conj())
            if kept < joint or second:
                shown = before[0].symmetry.shown(charge)
                dropped_weightless(bond, kept, joint, second=second, kind=f" of charge {shown}")


def rank_of(gram: np.ndarray) -> int:
    """The rank of a matrix of one sector; the largest entry of all sectors is 1."""
    if not gram.ndim:
        return 0
    return int(np.linalg.matrix_rank(gram, tol=len(gram) * np.finfo(gram.dtype).eps, hermitian=True))


def grams_from_left(tensors: list[SymTensor]) -> list[dict[Any, np.ndarray]]:
    """For every inner bond ``L^H L`` of the states of the sites left of it, by charge."""
    environment, found = None, []
    for tensor in tensors[:-1]:
        half = tensor if environment is None else tensordot(environment, tensor, 1)
        environment = unit(tensordot(tensor.conj(), half, ([0, 1], [0, 1])))
        found.append(grams(environment, turned=False))
    return found


def grams_from_right(tensors: list[SymTensor]) -> list[dict[Any, np.ndarray]]:
    """For every inner bond the same of the states of the sites right of it, by charge."""
    environment, found = None, []
    for tensor in tensors[:0:-1]:
        half = tensor if environment is None else tensordot(tensor, environment, ([2], [1]))
        environment = unit(tensordot(tensor.conj(), half, ([1, 2], [1, 2])))
        found.append(grams(environment, turned=True))
    return found[::-1]


def grams(environment: SymTensor, turned: bool) -> dict[Any, np.ndarray]:
    """Every sector of an environment, the largest entry 1; `turned` where its first leg flows out."""
    environment = environment.resplit(1)
    opposite, largest = environment.symmetry.opposite, np.abs(environment.data).max(initial=0.0) or 1.0
    pairs = zip(environment.layout.sectors, environment.sectors(), strict=True)
    return {opposite(s.charge) if turned else s.charge: matrix / largest for s, matrix in pairs}
