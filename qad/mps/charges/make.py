"""Site tensors of states with charges from nothing: products of basis states, and random ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import is_foreign
from qad.mps.chain.chain import site_count
from qad.mps.charges.quantities import filled
from qad.symmetric.contraction import tensordot
from qad.symmetric.create import from_dense, random
from qad.symmetric.decompositions import qr
from qad.symmetric.legs import Leg

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.mps.charges.quantities import Charge, Quantities
    from qad.symmetric.tensor import SymTensor
    from qad.typing import DTypeLike, Seed


def product_tensors(states: Sequence[int], conserved: Quantities, dtype: DTypeLike) -> list[SymTensor]:
    """The product of basis states, given by number."""
    group, tensors = conserved.symmetry, []
    charge = group.neutral
    for site, state in enumerate(states):
        charges = conserved.charges[site]
        if np.ndim(state) != 0 or is_foreign(state) or int(state) != state or not 0 <= state < len(charges):
            raise ArgumentError(
                f"site {site}: a symmetric product state needs the number of one of the {len(charges)} basis "
                f"states, not {state!r}"
            )
        before, charge = charge, group.plus(charge, charges[int(state)])
        legs = Leg({before: 1}, 1, group), conserved.legs[site], Leg({charge: 1}, -1, group)
        dense = np.eye(len(charges), dtype=dtype)[int(state)][conserved.orders[site]]
        tensors.append(from_dense(dense[None, :, None], legs, split=2))
    return tensors


def random_tensors(
    bond: int, conserved: Quantities, sector: object, dtype: DTypeLike, seed: Seed, near: int | None = None
) -> list[SymTensor]:  # fmt: skip
    """A random state of norm 1 of a total charge, by default 0, its bonds as large as asked for or as charges allow.

    Where `near` is given bonds carry only so many charges, those nearest to an even spread over the sites (and those as
    near as the last of them).
    """
    bond, rng, group = site_count(bond, 1, "bond"), np.random.default_rng(seed), conserved.symmetry
    dims = bond_sectors(conserved, group.neutral if sector is None else conserved.sector(sector), bond, near)
    legs = [Leg(sizes, 1, group) for sizes in dims]
    tensors, carried = [], None
    for site, phys in enumerate(conserved.legs):
        tensor = random((legs[site], phys, legs[site + 1].conj()), dtype=dtype, seed=rng, split=2)
        tensor = tensor if carried is None else tensordot(carried, tensor, 1)
        tensor, carried = qr(tensor * (1 / tensor.norm()), 2)
        tensors.append(tensor)
    return tensors


def bond_sectors(conserved: Quantities, total: Charge, bond: int, near: int | None = None) -> list[dict[Charge, int]]:
    """Charges and dimensions of every bond: no more than either side can fill, shared out in proportion to that.

    Each charge can be reached from those of the bond before it; see `random_tensors` for `near`.
    """
    group = conserved.symmetry
    left = filled(conserved.charges, group.neutral, group.plus)
    right = filled(conserved.charges[::-1], total, group.minus)[::-1]
    found, sites, spread = [], len(conserved.charges), [i for i, n in enumerate(group.moduli) if not n]
    for place, (one, two) in enumerate(zip(left, right, strict=True)):
        reached = {group.plus(q, own) for q in found[-1] for own in conserved.charges[place - 1]} if place else one
        sizes = {charge: min(one[charge], two[charge]) for charge in reached if charge in two}
        if not sizes:
            raise ArgumentError(
                f"no state of these sites has {', '.join(conserved.names)} = {group.shown(total)}: the charges count "
                "what the basis states of the sites carry (2 Sz for spins)"
            )
        far = {q: round(sum((q[i] - total[i] * place / sites) ** 2 for i in spread), 9) for q in sizes}
        last = sorted(far.values())[:near][-1]
        found.append(shared_out({charge: size for charge, size in sizes.items() if far[charge] <= last}, bond))
    return found


def shared_out(sizes: dict[Charge, int], most: int) -> dict[Charge, int]:
    """Dimensions in proportion to `sizes`, at least 1 while that goes, `most` in all; ties go to the earlier charge."""
    total = sum(sizes.values())
    if total <= most:
        return dict(sorted(sizes.items()))
    exact = {charge: size * most / total for charge, size in sizes.items()}
    found = {charge: int(share) for charge, share in exact.items()}
    rest = sorted(sizes, key=lambda charge: (found[charge] - exact[charge], charge))
    for charge in rest[: most - sum(found.values())]:
        found[charge] += 1
    return {charge: size for charge, size in sorted(found.items()) if size}
