"""``ncon``: networks given by integer labels, positive ones summed and negative ones open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qad.contract.notation.contractors import contractor_of
from qad.contract.notation.operands import as_operand, recorded
from qad.contract.plan.planner import find_plan
from qad.core.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.typing import Array, ArrayLike

__all__ = ["ncon"]


def ncon(
    tensors: Sequence[ArrayLike], indices: Sequence[Sequence[int | str]], order: Sequence[int | str] | None = None
) -> Array:
    """Contract a network in the notation of Pfeifer, Evenbly, Singh and Vidal (arXiv:1402.0939).

    Parameters
    ----------
    tensors : sequence of arrays
    indices : sequence of sequences of int
        The labels of each tensor, one per axis.  Positive labels are summed, negative ones are axes of the result in
        the order -1, -2, ...  A label may stand in any number of tensors: a negative one in several is a batch axis.
        Strings are labels as well; those that begin with "-" are open, in sorted order after the integers.
    order : sequence of labels, optional
        Contract the labels in this order, each together with all others that its two tensors share.  By default the
        order is searched for value and gradient together.

    Returns
    -------
    array
        With one axis per open label.

    Raises
    ------
    ArgumentError, ShapeError
        Labels and tensors do not fit, or `order` names no summed label.

    Examples
    --------
    >>> import numpy as np, qad
    >>> a, b = np.ones((2, 3)), np.ones((3, 4))
    >>> qad.ncon([a, b], [[-2, 1], [1, -1]]).shape
    (4, 2)
    """
    operands = list(tensors)
    try:
        terms = tuple(map(tuple, indices))
    except TypeError as error:
        raise ArgumentError(
            f"ncon: indices={indices!r} must hold a list of labels for every tensor, such as [[-1, 1], [1, -2]]"
        ) from error
    if len(terms) != len(operands):
        raise ArgumentError(f"ncon: {len(operands)} tensors are given, but {len(terms)} lists of labels")
    labels = list(dict.fromkeys(label for term in terms for label in term))
    output = tuple(sorted(filter(_is_open, labels), key=_place))
    path = None if order is None else _path(terms, labels, tuple(order))
    if other := contractor_of(operands):
        return other.network(operands, terms, output, path)
    operands = [as_operand(operand) for operand in operands]
    shapes = tuple([operand.shape for operand in operands])
    wanted = recorded(operands)
    plan = find_plan(terms, output, shapes, wanted, complex, path)
    return plan.execute(operands, wanted)


def _is_open(label):
    if label == 0:
        raise ArgumentError("ncon: label 0 is neither summed (1, 2, ...) nor open (-1, -2, ...)")
    return label.startswith("-") if isinstance(label, str) else label < 0


def _place(label):
    return (1, 0, label) if isinstance(label, str) else (0, -label, "")


def _path(terms, labels, order):
    """The path that contracts labels in the given order; what no label joins is multiplied at the end."""
    summed = [label for label in labels if not _is_open(label)]
    if sorted(map(str, order)) != sorted(map(str, summed)):
        raise ArgumentError(f"ncon: order {list(order)} must hold each summed label once: {summed}")
    alive, path = [set(term) for term in terms], []

    def merge(one, two):
        path.append((one, two))
        last, first = alive.pop(two), alive.pop(one)
        alive.append(first | last)

    for label in order:
        while len(found := [place for place, term in enumerate(alive) if label in term]) > 1:
            merge(*found[:2])
    while len(alive) > 1:
        merge(0, 1)
    return tuple(path) or ((0,),)
