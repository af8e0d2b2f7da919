"""Power laws as sums of exponentials, with a stated error."""

from __future__ import annotations

import numpy as np
import scipy

from qad.core.errors import ArgumentError

SPACING = 0.25  # of the logarithms of decay rates: relative errors below 1e-13 up to exponent 8 or so
NEAR = 2**12  # distances that are compared one by one


def power_law(exponent: float, error: float) -> tuple[np.ndarray, np.ndarray]:
    """Weights w and rates z with ``sum_k w_k z_k**(r-1)`` near ``r**-exponent``, as few as give the error.

    Parameters
    ----------
    exponent : float
        More than 1.
    error : float
        Bound of the sum of the differences over all distances r.

    Returns
    -------
    weights, rates : arrays
        Both positive; rates below 1.

    Notes
    -----
    ``r**-a = int x**(a-1) exp(-r x) dx / Gamma(a)``, with x = exp(y), is a sum of many exponentials by the trapezoidal
    rule (G. Beylkin, L. Monzón, Appl. Comput. Harmon. Anal. 28, 131 (2010)).  That is the response of a linear system
    with symmetric matrices, which balanced truncation makes small: only the directions of the largest Hankel singular
    values are kept (B. C. Moore, IEEE Trans. Autom. Control 26, 17 (1981)).
    """
    if not 1 < exponent < 20 or not 0 < error < 1:
        raise ArgumentError(
            f"a power law needs an exponent above 1 (up to 20) and an error between 0 and 1, not {exponent} and {error}"
        )
    reach = (0.01 * error * (exponent - 1)) ** (-1 / (exponent - 1))  # beyond which lies a hundredth of the error
    weights, decays = quadrature(exponent, reach)
    root, rates = np.sqrt(weights), np.exp(-decays)
    gramian = np.outer(root, root) / -np.expm1(-np.add.outer(decays, decays))
    values, vectors = np.linalg.eigh(gramian)
    vectors = vectors[:, ::-1]
    for size in range(1, np.count_nonzero(values > 1e-15 * values[-1]) + 1):
        kept = vectors[:, :size]
        z, basis = np.linalg.eigh(kept.T @ (rates[:, None] * kept))
        w = (basis.T @ (kept.T @ root)) ** 2
        if z[0] > 0 and z[-1] < 1 and difference(w, z, exponent, reach) <= error:
            return w, z
    raise ArgumentError(f"no sum of exponentials was found within {error} of a power law: allow a larger error")


def quadrature(exponent: float, reach: float) -> tuple[np.ndarray, np.ndarray]:
    """Weights and decay rates of many exponentials whose sum is ``r**-exponent`` up to rounding, for r to `reach`."""
    y = np.arange(np.log(1e-2 / reach) - 40 / exponent, np.log(40.0), SPACING)
    decays = np.exp(y)
    weights = SPACING * np.exp(exponent * y - decays) / scipy.special.gamma(exponent)
    kept = (weights > 1e-30) & (decays > 1e-14)
    return weights[kept], decays[kept]


def difference(weights: np.ndarray, rates: np.ndarray, exponent: float, reach: float) -> float:
    """The sum over all distances of ``|fit(r) - r**-exponent|``; beyond `NEAR` on a logarithmic grid.

    Beyond a hundred times `reach` both are added up as they are.
    """
    near, far = np.arange(1.0, NEAR), np.geomspace(NEAR, NEAR + 100 * reach, 2000)
    apart = [abs(np.exp(np.outer(r - 1, np.log(rates))) @ weights - r**-exponent) for r in (near, far)]
    beyond = far[-1] ** (1 - exponent) / (exponent - 1) + (weights * rates ** (far[-1] - 1) / (1 - rates)).sum()
    steps = np.diff(far)
    return apart[0].sum() + (apart[1][1:] + apart[1][:-1]) @ steps / 2 + beyond
