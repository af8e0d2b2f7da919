"""Gauge of chains of definite charge: isometric forms and truncation, each sector as in `qad.mps.gauge`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import Tensor, stack_of, unrecorded, value_of
from qad.linalg import norm
from qad.mps.gauge import isometric, zero_weight
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


def canonical(tensors: Sequence[SymTensor], center: int) -> list[SymTensor]:
    """The tensors in mixed canonical form around `center`; the state and its norm are unchanged."""
    out = list(tensors)
    for site in range(center):
        out[site], carried = isometric_rows(out[site])
        out[site + 1] = tensordot(carried, out[site + 1], 1)
    for site in reversed(range(center + 1, len(out))):
        carried, out[site] = isometric_columns(out[site])
        out[site - 1] = tensordot(out[site - 1], carried, 1)
    check_reached(tensors, out)
    return [tensor.resplit(2) for tensor in out]


def truncated(tensors: Sequence[SymTensor], max_bond: int | None, cutoff: float) -> tuple[list[SymTensor], Real]:
    """Tensors of smaller bonds, canonical around the last site, and the norm of what was discarded."""
    out = list(tensors)
    for site in reversed(range(1, len(out))):
        carried, out[site] = isometric_columns(out[site])
        out[site - 1] = tensordot(out[site - 1], carried, 1)
    errors: list[Any] = []
    cut: list[int] = []
    recorded = any(type(t.data) is Tensor for t in tensors)
    for site in range(len(out) - 1):
        whole = out[site].resplit(2)
        plain = value_of(whole.data) is whole.data
        low, high = split(whole, max_bond, cutoff, multiplets="cut" if plain else "warn")
        out[site], carried = isometric_rows(low)
        carried = tensordot(carried, high, 1)
        if carried.shape[0] < sum(min(s.rows, s.columns) for s in whole.layout.sectors):
            errors.append(norm((whole - tensordot(out[site], carried, 1)).data))
            if recorded and value_of(errors[-1]) > zero_weight(value_of(whole.data)[None]):
                cut.append(site + 1)
        if carried.shape[0] == max_bond:
            cut.append(site + 1)
        out[site + 1] = tensordot(carried, out[site + 1], 1)
    out[-1] = out[-1].resplit(2)
    if recorded:
        plain = [type(t)(t.layout, value_of(t.data)) for t in tensors]
        check_reached(tensors, canonical(plain, len(out) - 1), cut)
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
    carried, factors = None, []
    for tensor in tensors[:-1]:
        carried = unit(isometric_rows(tensor if carried is None else tensordot(carried, tensor, 1))[1])
        factors.append(carried)
    return factors


def factors_from_right(tensors: Sequence[SymTensor]) -> list[SymTensor]:
    """What isometric forms from the right carry across every inner bond, of size near one."""
    carried, factors = None, []
    for tensor in tensors[:0:-1]:
        carried = unit(isometric_columns(tensor if carried is None else tensordot(tensor, carried, 1))[0])
        factors.append(carried)
    return factors[::-1]


def unit(factor: SymTensor) -> SymTensor:
    """A factor divided by its size, which is no part of the derivative."""
    size = np.linalg.norm(stack_of(unrecorded(factor.data)).ravel())
    return factor * (1 / size).astype(factor.data.real.dtype)


def check_reached(before: Sequence[SymTensor], after: Sequence[SymTensor], cut: Sequence[int] = ()) -> None:
    """Raise where a derivative is asked for that the canonical form does not know; see `qad.mps.gauge`."""
    if all(a.shape == b.shape for a, b in zip(before, after, strict=True)):
        return
    if not any(type(t.data) is Tensor for t in before):
        return
    plain = [type(t)(t.layout, value_of(t.data)) for t in before]
    sides = zip(ranks_from_left(plain), ranks_from_right(plain), strict=True)
    for bond, (left, right) in enumerate(sides, 1):
        leg = after[bond].legs[0]
        kept = dict(zip(leg.charges, leg.dims, strict=True))
        for charge in left | right:
            most = max(left.get(charge, 0), right.get(charge, 0))
            if kept.get(charge, 0) < most and bond not in cut:
                raise ArgumentError(
                    f"bond {bond} has directions of charge {leg.symmetry.shown(charge)} that carry no weight yet but "
                    f"could (rank {kept.get(charge, 0)} of {most}): a derivative through the canonical form would "
                    "miss them. Differentiate the loss of the chain as it is, or drop them beforehand, outside of the "
                    "differentiated function: psi.truncate(cutoff=1e-12)"
                )


def ranks_from_left(tensors: list[SymTensor]) -> list[Ranks]:
    """For every inner bond, how many independent states of the sites left of it it distinguishes, by charge."""
    environment, found = None, []
    for tensor in tensors[:-1]:
        half = tensor if environment is None else tensordot(environment, tensor, 1)
        environment = unit(tensordot(tensor.conj(), half, ([0, 1], [0, 1])))
        found.append(ranks(environment, turned=False))
    return found


def ranks_from_right(tensors: list[SymTensor]) -> list[Ranks]:
    """For every inner bond, how many independent states of the sites right of it it distinguishes, by charge."""
    environment, found = None, []
    for tensor in tensors[:0:-1]:
        half = tensor if environment is None else tensordot(tensor, environment, ([2], [1]))
        environment = unit(tensordot(tensor.conj(), half, ([1, 2], [1, 2])))
        found.append(ranks(environment, turned=True))
    return found[::-1]


def ranks(environment: SymTensor, turned: bool) -> Ranks:
    """The rank of every sector of an environment; `turned` where its first leg flows out."""
    environment = environment.resplit(1)
    opposite, largest = environment.symmetry.opposite, np.abs(environment.data).max(initial=0.0)
    found = {}
    for sector, matrix in zip(environment.layout.sectors, environment.sectors(), strict=True):
        tol = largest * sector.rows * np.finfo(matrix.dtype).eps
        charge = opposite(sector.charge) if turned else sector.charge
        found[charge] = int(np.linalg.matrix_rank(matrix, tol=tol, hermitian=True))
    return {charge: rank for charge, rank in found.items() if rank}
