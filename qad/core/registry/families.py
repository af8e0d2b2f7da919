"""What functions do to batches of examples under `qad.vmap`: one rule for a whole family of functions, or one's own.

A batching rule is ``rule(batched, *args, **kwargs)``: it returns the answers of every example, stacked along a new
first axis; `batched` says of each array whether its first axis is that of the batch.  Most functions belong to a
family:

* `ENTRIES`: of operands that broadcast, entry by entry (elementwise functions belong here by their flag);
* `AXIS`: of one array, along an axis, or over several, that are given as ``axis``;
* `SHAPE`: of one array, whose entries get another shape in the same order;
* ``core(2, 1)``: of stacks, which broadcast, of matrices (2), vectors (1) or numbers (0), one entry per operand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.typing import Axis, Function
    from qad.typing.words import Rule

BATCHING: dict[Any, Rule] = {}  # NumPy function or wrapped primitive -> rule
ASKING: set[Any] = set()  # functions of the shape and dtype of one example only


class RuleFamily(NamedTuple):
    """A family of functions: `of` makes the batching rule of one of them."""

    name: str
    of: Any

    def __repr__(self) -> str:
        return self.name


def defbatch(fn: Function, rule: Rule | RuleFamily) -> None:
    """Define what a function does to a batch of examples under `qad.vmap`.

    Without a rule the function is called once per example, unless it is flagged elementwise.

    Parameters
    ----------
    fn : callable
        A NumPy function, or what `primitive` returned.
    rule : callable or family
        ``rule(batched, *args, **kwargs)`` returns the answer (or a tuple of answers) of every example, stacked along
        a new first axis; `batched` says of each positional argument whether its first axis is that of the batch.
        Or one of the families `ENTRIES`, `AXIS`, `SHAPE`, ``core(...)``, see `qad.extend.batching`.

    Examples
    --------
    >>> import numpy as np, qad
    >>> @qad.extend.primitive
    ... def total(x):
    ...     return np.sum(x)
    >>> qad.extend.defvjp(total, lambda g, ans, x: g * np.ones(x.shape))
    >>> qad.extend.defbatch(total, lambda batched, x: np.sum(x, axis=tuple(range(1, x.ndim))))
    >>> qad.vmap(total)(np.ones((2, 3)))
    array([3., 3.])
    """
    BATCHING[fn] = rule.of(fn) if type(rule) is RuleFamily else rule


def of_outlines(*functions: Function) -> None:
    """Declare functions of the shape and dtype of an array only: under `qad.vmap` they are asked about one example."""
    ASKING.update(functions)


# -- kinds -------------------------------------------------------------------------------------------------------------


def pointwise(fn: Function) -> Rule:
    """The rule of a function of operands that broadcast; other arguments have no axes in them."""

    def rule(batched, *args, **kwargs):
        n = len(batched)
        return fn(*args, **kwargs) if n == 1 else fn(*aligned(batched, args[:n]), *args[n:], **kwargs)

    return rule


def _along(fn: Function) -> Rule:
    """The rule of a function of one array and of an axis, of several, or (None) of all, which come first after it."""

    def rule(batched, x, *args, **kwargs):
        if args:
            return fn(x, shifted(args[0], x.ndim), *args[1:], **kwargs)
        return fn(x, **{**kwargs, "axis": shifted(kwargs.get("axis"), x.ndim)})

    return rule


def _outlined(fn: Function) -> Rule:
    """The rule of a function that only changes the shape."""

    def rule(batched, x, *args, **kwargs):
        one = np.broadcast_to(False, x.shape[1:])
        return x.reshape((len(x), *fn(one, *args, **kwargs).shape))

    return rule


ENTRIES, AXIS, SHAPE = RuleFamily("ENTRIES", pointwise), RuleFamily("AXIS", _along), RuleFamily("SHAPE", _outlined)


def core(*axes: int) -> RuleFamily:
    """The kind of functions of stacks, which broadcast; `axes` counts the last axes that it works on, per operand.

    Examples
    --------
    >>> import numpy as np, qad
    >>> @qad.extend.primitive
    ... def product(a, b):
    ...     return a @ b
    >>> qad.extend.rule(
    ...     product,
    ...     lambda g, ans, a, b: g @ b.mT,
    ...     lambda g, ans, a, b: a.mT @ g,
    ...     linear=True,
    ...     batch=qad.extend.core(2, 2),
    ... )
    >>> qad.vmap(product, in_axes=(0, None))(np.ones((4, 2, 3)), np.ones((3, 5))).shape
    (4, 2, 5)
    """
    n = len(axes)

    def of(fn):
        def rule(batched, *args, **kwargs):
            if n == 1:
                return fn(*args, **kwargs)
            arrays = spread_out(batched[:n], args[:n])
            return fn(*aligned((True,) * n, arrays, axes), *args[n:], **kwargs)

        return rule

    return RuleFamily(f"core{axes}", of)


# -- for rules of one's own --------------------------------------------------------------------------------------------


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


def shifted(axis: Axis | None, ndim: int) -> Any:
    """`axis` of one example, or a tuple, which may repeat, as axes of a stack of `ndim` axes; all of them for None.

    Examples
    --------
    >>> import qad
    >>> qad.extend.shifted(-1, 3), qad.extend.shifted(None, 3)
    (2, (1, 2))
    """
    if axis is None:
        return tuple(range(1, ndim))
    if isinstance(axis, (tuple, list)):
        return tuple([a + 1 for a in normalize_axis_tuple(axis, ndim - 1, allow_duplicate=True)])
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
