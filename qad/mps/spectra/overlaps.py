"""States after an operator on one site, and their overlaps with another state after operators on each of its sites.

With charges an operator is the sum of its parts, each of which leads to a sector of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.extend import like
from qad.mps.chain.row import edges
from qad.mps.charges.parts import applied, parts_of, strung
from qad.mps.kernels.environments import past_left, past_right
from qad.symmetric.create import from_dense
from qad.symmetric.generic import dense
from qad.symmetric.legs import Leg
from qad.symmetric.tensor import SymTensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.mps.chain.state import MPS
    from qad.mps.charges.quantities import Charge
    from qad.typing import Array


def after(psi: MPS, part: Any, charge: Charge, site: int, string: Sequence[Array] | None) -> MPS:
    """A state after a part of an operator on a site, and a string on all sites before it; the total has its charge."""
    tensors = [t if string is None else strung(string[i], i, t, psi.conserved) for i, t in enumerate(psi[:site])]
    tensors += [applied(part, psi[site]), *psi[site + 1 :]]
    if psi.conserved is not None:
        tensors[site:] = [moved(t, charge, (2,) if i == 0 else (0, 2)) for i, t in enumerate(tensors[site:])]
    return psi._made_of(tensors)


def moved(tensor: SymTensor, charge: Charge, axes: Sequence[int]) -> SymTensor:
    """A site tensor of total charge 0, a charge added to those of the bonds on some axes."""
    legs, plus = list(tensor.legs), tensor.symmetry.plus
    for axis in axes:
        leg = legs[axis]
        sectors = {plus(own, charge): dim for own, dim in zip(leg.charges, leg.dims, strict=True)}
        legs[axis] = Leg(sectors, leg.flow, leg.symmetry)
    return from_dense(tensor.to_dense(), legs, tol=0.0)


def overlaps(
    bra: MPS, operators: Sequence[Array], ket: MPS, charge: Charge, string: Sequence[Array] | None
) -> Array:  # fmt: skip
    """``<bra| A_x |ket>`` of an operator on each site x, a string on all sites before it, in one sweep.

    Parameters
    ----------
    bra, ket : MPS
        Open.
    operators : sequence of n arrays (phys, phys)
    charge : tuple of int
        By which the total of `ket` is larger than that of `bra`.
    string : sequence of n arrays, optional

    Returns
    -------
    array (n,)
    """
    left, right = edges(bra)
    if bra.conserved is not None:
        group = bra[0].symmetry
        legs, charge = (bra[-1].legs[2], ket[-1].legs[2].conj()), group.opposite(charge)
        right = from_dense(np.ones((1, 1)), legs, charge=group.shown(group.opposite(charge)))
    rights = [right]
    for one, other in zip(reversed(bra[1:]), reversed(ket[1:]), strict=True):
        rights.append(past_right(rights[-1], other, one))
    values = []
    for site, (one, other) in enumerate(zip(bra, ket, strict=True)):
        part = parts_of(operators[site], site, bra.conserved).get(charge)
        right = rights.pop()
        if part is None:
            values.append(like(operators[site]).zeros((), complex))
        else:
            values.append((dense(left) * dense(past_right(right, applied(part, other), one))).sum())
        left = past_left(left, other if string is None else strung(string[site], site, other, bra.conserved), one)
    return np.stack(values)
