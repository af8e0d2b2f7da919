"""A layered layout: operands left of what is made of them, few crossings, edges as straight as they can be.

After Sugiyama, Tagawa and Toda (1981): layers by longest path, a stand-in where an edge passes through a layer, then
each layer in turn near the mean place of its neighbours, by isotonic regression; at first in another order, too.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

SORTED, ROUNDS = 12, 52  # the first so many rounds sort the layers
GAP, AISLE, MARGIN = 22.0, 56.0, 24.0  # pixels: between boxes of a layer, between layers, around the picture


@dataclass(eq=False)
class BoxPlace:
    """A box around (x, y), or a point of an edge that passes by, in one layer."""

    width: float
    height: float
    layer: int
    x: float = 0.0
    y: float = 0.0
    left: list[BoxPlace] = field(default_factory=list)
    right: list[BoxPlace] = field(default_factory=list)


def arrange(
    parents: Sequence[Sequence[int]], sizes: Sequence[tuple[float, float]]
) -> tuple[list[BoxPlace], list[list[BoxPlace]]]:
    """Places of boxes, and the edges between them as lists of places.

    Parameters
    ----------
    parents : list of lists of int
        The numbers of the boxes to the left of each box; smaller than its own.
    sizes : list of (float, float)
        Widths and heights.

    Returns
    -------
    places : list of BoxPlace
    edges : list of lists of BoxPlace
        From one box to the other, through the layers between.
    """
    depths = _depths(parents)
    places = [BoxPlace(*size, depth) for size, depth in zip(sizes, depths, strict=True)]
    layers = [[place for place in places if place.layer == k] for k in range(max(depths) + 1)]
    edges = [_edge(places[i], places[child], layers) for child, operands in enumerate(parents) for i in operands]
    for turn in range(ROUNDS):
        forth = turn % 2 == 0
        for layer in layers if forth else reversed(layers):
            if turn < SORTED:
                layer.sort(key=lambda place: _middle(place, place.left if forth else place.right))
            _spread(layer, [_middle(place, place.left + place.right) for place in layer])
    x, down = MARGIN, MARGIN - min(place.y - place.height / 2 for layer in layers for place in layer)
    for layer in layers:
        room = max(place.width for place in layer)
        for place in layer:
            place.width = place.width or room  # an edge that passes by crosses the whole layer
            place.x, place.y = x + room / 2, place.y + down
        x += room + AISLE
    return places, edges


def _depths(parents: Sequence[Sequence[int]]) -> list[int]:
    """Layers by the longest path; a box without operands moves next to what needs it."""
    depths: list[int] = []
    for operands in parents:
        depths.append(1 + max((depths[i] for i in operands), default=-1))
    for i, operands in enumerate(parents):
        if not operands:
            depths[i] = min((depths[child] for child, needed in enumerate(parents) if i in needed), default=1) - 1
    return depths


def _edge(start: BoxPlace, end: BoxPlace, layers: list[list[BoxPlace]]) -> list[BoxPlace]:
    passing = [BoxPlace(0.0, 0.0, layer) for layer in range(start.layer + 1, end.layer)]
    for place in passing:
        layers[place.layer].append(place)
    path = [start, *passing, end]
    for one, two in pairwise(path):
        one.right.append(two)
        two.left.append(one)
    return path


def _middle(place: BoxPlace, neighbours: Sequence[BoxPlace]) -> float:
    return sum(other.y for other in neighbours) / len(neighbours) if neighbours else place.y


def _spread(layer: Sequence[BoxPlace], wishes: Sequence[float]) -> None:
    """Put a layer as near to its wishes as its order and the sizes allow (pool adjacent violators)."""
    offsets = [0.0, *accumulate((one.height + two.height) / 2 + GAP for one, two in pairwise(layer))]
    blocks = []  # mean wish, count
    for wish, offset in zip(wishes, offsets, strict=True):
        mean, count = wish - offset, 1
        while blocks and blocks[-1][0] > mean:
            other, n = blocks.pop()
            mean, count = (mean * count + other * n) / (count + n), count + n
        blocks.append((mean, count))
    means = [mean for mean, count in blocks for _ in range(count)]
    for place, mean, offset in zip(layer, means, offsets, strict=True):
        place.y = mean + offset
