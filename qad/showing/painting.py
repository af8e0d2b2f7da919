"""Drawings painted by matplotlib: for PNG and PDF, and into the user's own Axes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qad.installed import require

if TYPE_CHECKING:
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
    for order, (tag, shape, content) in enumerate(drawing.shapes):
        if tag == "text":
            ax.text(
                shape["x"], shape["y"], content.replace("$", r"\$"), fontsize=shape["font-size"] * scale,
                color=shape["fill"], ha=ALIGN[shape["text-anchor"]], zorder=order,
                fontweight=shape.get("font-weight", "normal"), family=drawing.font.split(",")[0],
            )  # fmt: skip
        else:
            style = (0, (3, 3)) if "stroke-dasharray" in shape else "-"
            ax.add_patch(_patch(tag, shape, content)).set(
                facecolor=shape["fill"], edgecolor=shape["stroke"], linewidth=shape["stroke-width"] * scale,
                linestyle=style, zorder=order,
            )  # fmt: skip


def _patch(tag: str, shape: dict[str, Any], content: Any) -> Any:
    """The outline of a shape."""
    from matplotlib.patches import Circle, FancyBboxPatch, PathPatch
    from matplotlib.path import Path

    if tag == "path":
        kinds = {"M": [Path.MOVETO], "L": [Path.LINETO], "C": [Path.CURVE4] * 3}
        codes, points = content
        return PathPatch(Path(points, [kind for code in codes for kind in kinds[code]]))
    if tag == "circle":
        return Circle((shape["cx"], shape["cy"]), shape["r"])
    x, y, width, height, radius = (shape[name] for name in ("x", "y", "width", "height", "rx"))
    return FancyBboxPatch((x, y), width, height, f"round,pad=0,rounding_size={min(radius, width / 2, height / 2)}")
