"""Forward mode: tangents pushed through a primitive.

No primitive needs a forward rule of its own.  In this order: the rules given by `defjvp`; a (multi)linear
function applied to the tangent; the reverse rule of a holomorphic elementwise function, which is its
forward rule too; else the transpose of the reverse rule, obtained by sweeping it backward from a dummy
cotangent.  Nothing is kept, so memory does not grow with the depth of the program.
"""

import numpy as np
from numpy import ndarray

from qad.core.backward import Lazy, arrived, sweep
from qad.core.batch import RESULT, Batched, scaled
from qad.core.batching import batch_one
from qad.core.levels import BATCH, REVERSE, blocked, open_level, plain
from qad.core.node import leaf
from qad.core.operands import NUMBERS, rebuild, split
from qad.core.tensor import Tensor, hidden, missing_rule, value_of


def push_forward(p, args, kwargs, level):
    """Apply `p` to `args`, whose Tensors of `level` carry tangents."""
    values, tangents = split(args, level)
    kwargs = kwargs or {}
    ans = p.fn(*values, **kwargs)
    if type(ans) is Tensor and ans.level >= level:
        raise hidden(p.name)
    moving = tuple(i for i, t in enumerate(tangents) if t is not None)
    for i in moving:
        if not (p.has_rule(i) or p.jvps or p.forward):
            raise missing_rule(p.fn, i if any(p.vjps) else None)
    if p.elementwise and len(moving) == 1 and not (p.jvps or p.forward or plain()):
        t = tangents[moving[0]]
        frame, factor = framed(t, ans) if type(t) is Tensor and type(ans) is not Tensor else UNFRAMED
        if frame is not None:
            factor_of_ans = p.vjps[moving[0]](factor, ans, *values, **kwargs)
            return Tensor(ans, through(t, frame, factor, factor_of_ans, ans), level)
    out = tangent_of(p, moving, tangents, ans, values, kwargs)
    if isinstance(ans, (tuple, list)):
        return rebuild(ans, [Tensor(a, t, level) if t is not None else a for a, t in zip(ans, out, strict=True)])
    return Tensor(ans, out, level)


def push_one(p, x, metadata, level):
    """`push_forward` for one operand and positional metadata; quicker."""
    v, t = x.value, x.node
    if p.forward:
        return push_forward(p, (x, *metadata), None, level)
    ans = p.deeper(v, *metadata) if type(v) is Tensor else p.fn(v, *metadata)
    if p.jvps:
        t = p.jvps[0](t, ans, v, *metadata)
    elif p.linear:
        t = moved(p, t, metadata) if type(t) is Tensor else p.fn(t, *metadata)
    elif p.elementwise:
        frame, factor = framed(t, ans) if type(t) is Tensor and type(ans) is not Tensor else UNFRAMED
        if frame is not None:
            return Tensor(ans, through(t, frame, factor, p.vjps[0](factor, ans, v, *metadata), ans), level)
        t = p.vjps[0](t, ans, v, *metadata)
    else:
        t = transpose(p, (0,), (t,), ans, (v, *metadata), {})
    return Tensor(ans, t if t.dtype is ans.dtype and t.shape == ans.shape else _sum((t,), ans), level)


def moved(p, t, metadata):
    """A linear function of the tangent `t`, a Tensor: most often of a batch, and nobody looks for views of tangents."""
    if t.level in BATCH and t.source is None and type(blocked()) is int:
        return batch_one(p, t, metadata, t.level)
    return p.deeper(t, *metadata)


def push_two(p, x, y, level):
    """`push_forward` for two operands of an elementwise function; quicker.  None where it takes the general road."""
    if p.jvps or p.forward or not p.elementwise:
        return None
    kind, s, t = type(y), None, None
    if type(x) is Tensor:
        x, s = x.value, x.node
        if kind is Tensor and y.level == level:
            y, t = y.value, y.node
        elif kind is not ndarray and kind not in NUMBERS:
            return None
    else:
        if type(x) is not ndarray and type(x) not in NUMBERS:
            return None
        y, t = y.value, y.node
    ans = p.fn(x, y)
    if type(ans) is not Tensor and (type(s) is Tensor or type(t) is Tensor):
        moved = push_frames(p, s, t, ans, x, y)
        if moved is not None:
            return Tensor(ans, moved, level)
    if s is not None:
        s = p.vjps[0](s, ans, x, y)
    if t is not None:
        t = p.vjps[1](t, ans, x, y)
        s = t if s is None else s + t
    return Tensor(ans, s if s.dtype is ans.dtype and s.shape == ans.shape else _sum((s,), ans), level)


# -- batches of tangents: what is elementwise changes a factor that all of them share ----------------------------------

UNFRAMED = None, None
UNITS = {np.dtype(kind): kind(1) for kind in (np.float64, np.complex128, np.float32, np.complex64)}


def framed(t, ans):
    """A stack of tangents and the factor of all of them, whose product a batch `t` is; None where rules need `t`.

    The rule of an elementwise function multiplies, so that it may be given the factor alone.
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
    if one is None or two is None or s.level != t.level:
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
    return Tensor(scaled(frame, factor, t.level), RESULT, t.level)


def stretched(rule, frame, factor, ans, x, y):
    """What an elementwise rule makes of ``frame * factor``."""
    return rule(frame, ans, x, y) if factor is UNITS[frame.dtype] else frame * rule(factor, ans, x, y)


def fitting(stack, level, ans):
    """Stacked tangents of `ans` as a batch: broadcast and real where that is."""
    t = Tensor(Batched(stack, level), RESULT, level)
    return t if stack.dtype is ans.dtype and stack.shape[1:] == ans.shape else _sum((t,), ans)


def push_product(multiplied, v, s, w, t, small, level):
    """`push_forward` for a product of two values `v` and `w` with tangents `s` and `t`, or None."""
    moved = None if s is None else multiplied(s, w, small)
    if t is not None:
        moved = multiplied(v, t, small) if moved is None else moved + multiplied(v, t, small)
    ans = multiplied(v, w, small)
    return Tensor(ans, moved if moved.dtype is ans.dtype else _sum((moved,), ans), level)


def tangent_of(p, moving, tangents, ans, values, kwargs):
    """The tangent of `ans` (a list of them for several outputs)."""
    if p.forward:
        return _sum((p.forward(tangents, ans, *values, **kwargs),), ans)
    if p.jvps:
        parts = [p.jvps[i](tangents[i], ans, *values, **kwargs) for i in moving]
    elif p.linear:
        parts = [p.fn(*values[:i], tangents[i], *values[i + 1 :], **kwargs) for i in moving]
    elif p.elementwise:
        parts = [p.vjps[i](tangents[i], ans, *values, **kwargs) for i in moving]
    else:
        return transpose(p, moving, tangents, ans, values, kwargs)
    return _sum(parts, ans)


def _sum(parts, ans):
    if isinstance(ans, (tuple, list)):
        return [_sum(part, a) for part, a in zip(zip(*parts, strict=True), ans, strict=True)]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    if total.shape != ans.shape:
        total = total + np.zeros(ans.shape, total.dtype)
    return total.real if ans.dtype.kind == "f" and total.dtype.kind == "c" else total


def transpose(p, moving, tangents, ans, values, kwargs):
    """Tangent by transposition.

    The rule maps g to cotangents c_i, linearly over the reals, and ``Re sum c_i t_i = Re sum g t`` holds
    for the tangent t of the answer; so t is the cotangent of g when the c_i are given cotangents t_i.
    """
    several = isinstance(ans, (tuple, list))
    level = open_level(REVERSE)
    try:
        probes = [_probe(a, level) for a in (ans if several else (ans,))]
        g = tuple(probes) if several else probes[0]
        cotangents = p.cotangents(moving, g, ans, values, kwargs)
    finally:
        REVERSE.discard(level)
    roots = []
    for c, i in zip(cotangents, moving, strict=True):
        c = c.dense() if isinstance(c, Lazy) else c
        if type(c) is Tensor and c.level == level:
            roots.append((c.node, tangents[i]))
    found = sweep(roots)
    out = [arrived(found, probe.node)[0] for probe in probes]
    out = [np.zeros(a.shape, a.dtype) if t is None else t for t, a in zip(out, ans if several else (ans,), strict=True)]
    return out if several else out[0]


def _probe(ans, level):
    """A zero cotangent of the shape and dtype of `ans`."""
    zero = np.zeros_like(value_of(ans))
    return Tensor(zero, leaf(zero), level)
