"""`checkpoint`: recompute a function in the backward pass instead of keeping its intermediates."""

from __future__ import annotations

from contextlib import nullcontext
from functools import wraps
from typing import TYPE_CHECKING

import numpy as np

from qad.core.attributes import whole
from qad.core.errors import ArgumentError
from qad.core.structured import settled
from qad.core.tape.node import Primitive
from qad.core.tape.operands import highest
from qad.core.tape.record import record
from qad.core.tape.tensor import CONSTANT, Tensor
from qad.core.transforms.grad import Record
from qad.core.transforms.jvp import jvp
from qad.core.transforms.leaves import number, own, zeros_of
from qad.core.transforms.repeating import Chance, digest, steadily
from qad.core.transforms.transformed import remade
from qad.core.transforms.vmap import vmap
from qad.core.trees import flatten, joined, parted, unflatten

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qad.core.words import Answer, Cotangent, Keywords, Spec, Tangent, Value
    from qad.typing import Function, P, R, Tree

CHANGED = (
    "a checkpointed function did not do the same when it was computed again for its gradient: an array that it closes "
    "over was changed in place, a name was given to something else, or it drew from a generator that is out of reach. "
    "Pass what changes, and generators, as arguments"
)


def checkpoint(f: Callable[P, R]) -> Callable[P, R]:
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

    Raises
    ------
    ArgumentError
        If what is computed again is not what was computed first: what `f` closes over was changed, in place or by
        giving the name to something else.

    Notes
    -----
    Random numbers are drawn again: those of NumPy's and Python's common generators, and of a Generator that `f` holds.
    Both times the operations and all constants that they meet are digested, which reads the constants at 1 GB/s. A
    function that closes over a recorded Tensor is recorded as it is, and saves no memory.

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
        level = highest(leaves)
        tied = [i for i, x in enumerate(leaves) if type(x) is Tensor and x.level is level is not CONSTANT]
        if tied:
            return _Call(f, args, kwargs, spec, tied).recorded(leaves)
        out, out_spec = flatten(f(*args, **kwargs))
        return unflatten(out_spec, [own(number(x)) for x in out])

    return remade(checkpointed, checkpoint, f)


class _Call:
    """One call of a checkpointed function `f`, of whose leaves those numbered `tied` are recorded."""

    def __init__(self, f: Function, args: Sequence[Tree], kwargs: Keywords, spec: Spec, tied: Sequence[int]) -> None:
        self.f, self.args, self.kwargs, self.spec, self.tied = f, args, kwargs, spec, tied
        self.out_spec = self.still = None  # the structure of the output, and leaves that are no numbers
        self.first = None  # the digest of what the first run did
        self.drawing = self.chance = None  # the generators of random numbers before it, and again if it drew from them

    def recorded(self, leaves: Sequence[Value]) -> Tree:
        """The output, recorded as one operation; step by step where the function closes over a recorded Tensor."""
        p = Primitive(self.value, getattr(self.f, "__name__", "checkpoint"), shared=self.rule)
        p.batch, p.forward = self.batch, self.push
        try:
            out = record(p, tuple(leaves))
        except _ClosesOver:
            with self.drawing.again() if self.drawing is not None else nullcontext():
                return self.f(*self.args, **self.kwargs)
        return unflatten(self.out_spec, joined([own(x) for x in out], self.still))

    def value(self, *xs: Value) -> tuple[Value, ...]:
        """The leaves of the output."""
        self.drawing = Chance(self.f, self.args, self.kwargs)
        made = self.run_on_tape(xs)
        self.chance, self.first = self.drawing if self.drawing.drawn() else None, digest(made.nodes)
        return tuple(made.values)

    def rule(self, needed: Sequence[int], g: Cotangent, ans: Answer, *xs: Value) -> list[Cotangent]:
        """The cotangents of leaves, for which the function runs again."""
        try:
            with self.chance.again() if self.chance is not None else nullcontext():
                made = self.run_on_tape(xs)
        except _ClosesOver:
            raise ArgumentError(CHANGED) from None
        if digest(made.nodes) != self.first:
            raise ArgumentError(CHANGED)
        seeds = [zeros_of(a) if part is None else part for part, a in zip(g, ans, strict=True)]
        found = dict(zip(self.tied, made.pulled(seeds), strict=True))
        return [np.conj(found[i]) for i in needed]

    def push(self, tangents: Sequence[Tangent], ans: Answer, *xs: Value) -> list[Tangent]:
        """The tangents of the output, for which the function runs again: forward mode keeps nothing."""
        given = tuple([xs[i] for i in self.tied]), tuple([tangents[i] for i in self.tied])
        with self.chance.again() if self.chance is not None else nullcontext():
            return list(jvp(self.of_tied(xs), *given)[1])

    def batch(self, batched: Sequence[bool], *xs: Value) -> tuple[Value, ...]:
        """The leaves of the output for all examples of `qad.vmap`: those of a checkpointed function of all of them."""
        return checkpoint(vmap(self.run, tuple([0 if stacked else None for stacked in batched])))(*xs)

    def run_on_tape(self, xs: Sequence[Value]) -> Record:
        """The record of a run in which the leaves that are `tied` are recorded."""
        with steadily():
            made = Record(self.of_tied(xs), [xs[i] for i in self.tied], {})
        check_levels(made.values, xs)
        return made

    def of_tied(self, xs: Sequence[Value]) -> Callable[..., tuple[Value, ...]]:
        """The leaves of the output as a function of the leaves that are `tied`."""

        def moving(*changed):
            full = list(xs)
            for i, x in zip(self.tied, changed, strict=True):
                full[i] = x
            return self.run(*full)

        return moving

    def run(self, *xs: Value) -> tuple[Value, ...]:
        """The leaves of the output, step by step."""
        args, kwargs = unflatten(self.spec, xs)
        out = self.f(*args, **kwargs)
        with whole():
            out, self.out_spec = flatten(out)
        out, self.still = parted(list(map(settled, out)))
        check_levels(out, xs)
        return tuple(map(number, out))


class _ClosesOver(Exception):
    """The function used a recorded Tensor that is not among its arguments, whose gradient would be lost."""


def check_levels(out: Sequence[Value], xs: Sequence[Value]) -> None:
    """Raise where an output lives on a level that no input does."""
    if highest(out).number > max(highest(xs).number, CONSTANT.number):
        raise _ClosesOver
