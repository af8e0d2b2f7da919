"""Pictures of networks: chains, operators and PEPS, with the dimensions of their bonds."""

from __future__ import annotations

from itertools import pairwise
from math import log2
from typing import TYPE_CHECKING

from qad.core.errors import ArgumentError
from qad.showing.drawing import GREY, INK, Drawing
from qad.showing.picture import Picture

if TYPE_CHECKING:
    from typing import Any

STEP, RADIUS, LEG = 62.0, 14.0, 24.0  # pixels: from site to site, of a site, of a leg
MOST = 14  # sites of a row; of longer ones the middle is left out
STATE, OPERATOR, PLANE = "#d3e9f7", "#fbe7c2", "#d5efe6"  # tints of Okabe and Ito's colours


def network(state: Any) -> Picture:
    """Draw a chain, an operator or a PEPS: tensors, physical legs, and bonds with their dimensions.

    Bonds are thicker the larger they are. Of long rows the middle is left out.

    Parameters
    ----------
    state : MPS, MPO, UniformMPS, qad.peps.PEPS or qad.peps.finite.FinitePEPS

    Returns
    -------
    Picture

    Raises
    ------
    ArgumentError
        If it is nothing of the kind.

    Examples
    --------
    >>> import qad
    >>> qad.viz.network(qad.mps.MPS.random(20, bond=8))
    <Picture: MPS(20 sites, open, bonds 1-2-4-8-8-...-8-8-4-2-1, complex128)>
    >>> qad.viz.network(qad.peps.finite.FinitePEPS.random(2, 3, bond=2))
    <Picture: FinitePEPS(2 x 3 sites, open, bond 2, complex128)>
    """
    if not is_network(state):
        raise ArgumentError(f"no network can be drawn of {type(state).__name__}: give an MPS, an MPO or a PEPS")
    return _chain(state) if hasattr(state, "bonds") else _plane(state)


def is_network(x: object) -> bool:
    """Whether `network` can draw it."""
    home = type(x).__module__
    return home.startswith(("qad.mps", "qad.peps")) and hasattr(x, "tensors") and hasattr(x, "bond")


def shown(n: int, most: int = MOST) -> list[int | None]:
    """The sites that are drawn of a row; None stands for those left out."""
    if n <= most:
        return list(range(n))
    end = (most - 1) // 2
    return [*range(end), None, *range(n - end, n)]


def _chain(chain: Any) -> Picture:
    """A row of tensors."""
    kind, sites, bonds = type(chain).__name__, shown(len(chain)), chain.bonds
    ends = "repeated" if kind == "UniformMPS" else "periodic" if getattr(chain, "periodic", False) else "open"
    is_operator = kind == "MPO"
    y, fill = 62.0 if is_operator or ends == "periodic" else 40.0, OPERATOR if is_operator else STATE
    drawing = Drawing(STEP * len(sites) + 40, y + RADIUS + LEG + 24)
    places = {site: 20 + STEP * (k + 0.5) for k, site in enumerate(sites)}
    for site, following in pairwise(sites):
        _bond(drawing, places[site], y, places[site] + STEP, y, bonds[following if site is None else site + 1])
    if ends != "open":
        _closing(drawing, places[0], places[sites[-1]], y, bonds[0], ends == "periodic")
    for site, x in places.items():
        if site is None:
            drawing.box(x - 16, y - 10, 32, 20, edge="#ffffff")
            drawing.text(x, y, "· · ·", 14, GREY)
        else:
            _site(drawing, x, y, fill, chain.tensors[site].shape[1:-1] if not is_operator else chain[site].shape[2:])
    return Picture(drawing, repr(chain))


def _site(drawing: Drawing, x: float, y: float, fill: str, legs: tuple[int, ...]) -> None:
    """A tensor of a chain: a disc with one physical leg, or a box with one down and one up."""
    for size, way in zip(legs, (1, -1), strict=False):
        end = y + way * (RADIUS + LEG)
        drawing.line([(x, y), (x, end)], width=1.3)
        drawing.text(x, end + 9 * way, str(size), 10, GREY)
    if len(legs) == 2:
        drawing.box(x - RADIUS, y - RADIUS, 2 * RADIUS, 2 * RADIUS, fill, radius=3)
    else:
        drawing.disc(x, y, RADIUS, fill)


def bond_width(size: int) -> float:
    """The width of the line of a bond."""
    return 1.0 + 0.6 * log2(max(size, 1))


def _bond(drawing: Drawing, x: float, y: float, u: float, v: float, size: int, dashed: bool = False) -> None:
    """A line whose width tells the dimension, which stands beside its middle."""
    drawing.line([(x, y), (u, v)], INK, bond_width(size), dashed)
    beside = (0, -11) if y == v else (11, 0)
    drawing.text((x + u) / 2 + beside[0], (y + v) / 2 + beside[1], str(size), 10)


def _closing(drawing: Drawing, first: float, last: float, y: float, size: int, is_ring: bool) -> None:
    """The bond between the last site and the first: an arc above the chain, or one that leaves on both sides."""
    if not is_ring:
        for x, way in ((first, -RADIUS), (last, RADIUS)):
            _bond(drawing, x + way, y, x + 3.3 * way, y, size, dashed=True)
        return
    top, out = y - 40, 36
    points = [(first, y), (first - out, y), (first - out, top), (first, top), (last, top), (last + out, top),
              (last + out, y), (last, y)]  # fmt: skip
    drawing.path("MCLC", points, INK, bond_width(size))
    drawing.text((first + last) / 2, top - 10, str(size), 10)


def _plane(state: Any) -> Picture:
    """A piece of the square lattice, or the cell of an infinite one; the bonds that lead out of it are dashed."""
    letters = getattr(state, "cell", None)
    infinite = letters is not None
    around = infinite or state.cylinder
    rows, columns = (shown(n, 9) for n in ((len(letters), len(letters[0])) if infinite else state.shape))
    margin, top = 20 + STEP * (1 if around else 0.5), 15 + STEP * (1 if infinite else 0.5)
    drawing = Drawing(STEP * (len(columns) - 1) + 2 * margin, STEP * (len(rows) - 1) + 2 * top)
    at = {
        (row, column): (margin + STEP * k, top + STEP * i)
        for i, row in enumerate(rows) for k, column in enumerate(columns)
    }  # fmt: skip
    sites = {site: place for site, place in at.items() if None not in site}
    for (row, column), (x, y) in sites.items():
        _, up, left, down, right = state[row, column].shape
        ways = (
            (1, 0, right, column == columns[-1], around), (0, 1, down, row == rows[-1], infinite),
            (-1, 0, left, column == 0, around), (0, -1, up, row == 0, infinite),
        )  # fmt: skip
        for dx, dy, size, leads_out, continues in ways:
            reach = STEP * (0.6 if leads_out else 1)
            if continues if leads_out else dx + dy > 0:
                _bond(drawing, x, y, x + dx * reach, y + dy * reach, size, dashed=leads_out)
    for site, (x, y) in at.items():
        if site in sites:
            _tensor(drawing, x, y, letters[site[0]][site[1]] if infinite else "")
        else:
            drawing.text(x, y, "·", 20, GREY)
    return Picture(drawing, repr(state))


def _tensor(drawing: Drawing, x: float, y: float, letter: str) -> None:
    """A tensor of a PEPS, its physical leg towards the reader."""
    drawing.line([(x, y), (x - 19, y + 19)], width=1.3)
    drawing.disc(x, y, 11, PLANE)
    drawing.text(x, y, letter, 11)
