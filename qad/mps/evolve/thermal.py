"""Thermal states of chains, by purification and by samples.

A purification has an ancilla beside every site: ``exp(-beta H / 2)`` acts on the sites of ``sum_s |s s> / sqrt(d)`` in
imaginary time, and the density is the trace over the ancillas.  F. Verstraete, J. J. Garcia-Ripoll and J. I. Cirac,
PRL 93, 207204 (2004); A. E. Feiguin and S. R. White, PRB 72, 220401 (2005).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.errors import ArgumentError, GradientTypeError, ShapeError
from qad.extend import Tensor, like, value_of
from qad.mps.chain import site_count
from qad.mps.checks import operator_of
from qad.mps.evolve.evolution import GATES, METHODS, evolve, real_time, recorded
from qad.mps.evolve.neighbours import neighbour_terms
from qad.mps.gauge import truncated
from qad.mps.hamiltonian import strength
from qad.mps.observables import energy, expectation, log_norm2
from qad.mps.operator import MPO
from qad.mps.state import MPS

if TYPE_CHECKING:
    from qad.mps.opsum import OpSum
    from qad.typing import Real, Scalar, Seed

REACH = 1e-3  # of `evolve`; purifications of symmetric Hamiltonians lack what breaks their symmetries
STEP, SHORT = 0.05, 0.025  # of one step in imaginary time, over the size of a term; of "tebd4", whose steps cost little
SERIES, ORDER = 0.1, 4  # length of a series, over the size of all terms together, and its last power


@dataclass(frozen=True)
class ThermalState:
    """``exp(-beta H) / Z`` as a purification; made by `thermal_state`.

    Attributes
    ----------
    state : MPS
        Of norm 1, with physical legs (site, ancilla) as one.
    H : MPO
        On the sites.
    beta : real scalar
        Inverse temperature.
    log_partition : real scalar
        ``log Z = log tr exp(-beta H)``.
    discarded : float
        Sum of the weights that truncations cut off.
    """

    state: MPS
    H: MPO
    beta: Real
    log_partition: Real
    discarded: float = field(metadata={"static": True})

    @property
    def energy(self) -> Real:
        """``tr(rho H)``, differentiable."""
        return energy(self.state, beside_ancillas(self.H))

    def expectation(self, observable: MPO | OpSum) -> Scalar:
        """``tr(rho observable)`` of an operator on the sites, differentiable.

        Examples
        --------
        >>> import numpy as np, qad
        >>> hot = qad.mps.thermal_state(qad.mps.ising(4, 1.0), beta=0.5)
        >>> bool(np.isclose(hot.expectation(qad.mps.ising(4, 1.0)), hot.energy))
        True
        """
        operator = operator_of(observable, None)
        if len(operator) != len(self.H):
            raise ShapeError(f"an observable has {len(self.H)} sites, as the thermal state has, not {len(operator)}")
        return expectation(self.state, beside_ancillas(operator))


def thermal_state(
    H: MPO | OpSum,
    beta: Real,
    steps: int | None = None,
    method: str = "auto",
    bond: int = 64,
    cutoff: float | None = None,
) -> ThermalState:
    """The thermal state ``exp(-beta H) / Z`` of an open chain.

    Parameters
    ----------
    H : MPO or OpSum
        Hermitian; its tensors or coefficients may be recorded.
    beta : real
        Inverse temperature, not negative; may be recorded.
    steps : int, optional
        Into how many equal steps of imaginary time ``beta / 2`` is divided; by default steps of 0.05 over the size of a
        term, 0.025 for "tebd4", and four at least.
    method : str
        As of `evolve`; "auto" is "tebd4" where `H` holds neighbours only, else "tdvp2".
    bond : int
        Largest bond dimension of the purification.
    cutoff : float, optional
        As of `evolve`.

    Returns
    -------
    ThermalState

    Raises
    ------
    ArgumentError
        For a negative inverse temperature, an operator that is not Hermitian, or terms that the method does not take.
    ShapeError
        If `H` is periodic.

    Notes
    -----
    ``d log Z / d beta = -E``, and ``-beta**2 dE / d beta`` is the specific heat: `qad.grad` of them gives both.

    Examples
    --------
    >>> import numpy as np, qad
    >>> H = qad.mps.ising(4, 1.0)
    >>> levels = np.linalg.eigvalsh(H.to_dense())
    >>> weights = np.exp(-0.5 * levels)
    >>> hot = qad.mps.thermal_state(H, beta=0.5)
    >>> bool(np.isclose(hot.energy, levels @ weights / weights.sum(), atol=1e-7))
    True
    >>> bool(np.isclose(hot.log_partition, np.log(weights.sum()), atol=1e-7))
    True
    """
    H = open_operator(H)
    steps, method = how(H, beta, steps, method)
    hot = MPS([like(*H).eye(w.shape[2]).reshape(1, -1, 1) / np.sqrt(w.shape[2]) for w in H])
    wide, time, log_norm = beside_ancillas(H), beta / 2, 0.5 * sum(np.log(w.shape[2]) for w in H)
    if method not in GATES and value_of(time) > 0:
        first = min(SERIES / (len(H) * (strength([value_of(w) for w in H]) or 1.0)), value_of(time) / 2)
        hot, time = cooled(hot, wide, first, bond), time - first
        log_norm = log_norm + log_norm2(hot) / 2
    to_beta = hot, wide, time, steps, method, site_count(bond, 1, "bond"), cutoff
    recording = any(type(x) is Tensor for x in (*hot, *wide, time))
    found = recorded(*to_beta, True, None, REACH, ancillas=True) if recording else evolve(*to_beta, imaginary=True)
    return ThermalState(found.state, H, beta, 2 * (found.log_norm + log_norm), found.discarded)


def open_operator(H: MPO | OpSum) -> MPO:
    """The operator itself, or that of a sum; raises where it is a ring."""
    H = operator_of(H, None)
    if H.periodic:
        raise ShapeError("thermal states are of open chains: terms between the first and the last site join the ends")
    return H


def cooled(psi: MPS, H: MPO, time: float, bond: int) -> MPS:
    """``exp(-H time) psi`` for a short time by its Taylor series.

    The variational principle sees of `H` only what the bonds of a state have room for; those of a product state lack
    it for terms beyond neighbours.
    """
    total = term = psi
    for k in range(1, ORDER + 1):
        term = MPS(truncated(((-time / k) * (H @ term)).tensors, bond, 1e-14, checked=False)[0])
        total = MPS(truncated((total + term).tensors, bond, 1e-14, checked=False)[0])
    return total


def how(H: MPO, beta: Any, steps: int | None, method: str) -> tuple[int, str]:
    """The number of steps and the method, checked."""
    if (value := real_time(value_of(beta))) < 0:
        raise ArgumentError(f"an inverse temperature is not negative, as {value:.3g} is: take -H")
    if method != "auto" and method not in METHODS:
        raise ArgumentError(f"unknown method {method!r}: choose 'auto' or one of {', '.join(map(repr, METHODS))}")
    plain = [value_of(w) for w in H]
    if method == "auto":
        method = "tebd4" if of_neighbours(MPO(plain)) else "tdvp2"
    if steps is None:
        steps = max(4, ceil(value / 2 * strength(plain) / (SHORT if method == "tebd4" else STEP)))
    return site_count(steps, 1, "steps"), method


def of_neighbours(H: MPO) -> bool:
    """Whether an operator has terms on single sites and neighbours only."""
    try:
        return len(neighbour_terms(H)) > 0
    except ArgumentError:
        return False


def beside_ancillas(H: MPO) -> MPO:
    """The operator on the sites of a purification."""
    return MPO([np.kron(w, like(w).eye(w.shape[2])) for w in H])


@dataclass(frozen=True)
class Metts:
    """Samples of minimally entangled typical thermal states; made by `metts`.

    Attributes
    ----------
    states : list of MPS
        Each of norm 1; the mean of their expectation values is the thermal one.
    """

    states: list[MPS]

    def expectation(self, observable: MPO | OpSum) -> tuple[float, float]:
        """The mean of the expectation values of a Hermitian operator, and its standard error.

        The error is that of independent samples, taken of means of ten successive ones where there are twenty; it is
        infinite where there is only one.

        Examples
        --------
        >>> import qad
        >>> hot = qad.mps.metts(qad.mps.ising(3, 1.0), beta=0.0, samples=20)  # beta = 0: random product states
        >>> mean, error = hot.expectation(qad.mps.OpSum(3).add(1.0, "Z", 0))
        >>> bool(abs(mean) < 4 * error)
        True
        """
        operator = operator_of(observable, None)
        values = np.array([energy(psi, operator) for psi in self.states])
        size = 10 if len(values) >= 20 else 1
        means = values[: len(values) // size * size].reshape(-1, size).mean(axis=1)
        return float(values.mean()), float(means.std(ddof=1) / np.sqrt(len(means))) if len(means) > 1 else np.inf


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
    steps, method, bond, cutoff
        As of `thermal_state`.

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

    Examples
    --------
    >>> import qad
    >>> H = qad.mps.heisenberg(4)
    >>> mean, error = qad.mps.metts(H, beta=1.0, samples=40).expectation(H)
    >>> bool(abs(mean - qad.mps.thermal_state(H, 1.0).energy) < 4 * error)
    True
    """
    H = open_operator(H)
    if any(type(x) is Tensor for x in (*H, beta)):
        raise GradientTypeError("samples have no derivative: differentiate qad.mps.thermal_state(H, beta)")
    steps, method = how(H, beta, steps, method)
    samples, warm_up = site_count(samples, 1, "samples"), site_count(warm_up, 0, "warm_up")
    rng, sizes = np.random.default_rng(seed), [w.shape[2] for w in H]
    fourier = [np.fft.fft(np.eye(d), norm="ortho") for d in sizes]
    vectors, states = [np.eye(d)[rng.integers(d)] for d in sizes], []
    for k in range(warm_up + samples):
        psi = evolve(MPS.product(vectors), H, beta / 2, steps, method, bond, cutoff, imaginary=True).state
        states.append(psi)
        turned = k % 2 == 0
        seen = MPS([u.conj() @ t for u, t in zip(fourier, psi, strict=True)]) if turned else psi
        bits = seen.sample(1, rng)[0]
        vectors = [u[bit] if turned else np.eye(len(u))[bit] for u, bit in zip(fourier, bits, strict=True)]
    return Metts(states[warm_up:])
