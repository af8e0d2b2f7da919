"""Recorders: what stands in NumPy's place for one primitive, given the form of its operands.

These are the plain ones.  `qad.core.fast` puts quicker ones of the same meaning here, unless it is switched off.
"""

from qad.core.tape.operands import operand
from qad.core.tape.record import record


def unary(p, operator=None):
    """A recorder of one operand; `operator` does the same as `p` to NumPy's scalars."""
    return lambda x: record(p, (x,))


def unary_with_metadata(p):
    """A recorder of one operand and positional metadata."""
    return lambda x, *metadata: record(p, (x, *metadata))


def binary(p, operator=None):
    """A recorder of an elementwise function of two operands, and its reflection."""

    def recorder(x, y):
        if getattr(y, "__array_ufunc__", p) is None:  # NumPy's sign that the operator is the other's
            return NotImplemented
        return record(p, (operand(x), operand(y)))

    return recorder, lambda y, x: recorder(x, y)


def product(p, method, otherwise, stacks=None):
    """A recorder of a product of two matrices by `p`, or of stacks of them by `stacks`; `otherwise` takes all."""
    return otherwise
