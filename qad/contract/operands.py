"""The operands of a contraction, as they come."""

import numpy as np

from qad.extend import Tensor

__all__ = ["as_operand", "recorded"]


def as_operand(operand):
    """What has no shape (a Python number, a list) becomes an array."""
    return operand if type(operand) is Tensor or hasattr(operand, "shape") else np.asarray(operand)


def recorded(operands):
    """The numbers of the operands that are being recorded."""
    return tuple(
        [number for number, operand in enumerate(operands) if type(operand) is Tensor and operand.requires_grad]
    )
