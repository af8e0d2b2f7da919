"""Long graphs made short: of steps that repeat, as a loop records them, the first and the last are drawn."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from qad.viz.graph import Card

if TYPE_CHECKING:
    from collections.abc import Sequence

ENOUGH = 40  # cards: larger graphs are folded
LONGEST = 64  # cards of a step that is looked for


def folded(boxes: list[Card]) -> list[Card]:
    """The cards of a graph, those of repeated steps but the first and the last in one, until there are few enough."""
    while len(boxes) > ENOUGH and (run := longest_run(boxes)):
        boxes = without(boxes, *run)
    return boxes


def longest_run(boxes: Sequence[Card]) -> tuple[int, int, int] | None:
    """Where steps begin to repeat, how many cards each has, and how often: the run that folding shortens most."""
    best, found = 1, None
    for size in range(1, min(LONGEST, len(boxes) // 3) + 1):
        length = 0
        for i in reversed(range(len(boxes) - size)):
            length = length + 1 if alike(boxes, i, size) else 0
            times = length // size + 1
            if (times - 2) * size > best:
                best, found = (times - 2) * size, (i, size, times)
    return found


def alike(boxes: Sequence[Card], i: int, size: int) -> bool:
    """Whether a card and the one a step later do the same with what stands as far back, or is the same, or a leaf."""
    one, two = boxes[i], boxes[i + size]
    if one.kind == "leaf" or named(one) != named(two) or len(one.parents) != len(two.parents):
        return False
    return all(
        b in (a, a + size) or boxes[a].kind == boxes[b].kind == "leaf"
        for a, b in zip(one.parents, two.parents, strict=True)
    )


def named(box: Card) -> tuple[str, str]:
    """What a card does, whatever its numbers are."""
    return box.kind, re.sub(r"\d+", "#", box.title)


def without(boxes: Sequence[Card], start: int, size: int, times: int) -> list[Card]:
    """The cards with one in the place of the steps between the first and the last."""
    hidden = set(range(start + size, start + (times - 1) * size))
    needed = {p for i, box in enumerate(boxes) if i not in hidden for p in box.parents}
    hidden |= {i for i, box in enumerate(boxes) if box.kind == "leaf" and i not in needed}
    steps = f"{times - 2} more of {size} operations" if size > 1 else f"{times - 2} more"
    outside = {p for i in hidden for p in boxes[i].parents} - hidden
    number: dict[int, int] = {}
    made = []
    for i, box in enumerate(boxes):
        if i == start + size:
            fold = len(made)
            made.append(Card("· · ·", "operation", steps, "", "", sorted(number[p] for p in outside)))
        if i not in hidden:
            number[i] = len(made)
            parents = dict.fromkeys(fold if p in hidden else number[p] for p in box.parents)
            made.append(Card(box.title, box.kind, box.constants, box.value, box.gradient, list(parents)))
    return made
