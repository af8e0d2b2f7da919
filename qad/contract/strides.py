"""The order of axes in memory of what contractions make: C order, or, where NumPy's own function is called, NumPy's.

NumPy's loop goes over the axes in an order that follows the strides of the operands, and so lies its result.  The
iterator of that loop, made for axes of length 2 at most and never run, tells the order; a plan remembers it by strides.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from numpy import argsort, einsum, einsum_path, empty, int8, ndarray, nditer, zeros
from numpy.lib.stride_tricks import as_strided

from qad.extend import Tensor
from qad.extend.memory import bottom, reordered, steps_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, TypeAlias

    from qad.typing import Array

    Plan: TypeAlias = Any  # of plan.py, which imports this file

__all__ = ["gives_array", "in_c_order", "like_numpy"]

MANY = 64  # layouts that a plan remembers
FLAGS = ["external_loop", "buffered", "delay_bufalloc", "grow_inner", "zerosize_ok", "refs_ok", "reduce_ok"]


def in_c_order(out: Array, plan: Plan) -> Array:
    """What `plan` made, in C order in memory; a view of a single operand stays one."""
    array = out.value if type(out) is Tensor else out
    if plan.simple or (type(array) is ndarray and array.flags.c_contiguous):
        return out
    array, axes = bottom(out)
    if axes or type(array) is not ndarray or array.flags.c_contiguous:
        return out
    same = tuple(range(array.ndim))
    return reordered(out, same, same)


def like_numpy(out: Array, plan: Plan, operands: Sequence[Any], optimize: Any = False, order: str = "K") -> Array:
    """What `plan` made of `operands`, in memory as ``np.einsum(..., optimize=optimize, order=order)`` leaves it."""
    if plan.simple:
        return out
    array = out.value if type(out) is Tensor else out
    if type(array) is not ndarray:
        array, axes = bottom(out)
        if axes or type(array) is not ndarray:
            return out
    strides = []
    for x in operands:
        x = x.value if type(x) is Tensor else x
        strides.append((x if type(x) is ndarray else bottom(x)[0]).strides)
    strides = tuple(strides)
    known, key = _orders(plan), (array.strides, strides)
    if optimize or order != "K":
        key = *key, str(optimize), order
    axes = known.get(key, key)
    if axes is None:
        return out
    if axes is key:
        if len(known) >= MANY:
            known.clear()
        axes = known[key] = _missing(array, plan, strides, optimize, order)
    return out if axes is None else reordered(out, *axes)


@lru_cache(maxsize=1024)
def _orders(plan):
    """What is known of a plan: in what order of axes NumPy's result lies in memory, by the strides."""
    return {}


def gives_array(plan: Plan, optimize: Any, order: str) -> bool:
    """Whether ``np.einsum`` gives an array, not a number, for a result without axes: its last pair may be one."""
    if not optimize:
        return False
    key = str(optimize), order
    known = _orders(plan)
    if key not in known:
        strides = [(0,) * len(shape) for shape in plan.shapes]
        try:
            known[key] = isinstance(_by_pairs(plan, strides, optimize, order), ndarray)
        except (ValueError, KeyError):  # as in `_missing`
            return False
    return known[key]


def _missing(array, plan, strides, optimize, order):
    """The order of axes and its inverse to copy the result to, or None if it lies as it should."""
    try:
        like = _by_pairs(plan, strides, optimize, order) if optimize else _by_loop(plan, strides, order)
    except (ValueError, KeyError):  # more labels or operands than NumPy takes, or a search that it has not
        like = empty(_small(array.shape), int8)
    axes = tuple(sorted(range(array.ndim), key=lambda axis: (-abs(like.strides[axis]), axis)))
    back = tuple(argsort(axes).tolist())
    wanted = empty([array.shape[axis] for axis in axes], array.dtype).transpose(back)
    return None if steps_of(wanted) == steps_of(array) else (axes, back)


def _small(shape):
    return [min(n, 2) for n in shape]


def _by_loop(plan, strides, order):
    """An array that lies as the result of NumPy's loop over all labels."""
    given, output = plan.expression.inputs, plan.expression.output
    names = plan.expression.names
    summed = {label for term in given for label in term}.difference(output)
    labels = [*output, *sorted(summed, key=lambda label: (len(names[label]), names[label]))]
    arrays, axes = [], []
    for term, shape, steps in zip(given, plan.shapes, strides, strict=True):
        own = list(dict.fromkeys(term))
        sides = [[(n, step) for n, step, it in zip(shape, steps, term, strict=True) if it == label] for label in own]
        lengths = [max(n for n, _ in side) for side in sides]
        arrays.append(as_strided(zeros(1, int8), _small(lengths), [sum(s for n, s in side if n > 1) for side in sides]))
        axes.append([own.index(label) if label in own else -1 for label in labels])
    axes.append([k if k < len(output) else -1 for k in range(len(labels))])
    flags = [["readonly"]] * len(arrays) + [["readwrite", "allocate"]]
    return nditer([*arrays, None], FLAGS, flags, None, order, "unsafe", axes).operands[-1]


def _by_pairs(plan, strides, optimize, order):
    """An array that lies as the result of NumPy's contraction pair by pair."""
    terms = [x for pair in zip(plan.shapes, plan.expression.inputs, strict=True) for x in pair]
    lists = [zeros((), int8) if k % 2 == 0 else list(x) for k, x in enumerate(terms)]
    output = list(plan.expression.output)
    for k, shape in enumerate(plan.shapes):
        lists[2 * k] = as_strided(lists[2 * k], shape, (0,) * len(shape))
    path = einsum_path(*lists, output, optimize=optimize)[0]
    for k, (shape, steps) in enumerate(zip(plan.shapes, strides, strict=True)):
        lists[2 * k] = _spread(_small(shape), steps)
    return einsum(*lists, output, optimize=path, order=order)


def _spread(shape, steps):
    """An array with these strides; of its memory only what is read is ever taken."""
    ends = [(n - 1) * step for n, step in zip(shape, steps, strict=True)]
    low = sum(end for end in ends if end < 0)
    memory = zeros(sum(map(abs, ends)) + 1, int8)
    return as_strided(memory[-low:], shape, steps)
