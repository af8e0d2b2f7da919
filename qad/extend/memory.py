"""Memory: buffers, and what is written into Tensors.

For rules of functions that make buffers, take an index, or write (the floor `rules`).  Other rules need none of it: a
function whose result shows the memory of its operand says so where its rule stands (``shows=True``).
`docs/mutation.md` says what it all means for programs.
"""

from qad.core.buffers.opening import in_c_order, is_number, is_parameter, step, write
from qad.core.buffers.stored import buffer, is_buffer
from qad.core.process.malloc import ready
from qad.core.tape.entries import ArrayForm, accumulate, moved
from qad.core.tape.tensor import held, settled
from qad.core.tape.views import mark, shows

__all__ = [
    "ArrayForm", "accumulate", "buffer", "held", "in_c_order", "is_buffer", "is_number", "is_parameter", "mark",
    "moved", "ready", "settled", "shows", "step", "write",
]  # fmt: skip
