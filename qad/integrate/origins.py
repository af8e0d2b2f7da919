"""What the Tensors that a function closes over were made from.

``a * np.cos(t)``, with a recorded `a`, is another Tensor at each t: a derivative by it says nothing that could be
compared with that of another time.  So what was made from older Tensors while the function ran is followed back to
them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.tape.node import ARGS, ID, LEAF, PARENTS, PICK, PRIMITIVE, given
from qad.extend import Tensor, unrecorded

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence
    from typing import Any

    from qad.typing import Array


def origins(
    captured: Sequence[Tensor], mark: int
) -> tuple[list[Hashable], list[Array], Callable[[Sequence[Array]], list[Array]]]:
    """Names and values of what `captured` was made from, and the function that makes it again.

    A node is older than what ran where its number is below `mark`. What carries a tangent is made from a number, by
    how much all of it moves along its tangent.
    """
    values: dict[Hashable, Any] = {}
    nodes: dict[int, Any] = {}
    waiting = [(c.node, c.value) for c in captured if c.level.direction != "forward"]
    while waiting:
        node, value = waiting.pop()
        if node[ID] < mark or node[PRIMITIVE] is LEAF:
            values[node[ID]] = unrecorded(value)
        elif node[ID] not in nodes:
            nodes[node[ID]] = node
            arguments = (None,) * len(node[PARENTS]) if node[PRIMITIVE] is PICK else node[ARGS]
            waiting += [(p, x) for p, x in zip(node[PARENTS], arguments, strict=False) if p is not None]
    for c in captured:
        if c.level.direction == "forward":
            values[c.level] = np.float64(0.0)
    program = [nodes[number] for number in sorted(nodes)]
    names = list(values)

    def make(at):
        known = dict(zip(names, at, strict=True))
        for node in program:
            known[node[ID]] = _again(node, known)
        return [_of(c, known) for c in captured]

    return names, list(values.values()), make


def _of(tensor, known):
    """A captured Tensor, of numbers or along its tangent."""
    if tensor.level.direction == "forward":
        return unrecorded(tensor.value) + known[tensor.level] * unrecorded(tensor.tangent)
    return known[tensor.node[ID]]


def _again(node, known):
    """The answer of a node to other operands."""
    if node[PRIMITIVE] is PICK:
        return known[node[PARENTS][0][ID]][node[ARGS]]
    parents = [*node[PARENTS], *[None] * (len(node[ARGS]) - len(node[PARENTS]))]
    operands = [unrecorded(x) if p is None else known[p[ID]] for p, x in zip(parents, node[ARGS], strict=True)]
    return node[PRIMITIVE].fn(*operands, **given(node))
