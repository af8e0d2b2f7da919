"""Recording: apply a primitive to operands of which some are Tensors, and remember it.

This is the general road; the short-cuts for the hot operations are in `qad.core.recorders`.
"""

from numpy import ndarray

from qad.core.aliases import look_at_all
from qad.core.batch import unrecorded
from qad.core.batching import record_batch
from qad.core.errors import ArgumentError, LeakedTensorError, QadError, ShapeError
from qad.core.forward import push_forward
from qad.core.levels import BATCH, CONSTANT, FORWARD, REVERSE, blocked
from qad.core.node import PICK, next_id
from qad.core.operands import PLAIN, held, rebuild, remembered, split, top_level, variant
from qad.core.structured import meet
from qad.core.tensor import Tensor, hidden, missing_rule
from qad.core.watch import watch

MANY = -9  # names by which whoever comes this way may hold an array: too many to tell whether there are others


def record(p, args, kwargs=None):
    """Apply primitive `p` to `args` at the highest level among them.

    Plain operands give a plain result, constants and `qad.no_grad` a constant Tensor.
    """
    if p.canonical is not None and (ans := p.canonical(*args)) is not None:
        return ans
    barrier = blocked()
    if type(barrier) is not int:  # somebody looks on
        return barrier.observe(p, args, kwargs)
    return recorded(p, args, kwargs, barrier)


def recorded(p, args, kwargs, barrier):
    """`record`, where levels up to `barrier` record nothing."""
    level = top_level(args)
    try:
        if level in REVERSE and level > barrier:
            out = _record_reverse(p, args, kwargs, level)
        elif level == PLAIN:
            return p.fn(*args, **kwargs or {})
        elif level in BATCH:
            out = remembered(p, record_batch(p, args, kwargs, level), args, kwargs)
        elif level <= barrier:
            out = wrap(p.fn(*map(unrecorded, args), **kwargs or {}), None, CONSTANT)
        elif level in FORWARD:
            out = remembered(p, push_forward(p, args, kwargs, level), args, kwargs)
        else:
            out = meet(p, args, kwargs, level)
            if out is None:
                raise leaked(p.name)
    except ValueError as error:
        explain(p, args, error)
        raise
    if not p.elementwise:
        look_at_all(out, p.fn, args, kwargs, cut=CONSTANT < barrier >= level)
    return out


def leaked(where) -> LeakedTensorError:
    return LeakedTensorError(
        f"a Tensor of a finished transform was used in {where}: it leaked through a global, a closure or an "
        "attribute. Return it from the function (has_aux=True hands extra results out), or store x.numpy()"
    )


def explain(p, args, error) -> None:
    """Raise a plain ValueError that primitive `p` met as one of ours that names it; nothing for other errors."""
    if type(error) is not ValueError or isinstance(error.__cause__, QadError):
        return
    shapes = " and ".join(str(a.shape) for a in args if hasattr(a, "shape"))
    text = f"{p.name} of shape {shapes}: {str(error).strip()}"
    if p.broadcasting is not None:
        text += "; axes are matched from the last one and must be equal or 1: insert one of length 1 with x[:, None]"
    about_shapes = any(word in str(error) for word in ("shape", "dimension", "size", "axis", "axes"))
    raise (ShapeError if about_shapes else ArgumentError)(text) from error


def _record_reverse(p, args, kwargs, level):
    values, parents = split(args, level)
    for i, parent in enumerate(parents if p.shared is None else ()):
        if parent is not None and not p.has_rule(i):
            raise missing_rule(p.fn, i if any(p.vjps) else None)
    if p.broadcasting is not None:
        p = variant(p, values)
    ans = p.fn(*values, **kwargs or {})
    if type(ans) is Tensor and ans.level >= level:
        raise hidden(p.name)
    return note(p, values, kwargs, ans, parents, level)


def note(p, values, kwargs, ans, parents, level, read=None, sparing=False):
    """What primitive `p` made, as a Tensor (or several) of an open reverse level, with the node that remembers it.

    For plain values, whose nodes on that level are the `parents`, a caller may take this road instead of `record`, and
    say which constants alone the rules of `p` will `read`, by their numbers, and whether memory is short.
    """
    constants = range(len(values)) if read is None else read
    plain = [i for i in constants if parents[i] is None and type(values[i]) is ndarray]
    if plain:
        values = watched(level, values, plain, sparing or p.sparing)
    if Tensor in map(type, values):  # of lower levels, which may be written into before the rules read them
        values = tuple([held(v) if parent is None else v for v, parent in zip(values, parents, strict=True)])
    return wrap(ans, [next_id(), p, values, kwargs or None, ans, parents], level)


def watched(level, values, plain, sparing):
    """`values` as a node may keep them: `plain` are the numbers of those that the caller may change."""
    kept = list(values)
    for i in plain:
        kept[i] = watch(level, kept[i], names=MANY, sparing=sparing)
    return tuple(kept)


def wrap(ans, node, level):
    """`ans` as a Tensor, or each entry of a tuple of answers."""
    if not isinstance(ans, (tuple, list)):
        return ans if type(ans) is Tensor and node is None else Tensor(ans, node, level)
    if node is None:
        outputs = [wrap(a, None, level) for a in ans]
    else:
        outputs = [Tensor(a, [next_id(), PICK, i, None, a, (node,)], level) for i, a in enumerate(ans)]
    return rebuild(ans, outputs)
