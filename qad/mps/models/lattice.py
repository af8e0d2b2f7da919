"""Ladders and cylinders as chains: which site of the chain stands where, and which of them are neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.mps.chain.chain import site_count
from qad.showing.drawing import BLUE, INK, PALE, RED, Drawing
from qad.showing.picture import Picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from qad.typing import ArrayLike

BONDS = (INK, RED, BLUE)
SHELLS = {"nearest": 1, "next_nearest": 2}
STEP = 56.0  # pixels from site to site


@dataclass(repr=False, unsafe_hash=True)
class Lattice:
    """A piece of the square lattice whose sites are numbered column after column, so that the chain stays narrow.

    Made by `chain`, `ladder` or `cylinder`; every model of `qad.mps` takes one in place of a number of sites.

    Parameters
    ----------
    length : int
        Columns, along the chain.
    width : int
        Sites of a column; site ``x * width + y`` stands at (x, y).
    along, around : bool
        Whether the last column is next to the first one, and the last site of a column next to its first one.

    Raises
    ------
    ArgumentError
        If a size is no positive whole number, or less than 3 where it closes.

    Examples
    --------
    >>> import qad
    >>> lattice = qad.mps.Lattice.cylinder(length=4, around=3)
    >>> lattice, lattice.site(1, 2), lattice.position(5)
    (Lattice(4 x 3, closed around), 5, (1, 2))
    >>> lattice.pairs()[:3], len(lattice.pairs(2))
    ([(0, 1), (0, 2), (0, 3)], 18)
    >>> qad.mps.j1j2(lattice, 1.0, 0.5)
    MPO(12 sites, open, bonds 1-5-8-11-11-...-11-11-8-5-1, float64)
    """

    length: int
    width: int = 1
    along: bool = False
    around: bool = False

    def __post_init__(self) -> None:
        self.along, self.around = bool(self.along), bool(self.around)
        for name, closes in (("length", self.along), ("width", self.around)):
            least, what = (3, f"the {name} of a lattice that closes") if closes else (1, name)
            setattr(self, name, site_count(getattr(self, name), least, what))

    @classmethod
    def chain(cls, n: int, periodic: bool = False) -> Lattice:
        """A chain, or a ring.

        Examples
        --------
        >>> import qad
        >>> qad.mps.Lattice.chain(4, periodic=True).pairs()
        [(0, 1), (0, 3), (1, 2), (2, 3)]
        """
        return cls(n, along=periodic)

    @classmethod
    def ladder(cls, length: int, legs: int = 2, periodic: bool = False) -> Lattice:
        """A ladder of open rungs.

        Examples
        --------
        >>> import qad
        >>> qad.mps.Lattice.ladder(3).pairs()
        [(0, 1), (0, 2), (1, 3), (2, 3), (2, 4), (3, 5), (4, 5)]
        """
        return cls(length, legs, along=periodic)

    @classmethod
    def cylinder(cls, length: int, around: int) -> Lattice:
        """A cylinder, open at both ends.

        Examples
        --------
        >>> import qad
        >>> len(qad.mps.Lattice.cylinder(6, 4).pairs())
        44
        """
        return cls(length, around, around=True)

    def __len__(self) -> int:
        return self.length * self.width

    def __repr__(self) -> str:
        closed = " and ".join(name for name in ("along", "around") if getattr(self, name))
        return f"Lattice({self.length} x {self.width}, {'closed ' + closed if closed else 'open'})"

    def site(self, x: int, y: int = 0) -> int:
        """The site of the chain that stands in column x at height y; closed directions wrap."""
        x, y = x % self.length if self.along else x, y % self.width if self.around else y
        if not (0 <= x < self.length and 0 <= y < self.width):
            raise ArgumentError(f"there is no site at ({x}, {y}) of {self!r}")
        return x * self.width + y

    def position(self, site: int) -> tuple[int, int]:
        """Column and height of a site."""
        if not 0 <= site < len(self):
            raise ArgumentError(f"there is no site {site}: they are 0 to {len(self) - 1}")
        return divmod(site, self.width)

    @property
    def positions(self) -> np.ndarray:
        """Column and height of every site, an array (n, 2)."""
        return np.array([self.position(site) for site in range(len(self))])

    def pairs(self, shell: int | str = 1) -> list[tuple[int, int]]:
        """The pairs of sites that are neighbours (shell 1), second neighbours (2), and so on, by their distance.

        Parameters
        ----------
        shell : int or str
            Which of the distances between sites, by the shortest way where the lattice closes; 1 or "nearest" is the
            shortest, 2 or "next_nearest" the second one.

        Returns
        -------
        list of (int, int)
            Each pair once, the smaller number first, ascending; couplings given one by one stand in this order.

        Raises
        ------
        ArgumentError
            If there is no such distance, or name of one.

        Examples
        --------
        >>> import qad
        >>> qad.mps.Lattice.ladder(3).pairs("next_nearest")  # diagonals
        [(0, 3), (1, 2), (2, 5), (3, 4)]
        """
        if isinstance(shell, str) and shell not in SHELLS:
            raise ArgumentError(f"no bonds are called {shell!r}: write {', '.join(map(repr, SHELLS))} or a number")
        shell = SHELLS[shell] if isinstance(shell, str) else site_count(shell, 1, "shell")
        if shell > len(self.shells):
            raise ArgumentError(f"{self!r} has no neighbours of shell {shell}: there are {len(self.shells)}")
        return self.shells[shell - 1]

    @cached_property
    def shells(self) -> list[list[tuple[int, int]]]:
        """All pairs by their distance, the nearest ones first."""
        found: dict[int, list[tuple[int, int]]] = {}
        for one in range(len(self)):
            for other in range(one + 1, len(self)):
                found.setdefault(self.distance2(one, other), []).append((one, other))
        return [found[square] for square in sorted(found)]

    def distance2(self, one: int, other: int) -> int:
        """The squared distance of two sites, by the shortest way."""
        dx, dy = (abs(a - b) for a, b in zip(self.position(one), self.position(other), strict=True))
        dx = min(dx, self.length - dx) if self.along else dx
        dy = min(dy, self.width - dy) if self.around else dy
        return dx * dx + dy * dy

    def bonds(self, shell: int | str = "nearest") -> list[tuple[int, int]]:
        """The pairs (i, j) of a shell, in the order of `pairs`, each in the direction in which the lattice goes on.

        A bond that closes the lattice runs from its end to its beginning, as on a ring: what is odd under exchange of
        both sites, such as a pairing ``C_i C_j`` or ``S_i x S_j``, is then the same everywhere.

        Parameters
        ----------
        shell : int or str
            "nearest", "next_nearest", or which distance, as in `pairs`.

        Returns
        -------
        list of (int, int)
            From column to next column, and within a column upwards, by the shortest way.

        Raises
        ------
        ArgumentError
            As in `pairs`.

        Examples
        --------
        >>> import qad
        >>> ring = qad.mps.Lattice.chain(5, periodic=True)
        >>> ring.bonds(), ring.bonds("next_nearest")
        ([(0, 1), (4, 0), (1, 2), (2, 3), (3, 4)], [(0, 2), (3, 0), (1, 3), (4, 1), (2, 4)])
        """
        where = self.positions.tolist()
        return [(i, j) if self.way(where[i], where[j]).tolist() > [0, 0] else (j, i) for i, j in self.pairs(shell)]

    def way(self, start: ArrayLike, end: ArrayLike) -> np.ndarray:
        """The shortest step between two positions, along and around."""
        step, sizes = np.subtract(end, start), np.array([self.length, self.width])
        closes = np.array([self.along, self.around]) & (2 * np.abs(step) > sizes)
        return np.where(closes, step - np.sign(step) * sizes, step)

    def draw(self, shells: int = 1, ax: Axes | None = None) -> Picture:
        """A picture of sites with their numbers, bonds of the nearest shells, and the chain's path.

        Parameters
        ----------
        shells : int
            How many shells of neighbours to draw, each in a colour of its own; bonds that close are dashed stubs.
        ax : matplotlib.axes.Axes, optional
            Where to paint the picture, too.

        Returns
        -------
        Picture

        Examples
        --------
        >>> import qad
        >>> qad.mps.Lattice.ladder(3).draw()
        <Picture: Lattice(3 x 2, open), sites in the order of the chain>
        """
        drawing = Drawing(STEP * self.length + 24, STEP * self.width + 24)
        where = 12 + STEP * (self.positions * [1, -1] + [0.5, self.width - 0.5])
        drawing.line(where.tolist(), PALE, 7)
        for shell in range(1, min(shells, len(self.shells)) + 1):
            for one, other in self.pairs(shell):
                self.draw_bond(drawing, BONDS[(shell - 1) % len(BONDS)], one, other, where)
        for site, (x, y) in enumerate(where.tolist()):
            drawing.disc(x, y, 12)
            drawing.text(x, y, str(site), 11)
        return Picture(drawing, f"{self!r}, sites in the order of the chain").paint(ax)

    def draw_bond(self, drawing: Drawing, colour: str, one: int, other: int, where: np.ndarray) -> None:
        """A bond; one that closes the lattice leaves both of its ends as a dashed stub."""
        step = self.way(self.position(one), self.position(other))
        if (step == np.subtract(self.position(other), self.position(one))).all():
            drawing.line(where[[one, other]].tolist(), colour, 1.8)
            return
        for end, way in ((where[one], step), (where[other], -step)):
            drawing.line([end.tolist(), (end + 0.45 * STEP * (way * [1, -1])).tolist()], colour, 1.8, dashed=True)
