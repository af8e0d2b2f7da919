"""`checkpoint`: recompute a function in the backward pass instead of keeping its intermediates."""

from functools import wraps

import numpy as np

from qad.core.errors import ArgumentError
from qad.core.leaves import number, own, zeros_of
from qad.core.node import Primitive
from qad.core.record import record
from qad.core.tensor import Tensor
from qad.core.transformed import remade
from qad.core.transforms import vjp
from qad.core.trees import flatten, unflatten
from qad.core.vmap import vmap


def checkpoint(f):
    """Make a function whose intermediates are not kept for the backward pass, but computed again there.

    Parameters
    ----------
    f : callable
        A function of pytrees of arrays to a pytree of arrays. Everything that is differentiated must be an argument.

    Returns
    -------
    callable
        The same function. Its gradient costs one more evaluation, and memory for arguments and results only.

    Raises
    ------
    ArgumentError
        If `f` uses a recorded Tensor that is not among its arguments.

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
                raise ArgumentError(
                    "a checkpointed function used a recorded Tensor that is not among its arguments, so that its "
                    "gradient would be lost: pass it as an argument"
                )
            return tuple(map(number, out))

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
        out = record(p, tuple(leaves))
        return unflatten(out_spec, [own(x) for x in out])

    return remade(checkpointed, checkpoint, f)
