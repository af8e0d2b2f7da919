"""Environments of an infinite chain for a Hamiltonian in triangular form.

The environment of channel 0 on the left is 1, that of a channel in between the sum of all beginnings of terms, and that
of the last channel the sum of all terms that lie on the left.  The last one has the energy per site in common with
every site that is added; without it, it solves ``x - T(x) = h - e`` for the transfer operator T of the cell, h what one
more cell brings: a geometric series, summed by GMRES.

V. Zauner-Stauber et al., PRB 97, 045145 (2018), appendix C; H. N. Phien, G. Vidal, I. P. McCulloch, PRB 86, 245107
(2012).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.linalg.krylov.gmres import corrected, correction
from qad.mps.uniform.transfer import identity, transfer_of
from qad.symmetric.generic import numbers, with_numbers
from qad.symmetric.tensor import SymTensor

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from qad.mps.kernels.dense import Apply

PRODUCTS, RESTART = 3000, 60  # of GMRES at most, and vectors that it keeps
INNER = 0.1  # of a tolerance: near sums of several states larger residuals lead searches astray


def environments_with(
    H: Any, kets: Sequence[Any], density: Any, start: Any, tol: float, ahead: bool
) -> tuple[list[Any], float]:
    """Environments (bra, channel, ket) beside every site of a cell of isometries, and the energy of a cell.

    Parameters
    ----------
    H : DenseCell or ChargedCell
    kets : sequence of arrays or SymTensors
        Isometries from the left where environments on the left are wanted (`ahead`), else from the right.
    density : array or SymTensor (bond, bond)
        Any positive matrix of trace 1, near the fixed point of the other side: the environment is shifted by a multiple
        of 1, so that the channel of whole terms has no overlap with it.
    start : array or SymTensor or None
        The environment beside the cell of a similar state.
    tol : float
        Bounds residuals, in the units of the Hamiltonian.
    """
    first, energy = Side(H, kets, ahead).fixed(density, start, tol)
    found = [first]
    for site in range(len(kets) - 1) if ahead else range(len(kets) - 1, 0, -1):
        found.append((H.past_left if ahead else H.past_right)(found[-1], site, kets[site]))
    return found if ahead else found[::-1], energy


class Side:
    """One side of the infinite chain: how environments pass the cell of isometries towards the other side.

    Parameters
    ----------
    H : DenseCell or ChargedCell
    kets : sequence of arrays or SymTensors
        Of the cell.
    ahead : bool
        Whether this is the left side, whose environments go to the right.
    """

    def __init__(self, H: Any, kets: Sequence[Any], ahead: bool):
        self.H: Any = H
        self.kets: Sequence[Any] = kets
        self.ahead: bool = ahead
        self.one: Any = identity(kets[0], 0) if ahead else identity(kets[0], 0, -1)

    def passed(self, x: Any) -> Any:
        """An environment past the cell."""
        if self.ahead:
            for site, ket in enumerate(self.kets):
                x = self.H.past_left(x, site, ket)
            return x
        for site in reversed(range(len(self.kets))):
            x = self.H.past_right(x, site, self.kets[site])
        return x

    def fixed(self, density: Any, start: Any, tol: float) -> tuple[Any, float]:
        """The environment of the whole side, and the energy of the cell."""
        H, ahead = self.H, self.ahead
        nothing, whole = (0, 1) if ahead else (1, 0)
        begun = H.placed(self.one, nothing, ahead)
        start = start if same_legs(start, begun) else None
        if H.steps is None:
            found = begun + self.series(begun, start, tol)
        else:
            found = begun
            for _ in range(H.steps):
                found = begun + H.inner(self.passed(found), ahead)
        source = H.taken(self.passed(found), whole, ahead)
        guess = None if start is None else H.taken(start, whole, ahead)
        last = self.alone(source, density, guess, tol)
        energy = np.vdot(numbers(density), numbers(last)).real
        return found + H.placed(last - energy * self.one, whole, ahead), float(energy)

    def series(self, begun: Any, start: Any, tol: float) -> Any:
        """The channels in between, where terms of any length make them a geometric series."""
        H, ahead = self.H, self.ahead
        source = H.inner(self.passed(begun), ahead)

        def apply(v: np.ndarray) -> np.ndarray:
            return v - numbers(H.inner(self.passed(with_numbers(begun, v)), ahead))

        guess = source if start is None else H.inner(start, ahead)
        return with_numbers(begun, solution(apply, numbers(source), numbers(guess), tol))

    def alone(self, source: Any, density: Any, guess: Any, tol: float) -> Any:
        """The solution of ``x - T(x) + tr(x density) 1 = source``, whose overlap with the density is the energy."""
        one, known, given = numbers(self.one), numbers(density), numbers(source)
        through = transfer_of(self.kets, self.kets, source, self.ahead)

        def apply(v: np.ndarray) -> np.ndarray:
            return v - through(v) + np.vdot(known, v) * one

        start = np.zeros_like(given) if guess is None else numbers(guess)
        return with_numbers(source, solution(apply, given, start, tol))


def solution(apply: Apply, b: np.ndarray, start: np.ndarray, tol: float) -> np.ndarray:
    """The solution of a linear equation by GMRES, to a residual of norm `tol` or what rounding allows.

    Raises
    ------
    ConvergenceError
        If it is not found within `PRODUCTS` products.
    """
    name, size = "the environment of an infinite chain, one state and no sum", max(np.linalg.norm(b), 1e-300)
    return corrected(apply, b, start, INNER * tol / size, RESTART, PRODUCTS, name, correction, "restarted GMRES")[0]


def same_legs(start: Any, begun: Any) -> bool:
    """Whether an environment may be the start of a search for another one."""
    if start is None:
        return False
    return start.layout is begun.layout if type(begun) is SymTensor else start.shape == begun.shape
