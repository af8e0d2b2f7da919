"""Canonical forms of open chains: isometries left and right of a centre, small bonds, and bonds of Schmidt vectors.

Site tensors are arrays or symmetric tensors.  Derivatives are those of `qad.mps.chain.gauge`, sector by sector.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import like, stack_of, unrecorded, value_of
from qad.linalg import norm
from qad.mps.chain.dropped import check_dropped, check_weak, is_recorded, lost_of, refuse_weightless
from qad.mps.chain.gauge import check_open, isometric, zero_weight
from qad.symmetric import generic
from qad.symmetric.generic import as_map, halves_of, join, laid_out, leg_sizes, numbers, scaled
from qad.symmetric.tensor import SymTensor

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from qad.mps.chain.dropped import Dropped
    from qad.typing import Array, Real

    Pair: TypeAlias = tuple[Array, Array]

ISOMETRIC = 100.0  # times rounding: how far an isometry may be from one

# -- one site ----------------------------------------------------------------------------------------------------------


def isometric_rows(tensor: Any, pair: Callable[[Array], Pair] = isometric) -> tuple[Any, Any]:
    """``A = Q C`` between the last leg and those before it, Q an isometry from the new bond."""
    where, matrices = as_map(tensor, tensor.ndim - 1)
    return halves_of(where, reaching(matrices, pair), "canonicalize")


def isometric_columns(tensor: Any, pair: Callable[[Array], Pair] = isometric) -> tuple[Any, Any]:
    """``A = C Q`` between the first leg and those behind it, Q an isometry from the new bond.

    Arrays are read from the right, the last leg in front: rows in another order cost derivatives at weak bonds digits.
    """
    if type(tensor) is not SymTensor:
        turned = tuple(reversed(range(tensor.ndim)))
        q, c = isometric_rows(tensor.transpose(*turned), pair)
        return c.mT, q.transpose(*turned)
    where, matrices = as_map(tensor, 1)
    pairs = reaching([matrix.mT for matrix in matrices], pair)
    return halves_of(where, [(c.mT, q.mT) for q, c in pairs], "canonicalize")


def reaching(matrices: list[Array], pair: Callable[[Array], Pair]) -> list[Pair]:
    """The pairs of the matrices of sectors; one of several that carries nothing gets no direction of the bond."""
    if len(matrices) == 1:
        return [pair(matrices[0])]
    return [pair(m) if stack_of(unrecorded(m)).any() else (m[:, :0], m[:0]) for m in matrices]


def move_right(tensors: list[Any], site: int, pair: Callable[[Array], Pair] = np.linalg.qr) -> None:
    """Move the centre from a site to the one right of it, by `pair`; new tensors take their places."""
    tensors[site], rest = generic.qr(tensors[site], pair=pair)
    tensors[site + 1] = laid_out(join(rest, tensors[site + 1]), 2)


def move_left(tensors: list[Any], site: int, pair: Callable[[Array], Pair] = np.linalg.qr) -> None:
    """Move the centre from a site to the one left of it, by `pair`; new tensors take their places."""
    rest, tensors[site] = generic.lq(tensors[site], pair)
    tensors[site - 1] = join(tensors[site - 1], rest)


# -- canonical forms ---------------------------------------------------------------------------------------------------


def swept(
    tensors: Sequence[Any], center: int, to_right: bool, pair: Callable[[Array], Pair] | None = None
) -> list[Any]:
    """The tensors with those before `center` made isometries from their right bond, or those behind from their left.

    That is done by `pair` or by `directions`.  A derivative is refused that needs what was dropped.
    """
    dropped: Dropped = []
    out = list(tensors)
    for bond in range(1, center + 1) if to_right else reversed(range(center + 1, len(out))):
        here, there = (bond - 1, bond) if to_right else (bond, bond - 1)
        before, how = out[here], pair or partial(directions, bond=bond)
        if to_right:
            out[here], carried = isometric_rows(before, how)
            out[there] = join(carried, out[there])
        else:
            carried, out[here] = isometric_columns(before, how)
            out[there] = join(out[there], carried)
        dropped += [(bond, *row) for row in lost_of(before, 1 + to_right, leg_sizes(out[there], 2 * (not to_right)))]
    if dropped:
        check_dropped(tensors, dropped, to_right)
    return out


def directions(matrix: Array, bond: int) -> Pair:
    """An isometry and the rest of the matrix of one sector of a bond."""
    q, carried = isometric(matrix)
    check_weak(carried, len(matrix), bond)
    return q, carried


def canonical(tensors: Sequence[Any], center: int) -> list[Any]:
    """The tensors in mixed canonical form around `center`; the state and its norm are unchanged."""
    check_open(tensors)
    return [laid_out(tensor, 2) for tensor in swept(swept(tensors, center, True), center, False)]


# -- smaller bonds -----------------------------------------------------------------------------------------------------


def truncated(tensors: Sequence[Any], max_rank: int | None, cutoff: float) -> tuple[list[Any], Real]:
    """Tensors of smaller bonds, canonical around the last site, and the norm of what was discarded.

    A derivative is refused in which directions would take part that carry no weight.
    """
    check_open(tensors)
    out = swept(tensors, 0, False)
    errors = []
    for bond in range(1, len(out)):
        centre = out[bond - 1]
        most = sum(min(matrix.shape) for matrix in as_map(centre, 2)[1])
        out[bond - 1], carried = halves(centre, max_rank, cutoff, bond, most)
        if (kept := carried.shape[0]) < most:
            errors.append(norm(numbers(laid_out(centre, 2) - join(out[bond - 1], carried))))
            if is_recorded([centre]) and kept != max_rank and value_of(errors[-1]) <= zero_weight(centre):
                refuse_weightless(f"bond {bond}", kept, most)
        out[bond] = join(carried, out[bond])
    out[-1] = laid_out(out[-1], 2)
    values = numbers(out[0])
    return out, norm(np.stack(errors)) if errors else like(values).zeros((), values.real.dtype)[()]


def halves(tensor: Any, max_rank: int | None, cutoff: float, bond: int, most: int) -> tuple[Any, Any]:
    """An isometry and the rest of a site tensor, of which `split` drops what is to be dropped.

    A recorded one that keeps all its directions, `most`, is not divided by its singular values.
    """
    if recorded := is_recorded([tensor]):
        high = generic.split(generic.plain(tensor), 2, max_rank, cutoff, "cut")[1]
        if high.shape[0] == most:
            return isometric_rows(tensor, partial(directions, bond=bond))
    low, high = generic.split(tensor, 2, max_rank, cutoff, "warn" if recorded else "cut")
    isometry, carried = isometric_rows(low)
    return isometry, join(carried, high)


# -- Schmidt vectors ---------------------------------------------------------------------------------------------------


def schmidt_form(tensors: Sequence[Any]) -> tuple[list[Any], list[np.ndarray]]:
    """The normalised state of an open chain in right-canonical gauge, its bonds in the basis of Schmidt vectors.

    Parameters
    ----------
    tensors : sequence of arrays or SymTensors (left, physical, right)
        Of plain numbers, of any norm but zero.

    Returns
    -------
    tensors : list
        The same state, normalised.  Every tensor is an isometry from its left bond, ``sum_{s,b} A[a,s,b] conj(A[c,s,b])
        = delta_ac``, and what stands left of bond i has the metric ``diag(weights[i]**2)``.
    weights : list of arrays
        Schmidt coefficients of the bond left of each site, descending in each sector; the sum of their squares is 1.

    Raises
    ------
    ShapeError
        If the chain is periodic.
    ArgumentError
        If its norm is zero.

    Notes
    -----
    QR from the left, then singular values from the right: ``O(n phys**2 bond**3)``.  U. Schollwöck,
    Ann. Phys. 326, 96 (2011), section 4.

    Examples
    --------
    >>> import qad
    >>> tensors, weights = schmidt_form(qad.mps.MPS.product([0, 1, 0]).tensors)
    >>> qad.mps.MPS(tensors), weights[1]
    (MPS(3 sites, open, bonds 1-1-1-1, complex128), array([1.]))
    """
    check_open(tensors)
    out, carried, weights = [], None, []
    for tensor in tensors:
        tensor, carried = generic.qr(tensor if carried is None else join(carried, tensor))
        if not (size := generic.norm(carried)) > 0:
            raise ArgumentError(f"the state has norm {size}: it cannot be normalised")
        carried = carried * (1 / size)
        out.append(tensor)
    for site in reversed(range(len(out))):
        left, values, right = generic.svd(join(out[site], carried), 1)
        out[site], carried = laid_out(right, 2), scaled(left, values, 1)
        weights.append(values)
    phase = carried * (1 / generic.norm(carried))
    out[0] = laid_out(join(phase, out[0]), 2)
    return out, weights[::-1]


def right_canonical(tensors: Sequence[np.ndarray]) -> bool:
    """Whether all site tensors but the first are isometries from their left bond, up to rounding."""
    for tensor in tensors[1:]:
        rows = tensor.reshape(len(tensor), -1)
        error = np.abs(rows @ rows.conj().T - like(rows).eye(len(rows), dtype=rows.dtype)).max()
        if not error <= ISOMETRIC * np.finfo(rows.dtype).eps:
            return False
    return bool(np.linalg.norm(tensors[0]) > 0)
