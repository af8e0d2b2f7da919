"""What two blocks of a chain know of each other: mutual information, and negativity."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import stack_of
from qad.linalg import norm as matrix_norm
from qad.mps.chain.dropped import check_filled, is_second, rank
from qad.mps.chain.gates import check_sites
from qad.mps.chain.gauge import carried_of
from qad.mps.chain.state import MPS
from qad.mps.measure.fermions import first_of_all
from qad.mps.measure.measures import reduced_density
from qad.mps.measure.spectral_sums import check_order, entropy_of
from qad.symmetric.generic import join

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.typing import Array, Real

    Block: TypeAlias = "int | Sequence[int]"


def mutual_information(psi: MPS, one: Block, other: Block, *, order: float = 1) -> Real:
    """``S(A) + S(B) - S(A and B)`` of two blocks of sites, in nats.

    Parameters
    ----------
    psi : MPS
        Of any norm.
    one, other : int or sequence of ints
        Sites of A and B, without any in common; neighbours or not.
    order : real
        Of the entropies: 1 is von Neumann's, 2 Renyi's second; others from 1/2 to infinity.

    Returns
    -------
    real scalar
        Not negative for order 1; ``2 S(A)`` where A and B are the whole chain.

    Raises
    ------
    ArgumentError
        If a site does not exist or is named twice, or the density matrix of both blocks has more than 2**26 entries.

    Notes
    -----
    Fermions between the blocks are traced out as such, with their signs.  A row of sites is first written in a basis of
    what its outer bonds can tell apart, so that of long blocks no more than ``bond**2`` states are kept (``bond`` at an
    end of the chain).  Eigenvalues of zero have no slope;
    up to order 1 second derivatives are refused where a change of the state may fill them.

    Examples
    --------
    >>> import numpy as np, qad
    >>> ghz = np.zeros((2,) * 4); ghz[0, 0, 0, 0] = ghz[1, 1, 1, 1] = 2**-0.5
    >>> psi = qad.mps.MPS.from_dense(ghz)
    >>> round(float(qad.mps.mutual_information(psi, [0], [2, 3]) / np.log(2)), 12)
    1.0
    """
    order = check_order(order)
    if order <= 1:  # the slope is infinite where a probability is zero
        check_filled(psi, lambda chain: [rank_of(part) for part in densities(chain, one, other)], "the entropy")
    parts = densities(psi, one, other)
    first, second, together = (entropy_of([part], order, power=1) for part in parts)
    return first + second - together


def negativity(psi: MPS, one: Block, other: Block, *, logarithmic: bool = False) -> Real:
    """The entanglement of two blocks in their density matrix: ``(|rho^T_B|_1 - 1) / 2``, or ``log |rho^T_B|_1``.

    Parameters
    ----------
    psi : MPS
        Of any norm.
    one, other : int or sequence of ints
        As in `mutual_information`.
    logarithmic : bool
        For the logarithm of the trace norm, in nats.

    Returns
    -------
    real scalar
        Zero where the blocks are not entangled.

    Raises
    ------
    ArgumentError
        As in `mutual_information`.

    Notes
    -----
    ``T_B`` transposes B alone (G. Vidal, R. F. Werner, PRA 65, 032314 (2002)), of fermions in a basis that creates
    those of A first, then those of B: the transpose of spins, not that of fermions, which has phases of its own.  At
    eigenvalues of zero the trace norm has a kink, where the derivative is the subgradient zero, as that of
    `qad.linalg.norm`; second derivatives are refused where a change of the state may fill them.

    Examples
    --------
    >>> import numpy as np, qad
    >>> bell = qad.mps.MPS.from_dense(np.eye(2) / np.sqrt(2))
    >>> round(float(qad.mps.negativity(bell, 0, 1)), 12)
    0.5
    """
    check_filled(psi, lambda chain: [rank_of(transposed(chain, one, other))], "the negativity")
    size = matrix_norm(transposed(psi, one, other), "nuc", (-2, -1))
    return np.log(size) if logarithmic else (size - 1) / 2


def densities(psi: MPS, one: Block, other: Block) -> list[Array]:
    """The density matrices of A, of B and of both."""
    rho, a, b = density_of(psi, one, other)
    return [np.trace(rho, axis1=1, axis2=3), np.trace(rho, axis1=0, axis2=2), rho.reshape(a * b, a * b)]


def transposed(psi: MPS, one: Block, other: Block) -> Array:
    """The density matrix of A and B, B's legs exchanged."""
    rho, a, b = density_of(psi, one, other)
    return rho.transpose(0, 3, 2, 1).reshape(a * b, a * b)


def rank_of(matrix: np.ndarray) -> int:
    """The rank of a matrix whose largest singular value is about 1."""
    return rank(stack_of(np.linalg.svdvals(matrix)))


def density_of(psi: MPS, one: Block, other: Block) -> tuple[Array, int, int]:
    """The density matrix of two blocks, legs (A, B, A', B'), in bases of what they can tell apart; its dimensions."""
    first, second = check_sites(psi, one), check_sites(psi, other)
    if set(first) & set(second):
        raise ArgumentError(f"blocks {first} and {second} have sites in common: give each site to one of them")
    psi = first_of_all(psi, first, second).without_symmetry().opened()
    chain, (of_first, of_second) = grouped(psi, first, second)
    places = sorted((*of_first, *of_second))
    dims = [chain.phys[i] for i in places]
    rho = reduced_density(chain, places).reshape(*dims, *dims)
    order = [places.index(i) for i in (*of_first, *of_second)]
    rho = rho.transpose(*order, *(len(places) + i for i in order))
    a, b = (int(np.prod([chain.phys[i] for i in part])) for part in (of_first, of_second))
    return rho.reshape(a, b, a, b), a, b


def grouped(psi: MPS, *blocks: Sequence[int]) -> tuple[MPS, list[list[int]]]:
    """The chain with every row of neighbours of one block as a single site, and where those sites are."""
    owner = {site: block for block, sites in enumerate(blocks) for site in sites}
    n = len(psi)
    second = is_second(psi)
    cuts = [0, *(i for i in range(1, n) if i not in owner or owner.get(i - 1) != owner[i]), n]
    tensors, places = [], [[] for _ in blocks]
    for begin, end in pairwise(cuts):
        if begin in owner:
            places[owner[begin]].append(len(tensors))
        tensors.append(psi[begin] if end == begin + 1 and begin not in owner else as_one(psi[begin:end], second))
    return MPS(tensors), places


def as_one(row: Sequence[Array], second: bool) -> Array:
    """A row of site tensors as one, its physical leg in a basis of what the outer bonds tell apart."""
    found = None
    for tensor in row:
        if found is not None:
            left, size, _ = found.shape
            tensor = join(found.reshape(left * size, -1), tensor).reshape(left, size * tensor.shape[1], -1)
        found = smaller(tensor, second)
    return found


def smaller(tensor: Array, second: bool) -> Array:
    """A site tensor with a physical leg no larger than its bonds together; an isometry on that leg is left out."""
    left, size, right = tensor.shape
    if size <= left * right:
        return tensor
    rest = carried_of(tensor.transpose(1, 0, 2).reshape(size, left * right), "a block of sites", second)
    return rest.reshape(-1, left, right).transpose(1, 0, 2)
