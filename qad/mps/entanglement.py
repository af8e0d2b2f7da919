"""Entanglement across the bonds of a chain: entropies, and Schmidt values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import Tensor, defvjp, primitive, stack_of
from qad.linalg import funm_svd
from qad.linalg import norm as frobenius
from qad.mps.canonical import schmidt_form
from qad.mps.conserving import measures as conserving
from qad.mps.conserving.state import SymmetricMPS
from qad.mps.gauge import factors_from_left, mirrored
from qad.mps.observables import check_kind
from qad.mps.state import MPS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from qad.mps.conserving.measures import SectorEntropy
    from qad.typing import Array, Real


def entanglement_entropy(
    psi: MPS | SymmetricMPS, bond: int | None = None, *, by_sector: bool = False
) -> Array | dict[Any, SectorEntropy] | list[dict[Any, SectorEntropy]]:
    """Von Neumann entropy ``-sum p log p`` of one side of a bond, in nats; p are the squared Schmidt values.

    Parameters
    ----------
    psi : MPS or SymmetricMPS
        Open, of any norm.
    bond : int, optional
        1 to n - 1: the bond left of that site; all of them by default.
    by_sector : bool
        Of a `SymmetricMPS`: what each charge of the sites left of the bond has of it.

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
        If there is no such bond, or no sectors.

    Notes
    -----
    The derivative needs no gaps, and is right where Schmidt values vanish: there it is zero.

    Examples
    --------
    >>> import numpy as np, qad
    >>> bell = qad.mps.MPS.from_dense(np.eye(2) / np.sqrt(2))
    >>> round(float(qad.mps.entanglement_entropy(bell, 1) / np.log(2)), 12)
    1.0
    >>> state = [qad.mps.MPS.product(s, conserve="Sz", dtype=float) for s in ([0, 1], [1, 0])]
    >>> qad.mps.entanglement_entropy((state[0] + state[1]).normalized(), 1, by_sector=True)[1].weight.round(12)
    np.float64(0.5)
    """
    if isinstance(psi, SymmetricMPS):
        bonds = bonds_of(psi, bond)
        centers = conserving.centers(psi)
        measure = conserving.entropies_by_sector if by_sector else conserving.entropy
        found = [measure(centers[i - 1], matrix_entropy) for i in bonds]
        return found[0] if bond is not None else found if by_sector else stacked(found, psi)
    check_kind(psi, MPS)
    require_whole(by_sector)
    bonds = bonds_of(psi, bond)
    lefts = factors_from_left(psi.tensors)
    rights = factors_from_left(mirrored(psi.tensors))[::-1]
    values = [entropy_of_center(lefts[i - 1] @ rights[i - 1].T) for i in bonds]
    return np.stack(values) if bond is None else values[0]


def schmidt_values(
    psi: MPS | SymmetricMPS, bond: int | None = None, *, by_sector: bool = False
) -> np.ndarray | dict[Any, np.ndarray] | list[np.ndarray] | list[dict[Any, np.ndarray]]:
    """The Schmidt values of a bond of the normalised state, descending; their squares add up to 1.

    Parameters
    ----------
    psi : MPS or SymmetricMPS
        Open, of plain arrays; `entanglement_entropy` is differentiable.
    bond : int, optional
        1 to n - 1: the bond left of that site; all of them by default.
    by_sector : bool
        Of a `SymmetricMPS`: a dict of the charges of the sites left of the bond.

    Returns
    -------
    array, or list of n - 1 arrays
        By sector dicts of arrays.

    Raises
    ------
    ShapeError
        If the chain is periodic.
    ArgumentError
        If there is no such bond, no sectors, the norm is zero, or tensors are recorded.

    Examples
    --------
    >>> import numpy as np, qad
    >>> bell = qad.mps.MPS.from_dense(np.eye(2) / np.sqrt(2))
    >>> (qad.mps.schmidt_values(bell, 1) ** 2).round(12)
    array([0.5, 0.5])
    """
    if not isinstance(psi, SymmetricMPS):
        check_kind(psi, MPS)
        require_whole(by_sector)
    if any(type(x) is Tensor for t in psi for x in (t, getattr(t, "data", None))):
        raise ArgumentError("schmidt_values are of plain states: differentiate entanglement_entropy, or a function of "
                            "the reduced density matrix")  # fmt: skip
    bonds = bonds_of(psi, bond)
    if isinstance(psi, SymmetricMPS):
        sectors = conserving.schmidt_values(psi)
        values = sectors if by_sector else [np.sort(np.concatenate(list(s.values())))[::-1] for s in sectors]
    else:
        values = schmidt_form(psi)[1][1:]
    found = [values[i - 1] for i in bonds]
    return found if bond is None else found[0]


def require_whole(by_sector: bool) -> None:
    """Raise where sectors of an ordinary state are asked for."""
    if by_sector:
        raise ArgumentError(
            "by_sector= is of states of definite charge: qad.mps.MPS.random(..., conserve=...), or "
            "ground_state(..., conserve=...), gives one"
        )


def bonds_of(psi: MPS | SymmetricMPS, bond: int | None) -> Sequence[int]:
    """The bonds that are asked for; raises where there is no such one."""
    n = len(psi)
    if bond is not None and not 1 <= bond < n:
        raise ArgumentError(f"there is no bond {bond} inside a chain of {n} sites: bonds are 1 to {n - 1}")
    return range(1, n) if bond is None else [bond]


def stacked(values: list[Real], psi: SymmetricMPS) -> Array:
    """An array of numbers, also of none."""
    return np.stack(values) if values else np.zeros(0, psi[0].data.real.dtype)


def entropy_of_center(matrix: Array) -> Real:
    """The entropy of the squared singular values of a matrix, normalised."""
    size = frobenius(matrix)
    if not (stack_of(size) > 0).all():
        raise ArgumentError("the state is zero or not finite: it has no entropy")
    return matrix_entropy(matrix * (1 / size))


@primitive
def matrix_entropy(matrix: Array) -> Real:
    """``-sum s**2 log s**2`` over singular values s."""
    p = np.linalg.svd(matrix, compute_uv=False) ** 2
    p = p[p > 0]
    return -(p * np.log(p)).sum()


def entropy_slope(s: Array) -> Array:
    """The derivative of ``-s**2 log s**2``."""
    return np.where(s == 0, 0.0, -2 * s * (np.log(np.where(s == 0, 1.0, s) ** 2) + 1))


defvjp(matrix_entropy, lambda g, ans, matrix: g * funm_svd(entropy_slope, matrix).conj())
