"""Energies of symmetric states as one node of the tape.

As `qad.mps.energy`: a sweep from the left gives the energy, and its environments serve the sweep from the right, which
closes the derivatives by all tensors.  An environment has the legs (one layer, operator, other layer), the first of
them alone as rows.  That layer is contracted first, then the site of the operator is applied, which is nearly empty,
then the other layer; and now the other one is alone.  So the layers take turns from site to site, every product finds
its operands as they lie, and nothing is moved.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from qad.extend import Tensor, any_traced, is_foreign, stack_of, value_of
from qad.mps.chain.sandwich import check_quotient, quotient
from qad.mps.energy.hamiltonian import check_hermitian, with_norm
from qad.mps.energy.node import energy_of
from qad.mps.kernels.operators import operator_for, sites_for
from qad.symmetric.blocks.layout import layout
from qad.symmetric.contraction import tensordot
from qad.symmetric.create import from_dense
from qad.symmetric.legs import Leg
from qad.symmetric.sparse import Entries, applied
from qad.symmetric.tensor import SymTensor, aligned, bare

if TYPE_CHECKING:
    from qad.mps.chain.state import MPS
    from qad.mps.charges.quantities import Quantities
    from qad.mps.kernels.charged import ChargedKernel
    from qad.mps.operators.mpo import MPO
    from qad.symmetric.blocks.layout import Layout
    from qad.typing import Real

IN, OUT = 3, 2  # axes of a site of the operator: where the ket joins it, and where the bra does


def energy(psi: MPS, H: MPO) -> Real:
    """``<psi|H|psi> / <psi|psi>``, real; one node where all tensors are NumPy's."""
    if any(is_foreign(stack_of(value_of(t.data))) for t in psi) or Tensor in map(type, H):
        return quotient(psi.tensors, sites_for(psi, H))
    operator = operator_for(psi, H)
    if not operator.swept:
        check_hermitian(operator.tensors)
    chain = Chain(tuple([t.layout for t in psi]), operator)
    data = [t.data for t in psi]
    if any(type(x) is Tensor for x in data) or any_traced(*data):
        return energy_of(*data, H=chain)
    return chain.swept(data, keep=False)[0]


@dataclass(frozen=True, eq=False)  # one is equal to itself alone: operators hold arrays
class Chain:
    """What is known of a state besides the numbers, and an operator."""

    layouts: tuple[Layout, ...]
    operator: ChargedKernel

    def swept(self, data: Any, keep: bool = True) -> tuple[Any, Swept]:
        """The energy of the state of these flat arrays, and with `keep` what its derivative needs."""
        return swept(data, self, keep)

    def slopes(self, g: Any, energy: Any, data: Any, kept: Swept) -> list[np.ndarray]:
        """`g` times the derivative of the energy by every array, from what the sweep from the left left."""
        return slopes_by_sweep(g, energy, self, kept)

    def quotient(self, data: Any) -> Any:
        """The energy in operations that the tape differentiates."""
        return quotient([bare(where, x) for where, x in zip(self.layouts, data, strict=True)], self.operator.sites)


class Site(NamedTuple):
    """A site of both layers: the tensor that is contracted first, (a | s b), and the other, (a s | b), conjugates.

    `axis` is where the first one joins the operator `w`, `half` what the sweep from the left has before the other one
    is contracted, legs (a', s', v, b), and `size` what was divided out behind it.
    """

    first: SymTensor
    other: SymTensor
    w: Entries
    axis: int
    half: SymTensor
    size: float


class Swept(NamedTuple):
    """What the sweep from the left leaves for the sweep from the right."""

    sites: list[Site]
    square: float


# -- both sweeps -------------------------------------------------------------------------------------------------------


def swept(data: Any, chain: Chain, keep: bool = True) -> tuple[Any, Swept]:
    """The energy, and with `keep` what its derivative needs."""
    dtype = np.result_type(*{x.dtype for x in data}, np.float32)
    sites, found = entries_of(chain.operator, dtype), list[Site]()
    begin = chain.layouts[0].legs[0]
    legs = begin.conj(), sites[0].layout.legs[0].conj(), begin
    environment = bare(layout(legs, 1, begin.symmetry.neutral, begin.symmetry), np.ones(1, dtype))
    for number, (where, x, w) in enumerate(zip(chain.layouts, data, sites, strict=True)):
        first, other, axis = layers(bare(where, x.astype(dtype, copy=False)), number)
        half = tensordot(environment, first, ([0], [0]))  # v a' s b
        half = applied(w, half, ((0, 2), (0, axis)), (0, 3, 2, 1), 2)  # a' s' v b
        environment = tensordot(other, half, ([0, 1], [0, 1]))  # b' v b
        size = float(np.abs(environment.data).max(initial=0.0)) or 1.0
        environment = environment * (1 / size)
        if keep:
            found.append(Site(first, other, w, axis, half, size))
    square, value = environment.data
    check_quotient(value, square)
    return value.real / square.real, Swept(found, square.real)


def slopes_by_sweep(g: Any, value: Any, chain: Chain, kept: Swept) -> list[np.ndarray]:
    """`g` times the derivative of the energy by every tensor, from what the sweep from the left left."""
    last = kept.sites[-1]
    legs = last.other.legs[2].conj(), last.half.legs[2].conj(), last.half.legs[3].conj()
    seeds = np.array([-value, 1.0]) * (2 * g / kept.square)
    group = legs[0].symmetry
    environment = bare(layout(legs, 1, group.neutral, group), seeds.astype(last.half.dtype))
    slopes = []
    for number in reversed(range(len(kept.sites))):
        first, other, w, axis, half, size = kept.sites[number]
        environment = environment * (1 / size)
        slope = tensordot(half, environment, ([2, 3], [1, 2]))  # a' s' b'
        own = chain.layouts[number] if axis == IN else chain.layouts[number].conj
        found = aligned(bare(own, None), slope, "energy")
        slopes.append(found.conj() if axis == IN and found.dtype.kind == "c" else found)
        if number:
            z = tensordot(other, environment, ([2], [0]))  # a' s' v b
            z = applied(w, z, ((1, 2), (OUT + IN - axis, 1)), (3, 1, 2, 0), 2)  # s b u a'
            environment = tensordot(first, z, ([1, 2], [0, 1]))  # a u a'
    return slopes[::-1]


def layers(tensor: SymTensor, number: int) -> tuple[SymTensor, SymTensor, int]:
    """The layer that is contracted first on a site, the other one, and where the first joins the operator."""
    one, two = tensor.resplit(1), tensor.resplit(2)
    return (one.conj(), two, OUT) if number % 2 else (one, two.conj(), IN)


def entries_of(operator: ChargedKernel, dtype: np.dtype) -> list[Entries]:
    """The sites of an operator with a channel for the norm, in the precision of a state; made once."""
    if dtype not in operator.swept:
        channels, tensors = operator.channels, with_norm(list(operator.tensors))
        group, made = channels.conserved.symmetry, {}
        more = [group.neutral] * (tensors[0].shape[1] - channels.tensors[0].shape[1]) if len(tensors) > 1 else []
        inner = [[*more, *charges] for charges in channels.charges[1:-1]]
        charges = [channels.charges[0], *inner, [group.neutral] * 2]
        found = []
        for site, w in enumerate(tensors):
            key = id(w), tuple(charges[site]), tuple(charges[site + 1]), channels.conserved.charges[site]
            if key not in made:
                made[key] = site_entries(w, charges[site], charges[site + 1], channels.conserved, site, dtype)
            found.append(made[key])
        operator.swept[dtype] = found
    return operator.swept[dtype]


def site_entries(w: np.ndarray, left: Any, right: Any, conserved: Quantities, site: int, dtype: np.dtype) -> Entries:
    """The entries of a site of the operator, whose channels carry these charges."""
    (one, before), (two, after) = (Leg.from_charges(q, 1, conserved.symmetry) for q in (left, right))
    leg, order = conserved.legs[site], conserved.orders[site]
    real = np.finfo(dtype).dtype
    kind = np.result_type(real, np.complex64) if w.dtype.kind == "c" else real
    sorted_w = w[np.ix_(before, after, order, order)].astype(kind)
    return Entries(from_dense(sorted_w, (one, two.conj(), leg, leg.conj()), tol=0.0))
