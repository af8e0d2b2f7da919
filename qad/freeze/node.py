"""A frozen function called on Tensors: one node of the tape, whose backward pass is a frozen function too."""

import numpy as np

from qad.core.leaves import zeros_of
from qad.core.node import Primitive
from qad.core.record import record
from qad.core.transforms import vjp
from qad.core.trees import flatten, unflatten
from qad.freeze.signature import kind_of, orders, typed

__all__ = ["as_node"]


def as_node(frozen, leaves, spec):
    """Call `frozen` on ``(args, kwargs)``, given as leaves of which some are Tensors, as one recorded operation."""
    numbers = [i for i, x in enumerate(leaves) if hasattr(x, "dtype") or kind_of(x)[0] != "static"]
    form = _Form(frozen, spec, [None if i in numbers else x for i, x in enumerate(leaves)], numbers)

    def rule(needed, g, ans, *xs):
        w = tuple(zeros_of(a) if part is None else np.conj(part) for part, a in zip(g, ans, strict=True))
        return [np.conj(c) for c in _backward(frozen, form, needed)(w, xs)]

    name = getattr(frozen.f, "__name__", "frozen")
    out = record(Primitive(form.run, name, shared=rule), tuple(leaves[i] for i in numbers))
    return unflatten(form.out_spec, out)


class _Form:
    """The function of arrays that a frozen function is for one structure of arguments."""

    def __init__(self, frozen, spec, static, numbers):
        self.frozen, self.spec, self.static, self.numbers = frozen, spec, static, numbers
        self.out_spec = None

    def __qad_reached__(self):
        """What it reads is what its function and the static arguments read; the rest is its own."""
        return self.frozen, self.static

    def run(self, *xs):
        """Leaves of the result, by a replay."""
        out, self.out_spec = flatten(self._call(self.frozen, xs))
        return tuple(out)

    def eager(self, *xs):
        """The same without."""
        return tuple(flatten(self._call(self.frozen.f, xs))[0])

    def given(self, xs=()):
        """``(args, kwargs)``, None for what is not given."""
        leaves = list(self.static)
        for i, x in zip(self.numbers, xs, strict=bool(xs)):
            leaves[i] = x
        return unflatten(self.spec, leaves)

    def _call(self, f, xs):
        args, kwargs = self.given(xs)
        return f(*args, **kwargs)


def _backward(frozen, form, needed):
    """The frozen pullback for the arguments `needed`; kept, one for each structure."""
    key = form.spec, orders(form.given()), typed(tuple(form.static)), needed

    def pull(w, xs):
        def moving(*changed):
            full = list(xs)
            for i, x in zip(needed, changed, strict=True):
                full[i] = x
            return form.eager(*full)

        return vjp(moving, *(xs[i] for i in needed))[1](w)

    if key not in frozen.backward:
        frozen.backward[key] = type(frozen)(pull, (), frozen.passes, frozen.constant or None)
    return frozen.backward[key]
