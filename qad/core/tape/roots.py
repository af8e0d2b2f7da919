"""Where a Tensor came from, and roots: answers whose squares are smooth where they themselves have a kink.

``|z|^2`` is smooth at zero, ``|z|`` is not, so the square of an absolute value is recorded as a function of ``z``
(see ``root`` of `qad.extend.rule`).  A reverse level finds ``z`` in the node; on other levels the answers of roots
remember it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qad.core.tape.node import ARGS, PARENTS, PRIMITIVE, given
from qad.core.tape.tensor import Tensor, held

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.core.tape.node import Primitive
    from qad.typing import Function
    from qad.typing.words import Answer, Keywords, Origin, Value

UNKNOWN: Origin = None, (), {}


def origin_of(x: Tensor) -> Origin:
    """The primitive that made the Tensor `x`, its operands and keywords; None and nothing where that is not known.

    A reverse level knows it from the node.  Other levels keep none: there the answers of roots remember it.
    """
    node = x.node
    if node is None:
        origin, value, tangent = x.source or (UNKNOWN, None, None)
        return origin if value is x.value and tangent is x.tangent else UNKNOWN  # not where it was written into
    if type(node[ARGS]) is not tuple:  # a leaf, one of several outputs, or freed
        return UNKNOWN
    args, parents = node[ARGS], node[PARENTS]
    operands = [a if parent is None else Tensor(a, parent, x.level) for a, parent in zip(args, parents, strict=False)]
    return node[PRIMITIVE], (*operands, *args[len(parents) :]), given(node)


def remembered(p: Primitive, out: Answer, operands: Sequence[Value], kwargs: Keywords | None = None) -> Answer:
    """`out`, which knows that `p` made it of `operands`, if its square will be asked for that: see `square_of_root`.

    It holds the values of the operands, so that none of these is changed in place when their Tensors are written into.
    """
    if p.root is not None or (p.carries and getattr(operands[0], "source", None) is not None):
        out.source = (p, tuple(map(held, operands)), kwargs or {}), out.value, out.tangent
    return out


def square_of_root(x: Tensor) -> Tensor | None:
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
    if node is not None:
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


def same_root(x: Tensor, y: Tensor) -> bool:
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


def _is_root(x: Tensor) -> bool:
    p = x.node[PRIMITIVE] if x.node is not None else origin_of(x)[0] if x.source is not None else None
    return p is not None and p.root is not None


def _same(a: Value, b: Value) -> bool:
    if a is b or type(a) is not Tensor or type(b) is not Tensor:
        return a is b
    return a.level is b.level and a.value is b.value and a.node is b.node and a.tangent is b.tangent


def operand_of(x: Tensor, fn: Function) -> Tensor | None:
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
