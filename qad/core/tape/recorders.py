"""Recorders: what stands in NumPy's place for one primitive, given the form of its operands.

These are the plain ones.  `qad.core.fast` puts quicker ones of the same meaning here, unless it is switched off.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qad.core.tape.operands import operand
from qad.core.tape.record import record

if TYPE_CHECKING:
    from qad.core.tape.node import Primitive
    from qad.typing.words import Recorder


def unary(p: Primitive, operator: Recorder | None = None) -> Recorder:
    """A recorder of one operand; `operator` does the same as `p` to NumPy's scalars."""
    return lambda x: record(p, (x,))


def unary_with_metadata(p: Primitive) -> Recorder:
    """A recorder of one operand and positional metadata."""
    return lambda x, *metadata: record(p, (x, *metadata))


def binary(p: Primitive, operator: Recorder | None = None) -> tuple[Recorder, Recorder]:
    """A recorder of an elementwise function of two operands, and its reflection."""

    def recorder(x, y):
        if getattr(y, "__array_ufunc__", p) is None:  # NumPy's sign that the operator is the other's
            return NotImplemented
        return record(p, (operand(x), operand(y)))

    return recorder, lambda y, x: recorder(x, y)


def product(p: Primitive, method: Recorder, otherwise: Recorder, stacks: Primitive | None = None) -> Recorder:
    """A recorder of a product of two matrices by `p`, or of stacks of them by `stacks`; `otherwise` takes all."""
    return otherwise
