"""Operands of a primitive: their levels, their values, and what is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.core.tape.levels import Level
from qad.core.tape.tensor import CONSTANT, Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from qad.core.tape.node import Primitive
    from qad.typing.words import Answer, Keywords, Value

PYTHON_NUMBERS: frozenset[type] = frozenset((float, int, complex))
NUMBERS: frozenset[type] = PYTHON_NUMBERS | {np.float64, np.complex128}  # no constant of these changes a shape
# frequent kinds, which `brought` need not look at
FAMILIAR: frozenset[type] = NUMBERS | {Tensor, np.ndarray, np.float32, np.complex64, np.int64, np.bool_, tuple, slice}
# kind of a bare value that is an operand in the shape of a Tensor only -> what makes the Tensor
HANDLES: dict[type, Callable[[Any], Tensor]] = {}


class Plain(Level):
    """The level of operands among which there is no Tensor."""

    __slots__ = ()
    stops: bool = False

    def apply(self, primitive: Primitive, operands: Sequence[Value], keywords: Keywords) -> Answer:
        return primitive.fn(*operands, **keywords)


PLAIN = Plain(-2)


def highest(args: Any) -> Level:
    """The highest level among `args`."""
    level, number = PLAIN, -2
    for a in args:
        if type(a) is Tensor and a.level.number > number:
            level = a.level
            number = level.number
    return level


def split(args: Any, level: Any) -> Any:
    """Values of the level below, and the nodes of those operands that live on `level`."""
    values, nodes = [], []
    for a in args:
        node = None
        if type(a) is Tensor:
            if a.level is level:
                a, node = a.value, a.node
            elif a.level is CONSTANT:
                a = a.value
        values.append(a)
        nodes.append(node)
    return tuple(values), tuple(nodes)


def variant(p: Primitive, values: Sequence[Value]) -> Primitive:
    """`p` itself where no operand is broadcast, else its broadcasting variant."""
    shapes = {getattr(v, "shape", ()) for v in values if type(v) not in PYTHON_NUMBERS}
    return p if len(shapes) <= 1 else p.broadcasting


def operand(x: Any) -> Any:
    """`x` as an operand: lists and arrays of JAX become NumPy's; what NumPy would store as objects is refused.

    Raises
    ------
    ArgumentError
        For a list that holds Tensors, an array of objects, and a tensor of torch.

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
    if type(x) in HANDLES:
        return HANDLES[type(x)](x)
    x = x if type(x) in FAMILIAR else brought(x)
    if type(x) is not Tensor and getattr(getattr(x, "dtype", None), "kind", "") == "O":
        raise ArgumentError("object arrays cannot be differentiated: write array.astype(complex) or astype(float)")
    check_arithmetic(x)
    return x


def check_arithmetic(x: object) -> None:
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


# -- arrays of other libraries -----------------------------------------------------------------------------------------


def brought(x: Any) -> Any:
    """`x`, and an array of a library such as JAX, which does not speak NumPy's protocols, as one of NumPy's.

    Else its own arithmetic would take part in the derivative, in JAX's case in single precision.  A tensor of torch is
    refused, since torch may be recording it.
    """
    kind = type(x)
    if hasattr(kind, "__array_function__") or not hasattr(kind, "__array__"):
        return x
    if kind.__module__.partition(".")[0] == "torch":
        raise ArgumentError(
            "a torch tensor among the operands: write qad.interop.torch.wrap(f), which differentiates f in torch, or "
            "pass x.numpy(force=True), a constant"
        )
    return x if isinstance(x, np.generic) else np.asarray(x)


def refuse_devices(name: str, args: Sequence[Value], error: TypeError) -> None:
    """Raise an error that a function met as one of ours, if its operands lie on several devices."""
    devices = [getattr(x, "device", "cpu") for x in args if getattr(x, "ndim", 0)]
    found = sorted({f"cuda:{device.id}" if hasattr(device, "id") else "cpu" for device in devices})
    if len(found) > 1:
        places, one = " and ".join(found), found[-1]
        raise ArgumentError(
            f"{name} of arrays on {places}: move all to one device, as qad.to_device(x, {one!r}) does"
        ) from error
