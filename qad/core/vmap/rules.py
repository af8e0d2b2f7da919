"""Rules of `qad.vmap`: a function on stacks of examples, and the ways to apply one (of `qad.core.registry.families`).

A rule computes what the function gives for every example, in NumPy's functions on the values of the level below; so
these functions are recorded there, and derivatives of a batch need no rules of their own.  Elementwise functions have a
rule by their flag.  A function without a rule is called once per example.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.errors import BatchError
from qad.core.freeze_hook import flat
from qad.core.registry.families import ASKING, BATCHING, pointwise
from qad.core.tape.levels import Level, unrecorded
from qad.core.tape.operands import HANDLES, PLAIN
from qad.core.tape.roots import remembered
from qad.core.tape.tensor import CONSTANT, Tensor, rebuild, settled
from qad.core.tape.writing import taken, written
from qad.core.vmap.batched import Batched, enclosed, outline
from qad.core.vmap.indices import named, of_stack

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from qad.core.tape.node import Primitive
    from qad.typing import F, Function
    from qad.typing.words import Answer, Index, Keywords, Rule, Value

NUMBER = attrgetter("number")
OPEN: set[Level] = set()  # the open levels of this kind, of all threads


# -- applying a rule ---------------------------------------------------------------------------------------------------


class Batch(Level):
    """A level whose values are stacks of examples."""

    __slots__ = ("size",)
    copies = True
    stops = False  # without derivatives the examples are examples still

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size: int = size  # the number of examples
        OPEN.add(self)

    def close(self) -> None:
        self.open = False
        OPEN.discard(self)

    def apply(self, p: Primitive, args: Sequence[Value], kwargs: Keywords) -> Answer:
        """Apply `p` to every example."""
        rule = p.batch or BATCHING.get(p.fn) or (pointwise(p.fn) if p.elementwise else None)
        out = by_rule(p.fn, rule, args, kwargs, self)
        return remembered(p, out, args, kwargs)

    def lift(self, x: Tensor) -> Tensor:
        """`x`, once for each example."""
        value = x.value if x.level is CONSTANT else x
        stack = np.broadcast_to(value, (self.size, *x.shape)).copy()
        return Tensor(Batched(settled(stack), self), None, self)

    def read(self, x: Tensor, index: Index) -> Tensor:
        return Tensor(Batched(taken(x.value.array, of_stack(index, self)), self), None, self)

    def write(self, x: Tensor, index: Index, v: Value, add: bool) -> None:
        """Write into every example of `x`, which may each have an index of its own."""
        if type(v) is Tensor and v.level is self:
            v, ndim = v.value.array, named(index, x).ndim
            v = v if v.ndim > ndim else v.reshape(v.shape[:1] + (1,) * (ndim + 1 - v.ndim) + v.shape[1:])
        x.value = Batched(written(x.value.array, of_stack(index, self), v, add), self)

    def without(self, x: Value) -> Tensor:
        batch = x.value if type(x) is Tensor else x
        return Tensor(Batched(unrecorded(batch.array), self), None, self)


HANDLES[Batched] = Batched.tensor


def by_rule(fn: Function, rule: Rule | None, args: Sequence[Value], kwargs: Keywords, level: Level) -> Answer:
    """The answers of `fn` for every example, by its rule; one by one if that is None."""
    if rule is None:
        return one_by_one(fn, args, kwargs, level)
    values, batched = [], []
    for a in args:
        if type(a) is Tensor and (a.level is level or a.level is CONSTANT):
            a = a.value
        inside = type(a) is Batched and a.level is level
        values.append(a.array if inside else a)
        batched.append(inside)
    return enclosed(rule(tuple(batched), *values, **kwargs), level)


def one_by_one(fn: Function, args: Sequence[Any], kwargs: Keywords, level: Level) -> Answer:
    """The answers of `fn`, called once per example and stacked."""
    sizes = {b.array.shape[0] for b in batches((args, kwargs), level)}
    if sizes == {0}:
        raise BatchError(f"{getattr(fn, '__name__', fn)} has no batching rule, and there is no example to call it with")
    answers = [fn(*example(args, i, level), **example(kwargs, i, level)) for i in range(max(sizes))]
    if isinstance(answers[0], (tuple, list)):
        return enclosed(rebuild(answers[0], [np.stack(column) for column in zip(*answers, strict=True)]), level)
    return enclosed(np.stack(answers), level)


def batches(tree: Any, level: Level | None = None) -> Iterator[Batched]:
    """Each `Batched` in nested containers, Tensors included, of this `level` if one is given."""
    for x in flat((tree,)):
        x = x.value if type(x) is Tensor else x
        if type(x) is Batched and (level is None or x.level is level):
            yield x


def example(tree: Any, i: int, level: Level) -> Any:
    """`tree` with example `i` in the place of each batch of `level`."""
    if type(tree) is dict:
        return {key: example(part, i, level) for key, part in tree.items()}
    if type(tree) in (tuple, list):
        return type(tree)([example(part, i, level) for part in tree])
    for b in batches(tree, level):
        return b.array[i]
    return tree


def batch_level(tree: Any) -> Level:
    """The highest level of a `Batched` in nested containers, Tensors included; PLAIN if there is none."""
    return max((x.level for x in batches(tree)), default=PLAIN, key=NUMBER)


def top(tree: Any) -> Level:
    """The highest level of a Tensor in nested containers."""
    return max((x.level for x in flat((tree,)) if type(x) is Tensor), default=CONSTANT, key=NUMBER)


# -- NumPy's functions of a bare Batched -------------------------------------------------------------------------------


def _outlines(tree: Any) -> Any:
    if type(tree) in (tuple, list):
        return type(tree)(map(_outlines, tree))
    return outline(tree) if type(tree) is Batched else tree


def _array_function(
    self: Batched, function: Function, types: Collection[type], args: Sequence[Any], kwargs: Keywords
) -> Answer:
    """Bare values have no derivative, so that rules only save time here."""
    if Tensor in types:
        return NotImplemented  # which makes an operand of it
    if function in ASKING:
        return function(*_outlines(args), **{k: None if k == "like" else v for k, v in kwargs.items()})
    return by_rule(function, BATCHING.get(function), args, kwargs, batch_level((args, kwargs)))


def _array_ufunc(self: Batched, ufunc: np.ufunc, method: str, *inputs: Value, **kwargs: Any) -> Answer:
    if Tensor in map(type, inputs):
        return NotImplemented
    fn = ufunc if method == "__call__" else getattr(ufunc, method)
    simple = fn is ufunc and ufunc.signature is None and not kwargs
    return by_rule(fn, pointwise(fn) if simple else None, inputs, kwargs, batch_level((inputs, kwargs)))


Batched.__array_function__, Batched.__array_ufunc__ = _array_function, _array_ufunc


def each_alone(rule: F) -> F:
    """A derivative rule that is called once per example where `qad.vmap` gives it a batch: for rules that iterate.

    Examples
    --------
    >>> import numpy as np, qad
    >>> @qad.extend.primitive
    ... def cube(x):
    ...     return x**3
    >>> qad.extend.defvjp(cube, qad.extend.each_alone(lambda g, ans, x: g * 3 * x**2))
    >>> qad.vmap(qad.grad(lambda x: cube(x).sum()))(np.array([[1.0], [2.0]]))
    array([[ 3.],
           [12.]])
    """

    def called(*args, **kwargs):
        level = batch_level((args, kwargs))
        if level is PLAIN or top((args, kwargs)).number > level.number:
            return rule(*args, **kwargs)
        return one_by_one(rule, args, kwargs, level)

    return called


def under_vmap() -> bool:
    """Whether a level of `qad.vmap` is open, in any thread."""
    return bool(OPEN)
