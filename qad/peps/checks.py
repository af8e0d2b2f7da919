"""What functions of lattices check of their arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qad.core.errors import ArgumentError
from qad.extend import operand

if TYPE_CHECKING:
    from qad.typing import Array, ArrayLike

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


def array_operand(x: ArrayLike, what: str) -> Array:
    """An array as an operand; `what` it is, for the error where it is none."""
    x = operand(x)
    if not hasattr(x, "ndim"):
        raise ArgumentError(f"{what} is an array, not {type(x).__name__}")
    return x
