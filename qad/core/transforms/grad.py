"""Reverse-mode transforms: `grad`, `value_and_grad` and `vjp`.

Public gradients are ``dL/dx + i dL/dy = 2 dL/d(conj z)``; the conjugate of the tape's cotangents.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.errors import ArgumentError
from qad.core.tape import backward
from qad.core.transforms.arguments import check_argnums, numbers_of, seeds_like
from qad.core.transforms.leaves import own, owned
from qad.core.transforms.linearized import gradients, linearized, output_leaves, pulled, scalar_roots
from qad.core.transforms.transformed import transformed
from qad.core.trees import tree_map, unflatten

if TYPE_CHECKING:
    from collections.abc import Callable

    from qad.typing import Function, P, R, Tree

CONVENTIONS = ("steepest", "jax")


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
    options = _options(argnums, has_aux, convention, "qad.value_and_grad")
    return transformed(value_and_gradient, f, *options, name="qad.value_and_grad")


def _options(
    argnums: int | tuple[int, ...], has_aux: bool, convention: str, name: str
) -> tuple[tuple[int, ...], bool, bool, bool, str]:
    """What `value_and_gradient` is told: the numbers, whether they came as a tuple, and so on.

    Last the name under which the user called.
    """
    if convention not in CONVENTIONS:
        raise ArgumentError(f"convention={convention!r}: write one of {', '.join(map(repr, CONVENTIONS))}")
    return numbers_of(argnums), isinstance(argnums, tuple), has_aux, convention == "jax", name


def value_and_gradient(
    f: Function, numbers: tuple[int, ...], several: bool, has_aux: bool, conjugated: bool, name: str,
    /, *args: Tree, **kwargs: Any
) -> tuple[Any, Tree]:  # fmt: skip
    """What `value_and_grad` makes; see `_options`."""
    out, aux, level, given = linearized(f, args, numbers, kwargs, has_aux)
    roots, value = scalar_roots(out, level, name)
    del out  # so that the sweep frees the graph as it goes
    g = gradients(backward.sweep(roots), given)
    g = g if several else g[0]
    g = tree_map(np.conj, g) if conjugated else g
    return ((value, owned(aux, level, given)) if has_aux else value), g


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
    return transformed(gradient_alone, f, *_options(argnums, has_aux, convention, "qad.grad"), name="qad.grad")


def gradient_alone(
    f: Function, numbers: tuple[int, ...], several: bool, has_aux: bool, conjugated: bool, name: str,
    /, *args: Tree, **kwargs: Any
) -> Tree:  # fmt: skip
    """What `grad` makes."""
    value, g = value_and_gradient(f, numbers, several, has_aux, conjugated, name, *args, **kwargs)
    return (g, value[1]) if has_aux else g


def gradient_by(f: Function, argnums: int | tuple[int, ...], name: str) -> Function:
    """`grad` for another transform, whose `name` errors tell."""
    return transformed(gradient_alone, f, *_options(argnums, False, "steepest", name), name=name)


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
        primal: the gradient of ``<w, f>``. It may be called many times. ``pullback(w, argnums=(0,))`` finds only
        the gradients by the primals of these numbers.

    Examples
    --------
    >>> import numpy as np, qad
    >>> out, pullback = qad.vjp(lambda z: z * z, np.array([1 + 1j]))
    >>> pullback(np.array([1.0 + 0j]))
    (array([2.-2.j]),)
    """
    out, _, level, given = linearized(f, [tree_map(own, x) for x in primals], range(len(primals)), kwargs)
    nodes, values, spec = output_leaves(out, level)
    ways = {None: (given, nodes)}

    def pullback(w, argnums=None):
        argnums = None if argnums is None else numbers_of(argnums)
        if argnums not in ways:
            check_argnums(argnums, given)
            chosen = [given[n] for n in argnums]
            ways[argnums] = chosen, backward.towards(nodes, [x.node for leaves, _ in chosen for x in leaves])
        return pulled(*ways[argnums], seeds_like(w, values, spec))

    return unflatten(spec, [own(v) for v in values]), pullback  # the tape needs them
