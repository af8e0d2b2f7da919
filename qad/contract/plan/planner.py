"""Making plans: from an expression and shapes to the best order within a memory limit, cached by structure."""

from __future__ import annotations

from functools import lru_cache
from numbers import Real
from operator import index
from typing import TYPE_CHECKING

from qad.contract.notation.operands import as_operand, recorded
from qad.contract.notation.parse import label_sizes, parse, parse_lists
from qad.contract.order.given import prescribed, searched
from qad.contract.order.order import from_path, to_path
from qad.contract.order.slicing import sliced
from qad.contract.order.timed import timed_order
from qad.contract.plan.memory import in_bytes
from qad.contract.plan.plan import Plan
from qad.contract.plan.stages import network_of
from qad.core.errors import ArgumentError
from qad.core.process.waiting import waiting

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence
    from typing import Any

    from qad.contract.plan.plan import Plan
    from qad.typing import ArrayLike, DTypeLike

__all__ = ["find_plan", "plan"]


def plan(
    subscripts: str,
    *operands: ArrayLike | tuple[int, ...],
    variables: Sequence[int] | None = None,
    dtype: DTypeLike = complex,
    memory_limit: int | str | None = None,
    optimize: Any = "auto",
    planning_seconds: float | None = None,
) -> Plan:
    """Plan the contraction of a network for value and gradient together.

    Parameters
    ----------
    subscripts : str
        An expression in the notation of `qad.einsum`.
    *operands : array or tuple of int
        The operands, or their shapes.
    variables : sequence of int, optional
        The operands that will be differentiated.  By default the recorded ones, and all of them where shapes are given.
    dtype : dtype
        Of the elements, for memory in bytes.
    memory_limit : int or str, optional
        The most bytes to be alive at once beyond the operands, or text such as "2GB" or "512MiB".  Where the best order
        needs more, subtrees are contracted once more in the backward pass instead of being kept, or indices are cut and
        the network is contracted slice by slice, its gradient too, whichever takes fewer multiply-adds.  Thousands of
        slices come with a warning that says what limit would take fewer.
    optimize : "auto", bool, path, Plan, tree or optimiser
        An order from elsewhere, as in `qad.einsum`.
    planning_seconds : float, optional
        How long to search for the order of a network of more than 12 operands; a terminal shows a bar.  The order then
        depends on the speed of the machine: whoever needs the same numbers again keeps the plan, or its `path`.  The
        search takes its last step to the end, which may take a second.  By default it tries as many exchanges as
        follow from the network, and the order depends on nothing else.

    Returns
    -------
    Plan
        From a bounded cache: planning a network that was planned before takes microseconds.

    Raises
    ------
    ArgumentError, ShapeError
        The expression and the operands do not fit; the message quotes the expression and points at the operand.  The
        limit cannot be kept; the message names the smallest that can.

    Notes
    -----
    A pair of arrays costs the product of all its index sizes c in the forward pass, and c again for each of the two
    that depends on a variable.  Up to 12 operands the order that minimises the sum is found exactly; in a closed
    network it costs 3 times the forward pass where all are variable, and no more than it where one is
    (Evenbly and Pfeifer, Phys. Rev. B 89, 245118).  For more operands contraction trees are annealed under this cost.

    Examples
    --------
    >>> import qad
    >>> p = qad.plan("ij,jk,kl->il", (2, 30), (30, 30), (30, 40), variables=[2])
    >>> p.path, p.flops, p.flops_with_gradient
    (((0, 1), (0, 1)), 4200, 6600)
    """
    if set(map(type, operands)) <= {tuple}:
        shapes = operands
        if variables is None:
            variables = range(len(shapes))
    else:
        operands = [as_operand(operand) for operand in operands]
        shapes = tuple(tuple(operand.shape) for operand in operands)
        variables = recorded(operands) if variables is None else variables
    variables, limit = _checked(variables, len(shapes)), in_bytes(memory_limit)
    path = prescribed(optimize)
    if planning_seconds is not None:
        path = _timed_path(subscripts, shapes, variables, planning_seconds, path)
    return find_plan(subscripts, None, shapes, variables, dtype, path, limit)


def _timed_path(subscripts, shapes, variables, seconds, path):
    if path is not None or not isinstance(seconds, Real) or not seconds > 0:
        raise ArgumentError(
            f"plan: planning_seconds={seconds!r} is how long qad searches: give a positive number and no optimize"
        )
    expression = parse(subscripts, tuple(map(len, shapes)))
    network = network_of(expression, shapes, label_sizes(expression, shapes), variables)
    return None if len(shapes) < 2 else to_path(timed_order(*network, seconds), len(shapes))


def _checked(variables, count):
    try:
        found = tuple(sorted({index(number) for number in variables}))
    except TypeError:
        found = (-1,)
    if found and not 0 <= found[0] <= found[-1] < count:
        raise ArgumentError(f"plan: variables={variables!r} must be numbers of operands, 0 to {count - 1}")
    return found


@lru_cache(maxsize=1024)
def find_plan(
    subscripts: str | tuple[tuple[Hashable, ...], ...],
    output: tuple[Hashable, ...] | None,
    shapes: tuple[tuple[int, ...], ...],
    variables: tuple[int, ...],
    dtype: DTypeLike = complex,
    path: Any = None,
    limit: int | None = None,
) -> Plan:
    """The plan from the cache, made where it is missing.

    `subscripts` is text (`output` None), or a tuple of tuples in the interleaved form; `path` is an order prescribed in
    opt_einsum's linear format, a search of another library, or None; `limit` is in bytes, or None.
    """
    if limit is not None:
        whole = find_plan(subscripts, output, shapes, variables, dtype, path)
        with waiting("planning a contraction within its memory limit, once for networks of this structure"):
            return sliced(whole, limit)
    ndims = tuple(map(len, shapes))
    if isinstance(subscripts, tuple):
        expression = parse_lists(subscripts, output, ndims)
    else:
        expression = parse(subscripts, ndims)
    if callable(path):
        path = searched(path, expression, label_sizes(expression, shapes))
    pairs = None if path is None else _given_order(path, len(shapes), expression.text)
    return Plan.of(expression, shapes, variables, dtype, pairs)


def _given_order(path, count, text):
    pairs = from_path(path, count)
    if pairs is None and (count, path) != (1, ((0,),)):
        raise ArgumentError(
            f'expression "{text}": the path {list(path)} does not contract {count} operands to one: give '
            f"{count - 1} pairs of different positions, each in the list of what is left at that step"
        )
    return pairs or ()
