"""`checkpoint`: recompute a function in the backward pass instead of keeping its intermediates."""

from __future__ import annotations

from copy import deepcopy
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.errors import ArgumentError
from qad.core.structured import settled
from qad.core.tape.backward import alive
from qad.core.tape.node import ANSWER, ARGS, ID, LEAF, PARENTS, PRIMITIVE, Primitive, given
from qad.core.tape.operands import highest
from qad.core.tape.record import record
from qad.core.tape.tensor import CONSTANT, Tensor, value_of
from qad.core.transforms.leaves import number, own, zeros_of
from qad.core.transforms.linearized import linearized, output_leaves, pulled
from qad.core.transforms.trace import nodes_below
from qad.core.transforms.transformed import transformed
from qad.core.transforms.vmap import vmap
from qad.core.trees import flatten, unflatten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from qad.core.transforms.linearized import Given
    from qad.typing import Function, P, R, Tree
    from qad.typing.words import Answer, Cotangent, Node, Spec, Value

CHANGED = (
    "a checkpointed function did not do the same when it was computed again for its gradient: an array that it closes "
    "over was changed in place, a name was given to something else, or it drew from a generator that is no argument. "
    "Pass what changes, and generators, as arguments"
)

DATA = (bool, int, float, complex, str, bytes, type(None))
PARTS: dict[type, Callable[[Any], Any]] = {dict: dict.items, tuple: tuple, slice: lambda x: (x.start, x.stop, x.step)}


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
        giving the name to something else, or `f` drew random numbers from a generator that is no argument.

    Notes
    -----
    A `numpy.random.Generator` among the arguments draws the same numbers again. Both times the operations and all
    constants that they meet are digested, which reads the constants at 1 GB/s. A function that closes over a recorded
    Tensor is recorded as it is, and saves no memory; so is one in forward mode, which keeps nothing.

    Examples
    --------
    >>> import numpy as np, qad
    >>> layer = qad.checkpoint(lambda x: np.sin(np.sin(x)))
    >>> qad.grad(lambda x: layer(layer(x)).sum())(np.zeros(2))
    array([1., 1.])
    """

    return transformed(checkpointed, f, name="qad.checkpoint")


def checkpointed(f: Function, /, *args: Any, **kwargs: Any) -> Tree:
    """What `checkpoint` makes."""
    leaves, spec = flatten((args, kwargs))
    level = highest(leaves)
    tied = [i for i, x in enumerate(leaves) if type(x) is Tensor and x.level is level is not CONSTANT]
    if tied and level.direction != "forward":
        return _Call(f, leaves, spec, tied).recorded()
    out, out_spec = flatten(f(*args, **kwargs))
    return unflatten(out_spec, [own(number(x)) for x in out])


class _Call:
    """One call of a checkpointed function `f`, of whose leaves those numbered `tied` are recorded."""

    def __init__(self, f: Function, leaves: Sequence[Value], spec: Spec, tied: Sequence[int]) -> None:
        self.f, self.leaves, self.spec, self.tied = f, tuple(leaves), spec, tied
        generators = {i: x for i, x in enumerate(leaves) if isinstance(x, np.random.Generator)}
        self.generators = deepcopy(generators)  # as they are before the first run
        self.out_spec = self.still = None  # the structure of the output, and leaves that are no numbers
        self.first = None  # the digest of what the first run did

    def recorded(self) -> Tree:
        """The output, recorded as one operation; step by step where the function closes over a recorded Tensor."""
        p = Primitive(self.value, getattr(self.f, "__name__", "checkpoint"), shared=self.rule)
        p.batch = self.batch
        try:
            out = record(p, self.leaves)
        except _ClosesOver:
            for i, generator in self.generators.items():
                self.leaves[i].bit_generator.state = generator.bit_generator.state
            return self.call(self.leaves)
        return unflatten(self.out_spec, joined([own(x) for x in out], self.still))

    def value(self, *xs: Value) -> tuple[Value, ...]:
        """The leaves of the output."""
        _, nodes, values = self.run_on_tape(xs)
        self.first = digest(nodes)
        return tuple(values)

    def rule(self, needed: Sequence[int], g: Cotangent, ans: Answer, *xs: Value) -> list[Cotangent]:
        """The cotangents of leaves, for which the function runs again."""
        again = deepcopy(self.generators)
        try:
            leaves, nodes, _ = self.run_on_tape([again.get(i, x) for i, x in enumerate(xs)])
        except _ClosesOver:
            raise ArgumentError(CHANGED) from None
        if digest(nodes) != self.first:
            raise ArgumentError(CHANGED)
        seeds = [zeros_of(a) if part is None else part for part, a in zip(g, ans, strict=True)]
        found = dict(zip(self.tied, pulled(leaves, nodes, seeds), strict=True))
        return [np.conj(found[i]) for i in needed]

    def batch(self, batched: Sequence[bool], *xs: Value) -> tuple[Value, ...]:
        """The leaves of the output for all examples of `qad.vmap`: those of a checkpointed function of all of them."""
        return checkpoint(vmap(self.run, tuple([0 if stacked else None for stacked in batched])))(*xs)

    def run_on_tape(self, xs: Sequence[Value]) -> tuple[Given, list[Node | None], list[Value]]:
        """The leaves that are `tied`, recorded in a run, and the nodes and values of its output."""
        tied = [xs[i] for i in self.tied]
        out, _, level, leaves = linearized(self.of_tied(xs), tied, range(len(tied)), {})
        nodes, values, _ = output_leaves(out, level)
        check_levels(values, xs)
        return leaves, nodes, values

    def of_tied(self, xs: Sequence[Value]) -> Callable[..., tuple[Value, ...]]:
        """The leaves of the output as a function of the leaves that are `tied`."""

        def moving(*changed):
            full = list(xs)
            for i, x in zip(self.tied, changed, strict=True):
                full[i] = x
            return self.run(*full)

        return moving

    def call(self, xs: Sequence[Value]) -> Tree:
        """The output of the function for these leaves."""
        args, kwargs = unflatten(self.spec, xs)
        return self.f(*args, **kwargs)

    def run(self, *xs: Value) -> tuple[Value, ...]:
        """The leaves of the output, step by step."""
        out, self.out_spec = flatten(self.call(xs))
        out, self.still = parted(list(map(settled, out)))
        check_levels(out, xs)
        return tuple(map(number, out))


class _ClosesOver(Exception):
    """The function used a recorded Tensor that is not among its arguments, whose gradient would be lost."""


def check_levels(out: Sequence[Value], xs: Sequence[Value]) -> None:
    """Raise where an output lives on a level that no input does."""
    if highest(out).number > max(highest(xs).number, CONSTANT.number):
        raise _ClosesOver


def parted(leaves: Sequence[Any]) -> tuple[list[Any], list[tuple[Any] | None]]:
    """The leaves that are arrays or numbers with a gradient, and a list that holds all others in their places."""
    still = [None if hasattr(x, "dtype") or type(x) in (float, complex) else (x,) for x in leaves]
    return [x for x, kept in zip(leaves, still, strict=True) if kept is None], still


def joined(numbers: Iterable[Any], still: Sequence[tuple[Any] | None]) -> list[Any]:
    """All leaves, of what `parted` gave."""
    numbers = iter(numbers)
    return [next(numbers) if kept is None else kept[0] for kept in still]


# -- what was recorded -------------------------------------------------------------------------------------------------


def digest(roots: Sequence[Node | None]) -> bytes:
    """The operations below the nodes `roots`, how they hang together, and every constant that they met, bit by bit.

    A gradient depends on nothing else.  None among the roots stands for an output that depends on nothing.
    """
    nodes = nodes_below(roots)
    numbers = {node[ID]: number for number, node in enumerate(nodes)}
    total = blake2b(digest_size=16)
    _add(total, tuple([None if node is None else numbers[node[ID]] for node in roots]))
    for node in nodes:
        parents = alive(node)[PARENTS]
        _add(total, (node[PRIMITIVE].name, tuple([None if p is None else numbers[p[ID]] for p in parents])))
        if node[PRIMITIVE] is LEAF:
            _add(total, np.shape(value_of(node[ANSWER])))
            continue
        for i, x in enumerate(node[ARGS] if type(node[ARGS]) is tuple else (node[ARGS],)):
            if i >= len(parents) or parents[i] is None:
                _add(total, x)
        _add(total, given(node))
    return total.digest()


def _add(total: Any, x: Any) -> None:
    """Add a constant, of any depth, to a digest; of an object that is no data, its type."""
    x = value_of(x)
    if type(x) in PARTS:
        parts = PARTS[type(x)](x)
        for each in (f"{len(parts)} of", *parts):
            _add(total, each)
    elif isinstance(x, (np.ndarray, np.generic)):
        total.update(f"{x.dtype}{x.shape}".encode())
        total.update(np.ascontiguousarray(x).data if x.dtype.kind in "fciub" else repr(x).encode())
    else:
        total.update((repr(x) if isinstance(x, DATA) else type(x).__name__).encode())
