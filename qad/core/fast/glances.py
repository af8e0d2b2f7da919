"""Whether a result is a view of its operand, found quickly where nobody has written into that operand.

`look_quickly` marks what `look` would mark; it may be replaced by that.
Measured: without it gradients of slices take 1.11 times as long, of a chain of transposes 1.06.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import ref

from numpy import ndarray

from qad.core.mutation.aliases import BY_LAYOUT, FEW, Written, forget, look, mark
from qad.core.tape.node import LEAF, PRIMITIVE
from qad.core.tape.reverse import TAPE
from qad.core.tape.tensor import FIXED, Tensor
from qad.core.vmap.batched import Batched
from qad.core.vmap.layouts import unsure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from qad.core.words import Value
    from qad.typing import Function


def look_quickly(out: Tensor, x: Tensor, fn: Function, metadata: Sequence[Any]) -> None:
    """`look` for a result that may well be a view of a Tensor which nobody has written into."""
    part, whole, views = out.value, x.value, x.buffer
    root = views[3] if type(views) is tuple else x
    known = root.buffer
    if type(known) is Written or (root is not x and views[1] is unsure):
        shown = None
    elif type(whole) is ndarray:
        base = part.base
        if base is whole or (type(base) is ndarray and base is whole.base):  # most often: `mark`, written out
            out.buffer = x, fn, metadata, root
            if known is None:
                node = root.node
                if node is None or node[PRIMITIVE] is not LEAF or root.level is TAPE:
                    root.buffer = [ref(out)]
            elif known is not FIXED:
                known.append(ref(out))
                if len(known) >= FEW:
                    forget(known)
            return
        shown = None if base is not None and type(base) is not ndarray else False
    elif type(whole) is Tensor is type(part):
        shown = shows_below(part, whole)
    else:
        shown = None if type(views) is tuple else shows(part, whole, fn)
    if shown:
        mark(out, x, fn, metadata)
    elif shown is None:
        look(out, x, fn, metadata)


def overlaps(part: NDArray[Any], whole: NDArray[Any]) -> bool | None:
    """Whether an array shows the memory of another one; None where that takes a longer look."""
    base = part.base
    return base is whole or base is whole.base if type(base) is ndarray else None if base is not None else False


def shows_below(part: Tensor, whole: Tensor) -> bool | None:
    """What `overlaps` is for arrays, for Tensors of the level below, where it is known whether the one is a view."""
    view = part.buffer
    if type(view) is tuple:
        return True if view[0] is whole and view[1] is not unsure else None
    if view is not None or part is whole:
        return None
    while type(whole) is Tensor:
        whole = whole.value
    return False if whole.shape else None  # of a number it is none


def shows(part: Value, whole: Value, fn: Function) -> bool | None:
    """What `overlaps` is for arrays, for batches of them."""
    if type(whole) is not Batched or type(part) is not Batched or part.frame is not None:
        return None
    part = part.array
    if type(part) is not ndarray or part.base is None:
        return False if type(part) is ndarray else None
    if whole.frame is not None or type(whole.array) is not ndarray or whole.array.ndim < 2 or fn in BY_LAYOUT:
        return None  # of a number it is none
    shown = overlaps(part, whole.array)
    return None if shown and part.ndim < 2 else shown
