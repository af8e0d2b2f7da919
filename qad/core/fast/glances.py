"""The short-cut of `look`: whether a result is a view, quickly where nobody has written into its operand.

`look_quickly` marks what `look` would mark; it may be replaced by that.
Measured: without it gradients of slices take 1.11 times as long, of a chain of transposes 1.06.
"""

from weakref import ref

from numpy import ndarray

from qad.core.mutation.aliases import BY_LAYOUT, look, mark
from qad.core.tape.node import LEAF, PRIMITIVE
from qad.core.tape.reverse import TAPE
from qad.core.tape.tensor import FIXED, Tensor
from qad.core.vmap.batched import Batched
from qad.core.vmap.layouts import unsure


def look_quickly(out, x, fn, metadata):
    """`look` for a result that may well be a view of a Tensor which nobody has written into."""
    part, whole, views = out.value, x.value, x.buffer
    if views is None or views is FIXED or type(views) is list:
        shown = overlaps(part, whole) if type(whole) is ndarray else shows(part, whole, fn)
    else:
        shown = None
    if shown is None:
        look(out, x, fn, metadata)
    elif shown and views is None and x.node is not None:
        out.buffer = x, fn, metadata
        if x.node[PRIMITIVE] is not LEAF or x.level is TAPE:  # as `mark` has it
            x.buffer = [ref(out)]
    elif shown:
        mark(out, x, fn, metadata)


def shows(part, whole, fn):
    """Whether the value `part`, which `fn` made, shows the memory of `whole`; None where that takes a longer look.

    What `overlaps` is for arrays, for values of other kinds.
    """
    kind = type(whole)
    if kind is Tensor is type(part):
        return None if fn in BY_LAYOUT else shows_below(part, whole)
    if kind is not Batched or type(part) is not Batched or part.frame is not None:
        return None
    part = part.array
    if type(part) is not ndarray or part.base is None:
        return False if type(part) is ndarray else None
    if whole.frame is not None or type(whole.array) is not ndarray or whole.array.ndim < 2 or fn in BY_LAYOUT:
        return None  # of a number it is none
    shown = overlaps(part, whole.array)
    return None if shown and part.ndim < 2 else shown


def overlaps(part, whole):
    """Whether an array shows the memory of another one; None where that takes a longer look."""
    base = part.base
    return base is whole or base is whole.base if type(base) is ndarray else None if base is not None else False


def shows_below(part, whole):
    """`shows` for two Tensors: the level below may have marked the one."""
    view = part.buffer
    if type(view) is tuple:
        return True if view[0] is whole and view[1] is not unsure else None
    if view is not None or part is whole:
        return None
    while type(whole) is Tensor:
        whole = whole.value
    return False if whole.shape else None
