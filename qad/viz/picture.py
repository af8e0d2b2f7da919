"""`qad.draw`: the graph of a Tensor as SVG, values green as computed, gradients red."""

from __future__ import annotations

from html import escape
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from qad.core.errors import ArgumentError
from qad.core.tape.node import ID
from qad.extend import Tensor
from qad.viz.graph import Card, cards
from qad.viz.layers import Place, arrange

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.typing import FilePath

GREEN, RED, INK, GREY, LINE = "#12823c", "#d1242f", "#1f2328", "#7d8590", "#afb8c1"
FILL = {"leaf": "#eef6ff", "operation": "#ffffff", "result": "#fff8e6"}
EDGE = {"leaf": "#6cb0f5", "operation": "#c4ccd4", "result": "#e3b341"}
ROW, PAD, LETTER = 18, 10, 7.0  # pixels: a line of text, the margin of a card, a letter
GAP, AISLE, MARGIN = 22, 56, 24  # between cards of a layer, between layers, around the picture


class Picture:
    """An SVG picture, shown by notebooks; ``save(path)`` writes it into a file.

    Attributes
    ----------
    svg : str
    """

    def __init__(self, svg: str):
        self.svg = svg

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: FilePath) -> None:
        """Write the picture to `path`, a name that ends in ``.svg``; browsers and Inkscape show it."""
        if Path(path).suffix != ".svg":
            raise ArgumentError('the picture is SVG: write qad.draw(y).save("graph.svg")')
        Path(path).write_text(self.svg, "utf-8")

    def __repr__(self) -> str:
        return f"<Picture of {self.svg.count('<rect') - 1} operations>"


def draw(y: Tensor, names: dict[str, Tensor] | None = None) -> Picture:
    """Draw the graph of a recorded Tensor: operations, their values in green, their gradients in red.

    Parameters
    ----------
    y : Tensor
        A real scalar shows gradients, in the public convention ``dL/dx + i dL/dy``; anything else its values alone.
    names : dict of str to Tensor, optional
        What the leaves are called.

    Returns
    -------
    Picture
        SVG, which notebooks show; ``.save("graph.svg")`` writes it.

    Raises
    ------
    ArgumentError
        If `y` is not recorded, or the graph has more than 400 operations.
    FreedGraphError
        If a backward pass has freed the graph.

    Examples
    --------
    >>> import numpy as np, qad
    >>> x = qad.tensor([1.0, 2.0], requires_grad=True)
    >>> picture = qad.draw(np.sum(np.sin(x) * x), names={"x": x})
    >>> picture
    <Picture of 4 operations>
    """
    if type(y) is not Tensor or y.node is None:
        raise ArgumentError("qad.draw shows recorded Tensors: make x with qad.tensor(data, requires_grad=True)")
    titles = {x.node[ID]: name for name, x in (names or {}).items()}
    return Picture(_svg(cards(y, titles)))


def _svg(boxes: list[Card]) -> str:
    """The whole picture."""
    number = {box: k for k, box in enumerate(boxes)}
    heights = [2 * PAD + ROW * len(_rows(box)) for box in boxes]
    places, edges = arrange([[number[p] for p in box.parents] for box in boxes], heights, GAP)
    widths = [0.0] * (max(place.layer for place in places) + 1)
    for box, place in zip(boxes, places, strict=True):
        widths[place.layer] = max(widths[place.layer], _width(box))
    lefts = [MARGIN + sum(widths[:k]) + AISLE * k for k in range(len(widths))]
    top = min(place.y - place.height / 2 for path in [*edges, places] for place in path) - MARGIN
    bottom = max(place.y + place.height / 2 for path in [*edges, places] for place in path) + MARGIN
    spans = {id(p): _span(p, lefts, widths, None) for path in edges for p in path}
    spans |= {id(p): _span(p, lefts, widths, _width(box)) for box, p in zip(boxes, places, strict=True)}
    size = lefts[-1] + widths[-1] + MARGIN, bottom - top
    body = [_wire(path, spans, top) for path in edges]
    body += [_card(box, spans[id(place)], place, top) for box, place in zip(boxes, places, strict=True)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size[0]:.0f} {size[1]:.0f}" width="{size[0]:.0f}" '
        f'height="{size[1]:.0f}" font-family="Menlo, Consolas, DejaVu Sans Mono, monospace" font-size="12">\n'
        f'<rect width="100%" height="100%" fill="#ffffff"/>\n' + "\n".join(body) + "\n</svg>\n"
    )


def _rows(box: Card) -> list[tuple[str, str, str]]:
    """Lines of text: what they say, their colour and weight."""
    title = (box.title, INK, "bold")
    rest = ((box.constants, GREY), (box.value, GREEN), (box.gradient, RED))
    return [title, *((text, colour, "normal") for text, colour in rest if text)]


def _width(box: Card) -> float:
    return max(44.0, 2 * PAD + LETTER * 1.04 * max(len(text) for text, _, _ in _rows(box)))


def _span(place: Place, lefts: Sequence[float], widths: Sequence[float], width: float | None) -> tuple[float, float]:
    """Left and right end of a box, in the middle of its layer; of an edge that passes by, the whole layer."""
    left, room = lefts[place.layer], widths[place.layer]
    return (left, left + room) if width is None else (left + (room - width) / 2, left + (room + width) / 2)


def _wire(path: Sequence[Place], spans: dict[int, tuple[float, float]], top: float) -> str:
    """An edge: curves between layers, straight lines through them."""
    left, y = spans[id(path[0])][1], path[0].y - top
    drawn = f"M{left:.1f} {y:.1f}"
    for one, two in pairwise(path):
        start, end = spans[id(one)][1], spans[id(two)][0]
        middle, y, z = (start + end) / 2, one.y - top, two.y - top
        drawn += f" L{start:.1f} {y:.1f} C{middle:.1f} {y:.1f} {middle:.1f} {z:.1f} {end:.1f} {z:.1f}"
    x, y = spans[id(path[-1])][0], path[-1].y - top
    return (
        f'<path d="{drawn}" fill="none" stroke="{LINE}" stroke-width="1.5"/>'
        f'<path d="M{x:.1f} {y:.1f} l-7 -3.5 v7 z" fill="{LINE}"/>'
    )


def _card(box: Card, span: tuple[float, float], place: Place, top: float) -> str:
    left, right = span
    y = place.y - place.height / 2 - top
    lines = [
        f'<rect x="{left:.1f}" y="{y:.1f}" width="{right - left:.1f}" height="{place.height:.1f}" rx="8" '
        f'fill="{FILL[box.kind]}" stroke="{EDGE[box.kind]}" stroke-width="1.3"/>'
    ]
    for k, (text, colour, weight) in enumerate(_rows(box)):
        lines.append(
            f'<text x="{(left + right) / 2:.1f}" y="{y + PAD + ROW * k + 13:.1f}" text-anchor="middle" '
            f'fill="{colour}" font-weight="{weight}">{escape(text)}</text>'
        )
    return "".join(lines)
