"""Thermal states of chains by purification.

A purification has an ancilla beside every site: ``exp(-beta H / 2)`` acts on the sites of ``sum_s |s s> / sqrt(d)``,
and the density is the trace over the ancillas.  F. Verstraete, J. J. Garcia-Ripoll and J. I. Cirac, PRL 93, 207204
(2004).  As an operator it is the root of the density, and found by squaring (`qad.mps.thermal.cooling`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from qad.core.errors import ArgumentError, ShapeError
from qad.extend import Tensor, value_of
from qad.keywords import keywords_told
from qad.mps.chain.chain import site_count
from qad.mps.chain.checks import operator_of
from qad.mps.chain.row import check_standing
from qad.mps.chain.state import MPS
from qad.mps.charges.channels import conserve_for
from qad.mps.charges.quantities import conserved_by
from qad.mps.energy.hamiltonian import check_hermitian
from qad.mps.evolve.courses import check_unstacked
from qad.mps.evolve.evolution import real_time
from qad.mps.evolve.tebd import cutoff_for
from qad.mps.operators.mpo import MPO
from qad.mps.thermal.cooling import Cooling, Squares, measured_in
from qad.mps.thermal.products import purified, tell

if TYPE_CHECKING:
    from qad.mps.charges.quantities import Names
    from qad.mps.operators.opsum import OpSum
    from qad.typing import Real, Scalar

ERROR = 1e-7  # of a purification, by all cuts of the last square


@dataclass(frozen=True, repr=False)
class ThermalState:
    """``exp(-beta H) / Z`` as a purification; made by `thermal_state`.

    Attributes
    ----------
    H : MPO
        On the sites.
    beta : real scalar
        Inverse temperature.
    cooling : Cooling
        Bond, cutoff and charges.
    state : MPS
        Of norm 1, with physical legs (site, ancilla) as one; its tensors are not differentiated, as `energy`,
        `expectation` and `log_partition` are.
    log_partition : real scalar
        ``log Z = log tr exp(-beta H)``, the trace over one sector where that is given; differentiable.
    discarded : float
        Sum of the weights that truncations cut off.
    """

    H: MPO
    beta: Real
    cooling: Cooling = field(metadata={"static": True})

    def __repr__(self) -> str:
        conserved = self.cooling.conserved
        charges = f", {', '.join(conserved.names)} conserved" if conserved else ""
        return f"ThermalState({len(self.H)} sites, beta {self.beta}{charges}, bond at most {self.cooling.bond})"

    @cached_property
    def exponent(self) -> MPO:
        """``beta H``."""
        return self.beta * self.H

    @property
    def recorded(self) -> bool:
        """Whether something is differentiated: what is measured then makes the state with its rule."""
        return any(type(w) is Tensor for w in self.exponent)

    @cached_property
    def squares(self) -> Squares:
        """What the state was made from."""
        found = Squares(self.cooling, [value_of(w) for w in self.exponent])
        tell(found.discarded, self.cooling.bond)
        return found

    @property
    def state(self) -> MPS:
        """The purification: sites beside their ancillas, on which operators that are named do not act."""
        if self.recorded:
            raise ArgumentError(
                "the tensors of a thermal state have no derivative: differentiate its energy, expectation or "
                "log_partition"
            )
        return self.squares.state._on(self.H.sites and tuple(map(purified, self.H.sites)))

    @property
    def discarded(self) -> float:
        """The weight that truncations cut off."""
        return self.squares.discarded

    @property
    def log_partition(self) -> Real:
        """``log tr exp(-beta H)``, differentiable."""
        return self._measured(self.H)[0] if self.recorded else 2 * self.squares.log_norm

    @property
    def energy(self) -> Real:
        """``tr(rho H)``, differentiable."""
        return self.expectation(self.H).real

    def _measured(self, operator: MPO) -> tuple[Real, Scalar]:
        """``log Z``, and the mean of an operator on the sites."""
        return measured_in(*self.exponent, *operator, cooling=self.cooling)

    def expectation(self, observable: MPO | OpSum) -> Scalar:
        """``tr(rho observable)`` of an operator on the sites, differentiable.

        Examples
        --------
        >>> import numpy as np, qad
        >>> hot = qad.mps.thermal_state(qad.mps.ising(4, 1.0), beta=0.5)
        >>> bool(np.isclose(hot.expectation(qad.mps.ising(4, 1.0)), hot.energy))
        True
        """
        operator = observable_of(observable, self.H, self.cooling)
        return self._measured(operator)[1] if self.recorded else self.squares.mean(operator)


@keywords_told
def thermal_state(
    H: MPO | OpSum, beta: Real, *, bond: int = 64, cutoff: float | None = None, conserve: Names | None = None,
    sector: int | tuple[int, ...] | None = None,
) -> ThermalState:  # fmt: skip
    """The thermal state ``exp(-beta H) / Z`` of an open chain.

    Parameters
    ----------
    H : MPO or OpSum
        Hermitian, with terms of any range; its tensors or coefficients may be recorded.
    beta : real
        Inverse temperature, not negative; may be recorded.
    bond : int
        Largest bond dimension of the purification.  Where it cuts off more than `cutoff`, `ThermalState.discarded` is
        the sum of the weights; errors of derivatives are of the order of its root.
    cutoff : float, optional
        Weight that a cut of the purification may discard below `bond`; by default so little that all together change it
        by no more than 1e-7.
    conserve : str or sequence of str, optional
        What `H` conserves: "Sz", "N", ("N", "Sz"), "parity".  The result is the same sum over all sectors (grand
        canonical), of block-sparse tensors: five times as quick at bonds of 150, no quicker below 50.  The ancilla of a
        site carries the opposite charge, so that the purification has charge zero in all.
    sector : int or tuple of int, optional
        Of this total charge alone (canonical ensemble), as of `ground_state`: 0 for ``2 Sz = 0``, (4, 0) for four
        electrons without spin.  Bonds tell how much of it stands left of them, and so are larger where it is hot.

    Returns
    -------
    ThermalState

    Raises
    ------
    ArgumentError
        For a negative inverse temperature, an operator that is not Hermitian, or one that does not conserve: the
        message names a term.
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
    >>> qad.mps.thermal_state(qad.mps.xxz(6, 0.5), beta=0.5, conserve="Sz").state.sector
    0
    """
    check_unstacked((beta,))
    check_temperature(beta)
    H, cooling = cooling_of(H, bond, cutoff, conserve, sector)
    hot = ThermalState(H, beta, cooling)
    _ = hot.recorded or hot.squares  # made now: the tensors of H may be written into later
    return hot


def cooling_of(
    H: MPO | OpSum, bond: int, cutoff: float | None, conserve: Names | None, sector: object
) -> tuple[MPO, Cooling]:
    """The operator of an open chain, checked, and how its thermal states are made."""
    conserve = conserve_for(H, conserve)
    H = open_operator(H, conserve, sector)
    check_unstacked(H)
    check_hermitian([value_of(w) for w in H])
    cutoff = cutoff_for(ERROR, max(len(H) - 1, 1)) if cutoff is None else cutoff
    conserved = None if conserve is None else conserved_by(H, conserve)
    total = None if sector is None else conserved.sector(sector)
    return H, Cooling(site_count(bond, 1, "bond"), cutoff, conserved, total)


def check_temperature(beta: Real) -> float:
    """The inverse temperature as a number that is not negative."""
    if (value := real_time(value_of(beta))) < 0:
        raise ArgumentError(f"an inverse temperature is not negative, as {value:.3g} is: take -H")
    return value


def open_operator(H: MPO | OpSum, conserve: Names | None, sector: object) -> MPO:
    """The operator itself, or that of a sum, in parts that conserve; raises for a ring, and a sector of nothing."""
    if conserve is None and sector is not None:
        raise ArgumentError("sector= is of what is conserved: give conserve=")
    H = operator_of(H, conserve)
    if H.periodic:
        raise ShapeError("thermal states are of open chains: terms between the first and the last site join the ends")
    return H


def observable_of(observable: MPO | OpSum, H: MPO, cooling: Cooling) -> MPO:
    """An operator on the sites of a thermal state, in parts that conserve."""
    conserved = cooling.conserved
    operator = operator_of(observable, None if conserved is None else conserved.names)
    if len(operator) != len(H):
        raise ShapeError(f"an observable has {len(H)} sites, as the thermal state has, not {len(operator)}")
    check_standing(H, operator, "the observable")
    return operator
