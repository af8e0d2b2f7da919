"""Derivatives of array-valued functions as arrays: `wirtinger` and `jacobian`."""

from functools import wraps

import numpy as np

from qad.core.arguments import check_argnums, numbers_of, output_dtype
from qad.core.backward import arrived, sweep
from qad.core.errors import ArgumentError, GradientTypeError
from qad.core.levels import REVERSE, open_level
from qad.core.tensor import Tensor, value_of
from qad.core.transforms import lift, node_of, run
from qad.core.trees import strip
from qad.core.watch import check


def wirtinger(f, argnums=0):
    """Make the function that returns both Wirtinger derivatives of `f`.

    Parameters
    ----------
    f : callable
        Returns an array, real or complex.
    argnums : int
        The complex array argument to differentiate.

    Returns
    -------
    callable
        ``(df_dz, df_dzbar)``, complex arrays of shape ``out.shape + in.shape``, with
        ``d/dz = (d/dx - i d/dy) / 2`` and ``d/dzbar = (d/dx + i d/dy) / 2`` (no factor 2).

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

    @wraps(f)
    def both(*args, **kwargs):
        real, imag, x = _rows(f, args, kwargs, argnums)
        if x.dtype.kind != "c":
            raise GradientTypeError(
                "qad.wirtinger differentiates by complex arrays, but the argument is real: use qad.jacobian"
            )
        return 0.5 * (real + 1j * imag), 0.5 * (np.conj(real) + 1j * np.conj(imag))

    return both


def jacobian(f, argnums=0, holomorphic=False):
    """Make the function that returns the Jacobian of `f`.

    Parameters
    ----------
    f : callable
        Returns an array, real or complex.
    argnums : int
        The array argument to differentiate.
    holomorphic : bool
        Needed for a complex argument: the result is ``df/dz``, and the Cauchy-Riemann equations are checked
        at the point.

    Returns
    -------
    callable
        The Jacobian, of shape ``out.shape + in.shape``.

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
    """

    @wraps(f)
    def matrix(*args, **kwargs):
        real, imag, x = _rows(f, args, kwargs, argnums)
        if x.dtype.kind != "c":
            return real if imag is None else real + 1j * imag
        if not holomorphic:
            raise GradientTypeError(
                "the Jacobian of a function of complex arrays: write qad.wirtinger for both derivatives, or "
                "qad.jacobian(f, holomorphic=True) if f is holomorphic"
            )
        dz, dzbar = 0.5 * (real + 1j * imag), 0.5 * (np.conj(real) + 1j * np.conj(imag))
        _check_holomorphic(value_of(dz), value_of(dzbar))
        return dz

    return matrix


def _check_holomorphic(dz, dzbar):
    if not dz.size:
        return
    worst, scale = np.abs(dzbar).max(), max(np.abs(dz).max(), np.abs(dzbar).max())
    if worst > 1e3 * np.finfo(dz.dtype).eps * scale:
        raise GradientTypeError(
            f"the function is not holomorphic here: |df/dzbar| reaches {worst:.3g} where |df/dz| reaches "
            f"{np.abs(dz).max():.3g}; use qad.wirtinger"
        )


def _rows(f, args, kwargs, argnums):
    """Cotangents of Re f and Im f (None for real f), stacked over the entries of the output; and the argument."""
    if isinstance(argnums, tuple):
        raise ArgumentError("argnums is one number here: call it once per argument")
    call = list(args)
    level = open_level(REVERSE)
    try:
        seen = REVERSE[level]
        check_argnums(numbers_of(argnums), args)
        call[argnums], leaves, _ = lift(args[argnums], level, argnums)
        out = run(f, call, kwargs)
    finally:
        REVERSE.discard(level)
    if len(leaves) != 1:
        raise ArgumentError("the argument is one array here: for a pytree use qad.vjp")
    (x,) = leaves
    node, value = node_of(out, level), strip(out, level)
    check([(node, None)], seen)
    dtype = output_dtype(value, "qad.jacobian")
    shape = np.shape(value_of(value))
    real = _sweep_rows(node, shape, dtype, x, 1.0)
    imag = _sweep_rows(node, shape, dtype, x, -1j) if dtype.kind == "c" else None
    if imag is None and x.dtype.kind == "c":
        imag = np.zeros(real.shape, value_of(x).real.dtype)
    return real, imag, x


def _sweep_rows(node, shape, dtype, x, seed):
    rows = []
    for index in np.ndindex(shape):
        one = np.zeros(shape, dtype)
        one[index] = seed
        found = sweep([(node, one)]) if node is not None else {}
        row = arrived(found, x.node)[0]
        rows.append(np.zeros(x.shape, x.dtype) if row is None else row)
    if not rows:
        return np.zeros(shape + x.shape, x.dtype)
    stacked = np.stack(rows)
    return stacked.reshape(shape + x.shape) if type(stacked) is Tensor or stacked.shape else stacked
