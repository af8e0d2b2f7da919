"""Operators on a few sites of a state: gates, and exchanges of sites."""

from __future__ import annotations

from functools import reduce
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from qad.core.errors import ArgumentError, ShapeError
from qad.core.trees import flatten
from qad.extend import like
from qad.keywords import keywords_told
from qad.mps.chain.canonical import swept
from qad.mps.chain.chain import as_array, bare, distinct
from qad.mps.chain.checks import check_kind
from qad.mps.chain.dropped import is_recorded
from qad.mps.chain.methods import offered
from qad.mps.chain.row import is_number
from qad.mps.chain.site_tensors import applied
from qad.mps.chain.state import MPS
from qad.mps.charges.axes import turned
from qad.mps.charges.quantities import named, standing
from qad.mps.operators.mpo import MPO
from qad.mps.operators.opsum import OpSum
from qad.symmetric.generic import join, plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.typing import Array, ArrayLike

    State = TypeVar("State", bound=MPS)

MOST_ENTRIES = 2**20  # of an operator that is applied


@offered
@keywords_told
def apply(
    psi: State,
    operator: str | ArrayLike,
    sites: int | Sequence[int],
    bond: int | None = None,
    cutoff: float = 1e-14,
) -> State:
    """The state after an operator on one site or several, neighbours or not.

    Parameters
    ----------
    psi : MPS
        Open, where the operator acts on several sites.
    operator : array (d, d), or one axis for each site's ``out`` and then each site's ``in``; on one site also a name,
        "C" with its string of signs on all sites before
        Unitary or not; ``d`` is the product of the sites' dimensions, the first of `sites` most significant.  For a
        state with charges of plain numbers, and conserving.
    sites : int or sequence of ints
        In the order of the operator's legs, each once.
    bond, cutoff
        As in `MPS.truncate`; an operator on one site cuts nothing off unless `bond` is given.

    Returns
    -------
    MPS
        Not normalised: after a unitary operator what the squared norm lacks is the weight that was cut off.

    Raises
    ------
    ArgumentError
        If a site does not exist or is repeated, or the operator does not conserve the charges of the state; in a
        derivative, where a bond has no room for what a change of the operator or the state would fill, as that of an
        entangling gate at the angle zero.
    ShapeError
        If the operator does not fit the sites.

    Notes
    -----
    The legs of all sites but the last run along the bonds between them, which grow by ``phys**2`` for each before they
    are truncated; to matrices no signs of fermions are added.  Differentiable by the state and the operator.

    Examples
    --------
    >>> import numpy as np, qad
    >>> h = np.array([[1, 1], [1, -1]]) / np.sqrt(2)
    >>> cnot = np.eye(4)[[0, 1, 3, 2]]
    >>> ghz = qad.mps.MPS.product([0, 0, 0]).apply(h, 0).apply(cnot, (0, 1)).apply(cnot, (0, 2))
    >>> ghz.to_dense()[[0, 1], [0, 1], [0, 1]].real.round(6)
    array([0.707107, 0.707107])
    """
    sites = check_sites(psi, sites)
    if isinstance(operator, str):
        if len(sites) != 1:
            raise ArgumentError(
                f"{operator!r} acts on one site, not on {sites}: give the matrix, or apply one after the other"
            )
        if operator in (kinds := standing(psi))[sites[0]].fermionic:
            out = OpSum(len(psi), kinds).add(1.0, operator, sites[0]).mpo() @ psi
            return out if bond is None else out.truncate(bond, cutoff)[0]
        operator = named(psi, operator, None, sites)[0]
    operator = as_matrix(operator, [psi.phys[site] for site in sites])
    tensors = gate_tensors(operator, sites, psi)
    if is_recorded(psi) and not is_recorded([operator]):  # a change of the state meets the terms that there are
        tensors = MPO(tensors).truncate()[0]
    first, last = min(sites), max(sites)
    if psi.conserved is not None:
        outside = [like(operator).eye(size)[None, None] for size in psi.phys]
        out = MPO([*outside[:first], *tensors, *outside[last + 1 :]]) @ psi
    else:
        inside = [applied(w, psi[first + i]) for i, w in enumerate(tensors)]
        out = psi._made_of([*psi[:first], *inside, *psi[last + 1 :]])
    if len(sites) == 1 and bond is None:
        return out
    if out.conserved is None and is_recorded(out):
        out = out._made_of(narrowed(out))
    return out.truncate(bond, cutoff)[0]


def narrowed(tensors: Sequence[Array]) -> list[Array]:
    """The tensors, what stands left of a bond taken for its basis where that is less, and the right does not fill it.

    A change of the right may fill it; so that no form may drop what the left does not continue.
    """
    out, rights = list(tensors), swept(list(map(plain, tensors)), 0, False)
    for site, (here, there) in enumerate(pairwise(rights)):
        left, phys, right = out[site].shape
        if left * phys < right and len(there) < min(right, there[0].size):
            out[site + 1] = join(out[site].reshape(-1, right), out[site + 1])
            out[site] = like(here).eye(left * phys, dtype=here.dtype).reshape(left, phys, -1)
    return out


@offered
@keywords_told
def swap(psi: State, one: int, other: int, bond: int | None = None, cutoff: float = 1e-14) -> State:
    """The state with what stands on two sites exchanged.

    Parameters
    ----------
    psi : MPS
    one, other : int
        Sites of equal dimension; what the state knows of their kinds moves with them.
    bond, cutoff
        As in `apply`.

    Returns
    -------
    MPS

    Raises
    ------
    ShapeError
        If the dimensions differ.
    ArgumentError
        If a site does not exist.

    Notes
    -----
    Amplitudes move as those of spins do: fermions that pass each other get no sign.

    Examples
    --------
    >>> import qad
    >>> qad.mps.swap(qad.mps.MPS.product([0, 0, 1]), 0, 2).to_dense()[1, 0, 0]
    np.complex128(1+0j)
    """
    one, other = check_sites(psi, (one, other))
    size = psi.phys[one]
    if size != psi.phys[other]:
        raise ShapeError(f"sites {one} and {other} have dimensions {size} and {psi.phys[other]}: they must agree")
    exchange = like(*flatten(psi)[0]).eye(size * size).reshape(size, size, -1).swapaxes(0, 1)
    out = apply(psi, exchange.reshape(size * size, -1), (one, other), bond, cutoff)
    if out.sites is None:
        return out
    kinds = list(out.sites)
    kinds[one], kinds[other] = kinds[other], kinds[one]
    return bare(type(out), distinct(out), out.sharing, out.conserved, tuple(kinds))


def gate_tensors(operator: Array, sites: Sequence[int], psi: MPS) -> list[Array]:
    """Site tensors (left, right, out, in) of an operator, from the first of its sites to the last one.

    A channel of a bond is one of the states that `psi` counts charges by, on the legs out and in of each site before.
    """
    states = [None] * len(psi) if psi.conserved is None else psi.conserved.states
    if states[sites[0]] is None:
        return split_up(operator, sites, psi.phys)
    operator = turned(operator, reduce(np.kron, [states[site] for site in sites]))
    tensors = split_up(operator, sites, psi.phys)
    return [turned(w, states[site].T) for site, w in enumerate(tensors, min(sites))]


def split_up(operator: Array, sites: Sequence[int], phys: Sequence[int]) -> list[Array]:
    """The site tensors of an operator in the basis in which it is given.

    A bond carries the legs (out, in) of all its sites before; the tensor of the last one is the operator.
    """
    k, order = len(sites), np.argsort(sites)
    legs = operator.reshape(*[phys[site] for site in sites] * 2).transpose(*order, *(order + k))
    ordered = sorted(sites)
    pairs = [axis for i in range(k - 1) for axis in (i, k + i)]
    create, last = like(operator), phys[ordered[-1]]
    end = legs.transpose(*pairs, k - 1, 2 * k - 1).reshape(-1, 1, last, last)
    tensors, carried = [], create.eye(1, dtype=operator.dtype)
    for site in range(ordered[0], ordered[-1]):
        unit = create.eye(phys[site], dtype=operator.dtype)
        if site not in ordered:
            tensors.append(np.multiply.outer(carried, unit))
            continue
        both = np.multiply.outer(unit, unit).transpose(0, 2, 1, 3).reshape(1, -1, phys[site], phys[site])
        tensors.append(np.kron(carried[:, :, None, None], both))  # the legs come behind those that are there already
        carried = create.eye(tensors[-1].shape[1], dtype=operator.dtype)
    return [*tensors, end]


def check_sites(psi: Any, sites: int | Sequence[int]) -> tuple[int, ...]:
    """The sites as a tuple; raises unless each is one of the state's, and given once."""
    check_kind(psi, MPS)
    given = tuple(sites) if hasattr(sites, "__iter__") and not is_number(sites) else (sites,)
    n = len(psi)
    for site in given:
        if not isinstance(site, str) and not is_number(site):
            raise ArgumentError("sites are whole numbers, after the state or the operator: apply(psi, operator, sites)")
        if isinstance(site, (bool, np.bool_)) or not hasattr(site, "__index__") or not 0 <= site < n:
            raise ArgumentError(f"there is no site {site!r}: sites are whole numbers from 0 to {n - 1}")
    found = tuple(site.__index__() for site in given)
    if not found or len(set(found)) < len(found):
        raise ArgumentError(f"sites {given} must be one or more, each once")
    return found


def as_matrix(operator: ArrayLike, dims: Sequence[int]) -> Array:
    """The operator as a matrix on sites of these dimensions; raises where it does not fit."""
    operator, size = as_array(operator), prod(dims)
    if operator.shape not in ((size, size), (*dims, *dims)):
        fits = " or ".join(map(str, dict.fromkeys([(size, size), (*dims, *dims)])))
        raise ShapeError(
            f"an operator of shape {operator.shape} does not fit sites of dimensions {tuple(dims)}: it has shape "
            f"{fits}; one on two sites is told both, (i, i + 1)"
        )
    if size * size > MOST_ENTRIES:
        raise ArgumentError(f"an operator on {len(dims)} sites has more than 2**20 entries: write an MPO, H @ psi")
    return operator.reshape(size, size)
