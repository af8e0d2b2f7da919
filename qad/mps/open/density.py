"""Density matrices as chains whose sites are pairs (ket, bra) of basis states: made of states, and measured.

Means are ``tr(O rho) / tr(rho)``, the product of the chain with that of the operator, nothing conjugated: whatever the
norm of the chain is, they are those of the density matrix of trace 1.
"""

from __future__ import annotations

import warnings
from itertools import pairwise
from math import isqrt
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError, ShapeError
from qad.extend import value_of
from qad.mps.chain.chain import as_array
from qad.mps.chain.checks import check_kind
from qad.mps.chain.gates import check_sites
from qad.mps.chain.sandwich import factor, sandwich, within_range
from qad.mps.chain.state import MPS
from qad.mps.charges.quantities import counted, quantities, sorting, standing
from qad.mps.open.pairs import DENSITY, doubled
from qad.mps.operators.mpo import MPO
from qad.mps.operators.opsum import OpSum
from qad.symmetric.create import from_dense
from qad.symmetric.generic import plain
from qad.symmetric.legs import Leg

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from qad.typing import Array, ArrayLike, Scalar


CHANGES = 1e-3  # of the trace, from which on a warning says so
NEGATIVE = -1e-2  # the least probability on a site that a density matrix may have


def density(psi: MPS) -> MPS:
    """``|psi><psi|`` as a chain of pairs (ket, bra), bonds squared.

    Parameters
    ----------
    psi : MPS
        Open, with or without charges.

    Returns
    -------
    MPS
        Of kind "density of ..." on every site; of trace ``<psi|psi>``.  Its charges are those of the ket less those of
        the bra, 0 in all.

    Raises
    ------
    ArgumentError
        If the state is a ring, or counts charges along x.

    Examples
    --------
    >>> import qad
    >>> psi = qad.mps.MPS.random(4, 3)
    >>> rho = qad.mps.density(psi)
    >>> rho, bool(abs(qad.mps.density_trace(rho) - 1) < 1e-12)
    (MPS(4 sites, open, bonds 1-4-9-4-1, complex128), True)
    """
    check_kind(psi, MPS)
    if psi.periodic:
        raise ArgumentError("density matrices are open chains: give density(psi.opened())")
    pairs = [doubled(kind) for kind in standing(psi)]
    if psi.conserved is None:
        return MPS(map(squared, psi), kind=pairs)
    group, conserved = psi.conserved.symmetry, quantities(psi.conserved.names, pairs)
    legs = [psi[0].legs[0], *(t.legs[2] for t in psi)]
    bonds = [[q for q, dim in zip(leg.charges, leg.dims, strict=True) for _ in range(dim)] for leg in legs]
    charges = [[group.minus(p, q) for p in own for q in own] for own in bonds]
    tensors = []
    for site, (before, after) in enumerate(pairwise(charges)):
        wide = squared(psi[site].to_dense()[:, np.argsort(psi.conserved.orders[site])])
        wide = wide[np.ix_(sorting(before), conserved.orders[site], sorting(after))]
        left, right = (Leg(counted(side), 1, group) for side in (before, after))
        tensors.append(from_dense(wide, (left, conserved.legs[site], right.conj()), split=2, tol=0.0))
    return MPS(tensors, conserved, pairs)


def squared(t: Array) -> Array:
    """The site tensor of ``|psi><psi|``."""
    return np.einsum("asb,cud->acsubd", t, t.conj()).reshape([size**2 for size in t.shape])


def density_trace(rho: MPS) -> Scalar:
    """``tr(rho)`` of a density matrix as a chain of pairs (ket, bra).

    Parameters
    ----------
    rho : MPS
        Of `density`, or a product of kind "density of ...", or what `evolve` made of one.

    Returns
    -------
    scalar

    Raises
    ------
    ArgumentError
        If it is no density matrix, or floats cannot hold the trace.

    Examples
    --------
    >>> import qad
    >>> rho = qad.mps.MPS.product(["up", "down"], kind="density of spin-1/2")
    >>> complex(qad.mps.density_trace(3 * rho))
    (3+0j)
    """
    return within_range(*against(MPO.identity(len(check_density(rho)), sizes_of(rho)), rho), "the trace")


def density_measure(
    rho: MPS, operator: str | ArrayLike | MPO | OpSum, sites: int | Sequence[int] | None = None
) -> Scalar | Array:
    """``tr(O rho) / tr(rho)`` of an operator on each of some sites, or on the whole chain.

    Parameters
    ----------
    rho : MPS
        As of `density_trace`; of any norm, and of trace other than zero.
    operator : str or array (d, d), or MPO or OpSum
        The name or the matrix of one on single sites; or one on all of them, Hermitian or not.
    sites : int or sequence of ints, optional
        Of single sites; all by default.

    Returns
    -------
    scalar, or array of one value for each of `sites`

    Raises
    ------
    ArgumentError
        If it is no density matrix, its trace is zero, a site does not exist, or has no operator of this name, or a
        probability below -0.01, as where evolutions cut off too much.
    ShapeError
        If an operator does not fit.

    Notes
    -----
    Differentiable, as `evolve` by gates is.  ``O(n d**2 bond**2)``, and with an operator on the chain of bonds w
    ``O(n d**2 w bond (w + bond))``.  Of Hermitian operators and matrices the mean is real, up to rounding; an imaginary
    part tells how far cuts have led from Hermitian ones.

    Where a chain was cut by ``error``, as `MPS.truncate` returns it, a mean m of before errs by at most
    ``|O - m| error / |trace|``, with the Frobenius norm of ``O - m`` on the whole chain and the trace of what is left.

    Examples
    --------
    >>> import qad
    >>> rho = qad.mps.density(qad.mps.MPS.product(["up", "down", "up"]))
    >>> qad.mps.density_measure(rho, "Sz").real, complex(qad.mps.density_measure(rho, qad.mps.heisenberg(3)))
    (array([ 0.5, -0.5,  0.5]), (-0.5+0j))
    """
    sizes = sizes_of(check_density(rho))
    if isinstance(operator, (MPO, OpSum)):
        operator = operator.mpo() if isinstance(operator, OpSum) else operator
        if [w.shape[2] for w in operator] != sizes:
            raise ShapeError(f"the density matrix has sites of dimensions {sizes}, the operator others")
        (value, log), (trace, scale) = against(operator, rho), against(MPO.identity(len(rho), sizes), rho)
        return value / checked(trace) * factor(value, log - scale)
    places = check_sites(rho, range(len(rho)) if sites is None else sites)
    values = local_means(rho, places, [matrix_on(rho, operator, place) for place in places])
    return values[0] if np.ndim(sites) == 0 and sites is not None else values


def local_means(rho: MPS, places: Sequence[int], matrices: Sequence[Array]) -> Array:
    """The means of operators on single sites, by one sweep from each side."""
    tensors = rho.without_symmetry().tensors
    traced = [np.einsum("asb,s->ab", t, np.eye(isqrt(t.shape[1])).reshape(-1)) for t in tensors]
    lefts, rights = [np.ones(1)], [np.ones(1)]
    for t in traced:
        lefts.append(of_order_one(lefts[-1] @ t))
    for t in reversed(traced):
        rights.append(of_order_one(t @ rights[-1]))
    values = []
    for place, matrix in zip(places, matrices, strict=True):
        left, right = lefts[place], rights[len(tensors) - 1 - place]
        row = np.einsum("a,asb,b->s", left, tensors[place], right) / checked(left @ traced[place] @ right)
        check_positive(value_of(row).reshape(matrix.shape), place)
        values.append(row @ matrix.T.reshape(-1))
    return np.stack(values)


def against(operator: MPO, rho: MPS) -> tuple[Scalar, Any]:
    """``tr(O rho)``, to be multiplied by the exponential of a logarithm."""
    row = [w.conj().transpose(0, 3, 2, 1).reshape(w.shape[0], -1, w.shape[1]) for w in operator]
    return sandwich(row, list(rho.without_symmetry()))


def tell_of_trace(before: MPS, G: MPO, after: MPS, time: float, gained: float) -> None:
    """Warn where an evolution has changed the trace of a density matrix, though its generator keeps it.

    `after` is of norm 1, and `gained` is the logarithm of what the norm became, from 1 before.
    """
    if not (after.sites and all(kind.name.startswith(DENSITY) for kind in after.sites)):
        return
    ones, traces, logs = [np.eye(size).reshape(1, -1, 1) for size in sizes_of(before)], [], []
    loss = [np.einsum("lroi,o->lir", plain(w).conj(), one.ravel()) for w, one in zip(G, ones, strict=True)]
    for rho in (before.normalized(), after):
        row = [plain(t) for t in rho.without_symmetry()]
        (trace, log), (change, scale) = sandwich(ones, row), sandwich(loss, row)
        traces, logs = [*traces, abs(trace)], [*logs, log]
        if abs(change) * np.exp(scale) * time > CHANGES / 10 * traces[0] * np.exp(logs[0]):
            return
    if traces[0] < (1 - 1e-6) * np.exp(-logs[0]):  # a positive matrix of norm 1 has a trace of at least 1
        return
    left = traces[1] / traces[0] * np.exp(logs[1] - logs[0] + gained)
    if abs(left - 1) > CHANGES:
        warnings.warn(
            f"the trace of the density matrix went from 1 to {left:.4g}, where its generator keeps it: too much was "
            "cut off, and means may err by as much; give evolve a larger bond, or more steps",
            RuntimeWarning,
            stacklevel=4,
        )


def of_order_one(vector: Array) -> Array:
    """A vector over the size of its largest entry, which falls out of means."""
    return vector * (1 / (np.abs(value_of(vector)).max() or 1.0))


def checked(trace: Array) -> Array:
    """The trace; raises where it is zero."""
    if value_of(trace) == 0:
        raise ArgumentError("the density matrix has trace zero: it has no means")
    return trace


def check_positive(matrix: np.ndarray, site: int) -> None:
    """Raise where the density matrix of a site has gone far from a positive one."""
    least = np.linalg.eigvalsh((matrix + matrix.conj().T) / 2)[0]
    if least < NEGATIVE:
        raise ArgumentError(
            f"site {site} has a probability of {least:.2g}: too much was cut off for a density matrix near a pure "
            "state (Evolution.discarded): give evolve a larger bond"
        )


def matrix_on(rho: MPS, operator: Any, place: int) -> Array:
    """The matrix of an operator on a single site."""
    size = isqrt(rho.phys[place])
    if isinstance(operator, str):
        kind = rho.sites[place].name if rho.sites else ""
        if not kind.startswith(DENSITY):
            raise ArgumentError("nothing tells what stands on the sites: give the matrix of the operator")
        pairs = rho.sites[place].matrix(operator if operator == "Id" else f"{operator} ket")
        return pairs.reshape([size] * 4)[:, 0, :, 0]
    matrix = as_array(operator)
    if matrix.shape != (size, size):
        raise ShapeError(f"an operator of shape {matrix.shape} does not fit site {place}, of dimension {size}")
    return matrix


def sizes_of(rho: MPS) -> list[int]:
    """The dimensions of the sites of the chain of which it is a density matrix."""
    return [isqrt(size) for size in rho.phys]


def check_density(rho: MPS) -> MPS:
    """The chain itself; raises unless its sites are pairs."""
    check_kind(rho, MPS)
    pairs = all(kind.name.startswith(DENSITY) for kind in rho.sites or ())
    if not pairs or any(isqrt(size) ** 2 != size for size in rho.phys):
        raise ArgumentError(
            "a density matrix is needed, a chain whose sites are pairs: qad.mps.density(psi), or MPS.product(..., "
            "kind='density of spin-1/2'); qad.mps.measure takes states"
        )
    return rho
