"""Expectation values: means of local values ``<s|O|psi> / <s|psi>`` over ``|psi|^2``, and their derivatives."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.errors import ArgumentError, GradientTypeError
from qad.core.trees import flatten, tree_map
from qad.extend import Tensor, defvjp, primitive, value_of
from qad.keywords import keywords_told
from qad.vmc.amplitudes import amplitudes, pieces
from qad.vmc.connections import Connections
from qad.vmc.descent import Slopes
from qad.vmc.samplers import begun
from qad.vmc.statistics import MIXED

if TYPE_CHECKING:
    from collections.abc import Callable

    from qad.typing import Seed, Tree
    from qad.vmc.samplers import Sampler
    from qad.vmc.space import Space
    from qad.vmc.statistics import Estimate, Samples
    from qad.vmc.wave_functions import LogPsi


@keywords_told
def expect(
    log_psi: LogPsi,
    params: Tree,
    observable: Any,
    space: Space,
    samples: int = 1024,
    sampler: Sampler = "metropolis",
    seed: Seed = 0,
) -> Estimate:
    """The expectation value ``<psi|O|psi> / <psi|psi>`` of an operator, with its error.

    Parameters
    ----------
    log_psi, params, space, samples, sampler, seed
        As of `sample`.
    observable : OpSum, PauliSum or MPO
        Hermitian, called O here.

    Returns
    -------
    Estimate
        Its `mean` can be differentiated by `params`.

    Raises
    ------
    ArgumentError
        As `ground_state`; if the observable is not Hermitian.
    GradientTypeError
        If second derivatives are asked for, or forward mode.

    Warns
    -----
    RuntimeWarning
        If R-hat exceeds 1.05: the chains have not mixed, or are too short to tell.

    Notes
    -----
    With local values ``O_loc = <s|O|psi> / <s|psi>`` the gradient by real parameters is the covariance
    ``2 Re <(O_loc - <O>)* d log psi>``, of the same samples; that by complex ones is the pair of its parts, as qad's
    gradients are.

    Examples
    --------
    >>> import numpy as np, qad
    >>> field = lambda p, s: p * s.sum(1)  # every spin in the state (e^p, e^-p)
    >>> magnet = qad.mps.OpSum(4).add(1.0, "Z", 0)
    >>> found = qad.vmc.expect(field, 0.1, magnet, qad.vmc.Spins(4), 4096)
    >>> bool(abs(found.mean - np.tanh(0.2)) < 4 * found.error)
    True
    >>> qad.grad(lambda p: qad.vmc.expect(field, p, magnet, qad.vmc.Spins(4), sampler="exact").mean)(0.1).round(6)
    np.float64(1.922086)
    """
    leaves, _ = flatten(params)
    plain = tree_map(value_of, params)
    if any(type(x) is Tensor for x in flatten(plain)[0]):
        raise GradientTypeError(ONCE)
    local = LocalValues(log_psi, observable, space, samples, sampler, seed)
    found, drawn, values = local.measure(plain)
    if not any(type(x) is Tensor for x in leaves):
        return found

    def slope():
        slopes = Slopes(log_psi, plain).at(plain, drawn)
        return flatten(slopes.packing.unpack(2 * slopes.transposed(slopes.centred(values))))[0]

    return replace(found, mean=mean_of(*leaves, mean=found.mean, slope=slope))


ONCE = "an expectation value of samples has first derivatives, in reverse mode: there are no second ones"


@primitive
def mean_of(*leaves: Any, mean: float, slope: Callable[[], Any]) -> float:
    """The mean of samples that depend on the leaves."""
    return np.float64(mean)


def _mean_vjp(needed, g, ans, *leaves, mean, slope):
    if any(type(value_of(x)) is Tensor or type(x) is Tensor for x in (g, *leaves)):
        raise GradientTypeError(ONCE)
    found = slope()
    return tuple(g * found[i].conj() for i in needed)


defvjp(mean_of, shared=_mean_vjp)


class LocalValues:
    """A wave function, an operator and samples: what energies, their descent and time evolution begin with.

    Parameters
    ----------
    log_psi : callable
        As of `sample`.
    H : OpSum, PauliSum or MPO
        Hermitian.
    space : Space
    samples : int
    sampler : str, Metropolis or Direct
    seed : int or numpy.random.Generator
    """

    def __init__(self, log_psi: LogPsi, H: Any, space: Space, samples: int, sampler: Sampler, seed: Seed):
        self.log_psi: LogPsi = log_psi
        self.H: Connections = Connections(H, space)
        self.rng: np.random.Generator = np.random.default_rng(seed)
        self.anew: Any = partial(begun, sampler, space, rng=self.rng)
        self.samples: int = samples

    @cached_property
    def walk(self) -> Any:
        """That of a search, begun with its first samples."""
        return self.anew(self.samples, search=True)

    @cached_property
    def matrix(self) -> Any:
        """That of H, for exact sums."""
        return self.H.matrix()

    def draw(self, params: Tree, walk: Any = None) -> tuple[Samples, np.ndarray]:
        """The next samples of a walk, by default that of the search, and their local values."""
        drawn = (walk or self.walk)(self.log_psi, params)
        if self.H.complex and drawn.log_psi.dtype.kind == "f":
            raise ArgumentError(
                "log_psi is real and H is complex: its ground states have phases; return complex logarithms, as of "
                "complex params"
            )
        values = self.summed(drawn) if drawn.weights is not None else self.sampled(params, drawn)
        return drawn, values

    def estimate(self, samples: Samples, values: np.ndarray) -> Estimate:
        """The mean of the local values, real."""
        found = samples.estimate(values)
        if abs(np.imag(found.mean)) > 1e-8 * np.abs(values).max() + 8 * found.error:
            raise ArgumentError(f"the operator is not Hermitian: its mean is {found.mean}")
        return replace(found, mean=float(np.real(found.mean)))

    def measure(self, params: Tree, draws: int = 1) -> tuple[Estimate, Samples, np.ndarray]:
        """The expectation value from samples of a new walk, these, and their values; warns unless it has mixed."""
        drawn, values = self.draw(params, self.anew(draws * self.samples))
        found = self.estimate(drawn, values)
        if found.r_hat > MIXED:
            warnings.warn(
                f"the chains have not mixed, or are too short: R-hat is {found.r_hat:.3g}, above {MIXED}; take more "
                "samples=, or a longer sweep=, other moves or temperatures= of qad.vmc.Metropolis",
                RuntimeWarning,
                stacklevel=4,
            )
        return found, drawn, values

    def summed(self, drawn: Samples) -> np.ndarray:
        """The local values of all states, by the matrix; 0 where psi is."""
        psi = np.exp(drawn.log_psi - drawn.log_psi.real.max())
        image = self.matrix @ psi
        return np.divide(image, psi, out=np.zeros_like(image), where=psi != 0)

    def sampled(self, params: Tree, drawn: Samples) -> np.ndarray:
        """The local values of samples."""
        rows, logs = drawn.configurations, drawn.log_psi
        return np.concatenate([self.of_piece(params, rows[piece], logs[piece]) for piece in pieces(len(rows))])

    def of_piece(self, params: Tree, rows: np.ndarray, logs: np.ndarray) -> np.ndarray:
        """The local values of some configurations."""
        samples, connected, elements = self.H.of(rows)
        if not len(samples):
            return self.H.diagonal(rows).astype(np.result_type(elements, logs))
        with np.errstate(over="ignore"):
            terms = elements * np.exp(amplitudes(self.log_psi, params, connected) - logs[samples])
        sums = np.bincount(samples, terms.real, len(rows))
        if np.iscomplexobj(terms):
            sums = sums + 1j * np.bincount(samples, terms.imag, len(rows))
        values = self.H.diagonal(rows) + sums
        if not np.isfinite(values).all():
            broken = rows[np.flatnonzero(~np.isfinite(values))[0]].tolist()
            raise ArgumentError(
                f"the local energy of the configuration {broken} is not finite: psi nearly vanishes there"
            )
        return values
