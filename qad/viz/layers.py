"""A layered layout: operands left of what is made of them, few crossings, edges as straight as they can be.

After Sugiyama, Tagawa and Toda (1981): layers by longest path, a stand-in where an edge passes through a layer, then
each layer in turn near the mean place of its neighbours, by isotonic regression; at first in another order, too.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

SORTED, ROUNDS = 12, 52  # the first so many rounds sort the layers


@dataclass(eq=False)
class BoxPlace:
    """A box, or a point of an edge that passes by, in one layer."""

    height: float
    layer: int = 0
    y: float = 0.0
    left: list[BoxPlace] = field(default_factory=list)
    right: list[BoxPlace] = field(default_factory=list)


def arrange(
    parents: Sequence[Sequence[int]], heights: Sequence[float], gap: float
) -> tuple[list[BoxPlace], list[list[BoxPlace]]]:
    """Places of boxes, and the edges between them as lists of places.

    Parameters
    ----------
    parents : list of lists of int
        The numbers of the boxes to the left of each box; smaller than its own.
    heights : list of float
    gap : float
        The least distance of boxes in a layer.

    Returns
    -------
    places : list of Place
    edges : list of lists of Place
        From one box to the other, through the layers between.
    """
    depth = _depths(parents)
    places = [BoxPlace(h, d) for h, d in zip(heights, depth, strict=True)]
    layers = [[] for _ in range(max(depth) + 1)]
    for place in places:
        layers[place.layer].append(place)
    edges = []
    for child, operands in enumerate(parents):
        for parent in operands:
            edges.append(_edge(places[parent], places[child], layers))
    for layer in layers:
        _spread(layer, [0.0] * len(layer), gap)
    for turn in range(ROUNDS):
        forth = turn % 2 == 0
        for layer in layers if forth else reversed(layers):
            if turn < SORTED:
                layer.sort(key=lambda place: _middle(place, place.left if forth else place.right))
            _spread(layer, [_middle(place, place.left + place.right) for place in layer], gap)
    return places, edges


def _depths(parents: Sequence[Sequence[int]]) -> list[int]:
    """Layers by the longest path; a box without operands moves next to what needs it."""
    depth: list[int] = []
    for operands in parents:
        depth.append(1 + max((depth[i] for i in operands), default=-1))
    nearest = dict.fromkeys(range(len(parents)), max(depth))
    for child, operands in enumerate(parents):
        for i in operands:
            nearest[i] = min(nearest[i], depth[child] - 1)
    return [nearest[i] if not operands else d for i, (d, operands) in enumerate(zip(depth, parents, strict=True))]


def _edge(start: BoxPlace, end: BoxPlace, layers: list[list[BoxPlace]]) -> list[BoxPlace]:
    path = [start]
    for layer in range(start.layer + 1, end.layer):
        path.append(BoxPlace(0.0, layer))
        layers[layer].append(path[-1])
    path.append(end)
    for one, two in pairwise(path):
        one.right.append(two)
        two.left.append(one)
    return path


def _middle(place: BoxPlace, neighbours: Sequence[BoxPlace]) -> float:
    return sum(other.y for other in neighbours) / len(neighbours) if neighbours else place.y


def _spread(layer: Sequence[BoxPlace], wishes: Sequence[float], gap: float) -> None:
    """Put a layer as near to its wishes as its order and the sizes allow (pool adjacent violators)."""
    offsets, below = [], 0.0
    for k, place in enumerate(layer):
        below += (layer[k - 1].height + place.height) / 2 + gap if k else 0.0
        offsets.append(below)
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
