"""Views: Tensors that show the memory of another one, and follow what is written into it.

Whether a result is a view is not looked up in a list of functions: it is one if its array lies in the memory of an
operand.  The slot `buffer` of a Tensor says what is known of its memory:

* None: it has memory of its own, nothing was written into it, and nobody took a view of it;
* FIXED: it is an argument of a transform, and cannot be written into, as leaves cannot;
* a list: it has memory of its own, is the root of its views, and holds weak references to them;
* a `Written`: such a list, of a Tensor that has been written into;
* a tuple (base, function, metadata, root): it is a view, and ``function(base, *metadata)`` takes it again.

A write goes into the root.  The views that somebody holds are taken again at once, from their base, recorded like any
other operation; so there is no road on which a view could be used that has not followed.  What was recorded before the
write keeps the values of its own time: arrays are written in place only while nobody else holds them (`writing`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import ref

import numpy as np
from numpy import ndarray

from qad.core.foreign import is_foreign
from qad.core.freeze_hook import RECORDINGS
from qad.core.mutation.again import Again
from qad.core.tape import hooks
from qad.core.tape.levels import MODE
from qad.core.tape.node import LEAF, NUMPY_SCALARS, PRIMITIVE
from qad.core.tape.reverse import TAPE
from qad.core.tape.tensor import FIXED, Tensor, become, handle_of
from qad.core.vmap.batched import AS_NUMPY, UNKNOWN, Batched
from qad.core.vmap.layouts import bottom, is_vouched, only_splits, root_of, unsure

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qad.core.words import Value
    from qad.typing import Function

BY_LAYOUT: set[Any] = set()  # functions whose result is a view or a copy, as the layout of the operand allows
WITHOUT_MEMORY: frozenset[type] = NUMPY_SCALARS | {
    bool,
    int,
    float,
    complex,
}  # kinds of values that show nobody's memory
FEW = 32  # views that a root may have before those that are gone are forgotten


class Written(list[object]):
    """The mark of a root that has been written into: weak references to its views."""

    __slots__ = ()


def snapshot(x: Tensor, order: str = "C") -> Tensor:
    """A copy of Tensor `x`, although nothing is copied before one of the two is written into.

    An array that does not lie in memory as the copy would is copied at once: what is a view of it depends on that.
    """
    value = _laid_out(x.value, order)
    if type(value) is Batched and value.frame is None:
        value = Batched(value.array, value.level, AS_NUMPY if order == "C" or is_vouched(x) else UNKNOWN)
    return handle_of(x, value)


def _laid_out(value: Value, order: str) -> Value:
    if type(value) is ndarray and value.flags.c_contiguous:  # most often
        return value
    if type(value) is Tensor:
        return snapshot(value, order)
    if type(value) is Batched:
        return value if value.frame is not None else Batched(_laid_out(value.array, order), value.level, value.layout)
    array = bottom(value)[0]
    if not isinstance(array, ndarray) or (array.flags.c_contiguous if order == "C" else array.flags.forc):
        return value
    return value.copy() if order == "C" else copied(value)


def c_ordered(x: Value) -> Value:
    """`x`, copied where it does not lie in C order; of a Tensor a `snapshot`."""
    return _laid_out(x, "C")


def copied(value: Value) -> Value:
    """A copy of an array with the layout that ufuncs give their results."""
    if 0 in bottom(value)[0].strides and value.dtype.kind != "b":  # a copy would take such axes for the fastest
        return np.positive(value)
    return value.copy(order="K")


def argument(x: Tensor) -> Tensor:
    """Tensor `x`, marked as one that may not be written into."""
    x.buffer = FIXED
    return x


def is_copied(x: Any) -> bool:
    """Whether entries are read from `x` as copies, so that what is written later need not be copied."""
    mark = x.buffer
    return type(mark) is Written or (type(mark) is tuple and type(root_of(x).buffer) is Written)


def is_number(x: Tensor) -> bool:
    """Whether Tensor `x` stands for a number, which does not change, and not for an array without axes."""
    if x.shape or type(x.buffer) in (Written, tuple):
        return False
    array, axes = bottom(x)
    return bool(axes) or not isinstance(array, ndarray)


# -- where arrays lie ----------------------------------------------------------------------------------------------


def lies_in(part: Value, whole: Value) -> bool:
    """Whether two arrays belong to one piece of memory."""
    if type(part) is not ndarray or type(whole) is not ndarray:
        return is_foreign(part) and is_foreign(whole) and bool(np.may_share_memory(part, whole))
    base = part.base
    if base is not None and not isinstance(base, ndarray):  # what as_strided puts in between
        base = getattr(base, "base", None)
    return part is whole or (base is not None and (base is whole or base is whole.base))


def shadow(x: Tensor) -> Any:
    """An array that lies in memory as NumPy's does in the place of Tensor `x`; its entries mean nothing.

    Under `qad.vmap` it stands for one example.
    """
    if type(x.buffer) is tuple:
        base, again, metadata, _ = x.buffer
        return again(shadow(base), *metadata)
    array, axes = bottom(x)
    if array is None or 0 in array.shape[:axes]:
        return np.zeros(x.shape, x.dtype)
    array = array[(0,) * axes] if axes else array
    if is_foreign(array):
        return np.zeros(array.shape, array.dtype, "C" if array.flags.c_contiguous else "F")
    if type(array) is not ndarray or 0 not in array.strides or array.size < 2:
        return np.zeros_like(array)
    whole = tuple([slice(0, 1) if step == 0 else slice(None) for step in array.strides])
    return np.broadcast_to(np.zeros_like(array[whole]), array.shape)  # a number, spread out


# -- marking -----------------------------------------------------------------------------------------------------------


def look(out: Tensor, x: Tensor, again: Function, metadata: Any = ()) -> None:
    """Mark Tensor `out`, which is ``again(x, *metadata)``, where it is a view of Tensor `x`."""
    if out is x:
        return
    part, whole = out.value, x.value
    by_layout = (again.fn if type(again) is Again else again) in BY_LAYOUT
    if type(x.buffer) not in (tuple, Written) and not by_layout and x.shape:  # most often, and quickly
        shown = _shown(part, whole, out.shape)
        if shown is not None:
            if shown:
                mark(out, x, again, metadata)
            return
    if RECORDINGS and by_layout:
        for recording in RECORDINGS:
            recording.by_layout = True
    if type(x.buffer) is tuple and x.buffer[1] is unsure:
        mark(out, x, again, metadata)
        return
    known = _is_known(part, whole)
    (array, axes), there = bottom(part), bottom(whole)[0]
    if axes and is_number(x):  # or an array without axes, of which this may be a view
        if known or lies_in(array, there):
            mark(out, x, unsure, metadata)
        return
    if axes and by_layout:
        again = again if only_splits(x.shape, out.shape) or is_vouched(x) else unsure
    elif known:
        axes = type(part.buffer) is tuple and part.buffer[1] is unsure  # below; here the layout may be known
    elif not lies_in(array, there) and not (by_layout and is_copied(x)):
        return
    else:
        axes = axes and not out.shape
    if again is unsure or not (axes or is_copied(x)) or _is_view(x, again, metadata):  # else memory does not tell
        mark(out, x, again, metadata)


def _shown(part: Value, whole: Value, shape: tuple[int, ...]) -> bool | None:
    """Whether the value `part` of a result of this `shape` shows the memory of `whole`; None if that is not known."""
    if type(part) is type(whole) is Tensor:
        if part.buffer is None and part is not whole:
            return False
        if type(part.buffer) is tuple and part.buffer[0] is whole and part.buffer[1] is not unsure:
            return True
    elif type(part) is type(whole) is Batched:
        if part.frame is not None or whole.frame is not None:
            return False
        if type(part.array) is type(whole.array) is ndarray and shape:
            return lies_in(part.array, whole.array)
    return None


def _is_known(part: Value, whole: Value) -> bool:
    """Whether the level below, where these are Tensors, knows one as a view of the other; it may have read a copy."""
    if type(part) is not Tensor or type(whole) is not Tensor:
        return False
    return part is whole or (type(part.buffer) is tuple and root_of(part) is root_of(whole))


def _is_view(x: Tensor, again: Function, metadata: Sequence[Any]) -> bool:
    """Whether ``again(x, *metadata)`` would be a view if nothing were batched or copied."""
    whole = shadow(x)
    part = again(whole, *metadata)
    return type(part) is ndarray and (lies_in(part, whole) or not part.size)


def mark(out: Tensor, x: Any, again: Function, metadata: Any) -> Any:
    """Mark Tensor `out` as the view ``again(x, *metadata)``, and let the root know of it."""
    root, shown = x, x.buffer
    if type(shown) is tuple:
        root, again = shown[3], unsure if shown[1] is unsure else again  # so that nobody walks down to the root
    out.buffer = x, again, metadata, root
    views, node = root.buffer, root.node
    if views is None:
        if node is None or node[PRIMITIVE] is not LEAF or root.level is TAPE:  # else nobody writes into it
            root.buffer = [ref(out)]
    elif views is not FIXED:
        views.append(ref(out))
        if len(views) >= FEW:
            forget(views)


def forget(views: list[Any]) -> None:
    """Take the views that are gone off the list of a root, each time that it has doubled."""
    n = len(views)
    if not n & (n - 1):
        views[:] = [view for view in views if view() is not None]


def look_at_all(out: Any, fn: Function, args: Any, kwargs: Any, cut: bool = False) -> Any:
    """Mark what ``fn(*args, **kwargs)`` gave, a Tensor or several, where it shows the memory of an operand."""
    several = isinstance(out, (tuple, list))
    for k, y in enumerate(out) if several else ((None, out),):
        if type(y) is not Tensor or type(y.value) in WITHOUT_MEMORY:
            continue
        for i, x in enumerate(args):
            if y.buffer is None and type(x) is Tensor and not lie_apart(y.value, x, fn):
                look(y, x, Again(fn, args, i, kwargs, k, cut))


hooks.answered = look_at_all


def lie_apart(part: Value, x: Tensor, fn: Function) -> bool:
    """Whether the value `part`, which `fn` made, surely shows no memory of Tensor `x`."""
    whole = x.value
    if type(whole) in WITHOUT_MEMORY:
        return x.buffer is None  # numbers have no memory
    if type(part) is type(whole) is Batched:
        if type(x.buffer) is tuple or part.frame is not None or (whole.frame is not None and fn in BY_LAYOUT):
            return False
        part, whole = part.array, None if whole.frame is not None else whole.array
    if type(part) is ndarray and part.base is not None:
        return type(x.buffer) is not tuple and type(whole) is ndarray and not lies_in(part, whole)
    return part is not whole and (type(part) is ndarray or (type(part) is Tensor and part.buffer is None))


# -- taking views again --------------------------------------------------------------------------------------------


def release(root: Tensor, touched: Callable[[Tensor], bool] = lambda view: True) -> list[Tensor]:
    """The views of `root` that somebody holds and that are `touched`, which let go of their memory."""
    if root.buffer is None:
        return []
    held = [view for known in root.buffer if (view := known()) is not None]
    root.buffer[:] = map(ref, held)
    views = [view for view in held if touched(view)]
    for view in views:
        view.value = view.node = view.tangent = None
    return views


def take_again(views: Sequence[Tensor]) -> None:
    """Bring released views up to date, in the order in which they were made; whatever mode is on, as they were made."""
    if not views:
        return
    token = MODE.set(None)
    try:
        for view in views:
            base, again, metadata, _ = view.buffer
            now = again(base, *metadata)
            become(view, now if type(now) is Tensor else Tensor(now))
    finally:
        MODE.reset(token)
