"""Imaginary time in which bonds are cut as the loops beside them want it: better starts than by weights alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.keywords import keywords_told
from qad.peps.charges import kind_of
from qad.peps.infinite.state import PEPS, pattern
from qad.peps.search.paths import OPPOSITE
from qad.peps.search.simple_update import neighbours, path_terms, random_product
from qad.peps.search.starts import normalised
from qad.peps.search.weighted import Weighted, leading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.peps.models import Model
    from qad.typing import Seed

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

    Returns
    -------
    PEPS
        Sites of norm 1.

    Raises
    ------
    ArgumentError
        If a term acts on other sites than neighbours and diagonals, is recorded, or one of fermions; or the pattern
        does not fit.

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
    cell, terms = pattern(cell), path_terms(model)
    if kind_of(model).fermionic:
        raise ArgumentError("clusters are cut by arrays, which know no signs of fermions: take simple_update")
    network = Clustered(random_product(cell, terms, seed), neighbours(cell))
    everywhere = network.everywhere(terms)
    network.evolve(everywhere, bond, simple)
    network.is_clustered = True
    network.evolve(everywhere, bond, steps)
    return normalised(PEPS(network.balanced(), cell, kind=model.kind))


class Clustered(Weighted):
    """Sites and weights whose bonds are cut in clusters, once it is told so."""

    is_clustered: bool = False

    def cut(
        self, joint: np.ndarray, at: tuple[str, int], others: tuple[np.ndarray, np.ndarray], bond: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """By alternating least squares in the metric of the cluster."""
        u, values, y = found = leading(joint, 2, bond)
        if not self.is_clustered or len(values) < bond:
            return found
        x = u * values
        n = self.metric(at, others)
        flat, before = np.tensordot(n, joint, ((0, 1), (0, 2))), np.inf  # a', c', d, e
        for _ in range(SWEEPS):
            x = nearest(n, flat, y)
            y = nearest(n.transpose(1, 0, 3, 2), flat.transpose(1, 0, 3, 2), x.transpose(2, 0, 1)).transpose(2, 0, 1)
            new = np.tensordot(x, y, 1)
            gained = -np.vdot(new, flat.transpose(0, 2, 1, 3)).real  # |joint - new|^2 but for a constant, at a minimum
            if before - gained <= STILL * abs(gained):
                break
            before = gained
        return leading(new, 2, bond)

    def metric(self, at: tuple[str, int], others: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        """The norm of the cluster as a form in what stands between, ``[a, c, a', c']``: ket, then bra."""
        name, leg = at
        ends = [name, self.next[name, leg]]
        sides = [self.side(ends, leg, t) for t in ACROSS[leg]]
        middle = []
        for q, toward in zip(others, (leg, OPPOSITE[leg]), strict=True):
            legs = [x for x in (1, 2, 3, 4) if x != toward]
            order = [legs.index(t) for t in ACROSS[leg]]
            outer = 3 - sum(order)
            q = q.transpose(*order, 3, outer)
            middle.append(np.tensordot(q, q.conj(), (3, 3)))  # two legs across and the one to the middle, twice
        n = np.tensordot(middle[0], sides[0], ((0, 3), (0, 1)))  # one leg across, then the other: y a y' a' w w'
        n = np.tensordot(n, sides[1], ((0, 2), (0, 1)))  # a a' w w' z z'
        n = np.tensordot(n, middle[1], ((2, 3, 4, 5), (0, 3, 1, 4))).transpose(0, 2, 1, 3)
        n = n + n.conj().transpose(2, 3, 0, 1)
        return n / np.linalg.norm(n)

    def side(self, ends: list[str], leg: int, t: int) -> np.ndarray:
        """Two sites beside a bond, contracted with their bra: legs to both ends, ket and bra each."""
        halves = []
        for end, along, but in ((ends[0], leg, ()), (ends[1], OPPOSITE[leg], (OPPOSITE[leg],))):
            x = np.moveaxis(self.scaled(self.next[end, t], -1.0, OPPOSITE[t], *but), (OPPOSITE[t], along), (3, 4))
            halves.append(np.tensordot(x, x.conj(), ((0, 1, 2),) * 2))  # to the end, to the other site, and in the bra
        return np.tensordot(*halves, ((1, 3), (1, 3)))


def nearest(n: np.ndarray, flat: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The x ``[a, d, k]`` with which ``x y`` is nearest to two sites in the metric n; `flat` is n times these."""
    k, a = len(y), len(n)
    weighted = np.tensordot(n, y, ((1,), (1,)))  # a, a', c', k, e
    matrix = np.tensordot(weighted, y.conj(), ((2, 4), (1, 2)))  # a, a', k, k'
    target = np.tensordot(flat, y.conj(), ((1, 3), (1, 2)))  # a', d, k'
    matrix = matrix.transpose(1, 3, 0, 2).reshape(a * k, a * k)
    solution = np.linalg.lstsq(matrix, target.transpose(0, 2, 1).reshape(a * k, -1), rcond=RCOND)[0]
    return solution.reshape(a, k, -1).transpose(0, 2, 1)
