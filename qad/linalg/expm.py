"""Matrix exponential; its derivative is the Frechet derivative of Al-Mohy and Higham (2009), as SciPy computes it."""

import numpy as np
import scipy.linalg

from qad.extend import defjvp, defvjp, primitive
from qad.linalg.block import frechet


@primitive
def expm(a):
    """Matrix exponential (..., n, n) of `a` (..., n, n), with derivatives of every order, at any norm.

    Notes
    -----
    ``G_A = L(A^H, G)`` with the Frechet derivative ``L(A, E) = int_0^1 exp(sA) E exp((1-s)A) ds``.

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.grad(lambda a: np.trace(qad.linalg.expm(a)))(np.zeros((2, 2)))
    array([[1., 0.],
           [0., 1.]])
    """
    return scipy.linalg.expm(a)


@primitive
def _along(e, a):
    """Frechet derivative of the exponential at `a` along `e`."""
    if a.ndim == 2:
        return scipy.linalg.expm_frechet(a, e, compute_expm=False, check_finite=False)
    return frechet(scipy.linalg.expm, a, e)


def _along_vjp(needed, g, ans, e, a):
    """The corner of exp([[a, e], [0, a]]), differentiated as an exponential."""
    n = a.shape[-1]
    none = a * 0.0
    whole = np.concatenate([np.concatenate([a, e], -1), np.concatenate([none, a], -1)], -2)
    seed = np.concatenate([np.concatenate([none, none], -1), np.concatenate([g.mT, none], -1)], -2)
    h = _along(seed, whole).mT
    return [h[..., :n, n:] if i == 0 else h[..., :n, :n] + h[..., n:, n:] for i in needed]


defvjp(expm, lambda g, ans, a: _along(g.mT, a).mT)
defjvp(expm, lambda t, ans, a: _along(t, a))
defvjp(_along, shared=_along_vjp)
