"""The picture of a recorded Tensor's graph: operations, their values green as computed, gradients red."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from qad.core.errors import ArgumentError
from qad.core.tape.node import ID
from qad.extend import Tensor
from qad.showing.drawing import GREY, INK, MONO, PALE, Drawing
from qad.showing.picture import Picture
from qad.viz.folding import folded
from qad.viz.graph import Card, cards
from qad.viz.layers import MARGIN, BoxPlace, arrange

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

VALUE, GRADIENT = "#00694d", "#c04f00"  # Okabe and Ito's green and vermilion, darker: they are letters on white
COLOURS = {"leaf": ("#e8f4fb", "#56b4e9"), "operation": ("#ffffff", "#c4ccd4"), "result": ("#fdf8d8", "#e69f00")}
ROW, PAD, LETTER = 18, 10, 7.28  # pixels: a line of text, the margin of a card, a letter


def graph(y: Tensor, names: Mapping[str, Tensor] | None) -> Picture:
    """The picture of what `y` was made of."""
    if not all(type(x) is Tensor and x.requires_grad for x in (names or {}).values()):
        raise ArgumentError("names are those of recorded Tensors: write names={'x': x}")
    titles = {x.node[ID]: name for name, x in (names or {}).items()}
    boxes = cards(y, titles)
    return Picture(_drawing(folded(boxes)), f"graph of {len(boxes)} operations")


def _drawing(boxes: list[Card]) -> Drawing:
    """The whole picture."""
    widest = [max(len(text) for text, _, _ in _rows(box)) for box in boxes]
    sizes = [
        (max(44.0, 2 * PAD + LETTER * most), 2 * PAD + ROW * len(_rows(box)))
        for box, most in zip(boxes, widest, strict=True)
    ]
    places, edges = arrange([box.parents for box in boxes], sizes)
    placed = [place for path in [places, *edges] for place in path]
    width = max(place.x + place.width / 2 for place in placed) + MARGIN
    height = max(place.y + place.height / 2 for place in placed) + MARGIN
    drawing = Drawing(width, height, MONO)
    for path in edges:
        _wire(drawing, path)
    for box, place in zip(boxes, places, strict=True):
        _card(drawing, box, place)
    return drawing


def _rows(box: Card) -> list[tuple[str, str, bool]]:
    """Lines of text: what they say, their colour, and whether they are bold."""
    title = (box.title, INK, True)
    rest = ((box.constants, GREY), (box.value, VALUE), (box.gradient, GRADIENT))
    return [title, *((text, colour, False) for text, colour in rest if text)]


def _wire(drawing: Drawing, path: Sequence[BoxPlace]) -> None:
    """An edge: curves between layers, straight lines through them, and an arrow."""
    codes, points = "M", [(path[0].x + path[0].width / 2, path[0].y)]
    for one, two in pairwise(path):
        start, end = one.x + one.width / 2, two.x - two.width / 2
        middle = (start + end) / 2
        codes += "LC"
        points += [(start, one.y), (middle, one.y), (middle, two.y), (end, two.y)]
    x, y = points[-1]
    drawing.path(codes, points, PALE)
    drawing.path("MLL", [(x, y), (x - 7, y - 3.5), (x - 7, y + 3.5)], "none", fill=PALE)


def _card(drawing: Drawing, box: Card, place: BoxPlace) -> None:
    top = place.y - place.height / 2
    drawing.box(place.x - place.width / 2, top, place.width, place.height, *COLOURS[box.kind], 8)
    for k, (words, colour, bold) in enumerate(_rows(box)):
        drawing.text(place.x, top + PAD + ROW * (k + 0.5), words, 12, colour, bold)
