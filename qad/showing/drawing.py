"""Drawings of a few kinds of shapes, written as SVG, and painted by matplotlib where pixels are wanted."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    Point = tuple[float, float]

# M. Okabe and K. Ito, "Color universal design" (2008): distinct to eyes that see fewer colours, too
ORANGE, SKY, GREEN, YELLOW = "#E69F00", "#56B4E9", "#009E73", "#F0E442"
BLUE, RED, PURPLE = "#0072B2", "#D55E00", "#CC79A7"
INK, GREY, PALE = "#1f2328", "#6a737d", "#afb8c1"
CYCLE = (BLUE, RED, GREEN, PURPLE, ORANGE, SKY)  # of lines in one plot
SANS, MONO = "DejaVu Sans, Verdana, Helvetica, sans-serif", "DejaVu Sans Mono, Menlo, Consolas, monospace"


class Drawing:
    """Shapes on a white sheet; x runs to the right and y down, in pixels.

    Parameters
    ----------
    width, height : float
    font : str
        A list of families, as in CSS.
    """

    width: float
    height: float
    font: str
    shapes: list[tuple[str, dict[str, Any]]]

    def __init__(self, width: float, height: float, font: str = SANS):
        self.width, self.height, self.font, self.shapes = width, height, font, []

    def _add(self, kind: str, **shape: Any) -> None:
        self.shapes.append((kind, shape))

    def line(self, points: Sequence[Point], colour: str = INK, width: float = 1.5, dashed: bool = False) -> None:
        """A line through points."""
        self._add("path", codes="M" + "L" * (len(points) - 1), points=list(points), colour=colour, width=width,
                  dashed=dashed)  # fmt: skip

    def path(self, codes: str, points: Sequence[Point], colour: str = INK, width: float = 1.5) -> None:
        """A path: M moves to a point, L draws a line there, and C a cubic curve by three points."""
        self._add("path", codes=codes, points=list(points), colour=colour, width=width, dashed=False)

    def polygon(self, points: Sequence[Point], fill: str) -> None:
        """A filled polygon without an outline."""
        self._add("polygon", points=list(points), fill=fill)

    def box(
        self, x: float, y: float, width: float, height: float, fill: str = "#ffffff", edge: str = INK,
        radius: float = 6.0, weight: float = 1.3,
    ) -> None:  # fmt: skip
        """A box with round corners; (x, y) is its upper left one."""
        self._add("box", x=x, y=y, width=width, height=height, fill=fill, edge=edge, radius=radius, weight=weight)

    def disc(self, x: float, y: float, radius: float, fill: str = "#ffffff", edge: str = INK) -> None:
        """A filled circle around (x, y)."""
        self._add("disc", x=x, y=y, radius=radius, fill=fill, edge=edge)

    def text(
        self, x: float, y: float, words: str, size: float = 12, colour: str = INK, bold: bool = False,
        align: str = "middle",
    ) -> None:  # fmt: skip
        """Text whose middle, start or end is at x; y is the middle of its letters."""
        self._add("text", x=x, y=y, words=words, size=size, colour=colour, bold=bold, align=align)

    def svg(self, alt: str = "") -> str:
        """The drawing as SVG, with `alt` for readers that do not see it."""
        body = "\n".join(WRITERS[kind](**shape) for kind, shape in self.shapes)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width:.0f} {self.height:.0f}" '
            f'width="{self.width:.0f}" height="{self.height:.0f}" font-family="{self.font}" role="img">\n'
            f'<title>{escape(alt)}</title>\n<rect width="100%" height="100%" fill="#ffffff"/>\n{body}\n</svg>\n'
        )


def xy(points: Sequence[Point]) -> str:
    """Points as SVG writes them."""
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def _path(codes: str, points: list[Point], colour: str, width: float, dashed: bool) -> str:
    parts, left = [], iter(points)
    for code in codes:
        parts.append(code + xy([next(left) for _ in range(3 if code == "C" else 1)]))
    dashes = ' stroke-dasharray="3 3"' if dashed else ""
    return f'<path d="{" ".join(parts)}" fill="none" stroke="{colour}" stroke-width="{width:g}"{dashes}/>'


def _polygon(points: list[Point], fill: str) -> str:
    return f'<polygon points="{xy(points)}" fill="{fill}"/>'


def _box(
    x: float, y: float, width: float, height: float, fill: str, edge: str, radius: float, weight: float
) -> str:  # fmt: skip
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="{radius:g}" '
        f'fill="{fill}" stroke="{edge}" stroke-width="{weight:g}"/>'
    )


def _disc(x: float, y: float, radius: float, fill: str, edge: str) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" fill="{fill}" stroke="{edge}" stroke-width="1.3"/>'


def _text(x: float, y: float, words: str, size: float, colour: str, bold: bool, align: str) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return (
        f'<text x="{x:.1f}" y="{y + 0.36 * size:.1f}" font-size="{size:g}" text-anchor="{align}" '
        f'fill="{colour}"{weight}>{escape(words)}</text>'
    )


WRITERS: dict[str, Callable[..., str]] = {"path": _path, "polygon": _polygon, "box": _box, "disc": _disc, "text": _text}
