"""Environments of an infinite chain for a Hamiltonian in triangular form.

The environment of channel 0 on the left is 1, that of a channel in between the sum of all beginnings of terms, and that
of the last channel the sum of all terms that lie on the left.  The last one has the energy per site in common with
every site that is added; without it, it solves ``x - T(x) = h - e`` for the transfer operator T of the cell, h what one
more cell brings: a geometric series, summed by GMRES.

V. Zauner-Stauber et al., PRB 97, 045145 (2018), appendix C; H. N. Phien, G. Vidal, I. P. McCulloch, PRB 86, 245107
(2012).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from qad.linalg.krylov.gmres import corrected, correction
from qad.mps.uniform.transfer import identity, transfer_of
from qad.symmetric.generic import numbers, with_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from qad.mps.kernels.dense import Apply
    from qad.mps.uniform.transfer import Flat

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
    one, side = identity(kets[0], 0, 1 if ahead else -1), Side(H, kets, kets, ahead)
    first, energy = side.environment(one, one, density, tol, start=start)
    found = [first]
    for site in side.order[:-1]:
        found.append(side.past(found[-1], site))
    return found[:: 1 if ahead else -1], float(energy.real)


@dataclass
class Side:
    """One side of the infinite chain: how environments pass the cell towards the other side.

    Parameters
    ----------
    H : DenseCell or ChargedCell
    kets, bras : sequences of arrays or SymTensors
        Of the cell.
    ahead : bool
        Whether this is the left side, whose environments go to the right.
    often : bool
        Whether it meets so many environments that their transfer operator is worth a matrix.
    """

    H: Any
    kets: Sequence[Any]
    bras: Sequence[Any]
    ahead: bool
    often: bool = False
    through: Flat | None = None

    @property
    def order(self) -> range:
        """The sites as environments pass them."""
        return range(len(self.kets))[:: 1 if self.ahead else -1]

    def past(self, x: Any, site: int) -> Any:
        """An environment past a site."""
        return (self.H.past_left if self.ahead else self.H.past_right)(x, site, self.kets[site], self.bras[site])

    def passed(self, x: Any) -> Any:
        """An environment past the cell."""
        return reduce(self.past, self.order, x)

    def environment(
        self, first: Any, one: Any, density: Any, tol: float, source: Any = None, start: Any = None
    ) -> tuple[Any, Any]:
        """The environment of the whole side, and what the last channel had of the fixed point `one`.

        Its channel of nothing placed yet is `first`.  A cell adds the `source`, an environment, to the others.
        """
        H, ahead = self.H, self.ahead
        nothing, whole = (0, 1) if ahead else (1, 0)
        begun = H.placed(first, nothing, ahead)
        begun = begun if source is None else begun + H.inner(source, ahead)
        found = self.between(begun, start, tol)
        moved = self.passed(found) if source is None else self.passed(found) + source
        guess = None if start is None else H.taken(start, whole, ahead)
        last, amount = self.alone(H.taken(moved, whole, ahead), one, density, tol, guess)
        return found + H.placed(last, whole, ahead), amount

    def between(self, begun: Any, start: Any, tol: float) -> Any:
        """The channels in between beside those known: where terms have any length they are a geometric series."""
        H, ahead = self.H, self.ahead
        if H.steps is not None:
            found = begun
            for _ in range(H.steps):
                found = begun + H.inner(self.passed(found), ahead)
            return found

        def apply(v: np.ndarray) -> np.ndarray:
            return v - numbers(H.inner(self.passed(with_numbers(begun, v)), ahead))

        source = H.inner(self.passed(begun), ahead)
        guess = source if start is None else H.inner(start, ahead)
        return begun + with_numbers(begun, solution(apply, numbers(source), numbers(guess), tol))

    def alone(self, source: Any, one: Any, density: Any, tol: float, guess: Any = None) -> tuple[Any, Any]:
        """The solution of ``x - T(x) + tr(x density) 1 = source`` less its trace with the density, and this trace."""
        fixed, known, given = numbers(one), numbers(density), numbers(source)
        through = self.through = self.through or transfer_of(self.kets, self.bras, source, self.ahead, self.often)

        def apply(v: np.ndarray) -> np.ndarray:
            return v - through(v) + np.vdot(known, v) * fixed

        start = np.zeros_like(given) if guess is None else numbers(guess)
        found = solution(apply, given, start, tol)
        amount = np.vdot(known, found)
        return with_numbers(source, found - amount * fixed), amount


def solution(apply: Apply, b: np.ndarray, start: np.ndarray, tol: float) -> np.ndarray:
    """The solution of a linear equation by GMRES, to a residual of norm `tol` or what rounding allows.

    Raises
    ------
    ConvergenceError
        If it is not found within `PRODUCTS` products.
    """
    name, size = "the environment of an infinite chain, one state and no sum", max(np.linalg.norm(b), 1e-300)
    return corrected(apply, b, start, INNER * tol / size, RESTART, PRODUCTS, name, correction, "restarted GMRES")[0]
