"""Correlations of infinite chains, by distance and by momentum.

Sums over all distances are geometric series of the transfer operator of the cell, each the solution of one linear
equation.  A state with charges is taken as the ordinary state that it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.errors import ArgumentError, ShapeError
from qad.extend import value_of
from qad.keywords import keywords_told
from qad.linalg import linear_solve
from qad.linalg.support.check import finite
from qad.mps.chain.chain import site_count
from qad.mps.chain.checks import check_kind
from qad.mps.chain.densities import site_density
from qad.mps.kernels.environments import past_left, past_right
from qad.mps.measure.correlators import pair_of
from qad.mps.uniform.state import UniformMPS
from qad.mps.uniform.transfer import sides_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from qad.mps.chain.densities import Sides
    from qad.mps.charges.quantities import Kinds
    from qad.typing import Array, ArrayLike

ON_PEAK = 1e-12  # how far ``exp(i q cell)`` is from 1 at a momentum of the cell, by rounding
NO_WEIGHT = 1e-10  # of a peak, relative to the operators: what states are exact to


@keywords_told
def correlations(
    psi: UniformMPS,
    one: str | ArrayLike,
    other: str | ArrayLike,
    distance: int,
    *,
    string: str | ArrayLike | None = None,
    kind: Kinds = None,
) -> Array:
    """``<A_i B_(i+r)>`` of two local operators, from every site i of the cell, for r = 0 ... distance.

    Parameters
    ----------
    psi : UniformMPS
        Of any norm.
    one, other : arrays (phys, phys), a sequence of one for each site of the cell, or names
        A and B; on one site ``A B`` acts.  Two fermionic names, "Cdag" and "C" of ``kind="fermion"``, get their
        Jordan-Wigner strings and signs.
    distance : int
        The largest one, in sites.
    string : likewise, optional
        What acts on every site between i and i + r, for string order: ``<Sz_i exp(i pi sum Sz) Sz_j>``.
    kind : str, Site, or a sequence of them, optional
        What stands on the sites of the cell, where names are looked up; by default what the state knows, or spins.

    Returns
    -------
    array (cell, distance + 1)
        Complex if the state or an operator is.  Differentiable by the state and the operators.

    Raises
    ------
    ShapeError
        If an operator does not fit a site.
    ArgumentError
        If there is no operator of a name, only one of both is fermionic, or the state is a sum of several ones.
    BatchError
        Under `qad.vmap`: write a loop over the examples.

    Notes
    -----
    ``O(cell distance phys bond**3)``.

    Examples
    --------
    >>> import numpy as np, qad
    >>> up, zero, down = np.array([[0, 2**0.5], [0, 0]]), np.diag([-1.0, 1.0]), np.array([[0, 0], [-(2**0.5), 0]])
    >>> aklt = qad.mps.uniform.UniformMPS([np.stack([up, zero, down], axis=1)], kind="spin-1")
    >>> (qad.mps.uniform.correlations(aklt, "Sz", "Sz", 3) * 27).round(12)  # 2/3, and 4/3 (-1/3)**r
    array([[ 18.        , -12.        ,   4.        ,  -1.33333333]])
    >>> turn = np.diag(np.exp(1j * np.pi * np.array([1, 0, -1])))
    >>> round(float(qad.mps.uniform.correlations(aklt, "Sz", "Sz", 9, string=turn)[0, 9].real * 9), 12)
    -4.0
    """
    distance = site_count(distance, 0, "distance")
    ones, others, (openings, _), between = pair_of(check_kind(psi, UniformMPS), one, other, string, kind)
    sides = sides_of(psi)
    tensors = sides[1]
    kets, ends = strung(tensors, between), closings(sides, others)
    here, rows = on_one_site(sides, products(ones, others)), []
    for i, environment in enumerate(beginnings(sides, openings)):
        row = [here[i]]
        for j in ((i + r) % len(tensors) for r in range(1, distance + 1)):
            row.append((environment * ends[j]).sum())
            environment = past_left(environment, kets[j], tensors[j])
        rows.append(np.stack(row))
    return np.stack(rows)


@keywords_told
def structure_factor(
    psi: UniformMPS,
    one: str | ArrayLike,
    other: str | ArrayLike,
    momenta: ArrayLike,
    *,
    connected: bool = False,
    kind: Kinds = None,
) -> Array:
    """``S(q) = sum_ij exp(i q (i - j)) <A_i B_j>`` per site, of many momenta; j runs over the whole infinite chain.

    Parameters
    ----------
    psi : UniformMPS
        Of any norm.
    one, other, kind
        A and B as in `correlations`: "Cdag" and "C" of fermions give the momentum distribution.
    momenta : array (m,)
        Any, per site.
    connected : bool
        Whether ``<A_i> <B_j>`` is taken off.  It adds peaks of zero width at multiples of 2 pi over the cell, and
        nothing at any other momentum.

    Returns
    -------
    complex array (m,)
        Differentiable by the state and the operators.

    Raises
    ------
    ArgumentError
        At a peak, which is infinite, unless `connected`; and as in `correlations`.
    ShapeError
        If an operator does not fit a site, or momenta are no row of numbers.

    Notes
    -----
    The sum over distances is the solution of ``x - exp(-i q cell) T(x) = b`` for the transfer operator T of the cell,
    from which the product of its dominant eigenvectors is projected: nothing is cut off, and there is a solution at
    all momenta.  Two equations for each momentum, ``O(phys bond**3)`` a step.

    Examples
    --------
    >>> import numpy as np, qad
    >>> neel = qad.mps.uniform.UniformMPS([np.eye(2)[0].reshape(1, 2, 1), np.eye(2)[1].reshape(1, 2, 1)])
    >>> qad.mps.uniform.structure_factor(neel, "Sx", "Sx", [0.0, 1.0]).real.round(12)
    array([0.25, 0.25])
    >>> qad.mps.uniform.structure_factor(neel, "Sz", "Sz", [1.0]).real.round(12)  # all of it is in the peak at pi
    array([0.])
    """
    ones, others, openings, between = pair_of(check_kind(psi, UniformMPS), one, other, None, kind)
    if (momenta := np.asarray(momenta)).dtype.kind not in "iuf" or momenta.ndim != 1:
        raise ShapeError(f"momenta are a row of real numbers (m,), not {momenta.dtype} of shape {momenta.shape}")
    finite(momenta, "structure_factor (momenta)")
    sides, apart = sides_of(psi), between is None  # what has a string has no mean value
    kets = strung(sides[1], between)
    starts = [beginnings(sides, x, apart) for x in openings]
    ends = [closings(sides, x) for x in (others, ones)]
    here = on_one_site(sides, products(ones, others))
    if apart:
        means = [on_one_site(sides, x) for x in (ones, others)]
        here = here - means[0] * means[1]
        if not connected:
            check_peaks(momenta, *means, [*ones, *others])
    found = []
    for q in momenta:
        waves = complex(np.exp(-1j * q)), complex(np.exp(1j * q))  # B on the right of A, and on its left
        sums = [summed(sides, kets, *way, apart) for way in zip(starts, ends, waves, strict=True)]
        found.append((here.sum() + sums[0] + sums[1]) / len(kets))
    return np.stack(found) if found else np.zeros(0, complex)


# -- operators between environments ------------------------------------------------------------------------------------


def strung(tensors: Sequence[Array], between: Sequence[Array] | None) -> list[Array]:
    """Site tensors after a string."""
    return list(tensors) if between is None else products(between, tensors)


def products(ones: Sequence[Array], others: Sequence[Array]) -> list[Array]:
    """Products of what stands on each site."""
    return [a @ b for a, b in zip(ones, others, strict=True)]


def on_one_site(sides: Sides, operators: Sequence[Array]) -> Array:
    """The expectation value of an operator on each site of the cell."""
    return np.stack([(site_density(*parts) * m.T).sum() for *parts, m in zip(*sides, operators, strict=True)])


def beginnings(sides: Sides, operators: Sequence[Array], apart: bool = False) -> list[Array]:
    """Left environments past an operator on each site, less their mean value times those of no operator if `apart`."""
    lefts, tensors, rights = sides
    found = [past_left(left, m @ t, t) for left, t, m in zip(lefts, tensors, operators, strict=True)]
    if not apart:
        return found
    after = [*lefts[1:], lefts[0]]
    return [x - (x * right).sum() * left for x, left, right in zip(found, after, rights, strict=True)]


def closings(sides: Sides, operators: Sequence[Array]) -> list[Array]:
    """Right environments past an operator on each site."""
    _, tensors, rights = sides
    return [past_right(right, m @ t, t) for right, t, m in zip(rights, tensors, operators, strict=True)]


def summed(
    sides: Sides, kets: Sequence[Array], starts: Sequence[Array], ends: Sequence[Array], wave: complex, apart: bool
) -> Array:
    """``sum wave**(j - i)`` of what operators on i and j give together, j of one cell and i of all sites before it."""
    lefts, tensors, rights = sides

    def passed(x: Any, begun: bool) -> tuple[Any, Any]:
        total = 0.0
        for ket, tensor, start, end in zip(kets, tensors, starts, ends, strict=True):
            total = total + (x * end).sum()
            x = past_left(x, ket, tensor)
            x = wave * (x + start if begun else x)
        return x, total

    def equation(x: Any) -> Any:
        rest = x - passed(x, False)[0]
        return rest + (x * rights[-1]).sum() * lefts[0] if apart else rest

    one_cell, _ = passed(0j * lefts[0], True)
    return passed(linear_solve(equation, one_cell, tol=1e-13, name="structure_factor"), True)[1]


def check_peaks(momenta: NDArray[Any], one: Array, other: Array, operators: Sequence[Array]) -> None:
    """Raise for a momentum of the cell at which mean values have a peak."""
    cell, size = len(one), max(np.linalg.norm(value_of(m)) for m in operators) ** 2
    waves = np.exp(1j * momenta[:, None] * np.arange(cell))
    weights = abs(waves @ value_of(one)) * abs(waves.conj() @ value_of(other)) / cell**2
    beside = abs(np.exp(1j * momenta * cell) - 1)
    at_peak = (beside < ON_PEAK * (1 + abs(momenta) * cell)) & (weights > NO_WEIGHT * size)
    if at_peak.any():
        raise ArgumentError(
            f"at momentum {momenta[at_peak][0]:.6g} the mean values make a peak, which is infinite in an infinite "
            "chain: connected=True takes <A_i> <B_j> off"
        )
