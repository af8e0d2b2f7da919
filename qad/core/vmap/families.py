"""Rules of `qad.vmap` for whole families of functions: pointwise ones, those of stacks, and those with an axis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.core.words import Rule
    from qad.typing import Axis, Function


def pointwise(fn: Function) -> Rule:
    """The rule of a function of operands that broadcast; keywords have no axes in them."""

    def rule(batched, *args, **kwargs):
        return fn(*aligned(batched, args), **kwargs)

    return rule


def aligned(batched: Sequence[bool], args: Sequence[Any], core: Sequence[int] = ()) -> Sequence[Any]:
    """`args` with axes of length 1 after that of the batch, so that what is left of the last `core` axes broadcasts."""
    if len(args) == 1:
        return args
    core = core or (0,) * len(args)
    loops = [getattr(a, "ndim", 0) - b - c for b, a, c in zip(batched, args, core, strict=True)]
    most = max(loops)
    return [
        a.reshape((a.shape[0],) + (1,) * (most - n) + a.shape[1:]) if b and n < most else a
        for b, a, n in zip(batched, args, loops, strict=True)
    ]


def stacks(fn: Function, *core: int) -> Function:
    """The rule of a function of stacks, which broadcast; `core` counts the last axes that it works on, per operand.

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.extend.stacks(np.matmul, 2, 2)((True, False), np.ones((4, 2, 3)), np.ones((3, 5))).shape
    (4, 2, 5)
    """

    def rule(batched, *args, **kwargs):
        n = len(core)
        arrays = spread_out(batched[:n], args[:n])
        return fn(*aligned((True,) * n, arrays, core), *args[n:], **kwargs)

    return rule


def same(fn: Function) -> Function:
    """The rule of a function of one array that works on last axes, or on entries."""

    def rule(batched, x, *args, **kwargs):
        return fn(x, *args, **kwargs)

    return rule


def over(fn: Function, default: Any = None) -> Function:
    """The rule of a function ``fn(x, axis=default, ...)`` of one array, whose axis (None: all) may be a tuple."""

    def rule(batched, x, axis=default, *args, **kwargs):
        return fn(x, shifted(axis, x.ndim), *args, **kwargs)

    return rule


def shifted(axis: Axis | None, ndim: int) -> Any:
    """`axis` of one example, or a tuple of them, as axes of a stack of `ndim` axes; all of them for None.

    Examples
    --------
    >>> import qad
    >>> qad.extend.shifted(-1, 3), qad.extend.shifted(None, 3)
    (2, (1, 2))
    """
    if axis is None:
        return tuple(range(1, ndim))
    if isinstance(axis, (tuple, list)):
        return tuple([a + 1 for a in normalize_axis_tuple(axis, ndim - 1)])
    return normalize_axis_index(axis, ndim - 1) + 1


def spread_out(batched: Sequence[bool], args: Sequence[Any]) -> list[Any]:
    """`args`, each with the axis of the batch in front: read-only views where one array serves all examples.

    Examples
    --------
    >>> import numpy as np, qad
    >>> [a.shape for a in qad.extend.spread_out((True, False), [np.ones((4, 2)), np.ones(3)])]
    [(4, 2), (4, 3)]
    """
    size = next(a.shape[0] for b, a in zip(batched, args, strict=True) if b)
    return [a if b else np.broadcast_to(a, (size, *np.shape(a))) for b, a in zip(batched, args, strict=True)]
