"""Operands of a primitive: their levels, their values, and what is refused."""

import numpy as np

from qad.core.batch import Batched
from qad.core.errors import ArgumentError
from qad.core.levels import CONSTANT
from qad.core.node import ARGS, PARENTS, PRIMITIVE
from qad.core.tensor import Tensor

PLAIN = -2  # level of operands among which there is no Tensor at all
SCALARS = frozenset((float, int, complex))
NUMBERS = SCALARS | {np.float64, np.complex128}  # as constants they do not change another operand's shape


def top_level(args) -> int:
    """The highest level among `args`."""
    level = PLAIN
    for a in args:
        if type(a) is Tensor and a.level > level:
            level = a.level
    return level


def split(args, level):
    """Values of the level below, and the nodes (or tangents) of those operands that live on `level`."""
    values, nodes = [], []
    for a in args:
        node = None
        if type(a) is Tensor:
            if a.level == level:
                a, node = a.value, a.node
            elif a.level == CONSTANT:
                a = a.value
        values.append(a)
        nodes.append(node)
    return tuple(values), tuple(nodes)


def variant(p, values):
    """`p` itself where no operand is broadcast, else its broadcasting variant."""
    shapes = {getattr(v, "shape", ()) for v in values if type(v) not in SCALARS}
    return p if len(shapes) <= 1 else p.broadcasting


def node_below(node, fn):
    """The node that `fn`, a function of one operand, made into `node` of a reverse level; None if it was not `fn`."""
    return node[PARENTS][0] if len(node) == 6 and node[PRIMITIVE].fn is fn else None


def operand_of(x, fn):
    """The Tensor that `fn`, a function of one operand, made into the Tensor `x`; None if `x` was made otherwise.

    Examples
    --------
    >>> import numpy as np, qad
    >>> size = abs(qad.tensor([3 + 4j], requires_grad=True))
    >>> qad.extend.operand_of(size, np.absolute).numpy()
    array([3.+4.j])
    """
    node = x.node
    if type(node) is list:
        below = node_below(node, fn)
        return None if below is None else Tensor(node[ARGS][0], below, x.level)
    maker, source = getattr(x, "source", (None, None))
    return source if maker is fn else None


def rebuild(template, items):
    """`items` in the container type of `template`: list, tuple or named tuple."""
    return type(template)(*items) if hasattr(template, "_fields") else type(template)(items)


def operand(x):
    """`x` as an operand: lists become arrays; what NumPy would store as objects is refused.

    Raises
    ------
    ArgumentError
        For a list that holds Tensors, and for an array of objects.

    Examples
    --------
    >>> import qad
    >>> qad.extend.operand([1.0, 2.0])
    array([1., 2.])
    """
    if isinstance(x, (list, tuple)):
        if any(type(entry) is Tensor for entry in x):
            raise ArgumentError("a list of Tensors is no operand: write qad.stack([...]) first")
        x = np.asarray(x)
    if type(x) is Batched:
        return x.tensor()
    if type(x) is not Tensor and getattr(getattr(x, "dtype", None), "kind", "") == "O":
        raise ArgumentError("object arrays cannot be differentiated: write array.astype(complex) or astype(float)")
    check_arithmetic(x)
    return x


def check_arithmetic(x):
    """Raise for a kind of ndarray whose arithmetic is not ndarray's, such as masked arrays and matrices."""
    if isinstance(x, np.ndarray) and type(x).__mul__ is not np.ndarray.__mul__:
        raise ArgumentError(
            f"{type(x).__name__} has an arithmetic of its own, which Tensors do not follow: write np.asarray(x), and "
            "for a masked array x.filled(0), with qad.where for its mask"
        )
    if hasattr(x, "tocsr"):
        raise ArgumentError(
            "a sparse matrix meets Tensors in products alone, np.matmul(A, x) and x @ A: elsewhere write A.toarray()"
        )
