"""`checkpoint`: recompute a function in the backward pass instead of keeping its intermediates."""

from functools import wraps

import numpy as np

from qad.core.leaves import zeros_of
from qad.core.node import Primitive
from qad.core.record import record
from qad.core.tensor import Tensor
from qad.core.transforms import vjp
from qad.core.trees import flatten, unflatten
from qad.core.vmap import vmap


def checkpoint(f):
    """Make a function whose intermediates are not kept for the backward pass, but computed again there.

    Parameters
    ----------
    f : callable
        A function of pytrees of arrays to a pytree of arrays. Where it uses a recorded Tensor that is not among its
        arguments it is recorded as it is, and its intermediates are kept.

    Returns
    -------
    callable
        The same function. Its gradient costs one more evaluation, and memory for arguments and results only.

    Examples
    --------
    >>> import numpy as np, qad
    >>> layer = qad.checkpoint(lambda x: np.sin(np.sin(x)))
    >>> qad.grad(lambda x: layer(layer(x)).sum())(np.zeros(2))
    array([1., 1.])
    """

    @wraps(f)
    def checkpointed(*args, **kwargs):
        leaves, spec = flatten((args, kwargs))
        out_spec = None

        def run(*xs):
            nonlocal out_spec
            args, kwargs = unflatten(spec, xs)
            out, out_spec = flatten(f(*args, **kwargs))
            given = max((x.level for x in xs if type(x) is Tensor), default=-1)
            if any(type(y) is Tensor and y.level > given for y in out):
                raise _ClosesOver
            return tuple(out)

        def rule(needed, g, ans, *xs):
            def moving(*changed):
                full = list(xs)
                for i, x in zip(needed, changed, strict=True):
                    full[i] = x
                return run(*full)

            _, pullback = vjp(moving, *(xs[i] for i in needed))
            w = tuple(zeros_of(a) if part is None else np.conj(part) for part, a in zip(g, ans, strict=True))
            return [np.conj(c) for c in pullback(w)]

        def batch(batched, *xs):
            return checkpoint(vmap(run, tuple([0 if stacked else None for stacked in batched])))(*xs)

        p = Primitive(run, getattr(f, "__name__", "checkpoint"), shared=rule)
        p.batch = batch
        try:
            out = record(p, tuple(leaves))
        except _ClosesOver:
            return f(*args, **kwargs)
        return unflatten(out_spec, out)

    return checkpointed


class _ClosesOver(Exception):
    """The function used a recorded Tensor that is not among its arguments, whose gradient would be lost."""
