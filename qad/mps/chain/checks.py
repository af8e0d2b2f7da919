"""What functions of chains check of their arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qad.core.errors import ArgumentError, ShapeError
from qad.mps.chain.row import check_standing
from qad.mps.chain.state import MPS
from qad.mps.kernels.operators import operator_for
from qad.mps.operators.mpo import MPO
from qad.mps.operators.opsum import OpSum

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.mps.chain.chain import Chain

UNCHARGED = "this takes no symmetric state: give psi.without_symmetry()"


def as_operator(H: MPO | OpSum, psi: Any) -> MPO:
    """The operator itself, or that of a sum; for a symmetric state split into parts that add one charge each."""
    conserved = getattr(psi, "conserved", None)
    return operator_of(H, None if conserved is None else conserved.names)


def operator_of(H: MPO | OpSum, conserve: str | Sequence[str] | None) -> MPO:
    """The operator itself, or that of a sum, split into parts that add one charge each where one is conserved."""
    if isinstance(H, OpSum):
        return H.mpo(conserve=conserve)
    check_kind(H, MPO)
    return H


def check_operator(psi: Any, H: Any) -> None:
    """Raise unless `H` acts on states like `psi`, and conserves what they do."""
    check_kind(psi, MPS)
    check_kind(H, MPO)
    if psi.conserved is not None:
        operator_for(psi, H)
        return
    check_match(psi, tuple(w.shape[3] for w in H), "the operator")
    check_match(psi, tuple(w.shape[2] for w in H), "the operator")
    check_standing(psi, H, "the operator")


def check_kind(x: Any, kind: type[Chain]) -> Any:
    """The chain itself; raises unless it is one of this kind."""
    if isinstance(x, kind):
        return x
    name, got = kind.__name__, type(x).__name__
    article = "an" if name.startswith("M") else "a"
    if kind is MPO and isinstance(x, MPS):
        raise ArgumentError(
            "an operator is needed where a state was given: states come first, energy(psi, H), evolve(psi, H, time, "
            "steps), and ground_state(H) takes no state but start="
        )
    if kind is MPS and isinstance(x, (MPO, OpSum)):
        raise ArgumentError(
            f"a state is needed where an operator, {got}, was given: states come first, energy(psi, H), "
            "evolve(psi, H, time, steps)"
        )
    if hasattr(x, "state"):
        raise ArgumentError(f"{got} is a result: give its .state")
    if kind in (MPS, MPO) and "Uniform" in got:
        raise ArgumentError(f"this takes finite chains, not {got}: functions of infinite ones are in qad.mps.uniform")
    if getattr(x, "conserved", None) is not None:
        raise ArgumentError(UNCHARGED)
    legs = ", ".join(kind.LEGS)
    raise ArgumentError(
        f"{article} {name} is needed, but got {got}: write qad.mps.{'uniform.' * name.startswith('Uniform')}{name}"
        f"(tensors) with site tensors of legs ({legs})"
    )


def check_plain(psi: Any) -> None:
    """Raise unless `psi` is a finite state of plain arrays."""
    check_kind(psi, MPS)
    if psi.conserved is not None:
        raise ArgumentError(UNCHARGED)


def check_match(psi: Any, phys: tuple[int, ...], other: str) -> None:
    """Raise unless `psi` is a state of these physical dimensions."""
    check_plain(psi)
    if len(psi) != len(phys):
        raise ShapeError(f"the state has {len(psi)} sites, {other} has {len(phys)}: make both for the same n")
    if psi.phys != phys:
        site = next(i for i, pair in enumerate(zip(psi.phys, phys, strict=True)) if pair[0] != pair[1])
        raise ShapeError(
            f"site {site} of the state has physical dimension {psi.phys[site]}, of {other} {phys[site]}: "
            "they must agree (physical legs are leg 1 of a state, legs 2 and 3 of an operator)"
        )
