"""Derivatives of array-valued functions as arrays: `wirtinger`, `jacobian`, and whether a function is holomorphic."""

from __future__ import annotations

from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.errors import GradientTypeError
from qad.core.foreign import as_array, like
from qad.core.tape.tensor import CONSTANT
from qad.core.transforms.jacobian import derivatives
from qad.core.transforms.jvp import jvp
from qad.core.transforms.leaves import owned
from qad.core.transforms.transformed import transformed
from qad.core.trees import flatten, tree_map
from qad.core.vmap.batched import stack_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from qad.typing import Function, P, R, Tree
    from qad.typing.words import Value


def wirtinger(f: Callable[P, Any], argnums: int | tuple[int, ...] = 0) -> Callable[P, Any]:
    """Make the function that returns both Wirtinger derivatives of `f`.

    Parameters
    ----------
    f : callable
        Returns an array, real or complex, or a pytree of them.
    argnums : int or tuple of int
        The arguments to differentiate, complex arrays or pytrees of them; a tuple of pairs is returned for a tuple.

    Returns
    -------
    callable
        ``(df_dz, df_dzbar)``, complex arrays of shape ``out.shape + in.shape``, with
        ``d/dz = (d/dx - i d/dy) / 2`` and ``d/dzbar = (d/dx + i d/dy) / 2`` (no factor 2). Of pytrees each of the two
        is a tree of trees, as in `jacobian`.

    Raises
    ------
    GradientTypeError
        If the argument is real; use `jacobian`.

    Examples
    --------
    >>> import numpy as np, qad
    >>> dz, dzbar = qad.wirtinger(lambda z: z * np.conj(z))(np.array(1 + 2j))
    >>> complex(dz), complex(dzbar)
    ((1-2j), (1+2j))
    """

    return transformed(both, f, argnums, name="qad.wirtinger")


def both(f: Function, argnums: int | tuple[int, ...], /, *args: Tree, **kwargs: Any) -> Any:
    """What `wirtinger` makes."""
    _, table = derivatives(f, args, kwargs, argnums, "qad.wirtinger")
    if any(by_conj is None for row in table.rows for _, by_conj in row):
        raise GradientTypeError(
            "qad.wirtinger differentiates by complex arrays, but the argument is real: use qad.jacobian"
        )
    pairs = [(t.tree(itemgetter(0)), t.tree(itemgetter(1))) for t in table.by_argument()]
    return tuple(pairs) if isinstance(argnums, tuple) else pairs[0]


def jacobian(f: Callable[P, Any], argnums: int | tuple[int, ...] = 0, holomorphic: bool = False) -> Callable[P, Any]:
    """Make the function that returns the Jacobian of `f`.

    Parameters
    ----------
    f : callable
        Returns an array, real or complex, or a pytree of them.
    argnums : int or tuple of int
        The arguments to differentiate, arrays or pytrees of them.
    holomorphic : bool
        Needed for a complex argument: the result is ``df/dz``, and the Cauchy-Riemann equations are checked
        at the point.

    Returns
    -------
    callable
        The Jacobian, of shape ``out.shape + in.shape``, in memory of its own. Of pytrees it is a tree of trees: the
        container of the output and, in the place of each array there, that of the argument (for a tuple of `argnums` a
        tuple of these). It takes a sweep for all entries of the output or, where these are many more than those of
        the argument, a forward pass for all of those.

    Raises
    ------
    GradientTypeError
        If the argument is complex without `holomorphic`, or the function is not holomorphic at the point.

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.jacobian(lambda x: x**2)(np.array([1.0, 3.0]))
    array([[2., 0.],
           [0., 6.]])
    >>> by = qad.jacobian(lambda p: {"sum": p["a"] + p["b"]})({"a": np.ones(2), "b": np.array(3.0)})
    >>> by["sum"]["a"].shape, by["sum"]["b"].shape
    ((2, 2), (2,))
    """

    return transformed(matrix, f, argnums, holomorphic, name="qad.jacobian")


def value_and_jacobian(
    f: Callable[P, R], argnums: int | tuple[int, ...] = 0, holomorphic: bool = False
) -> Callable[P, tuple[R, Any]]:
    """Make the function that returns the value of `f` together with its Jacobian; see `jacobian`.

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.value_and_jacobian(lambda x: x**2)(np.array([1.0, 3.0]))
    (array([1., 9.]), array([[2., 0.],
           [0., 6.]]))
    """

    return transformed(value_and_matrix, f, argnums, holomorphic, name="qad.value_and_jacobian")


def value_and_matrix(
    f: Function, argnums: int | tuple[int, ...], holomorphic: bool, /, *args: Tree, **kwargs: Any
) -> tuple[Tree, Tree]:
    """What `value_and_jacobian` makes."""
    value, table = derivatives(f, args, kwargs, argnums, "qad.jacobian")
    return owned(value, CONSTANT), table.tree(partial(_one_matrix, holomorphic))


def matrix(f: Function, argnums: int | tuple[int, ...], holomorphic: bool, /, *args: Tree, **kwargs: Any) -> Tree:
    """What `jacobian` makes."""
    return value_and_matrix(f, argnums, holomorphic, *args, **kwargs)[1]


def _one_matrix(holomorphic: bool, pair: tuple[Value, Value]) -> Value:
    """The Jacobian, where the two Wirtinger derivatives are one."""
    by_z, by_conj = pair
    if by_conj is not None:
        if not holomorphic:
            raise GradientTypeError(
                "the Jacobian of a function of complex arrays: write qad.wirtinger for both derivatives, or "
                "qad.jacobian(f, holomorphic=True) if f is holomorphic"
            )
        _check_holomorphic(stack_of(by_z), stack_of(by_conj))
    return by_z


def _check_holomorphic(dz: Value, dzbar: Value) -> None:
    if not dz.size:
        return
    worst, scale = np.abs(dzbar).max(), max(np.abs(dz).max(), np.abs(dzbar).max())
    if worst > 1e3 * np.finfo(dz.dtype).eps * scale:
        raise GradientTypeError(
            f"the function is not holomorphic here: |df/dzbar| reaches {worst:.3g} where |df/dz| reaches "
            f"{np.abs(dz).max():.3g}; use qad.wirtinger"
        )


def is_holomorphic(f: Callable[P, Any], argnums: int = 0, seed: int = 0) -> Callable[P, bool]:
    """Make the function that tells whether `f` is holomorphic at a point: whether ``df/d(conj z) = 0`` there.

    Parameters
    ----------
    f : callable
        Returns an array or a pytree of them.
    argnums : int
        The argument that counts, any pytree of complex arrays.
    seed : int
        Of the random direction.

    Returns
    -------
    callable
        True where the derivative is linear over the complex numbers, ``df(iv) = i df(v)`` up to rounding, along a
        random direction v: that costs two evaluations for any number of variables, and errs with probability zero.

    Raises
    ------
    GradientTypeError
        If the argument is real.

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.is_holomorphic(np.exp)(np.array([1j])), qad.is_holomorphic(np.abs)(np.array([1j]))
    (True, False)
    """

    return transformed(holomorphic, f, argnums, seed, name="qad.is_holomorphic")


def holomorphic(f: Function, argnums: int, seed: int, /, *args: Tree, **kwargs: Any) -> bool:
    """What `is_holomorphic` makes."""
    point = args[argnums]
    if any(as_array(z).dtype.kind != "c" for z in flatten(point)[0]):
        raise GradientTypeError("qad.is_holomorphic asks about complex arguments: write z.astype(complex)")
    rng = np.random.default_rng(seed)
    v = tree_map(
        lambda z: like(z).asarray(rng.normal(size=np.shape(z)) + 1j * rng.normal(size=np.shape(z)), z.dtype), point
    )

    def g(z):
        return f(*args[:argnums], z, *args[argnums:][1:], **kwargs)

    _, along = jvp(g, (point,), (v,))
    _, across = jvp(g, (point,), (tree_map(lambda t: 1j * t, v),))
    return all(map(_turned, flatten(along)[0], flatten(across)[0]))


def _turned(along: Value, across: Value) -> bool:
    """Whether the second tangent is i times the first, to rounding."""
    size = max(np.abs(along).max(initial=0.0), np.abs(across).max(initial=0.0))
    return bool(np.abs(across - 1j * along).max(initial=0.0) <= 1e4 * np.finfo(as_array(along).dtype).eps * size)
