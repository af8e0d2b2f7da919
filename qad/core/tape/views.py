"""Views: results that show the memory of their operand, marked so that nobody writes into one of the two alone.

The slot `buffer` of a Tensor holds a mark:

* FIXED, if a transform was given the Tensor, or it is a leaf of which a view was taken;
* a list of weak references to the views that were taken of the Tensor, in their order;
* for a view, a tuple: the Tensor whose memory the view shows, the Tensor of which the view was taken, and the function,
  positional arguments and keywords that take the view again.

When one of these Tensors is written into, all of them become a buffer and its views, see `qad.core.buffers`.  Views
that the program has dropped are left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import ref

import numpy as np
from numpy import ndarray

from qad.core.tape.constants import is_alterable
from qad.core.tape.entries import ArrayForm
from qad.core.tape.node import GETITEM, LEAF, PRIMITIVE
from qad.core.tape.tensor import FIXED, Tensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.core.tape.node import Primitive
    from qad.typing import Function
    from qad.typing.words import Index, Keywords, Value


def look(out: Any, x: Any, p: Primitive, metadata: Sequence[Any], kwargs: Keywords | None = None) -> None:
    """Mark `out`, which primitive `p` made of `x`, where it is a Tensor that shows the memory of Tensor `x`."""
    if type(out) is not Tensor or type(x) is not Tensor or out is x:
        return
    if not out.shape and (_is_number(*metadata) if p is GETITEM else not x.shape and type(x.buffer) is not tuple):
        return  # numbers show nobody's memory, and nobody theirs
    if shows(out.value, x.value) or may_show(p, out, x):
        mark(out, x, p.fn, metadata, kwargs)


def may_show(p: Primitive, out: Tensor, x: Tensor) -> bool:
    """Whether `out` would be a view of `x` if that lay in memory in another way, as NumPy's array may."""
    return p.shows == "by order" and x.ndim > 1 and type(out.value) is not ArrayForm is not type(x.value)


def _is_number(index: Index) -> bool:
    """Whether NumPy gives a number, which shows nobody's memory, for an index that names one entry."""
    return not any(i is ... for i in (index if type(index) is tuple else (index,)))


def mark(out: Tensor, x: Tensor, fn: Function, metadata: Sequence[Any], kwargs: Keywords | None = None) -> None:
    """Mark Tensor `out` as a view of Tensor `x`, and that of which it is one in the end."""
    known = x.buffer
    if known is None:  # most often
        x.buffer = FIXED if x.node is not None and x.node[PRIMITIVE] is LEAF else [ref(out)]
        out.buffer = x, x, fn, metadata, kwargs
        return
    root = known[0] if type(known) is tuple else x
    if root.buffer is not FIXED:
        root.buffer.append(ref(out))
    out.buffer = root, x, fn, metadata, kwargs


def shows(part: Value, whole: Value) -> bool:
    """Whether the value `part` of a result shows the memory of the value `whole` of its operand."""
    if type(part) is ArrayForm or type(whole) is ArrayForm:
        return False  # a buffer, which knows its views
    if type(part) is Tensor or type(whole) is Tensor:
        return type(part) is type(whole) is Tensor and (part is whole or _is_view(part, whole))
    if hasattr(part, "array") and hasattr(whole, "array"):  # batches of `qad.vmap`
        return shows(part.array, whole.array)
    part, whole = bare(part), bare(whole)
    if type(part) is ndarray and type(whole) is ndarray:
        return part is whole or (part.base is not None and (part.base is whole or part.base is whole.base))
    return is_alterable(part) and is_alterable(whole) and bool(np.may_share_memory(part, whole))


def bare(x: Value) -> Value:
    """The array that what `qad.freeze` records stands for; else `x`."""
    return x.__qad_array__() if hasattr(x, "__qad_array__") else x


def _is_view(part: Tensor, whole: Tensor) -> bool:
    mark = part.buffer
    if type(mark) is not tuple:
        return False
    return mark[0] is (whole.buffer[0] if type(whole.buffer) is tuple else whole)
