"""Samples of the thermal states of chains, and measurements that leave products of sites or of pairs of them.

S. R. White, PRL 102, 190601 (2009); E. M. Stoudenmire and S. R. White, New J. Phys. 12, 055026 (2010); with charges:
M. Binder and T. Barthel, PRB 95, 195148 (2017).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import GradientTypeError
from qad.extend import Tensor
from qad.keywords import keywords_told
from qad.mps.amplitudes.sectors import drawn
from qad.mps.chain.chain import site_count
from qad.mps.chain.checks import as_operator
from qad.mps.chain.state import MPS
from qad.mps.charges.channels import conserve_for
from qad.mps.charges.make import product_tensors
from qad.mps.charges.quantities import conserved_by
from qad.mps.charges.uniform import random_word
from qad.mps.energy.hamiltonian import strength
from qad.mps.evolve.cut import MOST_CUTOFF
from qad.mps.evolve.evolution import evolve
from qad.mps.evolve.neighbours import of_neighbours
from qad.mps.evolve.tebd import swept
from qad.mps.evolve.truncation import Truncation
from qad.mps.measure.observables import energy
from qad.mps.thermal.state import check_temperature, open_operator
from qad.showing.progress import bar_for
from qad.symmetric.generic import as_map, of_map

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from qad.mps.charges.quantities import Names, Quantities
    from qad.mps.evolve.evolution import Evolution
    from qad.mps.operators.mpo import MPO
    from qad.mps.operators.opsum import OpSum
    from qad.typing import Seed

STEP = 0.05  # of one step in imaginary time, over the size of a term; "tebd4" errs by 2e-5 then, samples by far more
LONG = 1.0  # imaginary time, over the size of a term, beyond which steps grow longer: as its root


@dataclass(frozen=True, repr=False)
class Metts:
    """Samples of minimally entangled typical thermal states; made by `metts`.

    Attributes
    ----------
    states : list of MPS
        Each of norm 1; the mean of their expectation values is the thermal one.
    """

    states: list[MPS]

    def __repr__(self) -> str:
        return f"Metts({len(self.states)} samples of {len(self.states[0])} sites)"

    def expectation(self, observable: MPO | OpSum) -> tuple[float, float]:
        """The mean of the expectation values of a Hermitian operator, and its standard error.

        The error counts correlated samples, by their integrated autocorrelation time; it is infinite where there is
        only one sample.

        Examples
        --------
        >>> import qad
        >>> hot = qad.mps.metts(qad.mps.ising(3, 1.0), beta=0.0, samples=20)  # beta = 0: random product states
        >>> mean, error = hot.expectation(qad.mps.OpSum(3).add(1.0, "Z", 0))
        >>> bool(abs(mean) < 4 * error)
        True
        """
        operator = as_operator(observable, self.states[0])
        values = np.array([energy(psi, operator) for psi in self.states])
        return float(values.mean()), standard_error(values)


def standard_error(values: np.ndarray) -> float:
    """Of the mean of successive samples of a reversible chain, which may be correlated; infinite for one.

    The square of the error is ``tau / n`` times the variance, which around the mean of the samples itself comes out
    smaller by ``1 - tau / n``.
    """
    n, rest = len(values), values - values.mean()
    tau = autocorrelation(rest[None])
    return float(np.sqrt((rest**2).mean() * tau / (n - tau))) if n > 1 else np.inf


def autocorrelation(rest: np.ndarray) -> float:
    """Integrated autocorrelation time of chains (chains, steps) of mean 0, at least 1 and at most half of a chain.

    That is ``tau = 1 + 2 sum_t rho_t``, the sum up to the first pair of neighbours that is not positive (C. J. Geyer,
    Stat. Sci. 7, 473 (1992)).
    """
    steps = rest.shape[1]
    spectrum = np.abs(np.fft.fft(rest, 2 * steps, axis=1)) ** 2
    covariances = np.fft.ifft(spectrum.mean(axis=0)).real[: steps // 2 * 2]
    if steps < 2 or covariances[0] <= 0:
        return 1.0
    pairs = covariances.reshape(-1, 2).sum(axis=1) / covariances[0]
    ends = np.flatnonzero(pairs <= 0)
    return float(min(max(2 * pairs[: ends[0] if len(ends) else None].sum() - 1, 1.0), steps / 2))


@keywords_told
def metts(
    H: MPO | OpSum,
    beta: float,
    samples: int,
    seed: Seed = 0,
    warm_up: int = 10,
    steps: int | None = None,
    method: str = "auto",
    bond: int = 64,
    cutoff: float | None = None,
    conserve: Names | None = None,
    sector: int | tuple[int, ...] | None = None,
) -> Metts:
    """Minimally entangled typical thermal states: samples of the thermal ensemble of a chain.

    From a product state ``exp(-beta H / 2)`` makes a sample, and a measurement of all its sites the next product state;
    bases of the sites and of their Fourier transforms take turns, so that successive samples forget each other.

    Parameters
    ----------
    H : MPO or OpSum
        Hermitian, open, of plain numbers.
    beta : real
        Inverse temperature, not negative.
    samples : int
    seed : int or numpy.random.Generator
    warm_up : int
        How many samples at the beginning are thrown away.
    steps : int, optional
        Into how many equal steps of imaginary time ``beta / 2`` is divided; by default steps of 0.05 over the size of a
        term, and four at least; beyond a time of 1 over that size their number grows as its root.
    method : str
        As of `evolve`; "auto" is "tebd4" where `H` holds neighbours only, else "tdvp2".
    bond, cutoff
        As of `evolve`.
    conserve : str or sequence of str, optional
        What `H` conserves, as of `thermal_state`: every sample lies in one sector.
    sector : int or tuple of int, optional
        Of this total charge alone (canonical ensemble); by default of all of them (grand canonical).

    Returns
    -------
    Metts

    Raises
    ------
    GradientTypeError
        Under differentiation: samples have no derivative.
    ArgumentError, ShapeError
        As `thermal_state`.

    Notes
    -----
    The bonds are those of a pure state, the square root of a purification's at low temperature; the error falls as
    ``1 / sqrt(samples)``.  S. R. White, PRL 102, 190601 (2009); E. M. Stoudenmire and S. R. White, New J. Phys. 12,
    055026 (2010).

    A Fourier transform breaks the symmetry.  With `conserve`, pairs of neighbours are measured in its place, in bases
    that are random within each of their charges: M. Binder and T. Barthel, PRB 95, 195148 (2017).  No measurement
    leaves a sector; between them goes, every other time, a change of one site that Metropolis accepts or not.  At low
    temperature it is rarely accepted, and `sector` is the better choice.

    Examples
    --------
    >>> import qad
    >>> H = qad.mps.heisenberg(4)
    >>> mean, error = qad.mps.metts(H, beta=1.0, samples=40).expectation(H)
    >>> bool(abs(mean - qad.mps.thermal_state(H, 1.0).energy) < 4 * error)
    True
    """
    conserve = conserve_for(H, conserve)
    H = open_operator(H, conserve, sector)
    if any(type(x) is Tensor for x in (*H, beta)):
        raise GradientTypeError("samples have no derivative: differentiate qad.mps.thermal_state(H, beta)")
    check_temperature(beta)
    if method == "auto":
        method = "tebd4" if of_neighbours(H) else "tdvp2"
    steps = steps_for(strength(H.tensors) * beta / 2) if steps is None else steps
    samples, warm_up = site_count(samples, 1, "samples"), site_count(warm_up, 0, "warm_up")
    rng, states = np.random.default_rng(seed), []
    collapse = Sites(H, rng) if conserve is None else Sectors(H, conserve, sector, rng)
    with bar_for(label="samples", total=warm_up + samples) as bar:
        for k in range(warm_up + samples):
            starts = collapse.after(states[-1], k - 1) if k else [collapse.start()]
            runs = [evolve(psi, H, beta / 2, steps, method, bond, cutoff, imaginary=True) for psi in starts]
            states.append(collapse.chosen(runs))
            bar.update()
    return Metts(states[warm_up:])


def steps_for(time: float) -> int:
    """How many steps an imaginary time takes by default, in units of the size of a term."""
    time = min(time, np.sqrt(LONG * time))  # what is left at low temperature moves slowly
    return max(4, ceil(time / STEP))


# -- measurements ------------------------------------------------------------------------------------------------------


class Sites:
    """Sites are measured in their own basis, and in turn in its Fourier transform."""

    def __init__(self, H: MPO, rng: np.random.Generator):
        self.rng: np.random.Generator = rng
        self.fourier: list[np.ndarray] = [np.fft.fft(np.eye(w.shape[2]), norm="ortho") for w in H]

    def start(self) -> MPS:
        """A product state at random."""
        return MPS.product([np.eye(len(u))[self.rng.integers(len(u))] for u in self.fourier])

    def after(self, psi: MPS, k: int) -> list[MPS]:
        """The product state that the measurement after sample k leaves."""
        if k % 2:
            return [MPS.product([np.eye(d)[bit] for d, bit in zip(psi.phys, psi.sample(1, self.rng)[0], strict=True)])]
        seen = MPS([u.conj() @ t for u, t in zip(self.fourier, psi, strict=True)])
        return [MPS.product([u[bit] for u, bit in zip(self.fourier, seen.sample(1, self.rng)[0], strict=True)])]

    def chosen(self, runs: Sequence[Evolution]) -> MPS:
        """Of what such states have become the next sample."""
        return runs[0].state


class Sectors:
    """Sites are measured in their own basis, and in turn pairs of them in random bases that conserve.

    Where all sectors count, the product of sites may change the state of one of them: as Metropolis decides, by the
    weights ``<i|exp(-beta H)|i>`` of both, which are the squared norms that the evolution gives.
    """

    def __init__(self, H: MPO, conserve: Names, sector: Any, rng: np.random.Generator):
        self.rng: np.random.Generator = rng
        self.conserved: Quantities = conserved_by(H, conserve)
        self.total: Any = None if sector is None else self.conserved.sector(sector)

    def start(self) -> MPS:
        """A product of basis states at random, of the total charge if that is given."""
        if self.total is None:
            return self.product([self.rng.integers(len(own)) for own in self.conserved.charges])
        return self.product(random_word(self.conserved, self.total, self.rng))

    def product(self, states: Sequence[int]) -> MPS:
        """The product of basis states."""
        return MPS(product_tensors(states, self.conserved, complex), self.conserved)

    def after(self, psi: MPS, k: int) -> list[MPS]:
        """The state that the measurement after sample k leaves, and perhaps one that may take its place."""
        if k % 2:
            states = self.drawn(psi)
            changed, site = states.copy(), self.rng.integers(len(psi))
            changed[site] = (changed[site] + self.rng.integers(1, psi.phys[site])) % psi.phys[site]
            return [self.product(x) for x in ((states, changed) if self.total is None else (states,))]
        gates: list[Any] = [None] * (len(psi) - 1)
        for site in range(k // 2 % 2, len(gates), 2):
            gates[site] = self.turn(site)
        states = self.drawn(self.turned(psi, gates))
        back = [None if gate is None else gate.conj().transpose(2, 3, 0, 1) for gate in gates]
        return [self.turned(self.product(states), back)]

    def drawn(self, psi: MPS) -> np.ndarray:
        """The states of the sites that are measured, those that are counted."""
        return drawn(psi.tensors, self.conserved, 1, self.rng)[0]

    def chosen(self, runs: Sequence[Evolution]) -> MPS:
        """Of what such states have become the next sample."""
        gained = 2 * (runs[-1].log_norm - runs[0].log_norm)
        return runs[-1 if np.log(self.rng.random()) < gained else 0].state

    def turn(self, site: int) -> Any:
        """A unitary map of a pair of sites, random within every charge (Haar)."""
        shape = [len(own) for own in self.conserved.charges[site : site + 2]] * 2
        where, matrices = as_map(self.conserved.term(np.ones(shape), site, np.inf), 2)
        found = []
        for matrix in matrices:
            q, r = np.linalg.qr(self.rng.standard_normal((*matrix.shape, 2)) @ [1, 1j])
            found.append(q * (r.diagonal() / np.abs(r.diagonal())))
        return of_map(where, found)

    def turned(self, psi: MPS, gates: list[Any]) -> MPS:
        """The state after gates."""
        tensors = [t.astype(complex) for t in psi.canonicalize(0)]
        swept(gates, tensors, Truncation(psi.bond * 2 * max(psi.phys), MOST_CUTOFF), to_right=True)
        return psi._made_of(tensors)
