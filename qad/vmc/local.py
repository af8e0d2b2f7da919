"""Local values ``<s|H|psi> / <s|psi>`` of operators, whose mean over ``|psi|^2`` is the expectation value."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.errors import ArgumentError
from qad.vmc.amplitudes import amplitudes, pieces
from qad.vmc.connections import Connections
from qad.vmc.samplers import begun
from qad.vmc.statistics import MIXED

if TYPE_CHECKING:
    from qad.typing import Seed, Tree
    from qad.vmc.samplers import Sampler
    from qad.vmc.space import Space
    from qad.vmc.statistics import Estimate, Samples
    from qad.vmc.wave_functions import LogPsi


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
        self.walk: Any = begun(sampler, space, samples, self.rng, True)
        self.anew: Any = partial(begun, sampler, space, rng=self.rng)
        self.samples: int = samples

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
