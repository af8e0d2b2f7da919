"""The exponential of matrices, by scaling and squaring of Padé approximants; batches in one call of BLAS.

With ``2^-s A`` small enough, ``r = (V - U)^-1 (V + U)`` is squared s times; U and V are odd and even polynomials.  The
Fréchet derivative differentiates each of these steps.  s follows from the norms of A^4 and A^6, which for
matrices far from normal are much smaller than the powers of the norm.

References: N. J. Higham, SIAM J. Matrix Anal. Appl. 26, 1179 (2005); A. H. Al-Mohy and N. J. Higham, ibid. 30, 1639
(2009) and 31, 970 (2009).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import core, defbatch, like, primitive
from qad.linalg.functions.frechet import differentiable
from qad.linalg.support import tolerances
from qad.linalg.support.check import one_norm, square

if TYPE_CHECKING:
    from qad.typing import Array, ArrayLike

_SEVEN = (17297280, 8648640, 1995840, 277200, 25200, 1512, 56, 1)
_THIRTEEN = (
    64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000, 10559470521600,
    670442572800, 33522128640, 1323241920, 40840800, 960960, 16380, 182, 1,
)  # fmt: skip
_RADIUS_SEVEN, _RADIUS_THIRTEEN = 0.78, 4.74  # norms up to which exp and its derivative are exact to 1e-16


def expm(a: ArrayLike) -> Array:
    """The exponential of matrices.

    Parameters
    ----------
    a : array (..., n, n)
        Real or complex.

    Returns
    -------
    array (..., n, n)

    Raises
    ------
    ShapeError
        If the matrices are not square.
    ArgumentError
        If an entry is not finite, the exponential overflows, or the norm is above 1 / eps (4.5e15).

    Notes
    -----
    ``G_A = L(A^H, G)``, L being the Fréchet derivative, computed together with the exponential at about three times its
    cost.

    Examples
    --------
    >>> import numpy as np, qad
    >>> turn = np.array([[0.0, -1.0], [1.0, 0.0]])
    >>> qad.linalg.expm(np.pi / 2 * turn).round(12)
    array([[ 0., -1.],
           [ 1.,  0.]])
    >>> print(round(float(qad.grad(lambda t: qad.linalg.expm(t * turn)[1, 0])(0.0)), 12))
    1.0
    """
    return _expm(square(a, "expm"))


@primitive(name="expm")
def _expm(a):
    pade = _Pade(a)
    r = pade.value()
    for chosen in pade.squarings():
        r[chosen] = r[chosen] @ r[chosen]
    return _finite(r, a)


@primitive(name="expm (derivative)")
def expm_frechet(a: Array, e: Array) -> Array:
    """The derivative of ``expm(a)`` along `e`, both (..., n, n)."""
    e = np.broadcast_to(e, np.broadcast_shapes(a.shape, e.shape)).astype(np.result_type(a, e))
    pade = _Pade(np.broadcast_to(a, e.shape))
    r, moved = pade.derivative(e)
    for chosen in pade.squarings():
        x, y = r[chosen], moved[chosen]
        moved[chosen] = x @ y + y @ x
        r[chosen] = x @ x
    return _finite(moved, a)


differentiable(_expm, expm_frechet)


class _Pade:
    """The powers of a scaled matrix and the approximant made of them."""

    def __init__(self, a):
        norm = one_norm(a)
        if not np.all(norm * tolerances.unit(a.dtype) < 1):
            raise ArgumentError(f"expm: the norm of the matrix is {norm.max():.3g}, which leaves no digit right")
        first = _exponent(norm / np.finfo(a.dtype).max ** 0.125)  # so that no power overflows
        a = _scaled(a, first)
        self.one = like(a).eye(a.shape[-1], dtype=a.dtype)
        a2 = a @ a
        a4 = a2 @ a2
        a6 = a4 @ a2
        size = np.maximum(one_norm(a4) ** 0.25, one_norm(a6) ** (1 / 6))
        self.short = bool(np.all(norm <= _RADIUS_SEVEN))
        more = _exponent(size / _RADIUS_THIRTEEN)
        self.s = first + more
        self.a, self.a2, self.a4, self.a6 = (_scaled(x, k * more) for x, k in ((a, 1), (a2, 2), (a4, 4), (a6, 6)))

    def squarings(self):
        """For each squaring, which matrices of the batch it squares."""
        for k in range(int(np.max(self.s, initial=0))):
            yield self.s > k if self.s.ndim else ...

    def value(self):
        """The approximant."""
        (odd, _), (v, _) = (self._polynomials(parity) for parity in (1, 0))
        u = self.a @ odd
        return np.linalg.solve(v - u, v + u)

    def derivative(self, e):
        """The approximant and its derivative along the unscaled matrix `e`."""
        e = _scaled(e, self.s)
        m2 = self.a @ e + e @ self.a
        m4 = self.a2 @ m2 + m2 @ self.a2
        m6 = self.a4 @ m2 + m4 @ self.a2
        (odd, moved), (v, dv) = (self._polynomials(parity, m2, m4, m6) for parity in (1, 0))
        u, du = self.a @ odd, e @ odd + self.a @ moved
        r = np.linalg.solve(v - u, v + u)
        return r, np.linalg.solve(v - u, dv + du - (dv - du) @ r)

    def _polynomials(self, parity, *moved):
        """U without its factor A, or V, of parity 0; and how it changes where A^2, A^4 and A^6 are `moved`."""
        table, powers = _SEVEN if self.short else _THIRTEEN, (self.a2, self.a4, self.a6)
        c = [x / table[0] for x in table[parity::2]]  # relative to the first: nothing overflows in single precision
        found = _polynomial(c, *powers) + c[0] * self.one
        change = _polynomial(c, *moved) if moved else None
        if not self.short:
            high = [0, *c[4:]]
            inner = _polynomial(high, *powers)
            found = found + self.a6 @ inner
            change = change + self.a6 @ _polynomial(high, *moved) + moved[2] @ inner if moved else None
        return found, change


def _polynomial(c, x2, x4, x6):
    return c[1] * x2 + c[2] * x4 + c[3] * x6


def _exponent(x):
    """The least s >= 0 with ``x <= 2^s``."""
    with np.errstate(divide="ignore"):
        return np.maximum(np.ceil(np.log2(x)), 0).astype(int)


def _scaled(a, s):
    return a * np.ldexp(like(a).ones((), a.real.dtype), -like(a).asarray(s))[..., None, None] if np.any(s) else a


def _finite(r, a):
    if not np.isfinite(r).all():
        raise ArgumentError(f"expm overflows: the norm of the matrix is {one_norm(a).max():.3g}")
    return r


defbatch(_expm, core(2))
defbatch(expm_frechet, core(2, 2))
