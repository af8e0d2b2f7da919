"""Second derivatives of real functions as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from functools import wraps
from math import isqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.tape.tensor import CONSTANT
from qad.core.transforms.arguments import check_argnums, numbers_of
from qad.core.transforms.grad import gradient_by
from qad.core.transforms.jacobian import basis, joined, nested, of_dtype, pushed
from qad.core.transforms.leaves import number
from qad.core.transforms.transformed import remade
from qad.core.trees import LEAF, check_leaf, flatten, leaf_path, strip

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qad.core.words import Keywords, Spec, Value
    from qad.typing import Array, Function, P, Tree


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
    numbers, several = numbers_of(argnums), isinstance(argnums, tuple)
    gradient, gradients = (gradient_by(f, which, "qad.hessian") for which in (argnums, numbers))

    @wraps(f)
    def second(*args, **kwargs):
        check_argnums(numbers, args)
        if several or (type(args[argnums]) is not np.ndarray and flatten(args[argnums])[1] != LEAF):
            return _blocks(gradients, numbers, several, args, kwargs)
        x = _leaf(args[argnums], argnums)

        def slope(x):
            return gradient(*args[:argnums], x, *args[argnums:][1:], **kwargs)

        rows = pushed(slope, x, basis(x.shape, x.dtype))
        if x.dtype.kind != "c":
            return rows.reshape(x.shape + x.shape)
        return ComplexHessian(*_wirtinger(*rows.reshape((2, *x.shape, *x.shape))))

    return remade(second, hessian, f, argnums)


def _wirtinger(along_x: Value, along_y: Value) -> tuple[Value, Value]:
    """``zz`` and ``zzbar`` from the derivatives of the gradient along the real and the imaginary axes."""
    return 0.25 * np.conj(along_x + 1j * along_y), 0.25 * (along_x - 1j * along_y)


def _leaf(x: Any, where: object) -> Value:
    """`x`, checked to be an array that can be differentiated."""
    if type(x) is np.ndarray and x.dtype.kind in "fc":  # the common case, quickly
        return x
    x = strip(x, CONSTANT)
    check_leaf(x, lambda: where)
    return number(x)


def _blocks(gradients: Function, numbers: Sequence[int], several: bool, args: Sequence[Tree], kwargs: Keywords) -> Tree:
    """The Hessian by several arrays: the derivatives of all gradients, joined, by one array after another."""
    flat = [flatten(args[n]) for n in numbers]
    specs = [spec for _, spec in flat]
    places = [(n, i, x) for n, (leaves, _) in zip(numbers, flat, strict=True) for i, x in enumerate(leaves)]
    xs = [_leaf(x, f"{n}{leaf_path(args[n], i)}") for n, i, x in places]
    ends = np.cumsum([x.size for x in xs])

    def row(k, x):
        def slopes(x):
            trees = nested([*xs[:k], x, *xs[k + 1 :]], specs, True)
            call = list(args)
            for n, tree in zip(numbers, trees, strict=True):
                call[n] = tree
            return joined(flatten(gradients(*call, **kwargs))[0])

        parts = np.split(pushed(slopes, x, basis(x.shape, x.dtype)), ends[:-1].tolist(), axis=1)
        return [of_dtype(part, y.dtype) for part, y in zip(parts, xs, strict=True)]

    rows = [zip(row(k, x), xs, strict=True) for k, x in enumerate(xs)]
    if all(x.dtype.kind != "c" for x in xs):
        shaped = [[part.reshape(x.shape + y.shape) for part, y in row] for row, x in zip(rows, xs, strict=True)]
        return _squared(shaped, specs, several)
    pairs = [[_pair(part, x, y) for part, y in row] for row, x in zip(rows, xs, strict=True)]
    zz, zzbar = ([[pair[i] for pair in row] for row in pairs] for i in (0, 1))
    return ComplexHessian(_squared(zz, specs, several), _squared(zzbar, specs, several))


def _pair(part: Value, x: Value, y: Value) -> list[Value]:
    """``zz`` and ``zzbar`` of two arrays, from the derivatives of the gradient by `y` along the axes of `x`."""
    along_y = part[x.size :] if x.dtype.kind == "c" else np.zeros_like(part)
    return [block.reshape(x.shape + y.shape) for block in _wirtinger(part[: x.size], along_y)]


def _squared(rows: Sequence[Sequence[Value]], specs: Sequence[Spec], several: bool) -> Tree:
    """A tree of trees."""
    return nested([nested(row, specs, several) for row in rows], specs, several)
