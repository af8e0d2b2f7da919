"""Operators as chains of legs (left, out, in, right), plain or conserving, and as purifications.

An ancilla carries the opposite of the charge of its site, so that the purification of what conserves has charge zero.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.extend import Tensor, value_of
from qad.mps.chain.state import MPS
from qad.mps.charges.channels import Channels
from qad.mps.charges.make import bond_sectors
from qad.mps.operators.mpo import MPO
from qad.mps.thermal.products import edge
from qad.symmetric.create import from_dense
from qad.symmetric.generic import join, numbers

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from qad.mps.charges.quantities import Charge, Quantities
    from qad.mps.thermal.products import Chain
    from qad.typing import Array


def chain_of(operator: Sequence[Any], conserved: Quantities | None = None) -> Chain:
    """The tensors of an operator, plain or recorded, with legs (left, out, in, right).

    What would break the symmetry is left out of recorded ones.
    """
    if conserved is not None:
        channels = Channels([value_of(w) for w in operator], conserved)
        if Tensor in map(type, operator):
            operator = channels.recorded(operator)
        else:
            operator = [channels.tensor(site, w) for site, w in enumerate(channels.tensors)]
    return [w.transpose(0, 2, 3, 1) for w in operator]


def daggered(chain: Chain) -> Chain:
    """The adjoint operator; of symmetric tensors the flow through bonds is turned."""
    return [t.conj().transpose(0, 2, 1, 3) for t in chain]


def times(factor: float, chain: Chain) -> Chain:
    """The chain times a number."""
    return [chain[0] * factor, *chain[1:]]


def projector(conserved: Quantities, total: Charge) -> MPO:
    """Onto the states of a total charge; bonds tell the charge of the sites on their left."""
    bonds, plus, tensors = bond_sectors(conserved, total, np.inf), conserved.symmetry.plus, []
    for before, after, own, states in zip(bonds, bonds[1:], conserved.charges, conserved.states, strict=False):
        kept = np.array([[[plus(q, charge) == p for charge in own] for p in after] for q in before], float)
        w = kept[..., None] * np.eye(len(own))
        tensors.append(w if states is None else states @ w @ states.T)
    return MPO(tensors)


def element_of(bra: Chain, ket: Chain, operator: Chain) -> Array:
    """``tr(bra^H O ket)`` of operators."""
    env = edge(bra[0].conj(), operator[0], ket[0], axis=0)
    for x, w, t in zip(bra, operator, ket, strict=True):
        half = join(join(env, t), w, ((1, 2), (0, 2)))  # bra in ket out O
        env = join(x.conj(), half, ((0, 1, 2), (0, 3, 1))).transpose(0, 2, 1)
    return numbers(env).sum()


def purification(chain: Chain, conserved: Quantities | None) -> MPS:
    """An operator as a state whose sites are pairs (out, in), the charge of the ancilla counted with opposite sign."""
    if conserved is None:
        return MPS([t.reshape(len(t), -1, t.shape[3]) for t in chain])
    doubled = conserved.pairs()
    tensors = []
    for t, order, both, leg in zip(chain, conserved.orders, doubled.orders, doubled.legs, strict=True):
        back = np.argsort(order)
        wide = t.to_dense()[:, back][:, :, back].reshape(t.shape[0], -1, t.shape[3])[:, both]
        tensors.append(from_dense(wide, (t.legs[0], leg, t.legs[3]), split=2, tol=0.0))
    return MPS(tensors, doubled)
