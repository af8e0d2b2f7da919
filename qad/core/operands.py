"""Operands of a primitive: their levels, their values, and what is refused."""

import numpy as np

from qad.core.batch import Batched
from qad.core.errors import ArgumentError
from qad.core.levels import CONSTANT
from qad.core.node import ARGS, KWARGS, PARENTS, PRIMITIVE
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


UNKNOWN = None, (), {}


def origin_of(x):
    """The primitive that made the Tensor `x`, its operands and keywords; None and nothing where that is not known.

    A reverse level knows it from the node.  Other levels keep none: there the answers of roots remember it.
    """
    node = x.node
    if type(node) is not list:
        origin, value, inner = x.source or (UNKNOWN, None, None)
        return origin if value is x.value and inner is node else UNKNOWN  # not where it was written into
    if len(node) != 6 or type(node[ARGS]) is not tuple:
        return UNKNOWN
    args, parents = node[ARGS], node[PARENTS]
    operands = [a if parent is None else Tensor(a, parent, x.level) for a, parent in zip(args, parents, strict=False)]
    return node[PRIMITIVE], (*operands, *args[len(parents) :]), node[KWARGS] or {}


def remembered(p, out, operands, kwargs=None):
    """`out`, which knows that `p` made it of `operands`, if its square will be asked for that: see `square_of_root`.

    It holds the values of the operands, so that none of these is changed in place when their Tensors are written into.
    """
    if p.root is not None or (p.carries and getattr(operands[0], "source", None) is not None):
        out.source = (p, tuple(map(held, operands)), kwargs or {}), out.value, out.node
    return out


def held(x):
    """What `x` is now."""
    if type(x) is not Tensor:
        return x
    now = Tensor(x.value, x.node, x.level)
    now.source = x.source
    return now


def square_of_root(x):
    """The square of Tensor `x` as a smooth function of what `x` is a root of; None if it is no root.

    An absolute value has a kink at zero, and its square has none: differentiated one after the other they lose the
    second derivative of the square there.

    Examples
    --------
    >>> import numpy as np, qad
    >>> z = qad.tensor([3 + 4j], requires_grad=True)
    >>> qad.extend.square_of_root(abs(z))
    Tensor([25.], shape=(1,), dtype=float64, op=abs2)
    >>> qad.extend.square_of_root(z)
    """
    node = x.node
    if type(node) is list:
        while node is not None and node[PRIMITIVE].carries:
            node = node[PARENTS][0]
        if node is None or node[PRIMITIVE].root is None:  # nearly always
            return None
    elif x.source is None:
        return None
    p, operands, kwargs = origin_of(x)
    if p is None:
        return None
    if p.root is not None:
        return p.root(*operands, **kwargs)
    if not p.carries or type(operands[0]) is not Tensor:
        return None
    square = square_of_root(operands[0])
    return None if square is None else p.fn(square, *operands[1:], **kwargs)


def same_root(x, y) -> bool:
    """Whether the Tensors `x` and `y` are one root of the same operands.

    Examples
    --------
    >>> import numpy as np, qad
    >>> z = qad.tensor([3 + 4j], requires_grad=True)
    >>> qad.extend.same_root(abs(z), np.abs(z)), qad.extend.same_root(abs(z), abs(2 * z))
    (True, False)
    """
    if not (_is_root(x) and _is_root(y)):
        return False
    (p, *ours), (q, *theirs) = origin_of(x), origin_of(y)
    if p.fn is not q.fn or ours[1] != theirs[1]:
        return False
    return len(ours[0]) == len(theirs[0]) and all(map(_same, ours[0], theirs[0]))


def _is_root(x) -> bool:
    p = x.node[PRIMITIVE] if type(x.node) is list else origin_of(x)[0] if x.source is not None else None
    return p is not None and p.root is not None


def _same(a, b) -> bool:
    if a is b or type(a) is not Tensor or type(b) is not Tensor:
        return a is b
    return a.level == b.level and a.value is b.value and a.node is b.node


def operand_of(x, fn):
    """The Tensor that `fn`, a function of one operand, made into the Tensor `x`; None if `x` was made otherwise.

    Examples
    --------
    >>> import numpy as np, qad
    >>> size = abs(qad.tensor([3 + 4j], requires_grad=True))
    >>> qad.extend.operand_of(size, np.absolute).numpy()
    array([3.+4.j])
    """
    p, operands, _ = origin_of(x)
    return operands[0] if p is not None and p.fn is fn else None


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
            raise ArgumentError("a list of Tensors is no operand: write qad.array([...]) first")
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
