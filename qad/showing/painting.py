"""Drawings painted by matplotlib: for PNG and PDF, and into the user's own Axes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qad.installed import require

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from qad.showing.drawing import Drawing

ALIGN = {"middle": "center", "start": "left", "end": "right"}


def new_figure(width: float, height: float, for_what: str) -> Any:
    """A matplotlib Figure of so many inches, apart from pyplot.

    Raises
    ------
    ImportError
        If matplotlib is not there, or too old; it says how to get it.
    """
    require(for_what, "matplotlib")
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def painted(drawing: Drawing) -> Any:
    """The drawing on a Figure of its own size; a pixel is 1/72 inch."""
    figure = new_figure(drawing.width / 72, drawing.height / 72, "a picture in this format")
    figure.set_layout_engine("none")
    paint(drawing, figure.add_axes((0, 0, 1, 1)))
    return figure


def paint(drawing: Drawing, ax: Any) -> None:
    """Paint into Axes, which lose their frame; letters and lines shrink or grow with the sheet."""
    ax.set(xlim=(0, drawing.width), ylim=(drawing.height, 0), aspect="equal")
    ax.axis("off")
    place, (width, height) = ax.get_position(), ax.figure.get_size_inches() * 72
    scale = min(place.width * width / drawing.width, place.height * height / drawing.height)
    for order, (kind, shape) in enumerate(drawing.shapes):
        if kind == "text":
            _text(ax, order, drawing.font.split(",")[0], scale, **shape)
        else:
            ax.add_patch(PATCHES[kind](scale, **shape)).set_zorder(order)


def _path(scale: float, codes: str, points: list, colour: str, width: float, dashed: bool) -> Any:
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    kinds = {"M": [Path.MOVETO], "L": [Path.LINETO], "C": [Path.CURVE4] * 3}
    path = Path(points, [kind for code in codes for kind in kinds[code]])
    style = (0, (3, 3)) if dashed else "-"
    return PathPatch(path, fill=False, edgecolor=colour, linewidth=width * scale, linestyle=style)


def _polygon(scale: float, points: list, fill: str) -> Any:
    from matplotlib.patches import Polygon

    return Polygon(points, closed=True, facecolor=fill, edgecolor="none")


def _box(
    scale: float, x: float, y: float, width: float, height: float, fill: str, edge: str, radius: float, weight: float
) -> Any:  # fmt: skip
    from matplotlib.patches import FancyBboxPatch

    style = f"round,pad=0,rounding_size={min(radius, width / 2, height / 2)}"
    return FancyBboxPatch((x, y), width, height, style, facecolor=fill, edgecolor=edge, linewidth=weight * scale)


def _disc(scale: float, x: float, y: float, radius: float, fill: str, edge: str) -> Any:
    from matplotlib.patches import Circle

    return Circle((x, y), radius, facecolor=fill, edgecolor=edge, linewidth=1.3 * scale)


def _text(
    ax: Any, order: int, family: str, scale: float, x: float, y: float, words: str, size: float, colour: str,
    bold: bool, align: str,
) -> None:  # fmt: skip
    ax.text(
        x, y, words.replace("$", r"\$"), fontsize=size * scale, color=colour, ha=ALIGN[align], va="center",
        zorder=order, fontweight="bold" if bold else "normal", family=family,
    )  # fmt: skip


PATCHES: dict[str, Callable[..., Any]] = {"path": _path, "polygon": _polygon, "box": _box, "disc": _disc}
