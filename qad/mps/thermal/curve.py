"""Thermal states at many temperatures from one cooling, and what is measured along them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError, GradientTypeError
from qad.extend import Tensor
from qad.keywords import keywords_told
from qad.mps.energy.hamiltonian import HERMITIAN, strength
from qad.mps.operators.mpo import MPO
from qad.mps.thermal.products import chain_of, element_of, tell
from qad.mps.thermal.roots import Roots
from qad.mps.thermal.state import cooling_of, observable_of
from qad.showing.card import card
from qad.showing.drawing import CYCLE
from qad.showing.painting import new_figure
from qad.showing.picture import Picture
from qad.showing.progress import bar_for

if TYPE_CHECKING:
    from qad.mps.charges.quantities import Names
    from qad.mps.operators.opsum import OpSum
    from qad.mps.thermal.cooling import Cooling
    from qad.mps.thermal.products import Chain
    from qad.typing import ArrayLike

SIZE = 5.2, 6.0  # inches of a plot


@dataclass(frozen=True, repr=False)
class ThermalCurve:
    """Thermal states of one Hamiltonian at several inverse temperatures; made by `thermal_curve`.

    Attributes
    ----------
    H : MPO
        On the sites.
    cooling : Cooling
        Bond, cutoff and charges.
    beta : ndarray (k,)
        Inverse temperatures, ascending, in inverse units of `H`.
    log_partition : ndarray (k,)
        ``log Z = log tr exp(-beta H)``, the trace over one sector where that is given.
    energy : ndarray (k,)
        ``tr(rho H)`` of the whole chain.
    specific_heat : ndarray (k,)
        ``beta**2 (<H^2> - <H>^2)``, of the whole chain, in units of Boltzmann's constant.
    entropy : ndarray (k,)
        ``log Z + beta <H>``, in the same units.
    free_energy : ndarray (k,)
        ``-log Z / beta``; minus infinity at beta 0.
    discarded : ndarray (k,)
        Sum of the weights that truncations had cut off up to there.
    roots : list of k chains
        ``exp(-beta H / 2)`` of norm 1: site tensors with legs (left, out, in, right).
    """

    H: MPO
    cooling: Cooling
    beta: np.ndarray
    log_partition: np.ndarray
    discarded: np.ndarray
    roots: list[Chain]

    def __repr__(self) -> str:
        count = f"{len(self.beta)} states of {len(self.H)} sites"
        return f"ThermalCurve({count}, beta {self.beta[0]:g} to {self.beta[-1]:g}, bond at most {self.cooling.bond})"

    @cached_property
    def energy(self) -> np.ndarray:
        """``<H>`` at every beta."""
        return self.expectation(self.H).real

    @cached_property
    def specific_heat(self) -> np.ndarray:
        """``beta**2 (<H^2> - <H>^2)``."""
        return self.beta**2 * self._variances(self.H, self.energy)

    @property
    def entropy(self) -> np.ndarray:
        """``log Z + beta <H>``."""
        return self.log_partition + self.beta * self.energy

    @property
    def free_energy(self) -> np.ndarray:
        """``-log Z / beta``."""
        with np.errstate(divide="ignore"):
            return -self.log_partition / self.beta

    def expectation(self, observable: MPO | OpSum) -> np.ndarray:
        """``tr(rho observable)`` of an operator on the sites, at every beta.

        Parameters
        ----------
        observable : MPO or OpSum
            Of as many sites.

        Returns
        -------
        ndarray (k,)
            Complex where the operator or the Hamiltonian is.

        Raises
        ------
        ShapeError
            If the numbers of sites differ.

        Examples
        --------
        >>> import numpy as np, qad
        >>> curve = qad.mps.thermal_curve(qad.mps.ising(4, 1.0), [0.0, 0.5])
        >>> pair = qad.mps.OpSum(4).add(1.0, "Z", 1, "Z", 2)
        >>> print(curve.expectation(pair).round(6))
        [0.       0.405805]
        """
        chain = chain_of(observable_of(observable, self.H, self.cooling), self.cooling.conserved)
        return np.array([element_of(root, root, chain) for root in self.roots])

    def susceptibility(self, observable: MPO | OpSum) -> np.ndarray:
        """``beta (<M^2> - <M>^2)`` of a conserved operator M, the response of its mean to a field ``H - h M``.

        Parameters
        ----------
        observable : MPO or OpSum
            Hermitian, and commutes with the Hamiltonian, as the magnetisation of a Heisenberg chain does.

        Returns
        -------
        ndarray (k,)
            Of the whole chain.

        Raises
        ------
        ArgumentError
            If the operator is not conserved or not Hermitian.
        ShapeError
            If the numbers of sites differ.

        Examples
        --------
        >>> import numpy as np, qad
        >>> curve = qad.mps.thermal_curve(qad.mps.heisenberg(2), [0.5, 1.0])
        >>> total = qad.mps.OpSum(2).add(1.0, "Sz", 0).add(1.0, "Sz", 1)
        >>> exact = 2 * curve.beta / (3 + np.exp(curve.beta))  # a singlet and a triplet
        >>> bool(np.allclose(curve.susceptibility(total), exact, atol=1e-7))
        True
        """
        M = observable_of(observable, self.H, self.cooling)
        both = strength(M.tensors) * strength(self.H.tensors)
        if strength((M - M.mH).tensors) > HERMITIAN * strength(M.tensors):
            raise ArgumentError("a susceptibility is of a Hermitian operator: take its Hermitian part, (M + M.mH) / 2")
        if strength((self.H @ M - M @ self.H).tensors) > HERMITIAN * both:
            raise ArgumentError(
                "the operator does not commute with H, so that its susceptibility is no variance: differentiate "
                "qad.mps.thermal_state(H - h * M, beta).expectation(M) by h"
            )
        return self.beta * self._variances(M, self.expectation(M).real)

    def plot(self) -> Picture:
        """Energy, specific heat and entropy per site against the temperature ``1 / beta``, on a logarithmic axis.

        Returns
        -------
        Picture

        Raises
        ------
        ModuleNotFoundError
            If matplotlib is not installed.

        Examples
        --------
        >>> import qad
        >>> qad.mps.thermal_curve(qad.mps.ising(4, 1.0), [0.5, 1.0]).plot()
        <Picture: energy, specific heat and entropy per site, beta 0.5 to 1>
        """
        finite, names = self.beta > 0, ("energy", "specific_heat", "entropy")
        axes = new_figure(*SIZE, "a plot of thermal states").subplots(3, sharex=True)
        for ax, name, colour in zip(axes, names, CYCLE, strict=False):
            values = getattr(self, name)[finite] / len(self.H)
            ax.plot(1 / self.beta[finite], values, color=colour, marker="o", markersize=4, lw=1.4)
            ax.set_ylabel(name.replace("_", " "), fontsize=9)
            ax.grid(alpha=0.25)
        axes[-1].set_xscale("log")
        axes[-1].set_xlabel("temperature", fontsize=9)
        span = f"beta {self.beta[0]:g} to {self.beta[-1]:g}"
        return Picture(axes[0].figure, f"energy, specific heat and entropy per site, {span}")

    def _repr_html_(self) -> str:
        names = ("beta", "energy", "specific_heat", "entropy", "discarded")
        rows = np.transpose([getattr(self, name) for name in names])
        lines = ["".join(f"{name.replace('_', ' '):>15}" for name in names)]
        return card(repr(self), text="\n".join(lines + ["".join(f"{x:15.8g}" for x in row) for row in rows]))

    def _variances(self, operator: MPO, means: np.ndarray) -> np.ndarray:
        """Of a Hermitian operator; around its mean nothing cancels."""
        one, found = MPO.identity(len(operator), [w.shape[2] for w in operator]), []
        for root, mean in zip(self.roots, means, strict=True):
            rest = operator - float(mean) * one
            found.append(element_of(root, root, chain_of(rest @ rest, self.cooling.conserved)).real)
        return np.array(found)


@keywords_told
def thermal_curve(
    H: MPO | OpSum, betas: ArrayLike, *, bond: int = 64, cutoff: float | None = None, conserve: Names | None = None,
    sector: int | tuple[int, ...] | None = None,
) -> ThermalCurve:  # fmt: skip
    """The thermal states of an open chain at several inverse temperatures, by one cooling.

    Parameters
    ----------
    H : MPO or OpSum
        Hermitian, with terms of any range.
    betas : array_like of real (k,)
        Inverse temperatures in inverse units of `H`, ascending and not negative.  Equal steps are quickest: ten to
        beta 4 take about as long as two states at 4.
    bond : int
        Largest bond dimension of the purifications.
    cutoff : float, optional
        Weight that a cut at the last inverse temperature may discard below `bond`, and before in proportion to the
        square of the step; by default as little as for `thermal_state`.
    conserve : str or sequence of str, optional
        What `H` conserves: "Sz", "N", ("N", "Sz"), "parity"; the same sum over all sectors of block-sparse tensors.
    sector : int or tuple of int, optional
        Of this total charge alone (canonical ensemble).

    Returns
    -------
    ThermalCurve

    Raises
    ------
    ArgumentError
        For inverse temperatures that are negative or out of order, an operator that is not Hermitian, or one that does
        not conserve.
    GradientTypeError
        If something is differentiated: `thermal_state` has derivatives.
    ShapeError
        If `H` is periodic.

    Notes
    -----
    ``exp(-b H / 2)`` is the one before times ``exp(-(b - a) H / 2)``, or its square root squared where the step is
    longer than all before: B.-B. Chen et al., PRX 8, 031082 (2018).

    Examples
    --------
    >>> import numpy as np, qad
    >>> H = qad.mps.ising(4, 1.0)
    >>> curve = qad.mps.thermal_curve(H, np.linspace(0, 1, 5))
    >>> levels = np.linalg.eigvalsh(H.to_dense())
    >>> weights = np.exp(-np.outer(curve.beta, levels))
    >>> bool(np.allclose(curve.energy, weights @ levels / weights.sum(axis=1), atol=1e-6))
    True
    >>> bool(np.isclose(curve.entropy[0], 4 * np.log(2)))
    True
    """
    H, cooling = cooling_of(H, bond, cutoff, conserve, sector)
    if any(type(x) is Tensor for x in (*H, betas, *(betas if isinstance(betas, (list, tuple)) else ()))):
        raise GradientTypeError("a curve has no derivative: differentiate qad.mps.thermal_state(H, beta) at one beta")
    beta = temperatures(betas)
    H = H._made_of([w.copy() for w in H])  # its tensors may be written into later
    cooled, before, found = Roots(H, cooling, beta[-1] or 1.0), 0.0, []
    with bar_for(label="cooling", total=len(beta)) as bar:
        for b in beta.tolist():
            found.append((*cooled.at(b, before), cooled.discarded))
            before = b
            bar.update()
    tell(cooled.discarded, bond)
    roots, logs, discarded = zip(*found, strict=True)
    return ThermalCurve(H, cooling, beta, 2 * np.array(logs), np.array(discarded), list(roots))


def temperatures(betas: ArrayLike) -> np.ndarray:
    """Inverse temperatures as a float array (k,), ascending from 0 or more."""
    beta = np.array(betas)
    if beta.ndim != 1 or not beta.size or beta.dtype.kind not in "iuf" or not np.all(np.isfinite(beta)):
        raise ArgumentError(f"betas are a list of real numbers, not {betas!r}: for one take qad.mps.thermal_state")
    if beta[0] < 0 or np.any(np.diff(beta) <= 0):
        raise ArgumentError("betas ascend from 0 or more, for each state is made from the one before: sort them")
    return beta.astype(float)
