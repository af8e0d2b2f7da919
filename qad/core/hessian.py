"""Second derivatives of real functions as arrays."""

from dataclasses import dataclass
from functools import wraps

import numpy as np

from qad.core.arguments import check_argnums, numbers_of
from qad.core.errors import ArgumentError
from qad.core.steps import as_array
from qad.core.tensor import value_of
from qad.core.transforms import grad
from qad.core.trees import LEAF, flatten
from qad.core.wirtinger import jacobian, wirtinger


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


def hessian(f, argnums=0):
    """Make the function that returns the Hessian of a real function.

    Parameters
    ----------
    f : callable
        Returns a real scalar.
    argnums : int
        The array argument to differentiate.

    Returns
    -------
    callable
        For a real array the Hessian, of shape ``x.shape + x.shape``; for a complex one a `ComplexHessian`, with
        ``hvp(v) = 2 conj(zz v + zzbar conj(v))``.

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
    """
    gradient = grad(f, argnums)

    @wraps(f)
    def second(*args, **kwargs):
        check_argnums(numbers_of(argnums), args)
        if isinstance(argnums, tuple) or flatten(args[argnums])[1] != LEAF:
            raise ArgumentError("qad.hessian is for one array argument: for a pytree, or several, use qad.hvp")
        if as_array(value_of(args[argnums])).dtype.kind != "c":
            return jacobian(gradient, argnums)(*args, **kwargs)
        dz, dzbar = wirtinger(gradient, argnums)(*args, **kwargs)
        return ComplexHessian(zz=0.5 * np.conj(dzbar), zzbar=0.5 * np.conj(dz))

    return second
