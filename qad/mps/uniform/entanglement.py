"""Entanglement across the cuts of infinite chains: entropies, Schmidt values and their spectrum; plain numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.errors import ArgumentError
from qad.mps.chain.methods import OFFERED
from qad.mps.measure.entanglement import SectorEntropy, levels
from qad.mps.measure.spectral_sums import check_order, entropy_of
from qad.mps.uniform.canonical import uniform_schmidt_form

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from qad.mps.uniform.state import UniformMPS

    Values = NDArray[np.float64]


def entanglement_entropy(
    psi: UniformMPS, *, order: float = 1, by_sector: bool = False
) -> Values | list[dict[Any, SectorEntropy]]:
    """Entropy of a cut left of every site of the cell, in nats; plain.

    Parameters
    ----------
    psi : UniformMPS
    order : real
        1 is von Neumann's ``-sum p log p`` of squared Schmidt values p, any other from 1/2 to infinity Renyi's
        ``log(sum p**order) / (1 - order)``.
    by_sector : bool
        Of a state with charges: what each charge of the sites left of the cut has of it.

    Returns
    -------
    array (cell,)
        By sector a list of dicts: charge to ``(weight, entropy)``, the probability p of the charge and the entropy S of
        the state that has it; the whole entropy is ``sum p (S - log p)``.

    Raises
    ------
    ArgumentError
        If the state is a sum of several ones, or there are no sectors, or no such order.

    Notes
    -----
    Charges are those of the bonds of the cell: counted from a constant, less the mean of the sites on the left.

    Examples
    --------
    >>> import qad
    >>> found = qad.mps.uniform.ground_state(qad.mps.uniform.j1j2(1.0, 0.5), bond=4)  # singlets
    >>> entropies = qad.mps.uniform.entanglement_entropy(found.state)
    >>> sorted((abs(entropies) / np.log(2)).round(6).tolist())
    [0.0, 1.0]
    """
    order = check_order(order)
    if not by_sector:
        return np.array([entropy_of([np.diag(w)], order, power=2) for w in uniform_schmidt_form(psi)[1]])
    if order != 1:
        raise ArgumentError(f"entropies by sector add up to the whole for order 1 only, not {order}: leave one out")
    return [
        {
            charge: SectorEntropy(float(p := (w**2).sum()), entropy_of([np.diag(w) / np.sqrt(p)], order, power=2))
            for charge, w in own.items()
        }
        for own in schmidt_values(psi, by_sector=True)
    ]


OFFERED["uniform.entanglement_entropy"] = entanglement_entropy


def schmidt_values(psi: UniformMPS, *, by_sector: bool = False) -> list[Values] | list[dict[Any, Values]]:
    """The Schmidt values of a cut left of every site of the cell, descending; their squares add up to 1; plain.

    Parameters
    ----------
    psi : UniformMPS
        Of any norm.
    by_sector : bool
        Of a state with charges: a dict of the charges of the sites left of the cut, as in `entanglement_entropy`.

    Returns
    -------
    list of arrays
        By sector dicts of arrays.

    Raises
    ------
    ArgumentError
        If the state is a sum of several ones, or there are no sectors.

    Examples
    --------
    >>> import numpy as np, qad
    >>> up, zero, down = np.array([[0, 2**0.5], [0, 0]]), np.diag([-1.0, 1.0]), np.array([[0, 0], [-(2**0.5), 0]])
    >>> aklt = qad.mps.uniform.UniformMPS([np.stack([up, zero, down], axis=1)])
    >>> (qad.mps.uniform.schmidt_values(aklt)[0] ** 2).round(12)
    array([0.5, 0.5])
    """
    form, weights = uniform_schmidt_form(psi)
    if not by_sector:
        return [np.sort(w)[::-1] for w in weights]
    if form.conserved is None:
        raise ArgumentError("by_sector= is of states that conserve: those of uniform.ground_state(..., conserve=)")
    shown, found = form.conserved.symmetry.shown, []
    for tensor, w in zip(form, weights, strict=True):
        leg = tensor.legs[0]
        parts = np.split(w, np.cumsum(leg.dims)[:-1])
        found.append({shown(charge): part for charge, part in zip(leg.charges, parts, strict=True)})
    return found


def entanglement_spectrum(psi: UniformMPS, *, by_sector: bool = False) -> list[Values] | list[dict[Any, Values]]:
    """The levels ``-log p`` of a cut left of every site of the cell, ascending; p are squared Schmidt values; plain.

    Parameters
    ----------
    psi : UniformMPS
    by_sector : bool
        As in `schmidt_values`.

    Returns
    -------
    list of arrays
        Without the levels of Schmidt values that rounding does not tell from zero (1e-14).  By sector dicts of arrays.

    Raises
    ------
    ArgumentError
        As in `schmidt_values`.

    Examples
    --------
    >>> import numpy as np, qad
    >>> up, zero, down = np.array([[0, 2**0.5], [0, 0]]), np.diag([-1.0, 1.0]), np.array([[0, 0], [-(2**0.5), 0]])
    >>> aklt = qad.mps.uniform.UniformMPS([np.stack([up, zero, down], axis=1)])
    >>> (qad.mps.uniform.entanglement_spectrum(aklt)[0] / np.log(2)).round(12)
    array([1., 1.])
    """
    found = schmidt_values(psi, by_sector=by_sector)
    return [{q: levels(s) for q, s in own.items()} if by_sector else levels(own) for own in found]
