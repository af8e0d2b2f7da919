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
from qad.linalg.support.check import square

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
        norm = _norm(a)
        if not np.all(norm * tolerances.unit(a.dtype) < 1):
            raise ArgumentError(f"expm: the norm of the matrix is {norm.max():.3g}, which leaves no digit right")
        first = _exponent(norm / np.finfo(a.dtype).max ** 0.125)  # so that no power overflows
        a = _scaled(a, first)
        self.one = like(a).eye(a.shape[-1], dtype=a.dtype)
        a2 = a @ a
        a4 = a2 @ a2
        a6 = a4 @ a2
        size = np.maximum(_norm(a4) ** 0.25, _norm(a6) ** (1 / 6))
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
        u, v = self._odd_and_even(self._inner())
        return np.linalg.solve(v - u, v + u)

    def derivative(self, e):
        """The approximant and its derivative along the unscaled matrix `e`."""
        e = _scaled(e, self.s)
        inner = self._inner()
        u, v = self._odd_and_even(inner)
        m2 = self.a @ e + e @ self.a
        m4 = self.a2 @ m2 + m2 @ self.a2
        m6 = self.a4 @ m2 + m4 @ self.a2
        odd, even = (_polynomial(self._low(k), m2, m4, m6) for k in (1, 0))
        if not self.short:
            high_odd, high_even = (_polynomial(self._high(k), m2, m4, m6) for k in (1, 0))
            odd = odd + self.a6 @ high_odd + m6 @ inner[1]
            even = even + self.a6 @ high_even + m6 @ inner[2]
        du, dv = e @ inner[0] + self.a @ odd, even
        r = np.linalg.solve(v - u, v + u)
        return r, np.linalg.solve(v - u, dv + du - (dv - du) @ r)

    def _inner(self):
        """U without its factor A, and the parts of U and V that A^6 multiplies."""
        odd = _polynomial(self._low(1), self.a2, self.a4, self.a6) + self._low(1)[0] * self.one
        if self.short:
            return odd, None, None
        high_odd, high_even = (_polynomial(self._high(k), self.a2, self.a4, self.a6) for k in (1, 0))
        return odd + self.a6 @ high_odd, high_odd, high_even

    def _odd_and_even(self, inner):
        v = _polynomial(self._low(0), self.a2, self.a4, self.a6) + self._low(0)[0] * self.one
        return self.a @ inner[0], v if self.short else v + self.a6 @ inner[2]

    def _low(self, parity):
        return _coefficients(_SEVEN if self.short else _THIRTEEN)[parity : parity + 7 : 2]

    def _high(self, parity):
        return (0, *_coefficients(_THIRTEEN)[parity + 8 :: 2])


def _coefficients(table):
    """Relative to the first: then nothing overflows in single precision."""
    return [c / table[0] for c in table]


def _polynomial(c, x2, x4, x6):
    return c[1] * x2 + c[2] * x4 + c[3] * x6


def _norm(a):
    """The largest column sum of each matrix."""
    return np.abs(a).sum(-2).max(-1, initial=0)


def _exponent(x):
    """The least s >= 0 with ``x <= 2^s``."""
    with np.errstate(divide="ignore"):
        return np.maximum(np.ceil(np.log2(x)), 0).astype(int)


def _scaled(a, s):
    return a * np.ldexp(like(a).ones((), a.real.dtype), -like(a).asarray(s))[..., None, None] if np.any(s) else a


def _finite(r, a):
    if not np.isfinite(r).all():
        raise ArgumentError(f"expm overflows: the norm of the matrix is {_norm(a).max():.3g}")
    return r


defbatch(_expm, core(2))
defbatch(expm_frechet, core(2, 2))
