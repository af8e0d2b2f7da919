"""A Hamiltonian of neighbours, taken apart into its two-site terms."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import like, value_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from qad.mps.operators.mpo import MPO

TOLERANCE = 1e-10


def neighbour_terms(H: MPO) -> list[np.ndarray]:
    """Matrices ``h[i]`` with ``H = sum_i h[i]``, ``h[i]`` acting on sites i and i+1.

    Parameters
    ----------
    H : MPO
        Open, of two or more sites; terms on single sites are shared out between both of their bonds.

    Returns
    -------
    list of arrays (out_i, out_(i+1), in_i, in_(i+1))

    Raises
    ------
    ArgumentError
        If `H` holds anything but constants, single sites and neighbours.

    Notes
    -----
    Traces over all other sites give what `H` has on a pair, its single sites and constant included, which the terms on
    both sides of a site share.  Constants, single sites and pairs are orthogonal in the Hilbert-Schmidt product:
    ``tr(H^H H)`` tells whether something is missing.  No form of the operator's tensors is assumed.

    Examples
    --------
    >>> import qad
    >>> terms = neighbour_terms(qad.mps.ising(3, g=0.0))
    >>> terms[0].reshape(4, 4).diagonal().round(12)
    array([-1.,  1.,  1., -1.])
    """
    if H.periodic or len(H) < 2:
        raise ArgumentError("two-site terms need an open operator of at least two sites")
    left, right = traced(H), traced([w.swapaxes(0, 1) for w in reversed(H.tensors)])[-2::-1]
    inner = [np.einsum("a,aboi,b->oi", left[i], H[i], right[i]) for i in range(1, len(H) - 1)]
    terms = []
    for i, (w, other) in enumerate(pairwise(H)):
        terms.append(np.einsum("a,abst,bcuv,c->sutv", left[i], w, other, right[i + 1], optimize=True))
    check_complete([value_of(w) for w in H], map(value_of, inner), map(value_of, terms))
    for i, single in enumerate(inner):  # the site i + 1, which is in the terms of both its bonds
        terms[i] = terms[i] - 0.5 * np.einsum("st,uv->sutv", like(H[i]).eye(H[i].shape[2]), single)
        terms[i + 1] = terms[i + 1] - 0.5 * np.einsum("st,uv->sutv", single, like(single).eye(H[i + 2].shape[2]))
    return terms


def traced(H: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Per site the normalised trace of everything left of it, a vector on the operator's bond; and that of all."""
    rows = [like(*H).ones(1)]
    for w in H:
        rows.append(rows[-1] @ np.trace(w, axis1=2, axis2=3) / w.shape[2])
    return rows


def check_complete(H: Sequence[np.ndarray], inner: Iterable[np.ndarray], terms: Iterable[np.ndarray]) -> None:
    """Raise unless what traces leave on pairs of neighbours accounts for all of ``tr(H^H H)``."""
    square = like(*H).ones((1, 1))
    for w in H:
        square = np.einsum("ab,acoi,bdoi->cd", square, w.conj(), w, optimize=True) / w.shape[2]
    parts = sum(np.vdot(h, h).real / (h.shape[0] * h.shape[1]) for h in terms)
    parts -= sum(np.vdot(h, h).real / len(h) for h in inner)
    missing = square[0, 0].real - parts
    if missing > TOLERANCE * square[0, 0].real:
        share = np.sqrt(missing / square[0, 0].real)
        raise ArgumentError(
            f"H has terms beyond neighbours (a share of {share:.1e} of its norm): tebd needs neighbours only; 'tdvp' "
            "and 'dmrg2' take any MPO"
        )


def of_neighbours(H: MPO) -> bool:
    """Whether an operator has terms on single sites and neighbours only."""
    try:
        return len(neighbour_terms(H)) > 0
    except ArgumentError:
        return False
