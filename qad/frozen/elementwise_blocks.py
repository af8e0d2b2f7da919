"""Chains of elementwise calls, block by block: what lies between them stays in the cache.

A large array goes through memory once for each call; a block of it that goes through all calls at once does not.
"""

from math import prod

import numpy as np

from qad.frozen.program import layout_of

__all__ = ["BLOCK", "chained"]

BLOCK = 1 << 16  # entries: few enough for the caches, and so many that a call costs little beside them


def chained(*operands, calls, scratch, dtype, out=None):
    """The last of some elementwise calls on arrays that broadcast to the shape of the result.

    Parameters
    ----------
    operands : arrays or numbers
    calls : tuple of (function, numbers, slot)
        Each takes values by their numbers, the operands' first and then those of the calls; it writes into the block
        of the result (slot 0) or into one of the blocks of scratch memory (1, 2, ...), or shows a part of its
        argument (None).
    scratch : tuple of dtype
    dtype : of the result
    out : array, optional
    """
    if out is None:
        shape = np.broadcast_shapes(*[np.shape(x) for x in operands])
        whole = next((x for x in operands if np.shape(x) == shape), None)
        out = np.empty(shape, dtype) if whole is None else np.empty_like(whole, dtype=dtype)
    axes = layout_of(out) or tuple(range(out.ndim))
    spread = [np.broadcast_to(x, out.shape).transpose(axes) if np.ndim(x) else x for x in operands]
    memory = [np.empty(BLOCK, each) for each in scratch]
    target = out.transpose(axes)
    for place in blocks(target.shape):
        block = target[place]
        slots = [block, *[each[: block.size].reshape(block.shape) for each in memory]]
        values = [x[place] if np.ndim(x) else x for x in spread]
        for fn, numbers, slot in calls:
            args = [values[i] for i in numbers]
            values.append(fn(*args) if slot is None else fn(*args, out=slots[slot]))
    return out


def blocks(shape):
    """Indices of blocks, neighbours in memory in C order, of at most BLOCK entries each and of nearly equal sizes."""
    axis = len(shape) - 1
    while axis > 0 and prod(shape[axis:]) <= BLOCK:
        axis -= 1
    pieces = -(-shape[axis] // max(1, BLOCK // prod(shape[axis + 1 :])))
    rows = -(-shape[axis] // pieces)
    for before in np.ndindex(shape[:axis]):
        for start in range(0, shape[axis], rows):
            yield (*before, slice(start, start + rows))
