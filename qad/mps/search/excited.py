"""Eigenstates in the middle of the spectrum, of disordered chains: sweeps that follow a state, or an energy.

Eigenstates of strongly disordered chains are little entangled at any energy, but their neighbours in energy differ from
them far away: what tells them apart is the overlap with what one starts from.  At each pair of sites that eigenvector
of the effective operator is taken that has the largest overlap with the present centre (DMRG-X: V. Khemani, F. Pollmann
and S. L. Sondhi, PRL 116, 247204 (2016)); or, in the first sweeps, the one whose energy is nearest to a target.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.core.process.threads import blas_for
from qad.extend import like
from qad.keywords import keywords_told
from qad.linalg.krylov.lanczos import Krylov
from qad.mps.chain.canonical import schmidt_form
from qad.mps.chain.chain import site_count
from qad.mps.chain.checks import as_operator, check_kind
from qad.mps.chain.state import MPS
from qad.mps.energy.hamiltonian import of_order_one
from qad.mps.energy.node import prepared
from qad.mps.measure.observables import energy as energy_of
from qad.mps.measure.observables import variance
from qad.mps.operators.mpo import MPO
from qad.mps.search.ground import check_searched
from qad.mps.search.penalty import Excluded
from qad.mps.search.start import begin
from qad.mps.search.sweeps import GROWTH, TwoSites
from qad.optimize.result import result_card
from qad.showing.progress import bar_for

if TYPE_CHECKING:
    from typing import Any

    from qad.mps.kernels.terms import Apply
    from qad.mps.operators.opsum import OpSum

SMALL = 1024  # numbers of a centre up to which its effective operator is diagonalised as a whole
PRODUCTS, EVERY = 300, 20  # of larger ones, at most, and after how many of them eigenvectors are looked at
SOLVED = 1e-9  # residuals of their eigenvectors
TARGETED, NARROW = 2, 4  # sweeps that follow an energy, and their bond, so that what they find is near an eigenstate
PATIENCE = 5  # sweeps among which one has to halve the variance, for resonances take some to separate


class FollowingSweeps(TwoSites):
    """Pairs of sites that become the eigenvectors nearest to what they are, or to an energy.

    Attributes
    ----------
    target : float or None
        The energy that is followed; the state itself where there is none.
    """

    target: float | None = None

    def lowest(self, apply: Apply, centre: np.ndarray) -> np.ndarray:
        """The eigenvector of an effective operator that the centre becomes."""
        if centre.size <= SMALL:
            columns = [apply(unit) for unit in like(centre).eye(centre.size, dtype=centre.dtype)]
            matrix = np.stack(columns, axis=1)
            values, vectors = np.linalg.eigh((matrix + matrix.conj().T) / 2)
            return vectors[:, self.chosen(values, np.abs(centre.conj() @ vectors))]
        space = Krylov(centre, PRODUCTS)
        while True:
            space.extend(apply)
            if len(space.diagonal) % EVERY and not space.full:
                continue
            values, vectors = np.linalg.eigh(space.projected())
            best = self.chosen(values, np.abs(vectors[0]))
            if space.full or space.next_norm * abs(vectors[-1, best]) <= SOLVED:
                return space.combine(vectors[:, best])

    def chosen(self, values: np.ndarray, overlaps: np.ndarray) -> int:
        """Which of some eigenvectors of these energies and overlaps with the centre is taken."""
        return int(overlaps.argmax() if self.target is None else np.abs(values - self.target).argmin())


@dataclass(frozen=True)
class ExcitedState:
    """What `excited_state` found.

    Attributes
    ----------
    state : MPS
        Normalised, in right-canonical gauge.
    energy : float
        ``<H>`` in it.
    variance : float
        ``<H^2> - <H>^2`` in it; some level lies within its square root of `energy`.
    history : ndarray
        The variance after every sweep.
    converged : bool
        Whether it is an eigenstate, as `excited_state` says under `tol`.
    message : str
        Why the search ended.
    """

    state: MPS
    energy: float
    variance: float
    history: np.ndarray = field(repr=False)
    converged: bool
    message: str

    def _repr_html_(self) -> str:
        return result_card(self)


@keywords_told
def excited_state(
    H: MPO | OpSum, start: MPS, *, bond: int = 32, energy: float | None = None, tol: float = 1e-9, maxiter: int = 40
) -> ExcitedState:
    """An eigenstate in the middle of the spectrum, the one that is most like `start`: DMRG-X, for disordered chains.

    Parameters
    ----------
    H : MPO or OpSum
        Hermitian, its eigenstates little entangled, as those of strongly disordered chains are.
    start : MPS
        Open, usually a product state, ``MPS.product(["up", "down", ...])``; with ``conserve="Sz"`` it stays in its
        sector.
    bond : int
        Largest bond dimension.
    energy : float, optional
        Where to look: the first two sweeps, of bond 4, take the local eigenvectors whose energies are nearest to it.
        The state that is found lies near it, but is not the nearest one: of 24 searches, ten spins in fields up to 8,
        half ended within 0.21, and all within 0.7.
    tol : float
        Converged, when the variance is at most `tol` times the square of the size of the terms.
    maxiter : int
        Most sweeps, to the right end and back.

    Returns
    -------
    ExcitedState
        Where the variance no longer falls, `bond` is too small for the state, or there is no eigenstate of little
        entanglement: then `converged` is False, and it is no eigenstate.

    Raises
    ------
    ArgumentError
        For a single site, an operator that is not Hermitian, an energy that is no number, or a parameter out of range.
    ShapeError
        If `start` does not fit `H`, or is periodic.
    GradientTypeError
        Where a derivative is asked for: that of the energy is that of ``qad.mps.energy(found.state, H)``.

    Notes
    -----
    Each pair of sites becomes the eigenvector of its effective operator with the largest overlap with what it was, of
    at most 1024 numbers exactly, else by Lanczos' method (V. Khemani, F. Pollmann and S. L. Sondhi, PRL 116, 247204
    (2016)).  Following an energy is ES-DMRG (X. Yu, D. Pekker and B. K. Clark, PRL 118, 017201 (2017)).

    Examples
    --------
    >>> import numpy as np, qad
    >>> fields = np.random.default_rng(1).uniform(-8, 8, 10)
    >>> H = qad.mps.xxz(10, 1.0) + sum(qad.mps.OpSum(10).add(h, "Sz", i) for i, h in enumerate(fields)).mpo()
    >>> neel = qad.mps.MPS.product(["up", "down"] * 5, conserve="Sz")
    >>> found = qad.mps.excited_state(H, neel)
    >>> found.converged, bool(found.variance < 1e-9)
    (True, True)
    """
    bond, maxiter = site_count(bond, 1, "bond"), site_count(maxiter, 1, "maxiter")
    if not tol >= 0 or not (energy is None or (np.ndim(energy) == 0 and np.isfinite(energy))):
        raise ArgumentError(f"tol must not be negative, and energy one number, but got {tol!r} and {energy!r}")
    H = as_operator(H, check_kind(start, MPS))
    check_searched(H)
    begin(H, bond, False, None, None, start, None, 0, ())
    if len(start) == 1:
        raise ArgumentError("a single site has no neighbours to sweep over: diagonalise H.to_dense()")
    prepared(H)
    tensors, unit = of_order_one(H.tensors)  # by a power of 2, so that nothing is rounded
    scaled = MPO(tensors)
    with blas_for(max(bond, start.bond)), bar_for(label="sweeps") as bar:
        sweeps = FollowingSweeps(scaled, start, bond, Excluded((), None, scaled, start))
        history, message = followed(sweeps, scaled, None if energy is None else energy / unit, tol, maxiter, bar)
        state = start._made_of(schmidt_form(sweeps.tensors)[0])._on(start.sites or H.sites)
        level, spread = float(energy_of(state, scaled)) * unit, float(variance(state, scaled)) * unit**2
    return ExcitedState(state, level, spread, history * unit**2, bool(history[-1] <= tol), message)


def followed(
    sweeps: FollowingSweeps, H: MPO, energy: float | None, tol: float, maxiter: int, bar: Any
) -> tuple[np.ndarray, str]:
    """Sweep until the variance is small, or no longer falls; returns it after every sweep, and why they ended."""
    history, message = [], "stopped at maxiter sweeps"
    sweeps.mixing, bond = 0.0, sweeps.bond
    for number in range(maxiter):
        bar.update()
        sweeps.target = energy if number < TARGETED else None
        sweeps.bond = bond if sweeps.target is None else min(NARROW, bond)
        sweeps.to_right()
        sweeps.to_left()
        history.append(max(float(variance(sweeps.state, H)), 0.0))
        if sweeps.target is None and history[-1] <= tol:
            message = f"converged: the variance is {history[-1]:.1e} of the square of the terms"
            break
        if number > PATIENCE + TARGETED and min(history[-PATIENCE:]) > min(history[:-PATIENCE]) / 2:
            message = "not converged: the variance no longer falls: give a larger bond, or another start"
            break
        bond = min(GROWTH * bond, sweeps.most)
    return np.array(history), message
