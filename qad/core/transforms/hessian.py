"""Second derivatives of real functions as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.transforms.arguments import check_argnums
from qad.core.transforms.grad import gradient_by
from qad.core.transforms.jacobian import Leaves, by_columns
from qad.core.transforms.leaves import checked
from qad.core.transforms.transformed import transformed
from qad.core.trees import ONE_LEAF, flatten

if TYPE_CHECKING:
    from collections.abc import Callable

    from qad.core.transforms.transformed import Transformed
    from qad.typing import Array, Function, P, Tree
    from qad.typing.words import Pair, Value


@dataclass(frozen=True)
class ComplexHessian:
    """Second derivatives of a real function of complex numbers.

    Attributes
    ----------
    zz : array, or tree of trees of arrays
        ``d2L / dz_i dz_j``, symmetric, without a factor; shape ``z.shape + z.shape``.
    zzbar : array, or tree of trees of arrays
        ``d2L / dz_i d(conj z)_j``, Hermitian, of the same shape.
    """

    zz: object
    zzbar: object

    @property
    def real(self) -> Array:
        """The Hessian by real and imaginary parts: real and symmetric, (2n, 2n), in ``(x, y)``, z = x + iy.

        ``[[2 Re(zz + zzbar), -2 Im(zz - zzbar)], [-2 Im(zz + zzbar), 2 Re(zzbar - zz)]]``; of a tree all of its arrays
        are one vector z, and the y of a real array, which does not exist, has rows and columns of zeros.
        """
        zz, zzbar = _matrix(self.zz), _matrix(self.zzbar)
        upper = np.concatenate([(zz + zzbar).real, (zzbar - zz).imag], axis=1)
        lower = np.concatenate([-(zz + zzbar).imag, (zzbar - zz).real], axis=1)
        return 2 * np.concatenate([upper, lower])


def _matrix(tree: Tree) -> Value:
    """A tree of trees, of n leaves with n leaves each, as one matrix."""
    blocks = flatten(tree)[0]
    n = isqrt(len(blocks))
    sizes = [isqrt(block.size) for block in blocks[:: n + 1]]  # those on the diagonal are square
    shaped = [b.reshape((sizes[k // n], sizes[k % n])) for k, b in enumerate(blocks)]
    return np.concatenate([np.concatenate(shaped[k * n : (k + 1) * n], axis=1) for k in range(n)])


def hessian(f: Callable[P, Any], argnums: int | tuple[int, ...] = 0) -> Callable[P, Any]:
    """Make the function that returns the Hessian of a real function.

    Parameters
    ----------
    f : callable
        Returns a real scalar.
    argnums : int or tuple of int
        The arguments to differentiate, arrays or pytrees of them.

    Returns
    -------
    callable
        For a real array the Hessian, of shape ``x.shape + x.shape``; for a complex one a `ComplexHessian`, with
        ``hvp(v) = 2 conj(zz v + zzbar conj(v))``. For a pytree it is a tree of trees: the container of the argument
        and, in the place of each array there, the same container again, of blocks of shape ``x_i.shape + x_j.shape``.
        A tuple of `argnums` is such a container too: of arrays the blocks are ``h[i][j]``, in a tuple of tuples.
        With a complex array among several, ``zz`` and ``zzbar`` are such trees.

    Notes
    -----
    The gradient ``G = 2 dL/d(conj z)`` has ``dG/dz = 2 conj(zzbar)`` and ``dG/d(conj z) = 2 conj(zz)``. Beside complex
    arrays a real one counts as a complex one that stays real: for it ``d/dz`` is half of the derivative.

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.hessian(lambda x: np.sum(x**3))(np.array([1.0, 2.0]))
    array([[ 6.,  0.],
           [ 0., 12.]])
    >>> complex(qad.hessian(lambda z: qad.abs2(z))(np.array(1j)).zzbar)
    (1+0j)
    >>> qad.hessian(lambda z: qad.abs2(z))(np.array(1j)).real + 0.0
    array([[2., 0.],
           [0., 2.]])
    >>> h = qad.hessian(lambda p: p["a"] * np.sum(p["b"] ** 2))({"a": np.array(2.0), "b": np.array([1.0, 3.0])})
    >>> h["a"]["b"], h["b"]["b"]
    (array([2., 6.]), array([[4., 0.],
           [0., 4.]]))
    """
    return transformed(second, f, gradient_by(f, argnums, "qad.hessian"), name="qad.hessian")


def second(_: Function, gradient: Transformed, /, *args: Tree, **kwargs: Any) -> Any:
    """What `hessian` makes."""
    _, numbers, several, *_ = gradient.args  # as `gradient_alone` takes them
    check_argnums(numbers, args)
    given = {n: checked(args[n], n) for n in numbers}
    xs = [x for leaves, _ in given.values() for x in leaves]
    rows = by_columns(gradient, args, kwargs, given, [x.shape for x in xs], [x.dtype for x in xs])
    if not several and given[numbers[0]][1] is ONE_LEAF and xs[0].dtype.kind == "f":  # the common case, quickly
        return rows[0][0][0]
    spec = flatten(tuple([args[n] for n in numbers]) if several else args[numbers[0]])[1]
    table = Leaves(rows, spec, [spec for _, spec in given.values()], several)
    if all(x.dtype.kind != "c" for x in xs):
        return table.tree(itemgetter(0))
    return ComplexHessian(table.tree(_zz), table.tree(_zzbar))


def _zz(pair: Pair) -> Value:
    """The derivatives of a loss by z twice, from those of its gradient by z and by conj z."""
    by_z, by_conj = pair
    return 0.25 * np.conj(by_z) if by_conj is None else 0.5 * np.conj(by_conj)


def _zzbar(pair: Pair) -> Value:
    """The derivatives of a loss by z and by conj z, from those of its gradient."""
    by_z, by_conj = pair
    return (0.25 if by_conj is None else 0.5) * np.conj(by_z)
