"""The operands of a contraction as the caller gives them: arrays, Tensors, lists and numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import Tensor

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from qad.typing import Array, ArrayLike

__all__ = ["alike", "as_operand", "recorded"]


def as_operand(operand: ArrayLike) -> Array:
    """What has no shape (a Python number, a list) becomes an array, and so does an array of JAX on the host."""
    if type(operand) is Tensor or type(operand) is np.ndarray:
        return operand
    home = type(operand).__module__.partition(".")[0]
    if home == "torch":
        raise ArgumentError("a torch tensor among the operands: write qad.interop.torch.wrap(f), or pass x.numpy()")
    return operand if hasattr(operand, "shape") and home not in ("jax", "jaxlib") else np.asarray(operand)


def recorded(operands: Sequence[Any]) -> tuple[int, ...]:
    """The numbers of the operands that are being recorded."""
    return tuple(
        [number for number, operand in enumerate(operands) if type(operand) is Tensor and operand.requires_grad]
    )


def alike(operands: list[Any]) -> list[Any]:
    """Operands in one precision and in the machine's byte order: sums and products of some hold what the result does.

    Whole numbers among real ones are real, as with NumPy; real numbers among complex ones stay real.
    """
    first = operands[0].dtype
    for operand in operands:
        if operand.dtype is not first:
            break
    else:  # as mostly, and quickly
        if first.isnative:
            return operands
    kinds = [operand.dtype for operand in operands]
    kind = np.result_type(*kinds)
    if kind.kind not in "biufc":
        return operands
    real = np.dtype(kind.char.lower()) if kind.kind == "c" else kind
    wanted = [kind if own.kind == "c" else real for own in kinds]
    pairs = zip(operands, kinds, wanted, strict=True)
    return [operand if own == to else operand.astype(to) for operand, own, to in pairs]
