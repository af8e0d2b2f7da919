"""Correlation lengths of infinite states, from the transfer operators of their environments."""

from __future__ import annotations

from typing import Any

import numpy as np

from qad.core.errors import ArgumentError
from qad.peps.checks import check_kind
from qad.peps.infinite.density import parted
from qad.peps.infinite.environment import Environment
from qad.peps.infinite.transfer import two_largest
from qad.symmetric.generic import dense, plain
from qad.symmetric.tensor import SymTensor


def correlation_length(env: Environment, direction: str = "row") -> float:
    """The correlation length of an infinite state, in sites, as its environment has it.

    Parameters
    ----------
    env : Environment
    direction : "row" or "column"
        Along which.

    Returns
    -------
    float
        ``-n / log|t_1 / t_0|`` for the two largest eigenvalues t of the transfer operator of the n sites after which
        the edges repeat. It grows with `chi`, and is infinite for a superposition of several phases.

    Notes
    -----
    V. Nebendahl and W. Duer, Phys. Rev. B 87, 075413 (2013).

    Examples
    --------
    >>> import qad
    >>> state = qad.peps.PEPS.random(bond=2, symmetry="c4v", seed=0)
    >>> 0.5 < qad.peps.correlation_length(qad.peps.environment(state, chi=12)) < 1
    True
    """
    if direction not in ("row", "column"):
        raise ArgumentError(f"the direction is 'row' or 'column', not {direction!r}")
    upper, lower, length = edges(env, 0 if direction == "row" else 3)
    first, second = two_largest(upper, lower)
    if not second > 0:
        return 0.0
    return float(-length / np.log(second / first)) if second < first else float("inf")


def edges(env: Environment, k: int) -> tuple[list[np.ndarray], list[np.ndarray], int]:
    """Edges of direction k along a line, those of the other side that face them, and how many repeat."""
    check_kind(env, Environment)
    rows, columns = len(env.cell.places), len(env.cell.places[0])
    length = columns if k == 0 else rows
    near = [(0, i) if k == 0 else (i, 0) for i in range(length)]
    far = [(-1, i) if k == 0 else (i, -1) for i in range(length)]
    upper = [as_array_of(env.edge(k, *place)) for place in near]
    lower = [as_array_of(env.edge((k + 2) % 4, *place)) for place in far]
    if k == 3:  # the left edges run upwards
        upper, lower = ([x.transpose(2, 1, 0) for x in group] for group in (upper, lower))
    return upper, [x.transpose(2, 1, 0) for x in lower], length


def as_array_of(edge: Any) -> np.ndarray:
    """An edge as an array, ket before bra on its site leg."""
    if type(edge) is SymTensor and edge.symmetry.fermionic:
        raise ArgumentError(
            "transfer operators of fermions are not diagonalised: measure qad.peps.expectation of terms at a distance"
        )
    chi = edge.shape
    return dense(plain(parted(edge))).reshape(chi[0], -1, chi[2])
