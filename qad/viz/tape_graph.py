"""The picture of a recorded Tensor's graph: operations, their values green as computed, gradients red."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from qad.core.errors import ArgumentError
from qad.core.tape.node import ID
from qad.extend import Tensor
from qad.showing.drawing import GREY, INK, MONO, PALE, Drawing
from qad.showing.picture import Picture
from qad.viz.graph import Card, cards
from qad.viz.layers import BoxPlace, arrange

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

VALUE, GRADIENT = "#00694d", "#c04f00"  # Okabe and Ito's green and vermilion, darker: they are letters on white
FILL = {"leaf": "#e8f4fb", "operation": "#ffffff", "result": "#fdf8d8"}
EDGE = {"leaf": "#56b4e9", "operation": "#c4ccd4", "result": "#e69f00"}
ROW, PAD, LETTER = 18, 10, 7.0  # pixels: a line of text, the margin of a card, a letter
GAP, AISLE, MARGIN = 22, 56, 24  # between cards of a layer, between layers, around the picture


def graph(y: Tensor, names: Mapping[str, Tensor] | None) -> Picture:
    """The picture of what `y` was made of."""
    if not all(type(x) is Tensor and x.requires_grad for x in (names or {}).values()):
        raise ArgumentError("names are those of recorded Tensors: write names={'x': x}")
    titles = {x.node[ID]: name for name, x in (names or {}).items()}
    boxes = cards(y, titles)
    return Picture(_drawing(boxes), f"graph of {len(boxes)} operations")


def _drawing(boxes: list[Card]) -> Drawing:
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
    drawing = Drawing(lefts[-1] + widths[-1] + MARGIN, bottom - top, MONO)
    for path in edges:
        _wire(drawing, path, spans, top)
    for box, place in zip(boxes, places, strict=True):
        _card(drawing, box, spans[id(place)], place.y - place.height / 2 - top, place.height)
    return drawing


def _rows(box: Card) -> list[tuple[str, str, bool]]:
    """Lines of text: what they say, their colour, and whether they are bold."""
    title = (box.title, INK, True)
    rest = ((box.constants, GREY), (box.value, VALUE), (box.gradient, GRADIENT))
    return [title, *((text, colour, False) for text, colour in rest if text)]


def _width(box: Card) -> float:
    return max(44.0, 2 * PAD + LETTER * 1.04 * max(len(text) for text, _, _ in _rows(box)))


def _span(place: BoxPlace, lefts: Sequence[float], widths: Sequence[float], width: float | None) -> tuple[float, float]:
    """Left and right end of a box, in the middle of its layer; of an edge that passes by, the whole layer."""
    left, room = lefts[place.layer], widths[place.layer]
    return (left, left + room) if width is None else (left + (room - width) / 2, left + (room + width) / 2)


def _wire(drawing: Drawing, path: Sequence[BoxPlace], spans: dict[int, tuple[float, float]], top: float) -> None:
    """An edge: curves between layers, straight lines through them, and an arrow."""
    codes, points = "M", [(spans[id(path[0])][1], path[0].y - top)]
    for one, two in pairwise(path):
        start, end = spans[id(one)][1], spans[id(two)][0]
        middle, y, z = (start + end) / 2, one.y - top, two.y - top
        codes += "LC"
        points += [(start, y), (middle, y), (middle, z), (end, z)]
    x, y = points[-1]
    drawing.path(codes, points, PALE)
    drawing.path("MLL", [(x, y), (x - 7, y - 3.5), (x - 7, y + 3.5)], "none", fill=PALE)


def _card(drawing: Drawing, box: Card, span: tuple[float, float], y: float, height: float) -> None:
    left, right = span
    drawing.box(left, y, right - left, height, FILL[box.kind], EDGE[box.kind], 8)
    for k, (words, colour, bold) in enumerate(_rows(box)):
        drawing.text((left + right) / 2, y + PAD + ROW * (k + 0.5), words, 12, colour, bold)
