"""Entanglement across the bonds of a chain: entropies, Schmidt values and their spectrum.

Schmidt values are singular values of small matrices, one for each sector of a bond, where what isometric forms carry
across it from the left and from the right is joined.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import stack_of, unrecorded, value_of
from qad.linalg import norm as frobenius
from qad.mps.chain.checks import check_kind
from qad.mps.chain.dropped import check_full, is_second
from qad.mps.chain.gauge import carried_of, check_open
from qad.mps.chain.methods import offered
from qad.mps.chain.state import MPS
from qad.mps.measure.spectral_sums import UNRESOLVED, check_order, entropy_of
from qad.symmetric.generic import as_map, bond_and_columns, charges_of, join, numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from qad.symmetric.groups import Charge
    from qad.typing import Array, Real, T

    Sectors: TypeAlias = list[tuple[Charge, Array]]

EMPTY = "the state is zero or not finite: it has no entanglement"


class SectorEntropy(NamedTuple):
    """What one sector has of the entanglement across a bond.

    Attributes
    ----------
    weight : float
        The probability of the charge: the sum p of its squared Schmidt values.
    entropy : float
        In nats, of its squared Schmidt values divided by p; the whole is ``sum p * (entropy - log p)``.
    """

    weight: Any
    entropy: Any


@offered
def entanglement_entropy(
    psi: MPS, bond: int | None = None, *, order: float = 1, by_sector: bool = False
) -> Array | dict[Any, SectorEntropy] | list[dict[Any, SectorEntropy]]:
    """Entropy of one side of a bond in nats, von Neumann's ``-sum p log p`` of squared Schmidt values p, or Renyi's.

    Parameters
    ----------
    psi : MPS
        Open, of any norm.
    bond : int, optional
        1 to n - 1: the bond left of that site; all of them by default.
    order : real
        1 is von Neumann's, any other from 1/2 to infinity Renyi's ``log(sum p**order) / (1 - order)``.
    by_sector : bool
        Of a state with charges: what each charge of the sites left of the bond has of it.

    Returns
    -------
    real scalar, or array (n - 1,)
        By sector a dict, or a list of n - 1: charge to ``(weight, entropy)``, the probability p of the charge and the
        entropy S of the state that has it; the whole entropy is ``sum p (S - log p)``.

    Raises
    ------
    ShapeError
        If the chain is periodic.
    ArgumentError
        If there is no such bond, no sectors, or no such order.

    Notes
    -----
    The derivative needs no gaps, and is right where Schmidt values vanish: there it is zero.  (Renyi's of order 1/2 has
    a kink there, like that of an absolute value.)  Up to order 1 there is no second derivative where a change of the
    state may fill them: it is refused.

    Examples
    --------
    >>> import numpy as np, qad
    >>> bell = qad.mps.MPS.from_dense(np.eye(2) / np.sqrt(2))
    >>> [round(float(qad.mps.entanglement_entropy(bell, 1, order=k) / np.log(2)), 12) for k in (1, 2, np.inf)]
    [1.0, 1.0, 1.0]
    >>> state = [qad.mps.MPS.product(s, conserve="Sz", dtype=float) for s in ([0, 1], [1, 0])]
    >>> qad.mps.entanglement_entropy((state[0] + state[1]).normalized(), 1, by_sector=True)[1].weight.round(12)
    np.float64(0.5)
    """
    order = check_order(order)
    if by_sector:
        return entropies_by_sector(psi, bond, order)
    values = at_bonds(psi, bond, lambda sectors: entropy_of(smooth(sectors, order), order, power=2))
    if bond is not None:
        return values
    return np.stack(values) if values else np.zeros(0, psi.dtype).real


def schmidt_values(
    psi: MPS, bond: int | None = None, *, by_sector: bool = False
) -> Array | dict[Any, Array] | list[Array] | list[dict[Any, Array]]:
    """The Schmidt values of a bond of the normalised state, descending; their squares add up to 1.

    Parameters
    ----------
    psi : MPS
        Open.
    bond : int, optional
        1 to n - 1: the bond left of that site; all of them by default.
    by_sector : bool
        Of a state with charges: a dict of the charges of the sites left of the bond.

    Returns
    -------
    array, or list of n - 1 arrays
        Of as many values as both sides of the bond can tell apart.  By sector dicts of arrays.  Derivatives are theirs:
        those that a change of the state would add are zero, with a kink.

    Raises
    ------
    ShapeError
        If the chain is periodic.
    ArgumentError
        If there is no such bond, no sectors, or the norm is zero; in a derivative, where equal Schmidt values are
        weighed differently: `entanglement_entropy`, which does not, needs no gaps.

    Examples
    --------
    >>> import numpy as np, qad
    >>> bell = qad.mps.MPS.from_dense(np.eye(2) / np.sqrt(2))
    >>> (qad.mps.schmidt_values(bell, 1) ** 2).round(12)
    array([0.5, 0.5])
    """
    shown = require_sectors(psi).conserved.symmetry.shown if by_sector else None

    def values(sectors):
        found = [np.linalg.svdvals(matrix) for _, matrix in sectors]
        if by_sector:
            return {shown(charge): s for (charge, _), s in zip(sectors, found, strict=True)}
        return np.sort(np.concatenate(found))[::-1] if len(found) > 1 else found[0]

    return at_bonds(psi, bond, values)


def entanglement_spectrum(
    psi: MPS, bond: int | None = None, *, by_sector: bool = False
) -> Array | dict[Any, Array] | list[Array] | list[dict[Any, Array]]:
    """The levels ``-log p`` of a bond, ascending; p are the squared Schmidt values.

    Parameters
    ----------
    psi : MPS
        Open.
    bond : int, optional
        1 to n - 1: the bond left of that site; all of them by default.
    by_sector : bool
        Of a state with charges: a dict of the charges of the sites left of the bond.

    Returns
    -------
    array, or list of n - 1 arrays
        Without the levels of Schmidt values that rounding does not tell from zero (1e-14).  By sector dicts of arrays.

    Raises
    ------
    ShapeError, ArgumentError
        As in `schmidt_values`.

    Examples
    --------
    >>> import numpy as np, qad
    >>> bell = qad.mps.MPS.from_dense(np.eye(2) / np.sqrt(2))
    >>> (qad.mps.entanglement_spectrum(bell, 1) / np.log(2)).round(12)
    array([1., 1.])
    """
    found = schmidt_values(psi, bond, by_sector=by_sector)
    rows = found if bond is None else [found]
    rows = [{charge: levels(s) for charge, s in x.items()} if by_sector else levels(x) for x in rows]
    return rows if bond is None else rows[0]


def levels(s: Array) -> Array:
    """``-log s**2`` of descending Schmidt values, of those that are not zero to rounding."""
    plain = stack_of(value_of(s))
    return -2 * np.log(s[: int(np.count_nonzero(plain > UNRESOLVED * np.finfo(plain.dtype).eps))])


def entropies_by_sector(psi: Any, bond: int | None, order: float) -> Any:
    """Weight and entropy of every sector of a bond, or of all."""
    if order != 1:
        raise ArgumentError(f"entropies by sector add up to the whole for order 1 only, not {order}: leave one out")
    shown = require_sectors(psi).conserved.symmetry.shown

    def entropies(sectors):
        parts = [(charge, m, frobenius(m)) for (charge, _), m in zip(sectors, smooth(sectors, order), strict=True)]
        return {
            shown(charge): SectorEntropy(size**2, entropy_of([matrix * (1 / size)], order, power=2))
            for charge, matrix, size in parts if stack_of(value_of(size)) > 0
        }  # fmt: skip

    return at_bonds(psi, bond, entropies)


def smooth(sectors: Sequence[tuple[Any, Array]], order: float) -> list[Array]:
    """The matrices of a bond; raises where their entropy has no second derivative, which is asked for."""
    matrices = [matrix for _, matrix in sectors]
    if order <= 1:  # the slope is infinite where a Schmidt value is zero
        check_full(matrices, "the entropy")
    return matrices


def require_sectors(psi: Any) -> MPS:
    """The state itself; raises where sectors of an ordinary one are asked for."""
    if check_kind(psi, MPS).conserved is None:
        raise ArgumentError(
            "by_sector= is of symmetric states: qad.mps.MPS.random(..., conserve=...), or "
            "ground_state(..., conserve=...), gives one"
        )
    return psi


def at_bonds(psi: MPS, bond: int | None, function: Callable[[Sectors], T]) -> T | list[T]:
    """A function of the sectors of a bond, or of those of all; raises where there is no such bond."""
    n = len(check_kind(psi, MPS))
    if bond is not None and not (hasattr(bond, "__index__") and 1 <= bond < n):
        raise ArgumentError(f"there is no bond {bond!r} inside a chain of {n} sites: bonds are 1 to {n - 1}")
    sectors = sectors_of(psi)
    return [function(own) for own in sectors] if bond is None else function(sectors[bond - 1])


# -- sectors -----------------------------------------------------------------------------------------------------------


def sectors_of(psi: MPS) -> list[Sectors]:
    """For every inner bond its sectors, whose singular values are the Schmidt values of the normalised state."""
    check_open(psi.tensors)
    if not all(np.isfinite(stack_of(unrecorded(numbers(tensor)))).all() for tensor in psi):
        raise ArgumentError(EMPTY)
    found, mirrored, bonds = [], [tensor.transpose(2, 1, 0) for tensor in reversed(psi.tensors)], range(1, len(psi))
    lefts, rights = factors_of(psi.tensors, bonds), factors_of(mirrored, bonds[::-1])
    for left, right in zip(lefts, reversed(rights), strict=True):
        centre = join(left, right, ((1,), (1,)))
        where, matrices = as_map(of_size_one(centre, frobenius(numbers(centre).reshape(-1))), 1)
        found.append(list(zip(charges_of(where), matrices, strict=True)))
    return found


def factors_of(tensors: Sequence[Any], bonds: Sequence[int]) -> list[Any]:
    """What isometric forms of the sites before every inner bond carry across it, of size 1; the bonds' numbers."""
    found, second = [], is_second(tensors)
    for bond, tensor in zip(bonds, tensors, strict=False):
        where, matrices = as_map(join(found[-1], tensor) if found else tensor, 2)
        every = second or len(matrices) == 1  # one of several that carries nothing gets no direction
        place, reached = f"bond {bond}", [every or stack_of(unrecorded(m)).any() for m in matrices]
        rows = [carried_of(m, place, second) if some else m[:0] for m, some in zip(matrices, reached, strict=True)]
        factor = bond_and_columns(where, rows)  # whose size is no part of the derivative
        found.append(of_size_one(factor, np.linalg.norm(stack_of(unrecorded(numbers(factor))).reshape(-1))))
    return found


def of_size_one(factor: Any, size: Real) -> Any:
    """A factor divided by its size; raises where that is none."""
    if not ((plain := stack_of(value_of(size))) > 0).all() or not np.isfinite(plain).all():
        raise ArgumentError(EMPTY)
    return factor * (1 / size)
