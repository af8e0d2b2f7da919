"""The data of a picture of a graph: operations, their values, and the gradients with respect to the values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.core.tape.backward import alive, plain_sweep
from qad.core.tape.node import ANSWER, ARGS, ID, KWARGS, LEAF, PARENTS, PICK, PRIMITIVE
from qad.core.transforms.trace import nodes_below
from qad.extend import Tensor, value_of

if TYPE_CHECKING:
    from typing import Any

    from qad.typing.words import Cotangent, Node

MOST = 400  # cards in one picture
SIGNS = {
    "multiply": "×", "add": "+", "subtract": "−", "divide": "÷", "matmul": "@", "matrix_product": "@", "negative": "−",
    "power": "**", "sum_over": "sum", "matrix_trace": "tr",
}  # fmt: skip


@dataclass(eq=False)
class Card:
    """A leaf or an operation."""

    title: str
    kind: str  # "leaf", "operation" or "result"
    constants: str
    value: str
    gradient: str
    parents: list[int]  # the numbers of its operands' cards


def cards(y: Tensor, names: dict[int, str]) -> list[Card]:
    """The cards of the graph of Tensor `y`, operands first; `names` are titles of leaves, by the ids of their nodes."""
    nodes = nodes_below([alive(y.node)])
    if len(nodes) > MOST:
        raise ArgumentError(f"qad.draw shows at most {MOST} operations: draw a part, or a smaller example")
    gradients = _gradients(y) if y.dtype.kind == "f" and y.shape == () else {}
    number = {node[ID]: k for k, node in enumerate(nodes)}
    made = []
    for node in nodes:
        title = names.get(node[ID]) or _title(node)
        kind = "leaf" if node[PRIMITIVE] is LEAF else "result" if node is y.node else "operation"
        value = summary(y if node is y.node else node[ANSWER])
        gradient = summary(np.conj(gradients[node[ID]])) if node[ID] in gradients else ""
        parents = [number[alive(parent)[ID]] for parent in node[PARENTS] if parent is not None]
        made.append(Card(title, kind, _constants(node), value, gradient, parents))
    return made


def _gradients(y: Tensor) -> dict[int, Cotangent]:
    """Cotangents of all nodes that have one output, by id."""
    found = {}

    def keep(node, g):
        if type(g) is not list:
            found[node[ID]] = g

    plain_sweep([(y.node, np.ones((), y.dtype))], visit=keep)
    return found


def _title(node: Node) -> str:
    p = node[PRIMITIVE]
    if p is LEAF:
        return "leaf"
    if p is PICK:
        return f"output {node[ARGS]}"
    if p.name == "getitem":
        return f"[{_short(node[ARGS][1])}]"
    return f"[{_short(node[KWARGS]['index'])}] =" if p.name == "write" else SIGNS.get(p.name, p.name)


def _constants(node: Node) -> str:
    """What an operation was given besides recorded Tensors."""
    parents = node[PARENTS]
    if node[PRIMITIVE] in (LEAF, PICK) or node[PRIMITIVE].name == "getitem":
        return ""
    given = [a for i, a in enumerate(node[ARGS]) if i >= len(parents) or parents[i] is None]
    return ", ".join(filter(None, map(_short, given)))


def _short(x: Any) -> str:
    if isinstance(x, slice):
        ends = [str(x.start or ""), "" if x.stop is None else str(x.stop)]
        return ":".join(ends if x.step in (None, 1) else [*ends, str(x.step)])
    if isinstance(x, tuple):
        return ", ".join(map(_short, x))
    if x is ... or x is None or isinstance(x, bool):
        return "..." if x is ... else ""
    return summary(x) if hasattr(x, "shape") or isinstance(x, (float, complex)) else str(x)[:24]


def summary(x: Any) -> str:
    """An array in a few characters: its entries if they are few, else its shape and norm."""
    x = value_of(x) if type(x) is Tensor else x
    if not isinstance(x, (np.ndarray, np.generic, float, complex)):
        return str(x.shape) if hasattr(x, "shape") else ", ".join(summary(part) for part in x)
    if np.size(x) == 1:
        return _number(np.asarray(x).reshape(-1)[0])
    if np.ndim(x) == 1 and np.size(x) <= (4 if np.asarray(x).dtype.kind != "c" else 2):
        return "[" + ", ".join(map(_number, x)) + "]"
    size = f"  |·| = {_number(np.linalg.norm(x))}" if x.dtype.kind in "fc" and x.size else ""
    return "×".join(map(str, x.shape)) + size


def _number(x: Any) -> str:
    return f"{x + 0.0:.4g}" if isinstance(x, (float, complex, np.inexact)) else str(x)
