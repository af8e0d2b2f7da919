"""Recording: who differentiates an operand, which operations a function consists of, and calls recorded by hand.

For functions that choose a way by who differentiates them (a formula that serves one order only), or that run a whole
program as one operation.
"""

from qad.core.registry.define import PRIMITIVES
from qad.core.registry.handlers import has_no_derivative, takes_tensors, values_in
from qad.core.tape.levels import records
from qad.core.tape.node import ANSWER, ARGS, PARENTS, PRIMITIVE
from qad.core.tape.operands import highest, split
from qad.core.tape.reverse import Reverse, note
from qad.core.transforms.trace import RecordedCall, directions, levels_of, operations, recording_level

__all__ = [
    "ANSWER", "ARGS", "PARENTS", "PRIMITIVE", "PRIMITIVES", "RecordedCall", "Reverse", "directions",
    "has_no_derivative", "highest", "levels_of", "note", "operations", "recording_level", "records", "split",
    "takes_tensors", "values_in",
]  # fmt: skip
