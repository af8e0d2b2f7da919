"""Second derivatives of real functions as arrays."""

from dataclasses import dataclass
from functools import wraps

import numpy as np

from qad.core.arguments import check_argnums, numbers_of
from qad.core.errors import ArgumentError
from qad.core.jacobians import basis, pushed
from qad.core.leaves import number
from qad.core.levels import CONSTANT
from qad.core.transforms import grad
from qad.core.trees import LEAF, check_leaf, flatten, strip


@dataclass(frozen=True)
class ComplexHessian:
    """Second derivatives of a real function of a complex array.

    Attributes
    ----------
    zz : array
        ``d2L / dz_i dz_j``, symmetric, without a factor; shape ``z.shape + z.shape``.
    zzbar : array
        ``d2L / dz_i d(conj z)_j``, Hermitian, of the same shape.
    """

    zz: np.ndarray
    zzbar: np.ndarray

    @property
    def real(self):
        """The Hessian by real and imaginary parts: real and symmetric, (2n, 2n), in ``(x, y)``, z = x + iy.

        ``[[2 Re(zz + zzbar), -2 Im(zz - zzbar)], [-2 Im(zz + zzbar), 2 Re(zzbar - zz)]]``
        """
        n = int(np.sqrt(self.zz.size))
        zz, zzbar = self.zz.reshape((n, n)), self.zzbar.reshape((n, n))
        upper = np.concatenate([(zz + zzbar).real, (zzbar - zz).imag], axis=1)
        lower = np.concatenate([-(zz + zzbar).imag, (zzbar - zz).real], axis=1)
        return 2 * np.concatenate([upper, lower])


def hessian(f, argnums=0):
    """Make the function that returns the Hessian of a real function.

    Parameters
    ----------
    f : callable
        Returns a real scalar.
    argnums : int or tuple of int
        The array arguments to differentiate; several of them are real.

    Returns
    -------
    callable
        For a real array the Hessian, of shape ``x.shape + x.shape``; for a complex one a `ComplexHessian`, with
        ``hvp(v) = 2 conj(zz v + zzbar conj(v))``. For a tuple of `argnums` the blocks ``h[i][j]``, tuples of tuples,
        of shape ``x_i.shape + x_j.shape``.

    Notes
    -----
    The gradient ``G = 2 dL/d(conj z)`` has ``dG/dz = 2 conj(zzbar)`` and ``dG/d(conj z) = 2 conj(zz)``.

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
    """
    if isinstance(argnums, tuple):
        return _blocks(f, argnums)
    gradient = grad(f, argnums)

    @wraps(f)
    def second(*args, **kwargs):
        check_argnums(numbers_of(argnums), args)
        x = _array(args, argnums)

        def slope(x):
            return gradient(*args[:argnums], x, *args[argnums:][1:], **kwargs)

        rows = pushed(slope, x, basis(x.shape, x.dtype))
        if x.dtype.kind != "c":
            return rows.reshape(x.shape + x.shape)
        along_x, along_y = rows.reshape((2, *x.shape, *x.shape))
        return ComplexHessian(
            zz=0.25 * np.conj(along_x + 1j * along_y),
            zzbar=0.25 * (along_x - 1j * along_y),
        )

    return second


def _array(args, n):
    """Argument number `n`, checked to be one array."""
    if type(args[n]) is np.ndarray and args[n].dtype.kind in "fc":  # the common case, quickly
        return args[n]
    if flatten(args[n])[1] != LEAF:
        raise ArgumentError("qad.hessian is for array arguments: for a pytree use qad.hvp")
    x = number(strip(args[n], CONSTANT))
    check_leaf(x, lambda: n)
    return x


def _blocks(f, argnums):
    """`hessian` by several real arguments: the derivatives of all gradients, joined, by one argument after another."""
    gradient = grad(f, argnums)

    @wraps(f)
    def second(*args, **kwargs):
        check_argnums(numbers_of(argnums), args)
        xs = [_array(args, n) for n in argnums]
        if any(x.dtype.kind == "c" for x in xs):
            raise ArgumentError("qad.hessian by several arguments is for real ones: use qad.hvp for complex ones")

        def row(n, x):
            call = list(args)

            def slopes(x):
                call[n] = x
                return np.concatenate([np.reshape(g, -1) for g in gradient(*call, **kwargs)])

            moved = np.split(pushed(slopes, x, basis(x.shape, x.dtype)), ends[:-1], axis=1)
            return tuple([part.reshape(x.shape + y.shape) for part, y in zip(moved, xs, strict=True)])

        ends = np.cumsum([x.size for x in xs])
        return tuple([row(n, x) for n, x in zip(argnums, xs, strict=True)])

    return second
