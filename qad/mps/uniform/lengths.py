"""How correlations of infinite chains decay: the spectrum of the transfer operator of the cell; plain numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.mps.chain.chain import site_count
from qad.mps.chain.checks import check_kind
from qad.mps.uniform.state import UniformMPS
from qad.mps.uniform.transfer import SINGLE, decays, refuse_batch

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from qad.symmetric.groups import Charge


def correlation_lengths(
    psi: UniformMPS, k: int = 4, charge: Charge | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The longest lengths over which correlations decay, and the wave numbers of their oscillations; plain.

    Eigenvalues of the transfer operator of the cell, relative to the first one, are ``exp((i q - 1 / length) cell)``:
    parts of the correlations decay as ``exp(i q r - r / length)`` with the distance r.

    Parameters
    ----------
    psi : UniformMPS
    k : int
        So many, or as many as there are.
    charge : int or tuple of int, optional
        For a symmetric state: of ``<A_i^+ A_(i+r)>`` of operators A that add this charge, such as 2 for Sp (in units of
        2 Sz); by default of all.

    Returns
    -------
    lengths : array (k,)
        In sites, descending; inf for a state that is a sum of several.
    momenta : array (k,)
        Per site, from ``-pi / cell`` (excluded) to ``pi / cell``.  A Jordan-Wigner string adds pi times the filling.

    Raises
    ------
    ArgumentError
        If `charge` is given for a state that has none.

    Examples
    --------
    >>> import numpy as np, qad
    >>> up, zero, down = np.array([[0, 2**0.5], [0, 0]]), np.diag([-1.0, 1.0]), np.array([[0, 0], [-(2**0.5), 0]])
    >>> aklt = qad.mps.uniform.UniformMPS([np.stack([up, zero, down], axis=1)], kind="spin-1")
    >>> lengths, momenta = qad.mps.uniform.correlation_lengths(aklt)
    >>> (lengths * np.log(3)).round(9), (momenta / np.pi).round(9)
    (array([1., 1., 1.]), array([1., 1., 1.]))
    """
    check_kind(psi, UniformMPS)
    refuse_batch(*psi)
    if charge is not None and psi.conserved is None:
        raise ArgumentError("charge= is of states that conserve: those of ground_state(..., conserve=)")
    ratios = decays(psi, site_count(k, 1, "k"), charge)
    with np.errstate(divide="ignore"):  # an eigenvalue of zero has length zero
        lengths = np.where(abs(ratios) > SINGLE, np.inf, -len(psi) / np.log(np.minimum(abs(ratios), SINGLE)))
    angles = np.angle(ratios)
    return lengths, np.where(angles < 1e-9 - np.pi, angles + 2 * np.pi, angles) / len(psi)


def correlation_length(psi: UniformMPS, charge: Charge | None = None) -> float:
    """``-cell / log|lambda_2 / lambda_1|`` of the transfer operator of the cell, in sites; plain.

    Parameters
    ----------
    psi : UniformMPS
        Of plain arrays.
    charge : int or tuple of int, optional
        For a symmetric state: the length over which operators that add this charge are correlated with their
        adjoints, such as 2 for Sp (in units of 2 Sz); by default the longest of all.

    Returns
    -------
    float
        0 for a product state; inf for a state that is a sum of several.

    Examples
    --------
    >>> import numpy as np, qad
    >>> correlation_length(qad.mps.uniform.UniformMPS([np.ones((1, 2, 1))]))
    0.0
    """
    return float(correlation_lengths(psi, 1, charge)[0].sum())
