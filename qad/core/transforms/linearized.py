"""One run of a function whose arguments are recorded: what `grad`, `vjp`, `jacobian` and `checkpoint` begin with."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from qad.core.errors import GradientTypeError, ShapeError
from qad.core.foreign import like
from qad.core.tape import backward
from qad.core.tape.cotangents import One
from qad.core.tape.node import LEAF, next_id
from qad.core.tape.record import leaked
from qad.core.tape.reverse import Reverse
from qad.core.tape.tensor import CONSTANT, Tensor, held, value_of
from qad.core.transforms.arguments import (
    WRAPPERS,
    check_argnums,
    check_pair,
    output_dtype,
    raise_ours,
    without_structure,
)
from qad.core.transforms.leaves import lift, to_public
from qad.core.trees import ONE_LEAF, flatten, strip, unflatten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import TypeAlias

    from qad.core.tape.levels import Level
    from qad.typing import Function, Tree
    from qad.typing.words import Cotangent, Found, Keywords, Node, Roots, Spec, Tangent, Value

    Given: TypeAlias = list[tuple[Sequence[Tensor], Spec]]

# a scalar loss of these types needs no look
SEEDS: dict[type, One] = {kind: One(np.dtype(kind)) for kind in (np.float64, np.float32)}
one: Callable[[Any], One] = cache(One)  # the cotangent of any other scalar loss, by its dtype


def linearized(
    f: Function, args: Sequence[Tree], numbers: Iterable[int], kwargs: Keywords, has_aux: bool = False
) -> tuple[Any, Any, Reverse, Given]:
    """Run a function with its arguments of some `numbers` recorded, on a level that is closed again.

    Returns
    -------
    out : what the function returned; of a pair, with `has_aux`, the first entry
    aux : the second entry of that pair, else None
    level : Reverse
    given : list of (list of Tensor, spec)
        The leaves of each of these arguments, and how they are nested.
    """
    level = Reverse()
    try:
        call, given = recorded(args, numbers, level)
        out, aux = f(*call, **kwargs), None
        out = out if type(out) is Tensor and out.level is level else without_structure(out)
    except WRAPPERS as error:
        raise_ours(error)
        raise
    finally:
        level.close()
    if has_aux:
        check_pair(out)
        out, aux = out
    return out, aux, level, given


def output_leaves(out: Any, level: Level) -> tuple[list[Node | None], list[Value], Spec]:
    """The nodes and values of all leaves of an output; a node is None where that depends on no argument."""
    leaves, spec = flatten(out)
    return [node_of(x, level) for x in leaves], [strip(x, level) for x in leaves], spec


def gradients(found: Found, given: Given) -> tuple[Tree, ...]:
    """The gradients by the arguments whose leaves are `given`, of what a sweep found."""
    trees = []
    for leaves, spec in given:
        if spec is ONE_LEAF:  # the common case, quickly
            trees.append(to_public(found, leaves[0].node))
        else:
            trees.append(unflatten(spec, [to_public(found, x.node) for x in leaves]))
    return tuple(trees)


def pulled(given: Given, nodes: Sequence[Node | None], seeds: Sequence[Cotangent]) -> tuple[Tree, ...]:
    """The gradients by the arguments, given the (unconjugated) cotangents of the leaves of the output."""
    roots = [(node, seed) for node, seed in zip(nodes, seeds, strict=True) if node is not None]
    return gradients(backward.sweep(roots), given)


def recorded(args: Sequence[Tree], numbers: Iterable[int], level: Level) -> tuple[list[Tree], Given]:
    """The arguments of a call, those of these `numbers` recorded on `level`; and the leaves and the spec of each."""
    call, given, count = list(args), [], len(args)
    for n in numbers:
        if not 0 <= n < count:
            check_argnums(numbers, args)
        x = held(args[n]) if type(args[n]) is Tensor else args[n]  # nobody writes into it while it is differentiated
        plain = type(x) is ndarray or (type(x) is Tensor and x.level is not CONSTANT)
        if plain and x.dtype.kind in "fc":  # the common case, quickly
            call[n] = x = Tensor(x, [next_id(), LEAF, None, None, x, ()], level)
            given.append(((x,), ONE_LEAF))
        else:
            call[n], leaves, spec = lift(x, level, n)
            given.append((leaves, spec))
    return call, given


def scalar_roots(out: Value, level: Level, name: str) -> tuple[Roots, Value]:
    """Where the sweep begins from the output of a function to be differentiated, and its value; it is a real scalar."""
    inner = out.value if type(out) is Tensor and out.level is level else None
    if (seed := SEEDS.get(type(inner))) is not None:  # the common case, quickly
        return [(out.node, seed)], inner
    if type(inner) is Tensor and inner.shape == () and inner.dtype.kind == "f":  # where transforms nest, quickly
        return [(out.node, seed_of(inner))], inner
    node, value = node_of(out, level), strip(out, level)
    dtype = output_dtype(value, name)
    shape = np.shape(value_of(value))
    if node is not None and not hasattr(value, "dtype"):
        raise GradientTypeError("an object array was among the operands: write array.astype(float) or astype(complex)")
    if dtype.kind == "c":
        raise GradientTypeError(
            f"{name} needs a real output, but got {dtype}. For the derivatives of a complex output use qad.wirtinger, "
            "qad.vjp or qad.jacobian; for a real loss return out.real or qad.abs2(out)"
        )
    if shape != ():
        raise ShapeError(
            f"{name} needs a scalar output, but got shape {shape}: return out.sum(), or use qad.vjp or qad.jacobian"
        )
    roots = [] if node is None else [(node, seed_of(value))]
    return roots, value.copy() if type(value) is ndarray else value


def seed_of(value: Value) -> Cotangent:
    """The cotangent of a scalar loss: 1, of the kind of its `value`."""
    create = like(value)
    return one(value.dtype) if create is np else create.ones((), value.dtype)


def node_of(x: Any, level: Level) -> Node | None:
    """The node of an output of a transform on `level`, or None where it does not depend on the arguments."""
    return x.node if _is_on(x, level) else None


def tangent_out(x: Any, level: Level) -> Tangent:
    """The tangent of an output of a transform on `level`, or None where it does not depend on the arguments."""
    return x.tangent if _is_on(x, level) else None


def _is_on(x: Any, level: Level) -> bool:
    if type(x) is not Tensor:
        return False
    if not x.level.open and x.level is not level:
        raise leaked("the output of a transform")
    return x.level is level
