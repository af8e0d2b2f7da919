"""Arguments of a transform as leaves of the tape, and what the sweep found for them as public gradients.

Public gradients are ``dL/dx + i dL/dy = 2 dL/d(conj z)``; the conjugate of the tape's cotangents.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy import array, conjugate, ndarray

from qad.core.errors import ShapeError
from qad.core.foreign import is_foreign
from qad.core.process import malloc as memory
from qad.core.tape.backward import arrived
from qad.core.tape.node import ANSWER, ID, LEAF, next_id
from qad.core.tape.operands import brought
from qad.core.tape.tensor import CONSTANT, Tensor, handle_of, held, value_of
from qad.core.trees import check_leaf, flatten, leaf_path, strip, unflatten

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from qad.core.tape.levels import Level
    from qad.typing import Tree
    from qad.typing.words import Cotangent, Found, Node, Spec, Value

NONE: tuple[None, bool, None] = (None, False, None)  # what a sweep found of a leaf that it did not reach


def checked(tree: Tree, name: str | int) -> tuple[list[Value], Spec]:
    """The leaves of argument `name`, each checked to be an array or number with a gradient, and the spec."""
    leaves, spec = flatten(tree)
    for i, value in enumerate(leaves):
        if type(value) is not ndarray or value.dtype.kind not in "fc":
            value = strip(value, CONSTANT)
            check_leaf(value, lambda i=i: f"{name}{leaf_path(tree, i)}")
            leaves[i] = number(value)
    return leaves, spec


def lift(tree: Tree, level: Level, name: str | int) -> tuple[Tree, list[Tensor], Spec]:
    """`tree` with each leaf recorded on `level`, its leaves as Tensors, and its spec."""
    leaves, spec = checked(tree, name)
    lifted = [Tensor(value, [next_id(), LEAF, None, None, value, ()], level) for value in leaves]
    return unflatten(spec, lifted), lifted, spec


def number(x: Value) -> Value:
    """Python's numbers as NumPy's, which know their dtype and shape; traced ones too, so that replays do the same."""
    if type(x) is ndarray:
        return x
    if type(x) in (float, complex):
        return np.asarray(x)[()]
    x = brought(x)
    return x.__qad_number__() if hasattr(x, "__qad_number__") else x


def to_public(found: Found, leaf: Node) -> Value:
    """The public gradient of a leaf, zeros where the sweep found none."""
    value, (g, owned, _) = leaf[ANSWER], found.get(leaf[ID], NONE)
    if g is None:
        return zeros_of(value)
    if type(g) is type(value) is ndarray and g.dtype is value.dtype and g.shape == value.shape:  # most often, quickly
        if memory.waiting and g.nbytes >= memory.LARGE:
            memory.ready(g.nbytes)
        owned = owned and g.base is None
        if g.dtype.kind != "c":
            return g if owned else g.__copy__()  # in the memory order that it has
        g = conjugate(g, g) if owned else conjugate(g)
        return g if type(g) is ndarray else array(g)  # the conjugate of an array without axes is a scalar
    return publish(*arrived(found, leaf), value)


def zeros_of(value: Value) -> Value:
    """Zeros of the shape and kind of `value`."""
    bare = value_of(value)
    return alike(np.zeros_like(bare), bare)


def alike(g: Value, value: Value) -> Value:
    """`g` as a scalar or as an array without axes, whichever `value` is, or stands for in `qad.freeze`."""
    if hasattr(value, "__qad_like__"):
        return value.__qad_like__(g)
    if type(g) is ndarray and isinstance(value, (np.generic, int, float, complex)):
        return g[()]
    return np.asarray(g) if type(value) is ndarray and isinstance(g, np.generic) else g


def publish(g: Cotangent, owned: bool, value: Value) -> Value:
    """Cotangent `g` of a leaf as its gradient: conjugated, of its shape and dtype, in memory of its own."""
    if g.shape != value.shape:
        raise ShapeError(f"a rule returned a cotangent of shape {g.shape} for an argument of shape {value.shape}")
    owned = owned and (type(g) is not ndarray or g.base is None)
    if g.dtype != value.dtype:
        g, owned = g.astype(value.dtype), True
    if value.dtype.kind == "c":
        g, owned = np.conjugate(g), True
    g = g if owned else own(g)
    return alike(g, value) if g.shape else _of_the_kind(g, value_of(value))


def _of_the_kind(g: Value, bare: Value) -> Value:
    """`g` without axes over a scalar or over an array, whichever `bare` is, on whatever levels it is recorded."""
    if type(g) is not Tensor:
        return alike(g, bare)
    inner = _of_the_kind(g.value, bare)
    return g if inner is g.value else handle_of(g, inner)


def owned(tree: Tree, level: Level, given: Sequence[tuple[Sequence[Tensor], Any]] = ()) -> Tree:
    """`tree` as a transform hands it out: without Tensors of `level`, its arrays in memory that nobody else holds.

    What was computed on the level is new, unless it is a view or one of the arguments, whose leaves are `given`; what
    was not may belong to anybody.
    """
    if type(tree) is Tensor and tree.level is level and type(tree.value) is not ndarray:
        return own(tree.value)  # a scalar or, where transforms nest, another Tensor
    leaves, spec = flatten(tree)
    return unflatten(spec, owned_leaves(leaves, level, given))


def owned_leaves(leaves: Sequence[Any], level: Level, given: Sequence[tuple[Sequence[Tensor], Any]]) -> list[Any]:
    """`owned` of the leaves of a tree."""
    known, values = None, []
    for x in leaves:
        value = strip(x, level)
        if type(value) is ndarray:
            if known is None:
                known = {id(y.value) for leaves_given, _ in given for y in leaves_given}
            new = type(x) is Tensor and x.level is level and value.base is None and value.flags.writeable
            value = value if new and id(value) not in known else value.copy()
            known.add(id(value))
        else:
            value = own(value)
        values.append(value)
    return values


def own(x: Value) -> Value:
    """An array, or what is recorded of one, in memory that nobody else holds."""
    recorded = hasattr(x, "__qad_like__") and x.shape  # by `qad.freeze`
    if type(x) is ndarray or is_foreign(x) or recorded:
        return x.copy()
    return held(x) if type(x) is Tensor and x.shape else x
