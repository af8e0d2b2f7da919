"""A frozen function called on Tensors: one node of the tape, whose backward pass is a frozen function too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from qad.core.tape.node import Primitive
from qad.core.tape.record import record
from qad.core.tape.tensor import CONSTANT, Tensor
from qad.core.transforms.grad import vjp
from qad.core.transforms.leaves import zeros_of
from qad.core.trees import flatten, unflatten
from qad.frozen.signature import kind_of, orders, typed


def as_node(frozen: Any, leaves: Sequence[Any], spec: Any) -> Any:
    """Call `frozen` on ``(args, kwargs)``, given as leaves of which some are Tensors, as one recorded operation."""
    numbers = [i for i, x in enumerate(leaves) if hasattr(x, "dtype") or kind_of(x)[0] != "static"]
    recorded = frozenset(k for k, i in enumerate(numbers) if type(leaves[i]) is Tensor)
    form = _Form(frozen, spec, [None if i in numbers else x for i, x in enumerate(leaves)], numbers, recorded)

    def rule(needed, g, ans, *xs):
        w = tuple(zeros_of(a) if part is None else np.conj(part) for part, a in zip(g, ans, strict=True))
        return [np.conj(c) for c in form.backward(needed)(w, xs)]

    name = getattr(frozen.f, "__name__", "frozen")
    out = record(Primitive(form.run, name, shared=rule), tuple(leaves[i] for i in numbers))
    return unflatten(form.out_spec, out)


class _Form:
    """The function of arrays that a frozen function is for one structure of arguments.

    What is given as a Tensor is one inside, in both passes: functions may ask for types.
    """

    def __init__(self, frozen, spec, static, numbers, recorded):
        self.frozen, self.spec, self.static, self.numbers, self.recorded = frozen, spec, static, numbers, recorded
        self.out_spec = None
        order = orders(self.given([None] * len(numbers)))
        self.key = spec, order, typed(tuple(static)), recorded

    def __qad_reached__(self):
        """What it reads is what its function and the static arguments read; the rest is its own."""
        return self.frozen, self.static

    def run(self, *xs):
        """Leaves of the result, by a replay."""
        out, self.out_spec = flatten(self._kept(self.frozen.forward, self.key, self.on_tensors)(*xs))
        return tuple([x.value if type(x) is Tensor and x.level is CONSTANT else x for x in out])

    def on_tensors(self, *xs):
        """The function of arrays, which are given to it as constant Tensors where Tensors were given."""
        return self.call(self._as_given(xs))

    def _as_given(self, xs):
        """These arrays, Tensors where Tensors were given."""
        return [Tensor(x) if i in self.recorded and type(x) is not Tensor else x for i, x in enumerate(xs)]

    def backward(self, needed):
        """The frozen pullback for the arguments `needed`."""

        def pull(w, xs):
            def moving(*changed):
                full = self._as_given(xs)
                for i, x in zip(needed, changed, strict=True):
                    full[i] = x
                return tuple(flatten(self.call(full))[0])

            return vjp(moving, *(xs[i] for i in needed))[1](w)

        return self._kept(self.frozen.backward, (*self.key, needed), pull)

    def _kept(self, table, key, f):
        """The frozen function of a table that is made once."""
        if key not in table:
            table[key] = type(self.frozen)(f, (), self.frozen.passes, self.frozen.constant or None)
        return table[key]

    def given(self, xs):
        """``(args, kwargs)`` with these arrays in their places."""
        leaves = list(self.static)
        for i, x in zip(self.numbers, xs, strict=True):
            leaves[i] = x
        return unflatten(self.spec, leaves)

    def call(self, xs):
        """The function itself."""
        args, kwargs = self.given(xs)
        return self.frozen.f(*args, **kwargs)
