"""What functions of lattices check of their arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qad.core.errors import ArgumentError
from qad.extend import operand
from qad.symmetric.tensor import SymTensor

if TYPE_CHECKING:
    from qad.symmetric.legs import Leg
    from qad.typing import Array, ArrayLike

LEGS = ("physical", "up", "left", "down", "right")
FLOWS = (1, 1, 1, -1, -1)  # of the legs of symmetric tensors
INSTEAD = {
    "PEPS": "infinite states come first, energy(state, model, chi); those of finite lattices go to qad.peps.finite",
    "Environment": "write env = qad.peps.environment(state, chi)",
    "Model": "write qad.peps.Model(terms), or one that is ready, qad.peps.heisenberg()",
}


def check_kind(x: Any, kind: type) -> None:
    """Raise unless `x` is a state, an environment or a model of infinite lattices."""
    if not isinstance(x, kind):
        name = kind.__name__
        article = "an" if name.startswith("E") else "a"
        raise ArgumentError(f"{article} {name} is needed, but got {type(x).__name__}: {INSTEAD[name]}")


def check_charged(name: object, x: Any, leg: Leg) -> None:
    """Raise unless a site is a neutral symmetric tensor of the right flows, with this physical leg."""
    if type(x) is not SymTensor or tuple([leg.flow for leg in x.legs]) != FLOWS or x.charge != neutral(x):
        raise ArgumentError(
            f"site {name} is no neutral SymTensor with legs {LEGS} of flows {FLOWS}: start from "
            "qad.peps.simple_update(model, bond, cell, conserve=...), or finite.FinitePEPS.random(..., conserve=...)"
        )
    if x.legs[0] != leg:
        raise ArgumentError(f"site {name} has the physical leg {x.legs[0]!r}, but conserved.legs has {leg!r}")


def neutral(x: SymTensor) -> Any:
    """The charge of a neutral tensor of this symmetry, as the caller writes it."""
    return x.symmetry.shown(x.symmetry.neutral)


def array_operand(x: ArrayLike, what: str) -> Array:
    """An array as an operand; `what` it is, for the error where it is none."""
    x = operand(x)
    if not hasattr(x, "ndim"):
        raise ArgumentError(f"{what} is an array, not {type(x).__name__}")
    return x


def leg_of(x: Any, axis: int) -> Any:
    """The leg of a symmetric tensor, or the dimension of an array."""
    return x.legs[axis] if type(x) is SymTensor else x.shape[axis]


def ends(x: Any, axis: int) -> bool:
    """Whether a leg is one of the rim: of dimension 1, and neutral."""
    return x.shape[axis] == 1 and (type(x) is not SymTensor or x.legs[axis].charges == (x.symmetry.neutral,))


def meet(x: Any, axis: int, y: Any, other: int) -> bool:
    """Whether two legs join."""
    if type(x) is SymTensor and type(y) is SymTensor:
        return x.legs[axis].joins(y.legs[other])
    return x.shape[axis] == y.shape[other]
