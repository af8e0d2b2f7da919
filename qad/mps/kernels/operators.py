"""The kernel of an operator for states of one kind or the other, and the states that operators make."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qad.core.errors import ArgumentError, ShapeError
from qad.extend import Tensor
from qad.mps.chain.methods import offered
from qad.mps.chain.row import check_standing
from qad.mps.chain.site_tensors import applied
from qad.mps.kernels.charged import ChargedKernel
from qad.mps.kernels.dense import DenseKernel
from qad.mps.operators.mpo import plain_of
from qad.symmetric.tensor import SymTensor

if TYPE_CHECKING:
    from typing import Any

    from qad.mps.chain.state import MPS
    from qad.mps.kernels.terms import CentreKernel
    from qad.mps.operators.mpo import MPO
    from qad.typing import DTypeLike


def kernel_for(psi: Any, H: MPO, dtype: DTypeLike) -> CentreKernel:
    """What sweeps over a state of this kind take of an operator: environments, and effective operators."""
    return operator_for(psi, H) if psi.conserved is not None else DenseKernel(H, dtype)


def operator_for(psi: MPS, H: MPO) -> ChargedKernel:
    """What an operator is for states that conserve this; found once, and remembered by the operator."""
    if any(type(w) is Tensor for w in H):
        raise ArgumentError("this takes operators of plain numbers: no derivative by them is known")
    if len(H) != len(psi) or tuple(w.shape[2] for w in H) != psi.phys:
        raise ShapeError(
            f"the state has sites of dimensions {psi.phys}, the operator {tuple(w.shape[2] for w in H)}: make both for "
            "the same sites"
        )
    if H.periodic:
        raise ShapeError("the operator is a ring: symmetric states are open; write it by qad.mps.OpSum")
    key = psi.conserved
    found = H.remembered
    if key not in found:
        check_kinds(psi, H)
        found[key] = ChargedKernel(list(H), key)
    check_standing(psi, H, "the operator")
    return found[key]


def sites_for(psi: MPS, H: MPO) -> list[SymTensor]:
    """The symmetric site tensors of an operator, plain or recorded; what would break the symmetry has no part."""
    return operator_for(psi, plain_of(H)).sites_of(H)


def check_kinds(psi: MPS, H: MPO) -> None:
    """Raise where an operator says what stands on its sites, and a state counts charges of another kind there."""
    names = psi.conserved.names
    for site, (kind, charges) in enumerate(zip(H.sites or (), psi.conserved.charges, strict=False)):
        if set(names) <= set(kind.charges) and tuple(zip(*(kind.charges[q] for q in names), strict=True)) != charges:
            raise ArgumentError(
                f"site {site} of the operator is of kind {kind.name!r}, and the state's basis has the charges "
                f"{[psi.conserved.symmetry.shown(charge) for charge in charges]} there: give kind={kind.name!r} to "
                "MPS.product or MPS.random"
            )


@offered
def after(psi: MPS, H: MPO) -> MPS:
    """The state that an operator makes, its bonds pairs of a channel and a bond."""
    return psi._made_of(map(applied, operator_for(psi, H).sites, psi))
