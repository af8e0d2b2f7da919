"""Quick pushes: forward mode for one operand, two operands and products, without the general road.

Measured: without them jvp of 3x3 matrices takes 2.3 times as long, a Hessian of 50 variables 1.2 to 1.6 times.
"""

import numpy as np
from numpy import ndarray

from qad.core.fast.batches import batch_one
from qad.core.tape.forward import summed, transpose
from qad.core.tape.forward import tangent_of as plain_tangent_of
from qad.core.tape.levels import mode, plain, records
from qad.core.tape.operands import NUMBERS
from qad.core.tape.tensor import Tensor
from qad.core.vmap.batched import Batched, scaled
from qad.core.vmap.rules import Batch


def push_one(p, x, metadata, level):
    """`Forward.apply` for one operand and positional metadata: without it jvp of 3x3 matrices takes 1.4."""
    v, t = x.value, x.tangent
    if p.forward:
        return level.apply(p, (x, *metadata), {})
    ans = p.fn(v, *metadata)
    if p.jvps:
        t = p.jvps[0](t, ans, v, *metadata)
    elif p.linear:
        t = moved(p, t, metadata) if type(t) is Tensor else p.fn(t, *metadata)
    elif p.elementwise:
        frame, factor = framed(t, ans) if type(t) is Tensor and type(ans) is not Tensor else UNFRAMED
        if frame is not None:
            return Tensor(ans, None, level, through(t, frame, factor, p.vjps[0](factor, ans, v, *metadata), ans))
        t = p.vjps[0](t, ans, v, *metadata)
    else:
        t = transpose(p, (0,), (t,), ans, (v, *metadata), {})
    return Tensor(ans, None, level, t if t.dtype is ans.dtype and t.shape == ans.shape else summed((t,), ans))


def moved(p, t, metadata):
    """A linear function of the tangent `t`, a Tensor: most often of a batch, and nobody looks for views of tangents."""
    return batch_one(p, t, metadata, t.level) if runs_batch(t) else p.fn(t, *metadata)


def runs_batch(t) -> bool:
    """Whether the Tensor `t` is of a batch, which handles its operations itself."""
    level = t.level
    return type(level) is Batch and level.open and t.source is None and (mode() is None or records(level))


def push_two(p, x, y, level):
    """`Forward.apply` for two operands of an elementwise function, or None: else jvp of 3x3 takes 1.9."""
    if p.jvps or p.forward or not p.elementwise:
        return None
    kind, s, t = type(y), None, None
    if type(x) is Tensor:
        x, s = x.value, x.tangent
        if kind is Tensor and y.level is level:
            y, t = y.value, y.tangent
        elif kind is not ndarray and kind not in NUMBERS:
            return None
    else:
        if type(x) is not ndarray and type(x) not in NUMBERS:
            return None
        y, t = y.value, y.tangent
    ans = p.fn(x, y)
    if type(ans) is not Tensor and (type(s) is Tensor or type(t) is Tensor):
        moved = push_frames(p, s, t, ans, x, y)
        if moved is not None:
            return Tensor(ans, None, level, moved)
    if s is not None:
        s = p.vjps[0](s, ans, x, y)
    if t is not None:
        t = p.vjps[1](t, ans, x, y)
        s = t if s is None else s + t
    return Tensor(ans, None, level, s if s.dtype is ans.dtype and s.shape == ans.shape else summed((s,), ans))


# -- batches of tangents: what is elementwise changes a factor that all of them share; without it Hessians take 1.2 ----

UNFRAMED = None, None


def tangent_of(p, moving, tangents, ans, values, kwargs):
    """`forward.tangent_of` for one tangent, a batch: its factor goes through elementwise functions, see `moved`."""
    if len(moving) != 1 or p.jvps or p.forward or plain():
        return plain_tangent_of(p, moving, tangents, ans, values, kwargs)
    t = tangents[moving[0]]
    if p.linear:
        if type(t) is Tensor and len(values) == 1 and type(ans) is not tuple and runs_batch(t):
            return summed((t.level.apply(p, (t,), kwargs),), ans)
    elif p.elementwise:
        frame, factor = framed(t, ans) if type(t) is Tensor and type(ans) is not Tensor else UNFRAMED
        if frame is not None:
            return through(t, frame, factor, p.vjps[moving[0]](factor, ans, *values, **kwargs), ans)
    return plain_tangent_of(p, moving, tangents, ans, values, kwargs)


UNITS = {np.dtype(kind): kind(1) for kind in (np.float64, np.complex128, np.float32, np.complex64)}


def framed(t, ans):
    """A stack of tangents and the factor of all of them, whose product a batch `t` is; None where rules need `t`.

    The rule of an elementwise function multiplies, so that it may be given just the factor.
    """
    batch = t.value
    if type(batch) is not Batched:
        return UNFRAMED
    frame = batch.frame
    if frame is not None:
        return (frame, batch.factor) if frame.ndim == ans.ndim + 1 else UNFRAMED
    frame = batch.array
    unit = UNITS.get(frame.dtype)
    return (frame, unit) if unit is not None and type(frame) is not Tensor and frame.ndim == ans.ndim + 1 else UNFRAMED


def push_frames(p, s, t, ans, x, y):
    """The tangent of `ans`, what `p` made of `x` and `y`, from batches `s` and `t` of theirs, or None of one of them.

    None where the rules need the batches themselves.
    """
    one, left = framed(s, ans) if type(s) is Tensor else UNFRAMED
    two, right = framed(t, ans) if type(t) is Tensor else UNFRAMED
    if one is not None and t is None:
        return through(s, one, left, p.vjps[0](left, ans, x, y), ans)
    if two is not None and s is None:
        return through(t, two, right, p.vjps[1](right, ans, x, y), ans)
    if one is None or two is None or s.level is not t.level:
        return None
    if one is two:
        return through(s, one, left, p.vjps[0](left, ans, x, y) + p.vjps[1](right, ans, x, y), ans)
    stack = stretched(p.vjps[0], one, left, ans, x, y) + stretched(p.vjps[1], two, right, ans, x, y)
    return fitting(stack, s.level, ans)


def through(t, frame, before, factor, ans):
    """The batch of tangents `t`, that was ``frame * before``, with another factor, as those of `ans`."""
    if frame.shape[1:] != ans.shape or not (factor.dtype is frame.dtype is ans.dtype):
        return fitting(frame * factor, t.level, ans)
    if factor is before:
        return t
    return Tensor(scaled(frame, factor, t.level), None, t.level)


def stretched(rule, frame, factor, ans, x, y):
    """What an elementwise rule makes of ``frame * factor``."""
    return rule(frame, ans, x, y) if factor is UNITS[frame.dtype] else frame * rule(factor, ans, x, y)


def fitting(stack, level, ans):
    """Stacked tangents of `ans` as a batch: broadcast and real where that is."""
    t = Tensor(Batched(stack, level), None, level)
    return t if stack.dtype is ans.dtype and stack.shape[1:] == ans.shape else summed((t,), ans)


def push_product(multiplied, x, y, v, w, small, level):
    """`Forward.apply` for a product of `x` and `y`, whose values are `v` and `w`: else Hessians take 1.2."""
    moved = multiplied(x.tangent, w, small) if type(x) is Tensor else None
    if type(y) is Tensor:
        t = y.tangent
        moved = multiplied(v, t, small) if moved is None else moved + multiplied(v, t, small)
    ans = multiplied(v, w, small)
    return Tensor(ans, None, level, moved if moved.dtype is ans.dtype else summed((moved,), ans))
