"""Reverse-mode transforms: `grad`, `value_and_grad` and `vjp`.

Public gradients are ``dL/dx + i dL/dy = 2 dL/d(conj z)``; the conjugate of the tape's cotangents.
"""

from __future__ import annotations

from functools import cache
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from qad.core.errors import ArgumentError, GradientTypeError, ShapeError
from qad.core.foreign import like
from qad.core.tape import backward
from qad.core.tape.constants import kept
from qad.core.tape.cotangents import One
from qad.core.tape.node import ANSWER
from qad.core.tape.record import leaked
from qad.core.tape.reverse import Reverse
from qad.core.tape.tensor import Tensor, value_of
from qad.core.transforms.arguments import (
    WRAPPERS,
    check_argnums,
    check_pair,
    numbers_of,
    output_dtype,
    raise_ours,
    run,
    without_structure,
)
from qad.core.transforms.leaves import lift, own, owned, to_public, with_leaves
from qad.core.transforms.seeds import seeds_like
from qad.core.transforms.transformed import transformed
from qad.core.trees import (
    flatten,
    strip,
    tree_map,
    unflatten,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qad.core.tape.levels import Level
    from qad.core.words import Cotangent, Keywords, Node, Spec, Tangent, Value
    from qad.typing import Function, P, R, Tree

# a scalar loss of these types needs no look
SEEDS: dict[type, One] = {kind: One(np.dtype(kind)) for kind in (np.float64, np.float32)}

CONVENTIONS = ("steepest", "jax")
one: Callable[[Any], One] = cache(One)  # the cotangent of any other scalar loss, by its dtype


def seed_of(value: Value) -> Cotangent:
    """The cotangent of a scalar loss: 1, of the kind of its `value`."""
    create = like(value)
    return one(value.dtype) if create is np else create.ones((), value.dtype)


def scalar_loss(out: Value, level: Level, name: str) -> tuple[Node | None, Value]:
    """The node (or None) and value of the output of a function to be differentiated; it must be a real scalar."""
    inner = out.value if type(out) is Tensor and out.level is level else None
    if type(inner) is Tensor and inner.shape == () and inner.dtype.kind == "f":  # where transforms nest, quickly
        return out.node, inner
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
    return node, value


def value_and_grad(
    f: Callable[P, R], argnums: int | tuple[int, ...] = 0, has_aux: bool = False, convention: str = "steepest"
) -> Callable[P, tuple[R, Any]]:
    """Make the function that returns the value of `f` together with its gradient.

    Parameters
    ----------
    f : callable
        Returns a real scalar; with `has_aux` a pair of that and anything else.
    argnums : int or tuple of int
        Which positional arguments to differentiate. Each may be any pytree of float or complex arrays.
    has_aux : bool
        Whether `f` returns ``(value, aux)``.
    convention : "steepest" or "jax"
        The gradient as above, or its complex conjugate ``2 dL/dz``, which is what jax returns: for code that was
        written for it, and conjugates before a step.

    Returns
    -------
    callable
        ``(value, gradient)``, or ``((value, aux), gradient)``. The gradient has the structure, shapes and
        dtypes of the argument (a tuple of them for a tuple of `argnums`) and owns its memory. It is
        ``dL/dx + i dL/dy``, that is ``2 dL/d(conj z)``: ``z - step * gradient`` descends.

    Raises
    ------
    GradientTypeError
        If the output is complex or no number, or an argument is not of float or complex dtype.
    ShapeError
        If the output is not a scalar.

    Examples
    --------
    >>> import numpy as np, qad
    >>> value, gradient = qad.value_and_grad(lambda z: qad.abs2(z).sum())(np.array([1 + 2j]))
    >>> float(value), gradient
    (5.0, array([2.+4.j]))
    """
    return transformed(value_and_gradient, f, *_options(argnums, has_aux, convention, "qad.value_and_grad"))


def _options(
    argnums: int | tuple[int, ...], has_aux: bool, convention: str, name: str
) -> tuple[tuple[int, ...], bool, bool, bool, float, str]:
    """What `value_and_gradient` is told: the numbers, whether they came as a tuple, and so on.

    Last but one the count of positional arguments from which on the numbers need no check: none if two may be the same;
    last the name under which the user called.
    """
    if convention not in CONVENTIONS:
        raise ArgumentError(f"convention={convention!r}: write one of {', '.join(map(repr, CONVENTIONS))}")
    numbers = numbers_of(argnums)
    different = min(numbers, default=0) >= 0 and len(set(numbers)) == len(numbers)
    enough = max(numbers, default=-1) + 1 if different else inf
    return numbers, isinstance(argnums, tuple), has_aux, convention == "jax", enough, name


def value_and_gradient(
    f: Function, numbers: tuple[int, ...], several: bool, has_aux: bool, conjugated: bool, enough: float, name: str,
    /, *args: Tree, **kwargs: Any
) -> tuple[Any, Tree]:  # fmt: skip
    """What `value_and_grad` makes; see `_options`."""
    if len(args) < enough:
        check_argnums(numbers, args)
    level = Reverse()
    try:
        call, lifted = with_leaves(args, numbers, level)
        out = f(*call, **kwargs)
        if has_aux:
            check_pair(out)
            out, aux = out
            aux = without_structure(aux)
        if type(out) is Tensor and out.level is level and type(out.value) in SEEDS:
            node, value = out.node, out.value
        else:
            node, value = scalar_loss(out, level, name)
            value = value.copy() if type(value) is ndarray else value
    except WRAPPERS as error:
        raise_ours(error)
        raise
    finally:
        level.close()
    roots = [(node, SEEDS.get(type(value)) or seed_of(value))] if node is not None else []
    del out, node  # so that the sweep frees the graph as it goes
    found = backward.sweep(roots)
    gradients = []
    for x, rebuild in lifted:
        g = to_public(found, x.node) if rebuild is None else rebuild([to_public(found, y.node) for y in x])
        gradients.append(g)
    g = tuple(gradients) if several else g
    g = tree_map(np.conj, g) if conjugated else g
    return ((value, owned(aux, level, lifted)) if has_aux else value), g


def grad(
    f: Callable[P, Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False, convention: str = "steepest"
) -> Callable[P, Any]:
    """Make the function that returns the gradient of `f`; see `value_and_grad`.

    With `has_aux` it returns ``(gradient, aux)``.

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.grad(lambda x: np.sum(np.sin(x)))(np.zeros(2))
    array([1., 1.])
    >>> z = np.array([1 + 2j])
    >>> qad.grad(lambda z: qad.abs2(z).sum())(z), qad.grad(lambda z: qad.abs2(z).sum(), convention="jax")(z)
    (array([2.+4.j]), array([2.-4.j]))
    """
    return transformed(gradient_alone, f, *_options(argnums, has_aux, convention, "qad.grad"))


def gradient_alone(
    f: Function, numbers: tuple[int, ...], several: bool, has_aux: bool, conjugated: bool, enough: float, name: str,
    /, *args: Tree, **kwargs: Any
) -> Tree:  # fmt: skip
    """What `grad` makes."""
    value, g = value_and_gradient(f, numbers, several, has_aux, conjugated, enough, name, *args, **kwargs)
    return (g, value[1]) if has_aux else g


def gradient_by(f: Function, argnums: int | tuple[int, ...], name: str) -> Function:
    """`grad` for another transform, whose `name` errors tell."""
    return transformed(gradient_alone, f, *_options(argnums, False, "steepest", name))


def vjp(f: Callable[..., R], *primals: Tree, **kwargs: Any) -> tuple[R, Callable[[Tree], tuple[Any, ...]]]:
    """Value of `f` and its pullback, the transpose of its derivative in ``<a, b> = Re sum conj(a) b``.

    Parameters
    ----------
    f : callable
        Any function of arrays or pytrees to an array or a pytree of them.
    *primals : pytrees of float or complex arrays
    **kwargs
        Passed on to `f`, and not differentiated.

    Returns
    -------
    out : what ``f(*primals, **kwargs)`` returns
    pullback : callable
        ``pullback(w)``, with `w` of the structure and shapes of `out`, returns a tuple with one entry per
        primal: the gradient of ``<w, f>``. It may be called many times.

    Examples
    --------
    >>> import numpy as np, qad
    >>> out, pullback = qad.vjp(lambda z: z * z, np.array([1 + 1j]))
    >>> pullback(np.array([1.0 + 0j]))
    (array([2.-2.j]),)
    """
    made = Record(f, primals, kwargs)

    def pullback(w):
        return made.pulled(seeds_like(w, made.values, made.spec))

    values = [own(v) for v in made.values]  # the tape needs them
    return unflatten(made.spec, values), pullback


class Record:
    """A run of a function whose arguments are recorded, on a level that is closed again.

    Attributes
    ----------
    nodes, values : list
        Of the leaves of what the function returned; the node is None where that depends on no argument.
    spec : how these leaves are nested
    """

    __slots__ = ("_lifted", "nodes", "values", "spec")
    spec: Spec

    def __init__(self, f: Function, primals: Sequence[Tree], kwargs: Keywords) -> None:
        with Reverse() as level:
            self._lifted = [lift(primal, level, n) for n, primal in enumerate(primals)]
            for x in (x for _, leaves, _ in self._lifted for x in leaves):
                if type(x.value) is not Tensor:
                    x.value = x.node[ANSWER] = kept(level, x.value)
            out = run(f, [tree for tree, _, _ in self._lifted], kwargs)
        leaves, self.spec = flatten(out)
        self.nodes: list[Any] = [node_of(x, level) for x in leaves]
        self.values: list[Any] = [strip(x, level) for x in leaves]

    def pulled(self, seeds: Sequence[Cotangent]) -> tuple[Tree, ...]:
        """The public gradient of each argument, given the (unconjugated) cotangents of the leaves returned."""
        roots = [(node, seed) for node, seed in zip(self.nodes, seeds, strict=True) if node is not None]
        found = backward.sweep(roots)
        return tuple(unflatten(s, [to_public(found, x.node) for x in ts]) for _, ts, s in self._lifted)


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
