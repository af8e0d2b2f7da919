"""Numbers of matrix product states: norms, overlaps, expectation values, energies, variances."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import stack_of, unrecorded
from qad.linalg.support.derivative_order import orders
from qad.mps.chain.checks import as_operator, check_kind, check_match, check_operator
from qad.mps.chain.methods import offered
from qad.mps.chain.row import check_standing, require_alike, total_of
from qad.mps.chain.sandwich import operator_matrices, sandwich, within_range
from qad.mps.chain.state import MPS
from qad.mps.energy.node import energy as energy_of_state
from qad.mps.kernels.operators import sites_for
from qad.mps.operators.mpo import MPO
from qad.mps.operators.opsum import OpSum

if TYPE_CHECKING:
    from qad.typing import Array, Real, Scalar


@offered
def norm(psi: MPS) -> Real:
    """``sqrt(<psi|psi>)``, real.

    Parameters
    ----------
    psi : MPS

    Returns
    -------
    real scalar

    Raises
    ------
    ArgumentError
        If it is no number of the dtype, above 1e308 or below 1e-308: `log_norm2` has its logarithm.  In a second
        derivative at zero, where the first one is taken to be zero, as of `np.linalg.norm`.

    Notes
    -----
    Cost ``2 n phys bond**3`` multiply-adds for an open chain, ``2 n phys bond**5`` for a periodic one.

    Examples
    --------
    >>> import qad
    >>> round(float(qad.mps.norm(qad.mps.MPS.random(n=6, bond=4))), 12)
    1.0
    """
    square, log_scale = squared_norm(psi)
    return within_range(root(square), log_scale / 2, "the norm", tiny=False)


def root(square: Array) -> Array:
    """The square root; at zero its slope is zero, the convention of `np.linalg.norm`, and it has no second one."""
    zero = unrecorded(square) == 0
    if not stack_of(zero).any():
        return np.sqrt(square)
    if orders(square) > 1:
        raise ArgumentError("the norm of a state has no second derivative at zero: differentiate qad.mps.norm2(psi)")
    return np.where(zero, 0.0 * square, np.sqrt(np.where(zero, 1.0, square)))


def norm2(psi: MPS) -> Real:
    """``<psi|psi>``, real.

    Parameters
    ----------
    psi : MPS

    Returns
    -------
    real scalar

    Examples
    --------
    >>> import qad
    >>> round(float(qad.mps.norm2(2.0 * qad.mps.MPS.random(n=6, bond=4))), 12)
    4.0
    """
    return within_range(*squared_norm(psi), "the squared norm", tiny=False)


def log_norm2(psi: MPS) -> Real:
    """``log <psi|psi>``, for states whose norm leaves the range of floating point.

    Parameters
    ----------
    psi : MPS

    Returns
    -------
    real scalar

    Raises
    ------
    ArgumentError
        If the norm is zero.

    Examples
    --------
    >>> import qad
    >>> psi = qad.mps.MPS([100 * t for t in qad.mps.MPS.random(n=200, bond=4)])
    >>> round(float(qad.mps.log_norm2(psi)), 6)
    1842.068074
    """
    square, log_scale = squared_norm(psi)
    if not (stack_of(square) > 0).all():
        raise ArgumentError("the state has norm zero, which has no logarithm")
    return np.log(square) + log_scale


def squared_norm(psi: MPS) -> tuple[Real, Any]:
    """``<psi|psi>`` times a power of two, and minus the logarithm of that power."""
    check_kind(psi, MPS)
    square, log_scale = sandwich(psi, psi)
    return square.real, log_scale


@offered
def overlap(bra: MPS, ket: MPS) -> Scalar:
    """``<bra|ket>``; the first state is conjugated.

    Parameters
    ----------
    bra, ket : MPS
        Of the same physical dimensions; bonds may differ.

    Returns
    -------
    scalar, complex if a state is

    Raises
    ------
    ShapeError
        If the chains have different lengths or physical dimensions.

    Examples
    --------
    >>> import qad
    >>> up_down, down_up = qad.mps.MPS.product([0, 1]), qad.mps.MPS.product([1, 0])
    >>> complex(qad.mps.overlap(up_down, down_up))
    0j
    """
    check_kind(bra, MPS)
    check_kind(ket, MPS)
    require_alike(bra, ket, "an overlap")
    if bra.conserved is None:
        check_match(bra, ket.phys, "the other state")
    check_standing(bra, ket, "the other state")
    if bra.conserved is not None and total_of(bra) != total_of(ket):
        return np.result_type(bra.dtype, ket.dtype).type(0)
    return within_range(*sandwich(bra, ket), "the overlap", tiny=False)


@offered
def expectation(psi: MPS, H: MPO | OpSum) -> Scalar:
    """``<psi|H|psi>``, not divided by the norm.

    Parameters
    ----------
    psi : MPS
    H : MPO or OpSum
        Any operator, Hermitian or not.

    Returns
    -------
    scalar, complex if the state or the operator is
        For Hermitian `H` its imaginary part vanishes up to rounding.

    Raises
    ------
    ShapeError
        If the chains have different lengths or physical dimensions.

    Examples
    --------
    >>> import qad
    >>> neel = qad.mps.MPS.product([0, 1, 0, 1])
    >>> complex(qad.mps.expectation(neel, qad.mps.heisenberg(4)))
    (-0.75+0j)
    """
    value, log_scale = sandwich(psi, psi, sites_of(as_operator(H, psi), psi))
    return within_range(value, log_scale, "the expectation value")


def sites_of(H: MPO, psi: MPS) -> list[Any]:
    """The sites of an operator as a `sandwich` of a state takes them."""
    check_kind(psi, MPS)
    if psi.conserved is not None:
        return sites_for(psi, H)
    check_operator(psi, H)
    return operator_matrices(H, psi.dtype)


def energy(psi: MPS, H: MPO | OpSum) -> Real:
    """``<psi|H|psi> / <psi|psi>``, real.

    Parameters
    ----------
    psi : MPS
        Of any norm but zero.
    H : MPO or OpSum
        Hermitian.

    Returns
    -------
    real scalar
        Its gradient is an MPS, ``2 (H - E) psi / <psi|psi>`` projected on each site tensor in turn.

    Raises
    ------
    ShapeError
        If the chains have different lengths or physical dimensions.
    ArgumentError
        If the norm is zero, or the expectation value has an imaginary part (`H` is not Hermitian).

    Notes
    -----
    One sweep of ``2 n phys w bond**3`` multiply-adds for operator bonds ``w`` (open chains), the norm taken
    from the operator's identity channel where it has one.  The gradient adds about twice that.  No chain is
    too long: scales are taken out on the way.

    Examples
    --------
    >>> import qad
    >>> psi, H = qad.mps.MPS.random(n=10, bond=8), qad.mps.heisenberg(10)
    >>> E, gradient = qad.value_and_grad(qad.mps.energy)(psi, H)
    >>> gradient
    MPS(10 sites, open, bonds 1-2-4-8-8-8-8-8-4-2-1, complex128)
    """
    H = as_operator(H, psi)
    check_kind(psi, MPS)
    if psi.conserved is None:
        check_operator(psi, H)
    return energy_of_state(psi, H)


def variance(psi: MPS, H: MPO | OpSum) -> Real:
    """``<H^2> - <H>^2`` in the normalised state; zero for eigenstates only.

    Parameters
    ----------
    psi : MPS
    H : MPO or OpSum
        Hermitian.

    Returns
    -------
    real scalar
        Exact up to rounding of ``<H^2>``, so that about ``1e-15 E**2`` cannot be told from zero.

    Examples
    --------
    >>> import qad
    >>> up = qad.mps.MPS.product([0, 0, 0, 0])
    >>> float(qad.mps.variance(up, qad.mps.heisenberg(4)))
    0.0
    """
    H = as_operator(H, psi)
    return energy(psi, H @ H) - energy(psi, H) ** 2
