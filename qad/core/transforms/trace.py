"""Which level recorded a Tensor, and which operations a function records."""

from __future__ import annotations

from operator import getitem, itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from qad.core.structured import form_of
from qad.core.tape.levels import records
from qad.core.tape.node import ARGS, FREED, ID, LEAF, PARENTS, PICK, PRIMITIVE, given
from qad.core.tape.operands import highest
from qad.core.tape.tensor import CONSTANT, Tensor
from qad.core.transforms.linearized import linearized, output_leaves
from qad.core.trees import strip
from qad.core.vmap.batched import Batched

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.typing import Function, Tree
    from qad.typing.words import Node


def recording_level(operands: Any) -> Any:
    """The reverse level that records what happens to these operands now; None where none does."""
    level = highest(operands)
    return level if level.direction == "backward" and records(level) else None


def directions(x: Any) -> list[str]:
    """How `x` is differentiated now: "backward" or "forward" for each level that does so, the innermost first.

    Levels of `qad.vmap` do not count; a Tensor with a structure counts as what it was made of, its `root`.
    """
    return [level.direction for level in levels_of(x)]


def levels_of(x: Any) -> list[Any]:
    """The levels that differentiate `x` now, the innermost first; see `directions`."""
    found = []
    while type(x) is Tensor or type(x) is Batched:
        if (form := form_of(x)) is not None:
            x = form.root
        elif type(x) is Tensor:
            if x.level.direction is not None:
                found.append(x.level)
            x = x.value
        else:
            x = x.array
    return found


class RecordedCall(NamedTuple):
    """One recorded call ``fn(*args, **keywords)``.

    Attributes
    ----------
    parents : dict
        Number of an argument -> number of the operation, or the leaf, whose answer stands there.
    """

    number: int
    fn: object
    args: tuple[Any, ...]
    keywords: dict[str, Any]
    parents: dict[int, Any]


def operations(f: Function, x: Tree) -> Any:
    """The operations that ``f(x)`` consists of, for a pytree `x` of plain arrays.

    Returns
    -------
    leaves : list of int
        The numbers of the leaves of `x`.
    found : list of Operation
        In the order in which they ran; only those that the output depends on.
    outputs : list of (int or None, array)
        For each leaf of the output the number of what made it, None where it does not depend on `x`; and its value.
    spec
        The structure of the output.
    """
    out, _, level, recorded = linearized(f, [x], (0,), {})
    nodes, values, spec = output_leaves(out, level)
    outputs = [
        (None, strip(value, CONSTANT)) if node is None else (node[ID], value)
        for value, node in zip(values, nodes, strict=True)
    ]
    steps = [_operation(node) for node in nodes_below(nodes) if node[PRIMITIVE] is not LEAF]
    return [leaf.node[ID] for leaf in recorded[0][0]], steps, outputs, spec


def nodes_below(roots: Sequence[Node | None]) -> list[Node]:
    """The nodes `roots` and all that they depend on, leaves included, in the order in which they were recorded."""
    found, waiting = {}, list(roots)
    while waiting:
        node = waiting.pop()
        if node is not None and node[ID] not in found and node[PRIMITIVE] is not FREED:
            found[node[ID]] = node
            waiting.extend(node[PARENTS])
    return sorted(found.values(), key=itemgetter(ID))


def _operation(node: Node) -> RecordedCall:
    parents = {i: parent[ID] for i, parent in enumerate(node[PARENTS]) if parent is not None}
    if node[PRIMITIVE] is PICK:
        return RecordedCall(node[ID], getitem, (None, node[ARGS]), {}, parents)
    return RecordedCall(node[ID], node[PRIMITIVE].fn, node[ARGS], given(node), parents)
