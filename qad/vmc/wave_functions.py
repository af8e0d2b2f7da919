"""Wave functions to begin with, each a few lines of NumPy: logarithms of amplitudes, and parameters.

Every one returns a function ``log_psi(params, s)`` of parameters and configurations (B, n), which gives (B,) numbers,
and parameters to begin with.  They are meant to be copied and changed; sums of them are products of wave functions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.mps.chain.chain import site_count
from qad.vmc.log_cosh import log_cosh

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from qad.typing import Array, DTypeLike, Seed

    LogPsi: TypeAlias = Callable[[Any, Any], Any]


def normal(rng: np.random.Generator, scale: float, shape: Sequence[int], dtype: DTypeLike) -> np.ndarray:
    """Real or complex Gaussian numbers of this standard deviation."""
    x = rng.normal(size=(2, *shape))
    return scale * ((x[0] + 1j * x[1]) / np.sqrt(2) if np.dtype(dtype).kind == "c" else x[0]).astype(dtype)


def rbm(
    n: int, alpha: float = 1, dtype: DTypeLike = complex, seed: Seed = 0, scale: float = 0.05
) -> tuple[LogPsi, dict[str, Array]]:
    """A restricted Boltzmann machine, ``psi(s) = exp(a . s) prod_k 2 cosh(b_k + sum_i s_i W_ik)`` but for a factor.

    Parameters
    ----------
    n : int
    alpha : number
        Hidden units for each site.
    dtype : complex or float
        Of the parameters, and of ``log psi``; psi is positive where it is real.
    seed : int or numpy.random.Generator
    scale : float
        Standard deviation of the first parameters.

    Returns
    -------
    log_psi : callable
    params : dict of arrays
        "a" (n,), "b" (alpha n,), "W" (n, alpha n).

    Notes
    -----
    G. Carleo and M. Troyer, Science 355, 602 (2017).  The signs of an antiferromagnet on two sublattices are
    ``a = i pi / 2`` on one of them.

    Examples
    --------
    >>> import qad
    >>> log_psi, params = qad.vmc.rbm(10, alpha=2)
    >>> log_psi(params, qad.vmc.Spins(10).random(3, rng=0)).shape
    (3,)
    """
    rng, hidden = np.random.default_rng(seed), round(site_count(n, 1, "n") * alpha)
    params = {name: normal(rng, scale, shape, dtype) for name, shape in
              (("a", (n,)), ("b", (hidden,)), ("W", (n, hidden)))}  # fmt: skip

    def log_psi(params, s):
        return s @ params["a"] + log_cosh(params["b"] + s @ params["W"]).sum(-1)

    return log_psi, params


def jastrow(n: int, dtype: DTypeLike = float, seed: Seed = 0, scale: float = 0.05) -> tuple[LogPsi, dict[str, Array]]:
    """A Jastrow wave function, ``psi(s) = exp(sum_i v_i s_i + sum_(i<j) J_ij s_i s_j)``.

    Parameters
    ----------
    n : int
        At least 2.
    dtype, seed, scale
        As of `rbm`.

    Returns
    -------
    log_psi : callable
    params : dict of arrays
        "v" (n,), and "J" of all pairs, (n (n - 1) / 2,).

    Notes
    -----
    R. Jastrow, Phys. Rev. 98, 1479 (1955).

    Examples
    --------
    >>> import numpy as np, qad
    >>> log_psi, params = qad.vmc.jastrow(3)
    >>> log_psi({"v": np.zeros(3), "J": np.array([1.0, 10.0, 100.0])}, np.array([[1, 1, -1]]))
    array([-109.])
    """
    rng, (one, two) = np.random.default_rng(seed), np.triu_indices(site_count(n, 2, "n"), 1)
    params = {"v": normal(rng, scale, (n,), dtype), "J": normal(rng, scale, (len(one),), dtype)}

    def log_psi(params, s):
        return s @ params["v"] + (s[:, one] * s[:, two]) @ params["J"]

    return log_psi, params
