"""Thermal states of chains by purification.

A purification has an ancilla beside every site: ``exp(-beta H / 2)`` acts on the sites of ``sum_s |s s> / sqrt(d)`` in
imaginary time, and the density is the trace over the ancillas.  F. Verstraete, J. J. Garcia-Ripoll and J. I. Cirac,
PRL 93, 207204 (2004); A. E. Feiguin and S. R. White, PRB 72, 220401 (2005).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.errors import ArgumentError, ShapeError
from qad.core.keywords import keywords_told
from qad.extend import Tensor, like, value_of
from qad.mps.canonical import truncated
from qad.mps.chain import site_count
from qad.mps.checks import operator_of
from qad.mps.evolve.evolution import GATES, METHODS, Evolution, check_unstacked, cutoff_of, evolve, real_time, recorded
from qad.mps.evolve.neighbours import neighbour_terms, of_neighbours
from qad.mps.evolve.recorded import GateSteps
from qad.mps.evolve.response import LOOSER, GateCourse, log_norm_of, mean_of
from qad.mps.evolve.tebd import MOST_CUTOFF
from qad.mps.hamiltonian import check_hermitian, strength
from qad.mps.observables import energy, expectation, log_norm2
from qad.mps.operator import MPO
from qad.mps.state import MPS

if TYPE_CHECKING:
    from qad.mps.opsum import OpSum
    from qad.typing import Array, Real, Scalar

REACH = 1e-3  # of `evolve`; purifications of symmetric Hamiltonians lack what breaks their symmetries
STEP, SHORT = 0.05, 0.025  # of one step in imaginary time, over the size of a term; of "tebd4", whose steps cost little
LONG = 1.0  # imaginary time, over the size of a term, beyond which steps grow longer: as its root
SERIES, ORDER = 0.1, 4  # length of a series, over the size of all terms together, and its last power


@dataclass(frozen=True)
class Way:
    """How a thermal state is reached, checked: as the arguments of `thermal_state`."""

    steps: int
    method: str
    bond: int
    cutoff: float | None

    def gates(self, H: MPO, beta: Real) -> tuple[list[Array], GateCourse]:
        """The gates of a recorded evolution, and how they make a state."""
        dt = float(value_of(beta)) / (2 * self.steps)
        kind, legs = GateSteps(GATES[self.method], self.steps, len(H) - 1), tuple(w.shape[2] for w in H)
        cutoff = cutoff_of(self.method, H, dt) if self.cutoff is None else self.cutoff
        least = LOOSER * cutoff if self.cutoff is not None else max(LOOSER * cutoff, MOST_CUTOFF)
        return kind.made_of(H, beta / (-2.0 * self.steps)), GateCourse(kind, legs, self.bond, cutoff, least)


@dataclass(frozen=True)
class ThermalState:
    """``exp(-beta H) / Z`` as a purification; made by `thermal_state`.

    Attributes
    ----------
    H : MPO
        On the sites.
    beta : real scalar
        Inverse temperature.
    way : Way
        Steps, method, bond and cutoff.
    cold : Evolution or None
        The evolution that made it; None where a recorded one is made by gates when something is asked.
    state : MPS
        Of norm 1, with physical legs (site, ancilla) as one.
    log_partition : real scalar
        ``log Z = log tr exp(-beta H)``, differentiable.
    discarded : float
        Sum of the weights that truncations cut off.
    """

    H: MPO
    beta: Real
    way: Way = field(metadata={"static": True})
    cold: Evolution | None

    @property
    def state(self) -> MPS:
        """The purification."""
        return self.evolution.state

    @property
    def discarded(self) -> float:
        """The weight that truncations cut off."""
        return self.evolution.discarded

    @property
    def evolution(self) -> Evolution:
        """What made the state; recorded where `H` or `beta` is, with the bonds that derivatives of its tensors need."""
        return cooling(self.H, self.beta, self.way) if self.cold is None else self.cold

    @property
    def log_partition(self) -> Real:
        """``log tr exp(-beta H)``, differentiable."""
        if self.cold is not None:
            return self.cold.log_norm
        gates, plan = self.way.gates(self.H, self.beta)
        return 2 * log_norm_of(*gates, plan=plan) + sum(np.log(d) for d in plan.legs)

    @property
    def energy(self) -> Real:
        """``tr(rho H)``, differentiable."""
        return self.mean(self.H)

    def mean(self, operator: MPO) -> Real:
        """Of a Hermitian operator on the sites."""
        if self.cold is not None:
            return energy(self.cold.state, beside_ancillas(operator))
        gates, plan = self.way.gates(self.H, self.beta)
        return mean_of(*gates, *operator, plan=plan)

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
        if self.cold is not None:
            return expectation(self.cold.state, beside_ancillas(operator))
        if is_plain_hermitian(operator):
            return self.mean(operator) + np.zeros((), np.result_type(operator.dtype, self.H.dtype))
        even = self.mean(0.5 * (operator + operator.mH))
        if np.result_type(operator.dtype, self.H.dtype).kind == "f":
            return even  # what is antisymmetric has no mean in a real state
        return even + 1j * self.mean(-0.5j * (operator - operator.mH))


@keywords_told
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
        term, 0.025 for "tebd4", and four at least; beyond a time of 1 over that size their number grows as its root.
        Then log Z is good to some 1e-7 of itself; an entropy at low temperature, a small difference, asks for more.
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
    check_unstacked((*H, beta))
    way = Way(*how(H, beta, steps, method), site_count(bond, 1, "bond"), cutoff)
    if way.method in GATES and len(H) > 1 and any(type(x) is Tensor for x in (*H, beta)):
        plain = MPO([value_of(w) for w in H])
        check_hermitian(plain.tensors)
        neighbour_terms(plain)
        return ThermalState(H, beta, way, None)
    return ThermalState(H, beta, way, cooling(H, beta, way))


def cooling(H: MPO, beta: Real, way: Way) -> Evolution:
    """The evolution from the purification of all states, with ``log Z`` for the logarithm of its norm."""
    hot = MPS([like(*H).eye(w.shape[2]).reshape(1, -1, 1) / np.sqrt(w.shape[2]) for w in H])
    wide, time, log_norm = beside_ancillas(H), beta / 2, 0.5 * sum(np.log(w.shape[2]) for w in H)
    if way.method not in GATES and value_of(time) > 0:
        first = min(SERIES / (len(H) * (strength([value_of(w) for w in H]) or 1.0)), value_of(time) / 2)
        hot, time = cooled(hot, wide, first, way.bond), time - first
        log_norm = log_norm + log_norm2(hot) / 2
    to_beta = hot, wide, time, way.steps, way.method, way.bond, way.cutoff
    recording = any(type(x) is Tensor for x in (*hot, *wide, time))
    found = recorded(*to_beta, True, None, REACH, ancillas=True) if recording else evolve(*to_beta, imaginary=True)
    return replace(found, log_norm=2 * (found.log_norm + log_norm))


def is_plain_hermitian(operator: MPO) -> bool:
    """Whether an operator is Hermitian, and nothing in it is differentiated."""
    if any(type(w) is Tensor for w in operator):
        return False
    try:
        check_hermitian(operator.tensors)
    except ArgumentError:
        return False
    return True


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
        time = value / 2 * strength(plain)
        time = min(time, np.sqrt(LONG * time))  # what is left at low temperature moves slowly
        steps = max(4, ceil(time / (SHORT if method == "tebd4" else STEP)))
    return site_count(steps, 1, "steps"), method


def beside_ancillas(H: MPO) -> MPO:
    """The operator on the sites of a purification."""
    return MPO([np.kron(w, like(w).eye(w.shape[2])) for w in H])
