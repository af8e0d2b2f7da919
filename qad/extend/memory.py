"""Memory: which results show that of an operand, how they lie there, and what is written into it.

For rules of functions that give views, take an index, or write (the floor `rules`), and for what replaces a NumPy
function by several others whose result must lie in memory, and be a number or an array, as NumPy's.  Other rules need
none of it: a result that shows the memory of an operand is found to be a view without their help.
`docs/mutation.md` says what it all means for programs.
"""

from qad.core.malloc import ready
from qad.core.mutation.aliases import (
    BY_LAYOUT,
    Written,
    is_copied,
    is_number,
    look,
    look_at_all,
    mark,
    root_of,
    shadow,
    snapshot,
)
from qad.core.mutation.buffers import ELSEWHERE, adopt, buffer, is_parameter, read, read_each, renew, write
from qad.core.mutation.indices import accumulate
from qad.core.mutation.numbers import as_array, as_number
from qad.core.mutation.strides import as_numpys, elementwise, relaid, reordered, steps_of
from qad.core.mutation.view_indices import spot
from qad.core.mutation.writing import handle, moved
from qad.core.tape.tensor import FIXED, handle_of
from qad.core.vmap.layouts import bottom, is_vouched, unsure

__all__ = [
    "BY_LAYOUT", "ELSEWHERE", "FIXED", "Written", "accumulate", "adopt", "as_array", "as_number", "as_numpys", "bottom",
    "buffer", "elementwise", "handle", "handle_of", "is_copied", "is_number", "is_parameter", "is_vouched", "look",
    "look_at_all", "mark", "moved", "read", "read_each", "ready", "relaid", "renew", "reordered", "root_of", "shadow",
    "snapshot", "spot", "steps_of", "unsure", "write",
]  # fmt: skip
