"""Variational uniform matrix product states: a centre on every site of the cell, between infinite environments.

The state is held in mixed form, ``AC = AL C = C AR``: AL isometries from the left, AR from the right, C on the bonds.
Every step takes the lowest vectors of the effective operators of all AC and C, and the isometries that are nearest to
``AC C^-1`` and ``C^-1 AC``, from polar factors.  The gradient of the energy is ``H_AC AC - AL H_C C``; its norm says
how far the state is from a stationary point.  Bonds grow in the directions and sectors that the Hamiltonian asks for.

V. Zauner-Stauber et al., PRB 97, 045145 (2018).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import scipy

from qad.linalg.krylov.lanczos import Krylov
from qad.mps.uniform.mixed import Mixed, beside, beyond, isometry, leading_of
from qad.mps.uniform.schur import environments_with
from qad.symmetric.generic import direct_sum, join, laid_out, norm, numbers, with_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from qad.mps.kernels.terms import Apply

MANY, FEW = 150, 3  # products of an effective operator in one step, at most: to its lowest vector, or on the way there
LOOK = 5  # products between two looks at the projected matrix
INNER = 0.1  # residuals of lowest vectors, beside the gradient
LEAST = 1e-14  # of all residuals, beside the scale of the Hamiltonian
SPAN = 5  # steps that are compared with as many before, to extrapolate a slow approach
LEAST_RATIO, FARTHEST = 0.3, 100.0  # of their moves; and how many times the last one is added at most
ROUNDING = 1e-13  # of what the Hamiltonian brings out of a state, beside its scale
BENT = 0.3  # how far both may differ in direction, beside what is left to go


@dataclass(eq=False)
class Vumps:
    """A search: the state, its environments, its energy per site, and the norm of the gradient.

    Attributes
    ----------
    scale : float
        Size of the terms of the Hamiltonian.
    most : int
        Products of an effective operator in one step.
    slope : float
        Norm of the gradient where the last step began.
    trail : list of arrays
        Centres and bonds of the last steps, since the last extrapolation.
    energies : list of float
        Of those steps.
    move : array or None
        The last step.
    """

    H: Any
    psi: Mixed
    scale: float
    most: int = MANY
    energy: float = np.inf
    slope: float = np.nan
    lefts: list[Any] | None = None
    rights: list[Any] | None = None
    trail: list[np.ndarray] = field(default_factory=list)
    energies: list[float] = field(default_factory=list)
    move: np.ndarray | None = None

    def __post_init__(self) -> None:
        self.slope = 1e-3 * self.scale

    def look(self) -> tuple[list[Apply], list[Apply]]:
        """Environments, energy and gradient of the present state; the effective operators of sites and of bonds.

        The residuals of environments follow the square of the gradient, as the gain in energy does.
        """
        psi, count = self.psi, len(self.psi)
        tol = max(LEAST * self.scale, min(1e-3, self.slope / self.scale) * self.slope)
        on_right, on_left = psi.densities()
        starts = self.lefts and self.lefts[0], self.rights and self.rights[-1]
        self.lefts, below = environments_with(self.H, psi.lefts, on_right, starts[0], tol, ahead=True)
        self.rights, above = environments_with(self.H, psi.rights, on_left, starts[1], tol, ahead=False)
        self.energy = (below + above) / 2 / count
        sites, bonds = [], []
        for n, (left, right) in enumerate(zip(self.lefts, self.rights, strict=True)):
            m = (n + 1) % count
            sites.append(self.H.effective(n, 1, left, right, psi.lefts[n])[0])
            bonds.append(self.H.effective(m, 0, self.lefts[m], right, psi.bonds[n])[0])
        rows = zip(psi.lefts, psi.centres, sites, strict=True)
        slopes = [norm(beside(left, with_numbers(x, apply(numbers(x))))) for left, x, apply in rows]
        self.slope = float(np.linalg.norm(slopes) / np.sqrt(count))
        return sites, bonds

    def step(self) -> None:
        """The lowest centres between the present environments, and isometries from them."""
        sites, bonds = self.look()
        self.energies.append(self.energy)
        psi, tol = self.psi, max(LEAST * self.scale, INNER * self.slope)
        operators, before = (*sites, *bonds), psi.vectors()
        after = [lowest_vector(f, x, tol, self.most) for f, x in zip(operators, before, strict=True)]
        self.psi = psi.nearest_to(self.further(self.damped(before, after)))

    def trim(self) -> bool:
        """Leave out directions of no weight, whose own environments may not exist; whether there were any."""
        before, self.psi = self.psi.bond, self.psi.truncated()
        self.trail, self.energies, self.move, self.lefts, self.rights = [], [], None, None, None
        return self.psi.bond < before

    def damped(self, before: Sequence[np.ndarray], after: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The new centres and bonds; half the way to them where the step goes back on the last one.

        All of them change at once, so that they may overshoot together, and go round the solution.
        """
        last, self.move = self.move, np.concatenate([y - x for x, y in zip(before, after, strict=True)])
        back = last is not None and np.vdot(last, self.move).real < 0
        return [(x + y) / 2 for x, y in zip(before, after, strict=True)] if back else list(after)

    def further(self, after: list[np.ndarray]) -> list[np.ndarray]:
        """The new centres and bonds; where the last steps went straight and shrank, what they lead to (Aitken).

        Steps that grow lead away from a saddle and are left alone.
        """
        self.trail = [*self.trail, np.concatenate(after)][-2 * SPAN - 1 :]
        if len(self.trail) <= 2 * SPAN:
            return after
        last, now = self.trail[SPAN] - self.trail[0], self.trail[-1] - self.trail[SPAN]
        ratio = np.vdot(last, now).real / np.vdot(last, last).real
        left = max(1 - ratio, 1 / FARTHEST)
        if not LEAST_RATIO < ratio < 1 or np.linalg.norm(now - ratio * last) > BENT * left * np.linalg.norm(now):
            return after
        self.trail, self.energies = [], []
        pieces = np.split(ratio / left * now, np.cumsum([x.size for x in after])[:-1])
        return [x + more for x, more in zip(after, pieces, strict=True)]

    def expanded(self, bond: int) -> Mixed:
        """The state with bonds of up to this dimension, new directions and sectors without weight yet.

        They are those of the largest singular values of what ``H`` brings out of the range of both isometries beside a
        bond; an exact ground state has none, and stays as it is.
        """
        psi = self.psi
        found = [directions(psi, n, self.moved(n), bond, ROUNDING * self.scale) for n in range(len(psi))]
        before = [found[-1], *found[:-1]]
        lefts = [x if new is None else direct_sum(x, new[0], (2,)) for x, new in zip(psi.lefts, found, strict=True)]
        rights = [x if new is None else direct_sum(x, new[1], (0,)) for x, new in zip(psi.rights, before, strict=True)]
        # from the old to the new basis of the bond right of every site, and of that left of it
        ends = [join(y.conj(), x, ((0, 1), (0, 1))) for x, y in zip(psi.lefts, lefts, strict=True)]
        begins = [join(y.conj(), x, ((1, 2), (1, 2))) for x, y in zip(psi.rights, rights, strict=True)]
        after = [*begins[1:], begins[0]]
        return Mixed(
            [laid_out(join(ends[n - 1], x), 2) for n, x in enumerate(lefts)],
            [laid_out(join(x, turn, ((2,), (1,))), 1) for x, turn in zip(rights, after, strict=True)],
            [join(join(ends[n], c), after[n], ((1,), (1,))) for n, c in enumerate(psi.bonds)],
            psi.conserved,
        )

    def moved(self, site: int) -> Any:
        """What H makes of a site and the next one, legs (a, s, t, b), by terms across their bond alone."""
        H, psi, other = self.H, self.psi, (site + 1) % len(self.psi)
        half = join(self.lefts[site], psi.centres[site])  # a' u s m
        begun = join(half, H.sites[site], ((1, 2), (0, 3)))  # a' m v s'
        half = join(psi.rights[other], self.rights[other], ((2,), (2,)))  # m t b' w
        ended = join(half, H.sites[other], ((1, 3), (3, 1)))  # m b' v t'
        return laid_out(join(begun.transpose(0, 3, 1, 2), ended.transpose(0, 2, 3, 1), 2), 2)


def directions(psi: Mixed, site: int, pair: Any, bond: int, least: float) -> tuple[Any, Any] | None:
    """New columns (a, s, m) of the isometry of a site and new rows (m, t, b) of the next one's, up to `bond` in all."""
    left, right = psi.lefts[site], psi.rights[(site + 1) % len(psi)]
    most = bond - left.shape[2]
    pair = beyond(beside(left, pair), right)
    if most < 1 or norm(pair) <= least:
        return None
    least /= np.sqrt(min(left.shape[0] * left.shape[1], right.shape[1] * right.shape[2]))  # one is larger
    columns, rows = leading_of(pair, 2, most=most, cutoff=least, relative=False, zeros=True)[::2]
    return isometry(beside(left, columns), 2), isometry(beyond(rows, right), 1)  # once more, against rounding


def lowest_vector(apply: Apply, start: np.ndarray, tol: float, most: int) -> np.ndarray:
    """A Ritz vector of least eigenvalue, of norm 1 and with a positive overlap with `start`.

    It stops where the residual is below `tol`, or after `most` products.  Operators of critical infinite chains take a
    hundred products where those of finite ones take five, so that the projected matrix is looked at now and then only.
    """
    space = Krylov(start, most)
    while True:
        for _ in range(LOOK):
            space.extend(apply)
            if space.full:
                break
        _, vectors = scipy.linalg.eigh_tridiagonal(
            space.diagonal, space.beside[:-1], select="i", select_range=(0, 0), check_finite=False
        )
        weights = vectors[:, 0]
        if space.full or space.next_norm * abs(weights[-1]) <= tol:
            found = space.combine(weights if weights[0] > 0 else -weights)
            return found / np.linalg.norm(found)
