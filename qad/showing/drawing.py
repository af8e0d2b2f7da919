"""Drawings of a few kinds of shapes, written as SVG, and painted by matplotlib where pixels are wanted."""

from __future__ import annotations

from html import escape
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    Point = tuple[float, float]

# M. Okabe and K. Ito, "Color universal design" (2008): distinct to eyes that see fewer colours, too
ORANGE, SKY, GREEN, YELLOW = "#E69F00", "#56B4E9", "#009E73", "#F0E442"
BLUE, RED, PURPLE = "#0072B2", "#D55E00", "#CC79A7"
INK, GREY, PALE = "#1f2328", "#6a737d", "#afb8c1"
CYCLE = (BLUE, RED, GREEN, PURPLE, ORANGE, SKY)  # of lines in one plot
SANS, MONO = "DejaVu Sans, Verdana, Helvetica, sans-serif", "DejaVu Sans Mono, Menlo, Consolas, monospace"
SPENT = {"M": 1, "L": 1, "C": 3}  # points, by the codes of a path


class Drawing:
    """Shapes on a white sheet; x runs to the right and y down, in pixels.

    Parameters
    ----------
    width, height : float
    font : str
        A list of families, as in CSS.
    """

    def __init__(self, width: float, height: float, font: str = SANS):
        self.width: float = width
        self.height: float = height
        self.font: str = font
        # SVG's tag and attributes; the words, or codes and points of a path
        self.shapes: list[tuple[str, dict[str, Any], Any]] = []

    def line(self, points: Sequence[Point], colour: str = INK, width: float = 1.5, dashed: bool = False) -> None:
        """A line through points."""
        self.path("M" + "L" * (len(points) - 1), points, colour, width, dashed)

    def path(
        self, codes: str, points: Sequence[Point], colour: str = INK, width: float = 1.5, dashed: bool = False,
        fill: str = "none",
    ) -> None:  # fmt: skip
        """A path: M moves to a point, L draws a line there, and C a cubic curve by three points."""
        left = iter(points)
        steps = [code + " ".join(f"{x:.1f},{y:.1f}" for x, y in islice(left, SPENT[code])) for code in codes]
        shape = {"d": " ".join(steps), "fill": fill, "stroke": colour, "stroke-width": width}
        dashes = {"stroke-dasharray": "3 3"} if dashed else {}
        self.shapes.append(("path", shape | dashes, (codes, list(points))))

    def box(
        self, x: float, y: float, width: float, height: float, fill: str = "#ffffff", edge: str = INK,
        radius: float = 6.0,
    ) -> None:  # fmt: skip
        """A box with round corners; (x, y) is its upper left one."""
        place = {"x": x, "y": y, "width": width, "height": height, "rx": radius}
        self.shapes.append(("rect", place | {"fill": fill, "stroke": edge, "stroke-width": 1.3}, None))

    def disc(self, x: float, y: float, radius: float, fill: str = "#ffffff", edge: str = INK) -> None:
        """A filled circle around (x, y)."""
        shape = {"cx": x, "cy": y, "r": radius, "fill": fill, "stroke": edge, "stroke-width": 1.3}
        self.shapes.append(("circle", shape, None))

    def text(
        self, x: float, y: float, words: str, size: float = 12, colour: str = INK, bold: bool = False,
        align: str = "middle",
    ) -> None:  # fmt: skip
        """Text whose middle, start or end is at x; y is the middle of its letters."""
        shape = {"x": x, "y": y + 0.36 * size, "font-size": size, "text-anchor": align, "fill": colour}
        self.shapes.append(("text", shape | ({"font-weight": "bold"} if bold else {}), words))

    def svg(self, alt: str = "") -> str:
        """The drawing as SVG, with `alt` for readers that do not see it."""
        body = "\n".join(_element(*shape) for shape in self.shapes)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width:.0f} {self.height:.0f}" '
            f'width="{self.width:.0f}" height="{self.height:.0f}" font-family="{self.font}" role="img">\n'
            f'<title>{escape(alt)}</title>\n<rect width="100%" height="100%" fill="#ffffff"/>\n{body}\n</svg>\n'
        )


def _element(tag: str, shape: dict[str, Any], content: Any) -> str:
    """A shape as SVG writes it."""
    values = {name: value if isinstance(value, str) else f"{round(value, 1):g}" for name, value in shape.items()}
    start = " ".join([tag, *(f'{name}="{value}"' for name, value in values.items())])
    return f"<{start}>{escape(content)}</text>" if tag == "text" else f"<{start}/>"
