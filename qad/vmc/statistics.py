"""Statistics of samples from several Markov chains: means, errors, and what tells whether they can be trusted."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.errors import ArgumentError, ShapeError
from qad.mps.thermal.samples import autocorrelation

if TYPE_CHECKING:
    from qad.typing import ArrayLike, RealNumber

SEVERAL = 16  # chains, whose means tell the error by themselves
MIXED = 1.05  # R-hat, above which chains have not mixed


@dataclass(frozen=True)
class Estimate:
    """A mean and how well it is known; made by `average`, and by whatever samples.

    Attributes
    ----------
    mean : float or complex
    error : float
        One standard error of the mean; 0 where the mean is an exact sum.
    variance : float
        Of single samples: for energies the distance from an eigenstate.
    autocorrelation : float
        Integrated autocorrelation time tau in samples: `count` of them are worth ``count / tau`` independent ones.
    r_hat : float
        Whether all halves of all chains say the same (split R-hat): 1 if they do, nan for chains of less than 32
        samples.
    count : int
        Number of samples.

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.vmc.average(np.random.default_rng(0).normal(size=(20, 50)))
    -0.048 ± 0.030 (variance 0.95, tau 0.94, R-hat 0.998)
    """

    mean: Any
    error: float = field(metadata={"static": True})
    variance: float = field(metadata={"static": True})
    autocorrelation: float = field(default=1.0, metadata={"static": True})
    r_hat: float = field(default=np.nan, metadata={"static": True})
    count: int = field(default=1, metadata={"static": True})

    def __repr__(self) -> str:
        mixing = "" if np.isnan(self.r_hat) else f", R-hat {self.r_hat:.3g}"
        if not 0 < self.error < np.inf:
            shown = f"{self.mean:.10g}" + (" ± inf" if self.error else "")
        else:
            digits = max(0, 1 - int(np.floor(np.log10(self.error))))
            shown = f"{self.mean:.{digits}f} ± {self.error:.{digits}f}"
        return f"{shown} (variance {self.variance:.2g}, tau {self.autocorrelation:.2g}{mixing})"


@dataclass(frozen=True)
class Samples:
    """Configurations drawn from ``|psi|^2``, or all of them; made by `sample`.

    Attributes
    ----------
    configurations : int array (samples, n)
        Sample k of chain c is row ``k * chains + c``.
    log_psi : array (samples,)
    chains : int
        How many Markov chains they come from; independent samples are chains of their own.
    weights : array (samples,) or None
        Probabilities, where these are all configurations.
    acceptance : float
        The share of proposed moves that were accepted.
    """

    configurations: np.ndarray
    log_psi: np.ndarray
    chains: int
    weights: np.ndarray | None = None
    acceptance: float = 1.0

    def estimate(self, values: ArrayLike) -> Estimate:
        """The mean of a value (samples,) of each configuration.

        Examples
        --------
        >>> import numpy as np, qad
        >>> found = qad.vmc.sample(lambda p, s: p * s.sum(-1), 0.1, qad.vmc.Spins(6), sampler="exact")
        >>> round(found.estimate(found.configurations.mean(1)).mean, 6), round(float(np.tanh(0.2)), 6)
        (0.197375, 0.197375)
        """
        values = np.asarray(values)
        if self.weights is None:
            return average(values.reshape(-1, self.chains).T)
        mean = self.weights @ values
        return Estimate(mean.item(), 0.0, float(self.weights @ np.abs(values - mean) ** 2), count=len(values))


def average(values: ArrayLike) -> Estimate:
    """The mean of samples and its error, from the spread of many chains or the autocorrelation of a few.

    Parameters
    ----------
    values : array (chains, samples of each)
        Real or complex, in the order in which they were drawn.

    Returns
    -------
    Estimate

    Raises
    ------
    ShapeError
        If the values are no matrix.

    Notes
    -----
    The means of 16 chains or more tell the error, however correlated each is.  Those of fewer do not; then it is
    ``variance * tau / count`` with ``tau = 1 + 2 sum_t rho_t``, the sum up to the first pair of neighbours that is not
    positive: C. J. Geyer, Stat. Sci. 7, 473 (1992).  R-hat: A. Gelman et al., Bayesian Data Analysis, 3rd ed., 11.4.

    Examples
    --------
    >>> import qad
    >>> two = qad.vmc.average([[1.0, 2.0, 1.0, 2.0], [1.0, 1.0, 2.0, 2.0]])
    >>> two.mean, two.variance, round(two.error, 3)
    (1.5, 0.25, 0.189)
    """
    values = np.asarray(values)
    if values.ndim != 2 or not values.size:
        raise ShapeError(f"values have shape (chains, samples of each), got {values.shape}: write values[None] for one")
    chains, count, mean = len(values), values.size, values.mean()
    rest = values - mean
    variance = float((np.abs(rest) ** 2).mean())
    if chains >= SEVERAL:
        error = float(np.sqrt((np.abs(rest.mean(axis=1)) ** 2).sum() / (chains * (chains - 1))))
        tau = count * error**2 / variance if variance else 1.0
    else:
        tau = autocorrelation(rest)
        error = float(np.sqrt(variance * tau / max(count - tau, 1.0))) if count > 1 else np.inf
    return Estimate(mean.item(), error, variance, tau, r_hat(values), count)


def r_hat(values: np.ndarray) -> float:
    """The split R-hat of chains (chains, steps); nan for those of less than 32 steps, whose halves always differ."""
    half = values.shape[1] // 2
    if half < 16:
        return np.nan
    halves = values[:, : 2 * half].reshape(-1, half)
    within = float(np.var(halves, axis=1, ddof=1).mean())
    between = float(np.var(halves.mean(axis=1), ddof=1))
    if not within:
        return np.inf if between else 1.0
    return float(np.sqrt((half - 1) / half + between / within))


def v_score(energy: Estimate, n: int, zero: RealNumber = 0.0) -> float:
    """The V-score ``n variance / (mean - zero)^2`` of an energy, which compares methods across problems.

    Parameters
    ----------
    energy : Estimate
    n : int
        Degrees of freedom: sites of spins, or particles.
    zero : float
        The energy at infinite temperature, ``Tr H / Tr 1`` in the space: 0 for spins without fixed total.

    Returns
    -------
    float
        0 for eigenstates; about 1e-3 is what good wave functions of frustrated lattices reach.

    Raises
    ------
    ArgumentError
        If the energy is the zero of energies.

    Notes
    -----
    D. Wu et al., Science 386, 296 (2024).

    Examples
    --------
    >>> import qad
    >>> qad.vmc.v_score(qad.vmc.average([[-4.0, -4.0, -2.0, -2.0]]), n=4)
    0.4444444444444444
    """
    if energy.mean == zero:
        raise ArgumentError(
            f"v_score: the energy is {energy.mean}, its own zero; give zero=, that at infinite temperature"
        )
    return float(n * energy.variance / abs(energy.mean - zero) ** 2)
