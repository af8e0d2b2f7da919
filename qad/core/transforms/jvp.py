"""Forward-mode transforms: `jvp`, and `hvp` as forward over reverse."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.errors import ArgumentError
from qad.core.tape.forward import Forward
from qad.core.tape.tensor import FIXED, Tensor, argument
from qad.core.transforms.arguments import match, run
from qad.core.transforms.grad import gradient_by, vjp
from qad.core.transforms.leaves import alike, checked, number, own, owned_leaves, zeros_of
from qad.core.transforms.linearized import tangent_out
from qad.core.trees import flatten, nesting, tree_map, unflatten

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qad.core.tape.levels import Level
    from qad.typing import Function, R, Tree
    from qad.typing.words import Tangent, Value


def jvp(f: Callable[..., R], primals: Sequence[Tree], tangents: Sequence[Tree], **kwargs: Any) -> tuple[R, Any]:
    """Value of `f` and its derivative along `tangents`, in one forward pass.

    Parameters
    ----------
    f : callable
        Any function of arrays or pytrees to an array or a pytree of them.
    primals, tangents : tuples of pytrees
        One entry per positional argument, of equal structure and shapes. Tangents are plain real-linear
        differentials; a real primal takes a real tangent.
    **kwargs
        Passed on to `f`, and not differentiated.

    Returns
    -------
    out, tangent_out
        Both of the structure of what `f` returns.

    Raises
    ------
    ArgumentError
        If primals and tangents are not tuples of equal length and structure.
    ShapeError, GradientTypeError
        If a tangent does not fit its primal.

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.jvp(np.sin, (np.array([0.0]),), (np.array([2.0]),))
    (array([0.]), array([2.]))
    """
    if not (isinstance(primals, tuple) and isinstance(tangents, tuple) and len(primals) == len(tangents)):
        raise ArgumentError("primals and tangents are tuples of equal length: write qad.jvp(f, (x,), (t,))")
    with Forward() as level:
        duals = [_dual(p, t, level, n) for n, (p, t) in enumerate(zip(primals, tangents, strict=True))]
        out = run(f, [tree for _, tree in duals], kwargs)
    leaves, spec = flatten(out)
    tangents = [tangent_out(x, level) for x in leaves]
    values = owned_leaves(leaves, level, duals)
    moved = [_handed_out(t, number(value)) for t, value in zip(tangents, values, strict=True)]
    return unflatten(spec, values), unflatten(spec, moved)


def _handed_out(t: Tangent, value: Value) -> Tangent:
    """The tangent `t` (or None) of an output: of its dtype, in memory of its own."""
    if t is None:
        return zeros_of(value)
    return alike(own(t) if t.dtype == value.dtype else t.astype(value.dtype), value)


def _dual(primal: Tree, tangent: Tree, level: Level, name: Any) -> tuple[list[Tensor], Tree]:
    """The leaves of `primal`, each with its tangent, and the tree of them."""
    if (
        type(primal) is type(tangent) is np.ndarray
        and primal.dtype is tangent.dtype
        and primal.dtype.kind in "fc"
        and primal.shape == tangent.shape
    ):  # the common case, quickly
        dual = Tensor(primal, None, level, tangent)
        dual.buffer = FIXED
        return [dual], dual
    leaves, spec = checked(primal, name)
    moves, given = flatten(tangent)
    if given != spec:
        raise ArgumentError(f"the tangent of argument {name} is nested like {nesting(given)}, not {nesting(spec)}")
    duals = [argument(Tensor(x, None, level, match(t, x, "tangent"))) for x, t in zip(leaves, moves, strict=True)]
    return duals, unflatten(spec, duals)


def hvp(f: Function, primals: Sequence[Tree], tangents: Sequence[Tree], **kwargs: Any) -> tuple[Any, ...]:
    """Hessian-vector product of a real function, without the Hessian (forward over reverse).

    Parameters
    ----------
    f : callable
        Returns a real scalar.
    primals, tangents : tuples of pytrees
        As in `jvp`.
    **kwargs
        Passed on to `f`, and not differentiated.

    Returns
    -------
    tuple
        The derivative along `tangents` of the gradient ``dL/dx + i dL/dy``: one entry per primal.

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.hvp(lambda x: np.sum(x**3), (np.array([1.0, 2.0]),), (np.array([1.0, 0.0]),))
    (array([6., 0.]),)
    """
    if not isinstance(primals, tuple):
        raise ArgumentError("primals and tangents are tuples of equal length: write qad.hvp(f, (x,), (t,))")
    gradient = gradient_by(f, tuple(range(len(primals))), "qad.hvp")
    products = jvp(gradient, primals, tangents, **kwargs)[1]
    return tree_map(alike, products, primals)


def vhp(f: Function, primals: Sequence[Tree], vectors: Sequence[Tree], **kwargs: Any) -> tuple[Any, ...]:
    """Vector-Hessian product of a real function: `hvp` in reverse over reverse mode.

    The Hessian is symmetric in ``<a, b> = Re sum conj(a) b``, so that both give the same; this one keeps the graph of
    the gradient, and takes less time where a function has many operations on small arrays.

    Parameters
    ----------
    f : callable
        Returns a real scalar.
    primals, vectors : tuples of pytrees
        As in `jvp`.
    **kwargs
        Passed on to `f`, and not differentiated.

    Returns
    -------
    tuple
        The gradient of ``<vectors, gradient of f>``: one entry per primal.

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.vhp(lambda x: np.sum(x**3), (np.array([1.0, 2.0]),), (np.array([1.0, 0.0]),))
    (array([6., 0.]),)
    """
    if not (isinstance(primals, tuple) and isinstance(vectors, tuple)):
        raise ArgumentError("primals and vectors are tuples of equal length: write qad.vhp(f, (x,), (v,))")
    _, pullback = vjp(gradient_by(f, tuple(range(len(primals))), "qad.vhp"), *primals, **kwargs)
    return pullback(vectors)
