"""Imaginary time in which bonds are cut as the loops beside them want it: better starts than by weights alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.keywords import keywords_told
from qad.peps.infinite.state import PEPS, STEPS
from qad.peps.search.paths import DOWN, OPPOSITE, RIGHT
from qad.peps.search.simple_update import begun
from qad.peps.search.starts import normalised
from qad.peps.search.weighted import Weighted, leading
from qad.symmetric.generic import aligned_numbers, as_map, join, matrices_on_columns, norm, numbers, of_map, twisted

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from qad.mps.charges.quantities import Names
    from qad.peps.models import Model
    from qad.typing import Seed

OUT = DOWN, RIGHT  # legs that leave a site: bras, of which a sum over squares is a contraction with a sign
ACROSS = {4: (1, 3), 3: (2, 4)}  # of a bond to the right, or down: the legs towards the plaquettes beside it
SWEEPS, STILL = 30, 1e-10  # of alternating least squares, and the relative gain at which they end
RCOND = 1e-12


@keywords_told
def cluster_update(
    model: Model,
    bond: int,
    cell: Sequence[str] = ("AB", "BA"),
    seed: Seed = 0,
    *,
    simple: Sequence[tuple[float, int]] = ((0.1, 100), (0.02, 100)),
    steps: Sequence[tuple[float, int]] = ((0.05, 40), (0.01, 60)),
    conserve: Names | None = None,
    sector: object = None,
) -> PEPS:
    """A state near the ground state, by imaginary time in clusters of six sites.

    A bond is cut so that the state of two rows of three sites around it changes least, weights of bonds standing for
    the rest of the lattice. `simple_update` leaves out the two loops in there; it takes the first steps.

    Parameters
    ----------
    model, bond, cell, seed
        As in `simple_update`.
    simple, steps : sequence of (time, number)
        The steps of time by weights alone, and then those in clusters.
    conserve, sector
        As in `simple_update`.

    Returns
    -------
    PEPS
        Sites of norm 1.

    Raises
    ------
    ArgumentError
        As `simple_update`.

    Notes
    -----
    L. Wang and F. Verstraete, arXiv:1110.4362; M. Lubasch, J. I. Cirac and M.-C. Banuls, New J. Phys. 16, 033014
    (2014).

    Examples
    --------
    >>> import qad
    >>> model = qad.peps.heisenberg()
    >>> simple, cluster = (make(model, bond=2) for make in (qad.peps.simple_update, qad.peps.cluster_update))
    >>> bool(-0.6603 < qad.peps.energy(cluster, model, chi=12) < qad.peps.energy(simple, model, chi=12))
    True
    """
    network, terms, conserved = begun(Clustered, model, cell, seed, conserve, sector)
    network.evolve(terms, bond, simple)
    network.is_clustered = True
    network.evolve(terms, bond, steps)
    return normalised(PEPS(network.balanced(), cell, None, conserved, model.kind))


class Clustered(Weighted):
    """Sites and weights whose bonds are cut in clusters, once it is told so."""

    is_clustered: bool = False

    def cut(self, joint: Any, at: tuple[Any, int], others: tuple[Any, Any], bond: int) -> tuple[Any, np.ndarray, Any]:
        """By alternating least squares in the metric of the cluster."""
        _, values, y = found = leading(joint, 2, bond)
        if not self.is_clustered or len(values) < bond:
            return found
        n = self.metric(at, others)
        flat, before = join(n, joint, ((0, 1), (0, 2))), np.inf  # a', c', d, e
        target = flat.transpose(0, 2, 1, 3)
        for _ in range(SWEEPS):
            x = nearest(n, flat, y)
            y = nearest(n.transpose(1, 0, 3, 2), flat.transpose(1, 0, 3, 2), x.transpose(2, 0, 1)).transpose(2, 0, 1)
            new = join(x, y)
            gained = -np.vdot(numbers(new), aligned_numbers(new, target)).real  # |joint - new|^2 but for a constant
            if before - gained <= STILL * abs(gained):
                break
            before = gained
        return leading(new, 2, bond)

    def metric(self, at: tuple[Any, int], others: tuple[Any, Any]) -> Any:
        """The norm of the cluster as a form in what stands between, ``[a, c, a', c']``: ket, then bra."""
        name, leg = at
        ends = [name, self.next[name, leg]]
        sides = [self.side(ends, leg, t) for t in ACROSS[leg]]
        middle = []
        for q, toward in zip(others, (leg, OPPOSITE[leg]), strict=True):
            legs = [x for x in STEPS if x != toward]
            order = [legs.index(t) for t in ACROSS[leg]]
            outer = 3 - sum(order)
            q = q.transpose(*order, 3, outer)
            bra = twisted(q.conj(), [3] if legs[outer] in OUT else [])
            middle.append(join(q, bra, ((3,), (3,))))  # two legs across and the one to the middle, twice
        n = join(middle[0], sides[0], ((0, 3), (0, 1)))  # one leg across, then the other: y a y' a' w w'
        n = join(n, sides[1], ((0, 2), (0, 1)))  # a a' w w' z z'
        n = join(n, middle[1], ((2, 3, 4, 5), (0, 3, 1, 4))).transpose(0, 2, 1, 3)
        n = n + n.conj().transpose(2, 3, 0, 1)
        return n / norm(n)

    def side(self, ends: list[Any], leg: int, t: int) -> Any:
        """Two sites beside a bond, contracted with their bra: legs to both ends, ket and bra each."""
        halves = []
        for end, along, but in ((ends[0], leg, ()), (ends[1], OPPOSITE[leg], (OPPOSITE[leg],))):
            legs = [x for x in range(5) if x not in (OPPOSITE[t], along)]
            x = self.scaled(self.next[end, t], -1.0, OPPOSITE[t], *but).transpose(*legs, OPPOSITE[t], along)
            bra = twisted(x.conj(), [axis for axis in range(3) if legs[axis] in OUT])
            halves.append(join(x, bra, ((0, 1, 2),) * 2))  # to the end, to the other site, and in the bra
        return join(*halves, ((1, 3), (1, 3)))


def nearest(n: Any, flat: Any, y: Any) -> Any:
    """The x ``[a, d, k]`` with which ``x y`` is nearest to two sites in the metric n; `flat` is n times these."""
    bra = y.conj()
    matrix = join(join(n, y, ((1,), (1,))), bra, ((2, 4), (1, 2)))  # a, a', k, k'
    where, parts = as_map(join(flat, bra, ((1, 3), (1, 2))).transpose(1, 0, 2), 1)  # d, and a', k'
    forms = matrices_on_columns(where, lambda one: join(one, matrix, ((1, 2), (0, 2))))
    found = [np.linalg.lstsq(form.T, part.T, rcond=RCOND)[0].T for form, part in zip(forms, parts, strict=True)]
    return of_map(where, found).transpose(1, 0, 2)
