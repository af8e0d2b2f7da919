"""``einsum`` and ``tensordot``: the public contraction functions, and NumPy's on Tensors."""

from __future__ import annotations

from functools import lru_cache
from operator import index
from typing import TYPE_CHECKING

import numpy as np

from qad.contract.hermitian.real_form import real_form
from qad.contract.notation.contractors import contractor_of
from qad.contract.notation.operands import as_operand, recorded
from qad.contract.notation.parse import split_lists
from qad.contract.order.given import prescribed
from qad.contract.plan.memory import in_bytes
from qad.contract.plan.planner import find_plan
from qad.contract.run.pair import contract, pair
from qad.core.errors import ArgumentError, ShapeError
from qad.extend import Tensor, implements

if TYPE_CHECKING:
    from concurrent.futures import Executor
    from typing import Any

    from qad.typing import Array, ArrayLike, Axis

__all__ = ["einsum", "tensordot"]

ARRAYS = frozenset((np.ndarray, Tensor))


def einsum(
    subscripts: Any,
    *operands: Any,
    optimize: Any = "auto",
    memory_limit: int | str | None = None,
    hermitian: bool = False,
    check: bool = False,
    executor: Executor | None = None,
) -> Array:
    """Contract a tensor network given in index notation.

    Parameters
    ----------
    subscripts : str
        NumPy's notation, all of it, with any letter and any character beyond ASCII as a label: ``"ij,jk->ik"``,
        implicit output, ellipsis, repeated labels (``"ii->"``), labels in many operands.  NumPy's interleaved form
        ``einsum(a, [0, 1], b, [1, 2], [0, 2])`` works too, with any sortable labels.
    *operands : array
        One per term.  An axis of size 1 stretches to the size that its label has in other operands.
    optimize : "auto", bool, path, Plan, tree or optimiser
        A path in opt_einsum's linear format, a plan of the same operands or a tree of cotengra prescribes the order; an
        optimiser of opt_einsum or cotengra is asked for it, once per structure.  Otherwise the order is searched once
        per structure, for value and gradient together, and kept.
    memory_limit : int or str, optional
        The most bytes to be alive at once beyond the operands, forward and backward, or text such as "2GB".  A network
        that needs more is contracted slice by slice, its gradient too; see `qad.plan`.  Second derivatives are sliced
        as well, but may take more.
    hermitian : bool
        The caller says that the network is ``<psi|O|psi>``, real by Hermiticity, with a scalar or a batch as output: it
        is returned real, and only the bra half of its gradient is computed, and doubled.  Every variable operand needs
        its partner among the operands: ``x`` and ``x.conj()`` (or ``np.conj(x)``) of the very same Tensor ``x``; where
        it is real, ``x`` twice.  A reshaped or transposed variable is reshaped first and conjugated then.  What the
        caller says is proved: both halves are compared at a generic point, once for the content of the other operands,
        with at most twice the memory of `memory_limit`.
    check : bool
        With `hermitian`: compare both halves of the gradient at these operands as well, at every call.
    executor : concurrent.futures.Executor, optional
        Its ``map`` runs the slices, each with the memory of one.  The result is the same to the last bit as without it.

    Returns
    -------
    array
        With one axis per output label, of the operands' common dtype.  It may be a view of
        a single operand.

    Raises
    ------
    ArgumentError, ShapeError
        The expression and the operands do not fit; the message quotes the expression and points at the operand.  With
        `hermitian`: a variable operand has no partner, or the output holds a leg of only one half.
    CheckError
        With `hermitian`: the network is no real form, its halves are not conjugate to each other.

    Notes
    -----
    The network is contracted pair by pair, each pair as one (batched) matrix product whose two derivatives are pairs
    again; see `qad.plan` for the order and its cost.  Operands that stay the same from call to call are contracted at
    every call, unless a plan holds them: ``qad.plan(subscripts, *operands).hold({number: operand})``.

    Examples
    --------
    >>> import numpy as np, qad
    >>> a, b = np.arange(6.0).reshape(2, 3), np.ones((3, 2))
    >>> qad.einsum("ij,jk->ik", a, b)
    array([[ 3.,  3.],
           [12., 12.]])
    >>> qad.grad(lambda a: qad.einsum("ij,ji->", a, b) ** 2)(a)
    array([[30., 30., 30.],
           [30., 30., 30.]])
    >>> h = np.array([[1, 1j], [-1j, 2]])
    >>> qad.grad(lambda x: qad.einsum("i,ij,j->", x.conj(), h, x, hermitian=True))(np.array([1, 1j]))
    array([0.+0.j, 0.+2.j])
    """
    return _contracted(subscripts, operands, optimize, memory_limit, hermitian, check, executor)


def _contracted(subscripts, operands, optimize, memory_limit=None, hermitian=False, check=False, executor=None):
    """`einsum`, whose operands come as a sequence."""
    if check and not hermitian:
        raise ArgumentError("einsum: check=True compares the halves of a Hermitian form: pass hermitian=True as well")
    output = None
    if not isinstance(subscripts, str):
        operands, terms, output = split_lists((subscripts, *operands))
        subscripts, output = _hashable(terms), None if output is None else _hashable([output])[0]
    path = None if type(optimize) is str and optimize == "auto" else prescribed(optimize)
    if not ARRAYS.issuperset(map(type, operands)):
        if other := contractor_of(operands):
            _require_plain(memory_limit, hermitian, executor)
            return other.network(operands, subscripts, output, path)
        operands = map(as_operand, operands)
    operands = list(operands)
    shapes = tuple([operand.shape for operand in operands])
    dtype, limit = complex, None
    if memory_limit is not None:
        dtype, limit = np.result_type(*[operand.dtype for operand in operands]), in_bytes(memory_limit)
    if hermitian:

        def planned(variables, times=1, order=path):
            most = None if limit is None else times * limit
            return find_plan(subscripts, output, shapes, variables, dtype, order, most)

        return real_form(planned, operands, check, subscripts, executor)
    wanted = recorded(operands)
    plan = find_plan(subscripts, output, shapes, wanted, dtype, path, limit)
    return plan.execute(operands, wanted, executor)


def _require_plain(memory_limit, hermitian, executor):
    """Raise where tensors of another kind are contracted in a way that only arrays are."""
    if memory_limit is not None or hermitian or executor is not None:
        raise ArgumentError("einsum: memory_limit, hermitian and executor are for arrays: leave them out")


def _hashable(terms):
    try:
        terms = tuple(map(tuple, terms))
        hash(terms)
        return terms
    except TypeError as error:
        raise ArgumentError(
            "einsum: the first argument is a string of subscripts, or every operand is followed by a "
            "list of labels: einsum(a, [0, 1], b, [1, 2], [0, 2])"
        ) from error


def tensordot(a: ArrayLike, b: ArrayLike, axes: int | tuple[Axis, Axis] = 2) -> Array:
    """Contract two arrays over given axes, as `numpy.tensordot` does.

    Parameters
    ----------
    a, b : array
    axes : int or two sequences of int
        The number of last axes of `a` and first axes of `b`, or which axes of `a` and of `b`.

    Returns
    -------
    array
        The other axes of `a`, then those of `b`.

    Raises
    ------
    ShapeError
        The axes do not match; it is an IndexError as well where an axis does not exist.
    ArgumentError
        `axes` is neither a number nor two sequences of numbers.

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.tensordot(np.ones((2, 3, 4)), np.ones((4, 3, 5)), ([1, 2], [1, 0])).shape
    (2, 5)
    """
    if other := contractor_of((a, b)):
        return other.tensordot(a, b, axes)
    a, b = as_operand(a), as_operand(b)
    axes = axes if type(axes) is int else _axes(axes)
    return contract(a, b, recipe=_tensordot(a.shape, b.shape, axes))


def _axes(axes):
    """The axes as a number or two tuples of numbers."""
    try:
        if hasattr(axes, "__index__"):
            return index(axes)
        one, two = ((index(each),) if hasattr(each, "__index__") else tuple(map(index, each)) for each in axes)
    except (TypeError, ValueError) as error:
        raise ArgumentError(
            f"tensordot: axes={axes!r} is neither a number of axes nor two sequences of axes such as ([1, 2], [1, 0])"
        ) from error
    return one, two


class _NoSuchAxis(ShapeError, IndexError):
    """What NumPy calls an IndexError, and the array-API standard an AxisError."""


@lru_cache(maxsize=4096)
def _tensordot(shape_a, shape_b, axes):
    count_a, count_b = len(shape_a), len(shape_b)
    if isinstance(axes, int):
        axes = tuple(range(-axes, 0)), tuple(range(axes))
    try:
        one, two = [range(count_a)[axis] for axis in axes[0]], [range(count_b)[axis] for axis in axes[1]]
    except IndexError as error:
        raise _NoSuchAxis(f"tensordot: shapes {shape_a} and {shape_b} have not all of the axes {axes}") from error
    fits = [shape_a[axis] for axis in one] == [shape_b[axis] for axis in two]
    if not fits or len(set(one)) < len(one) or len(set(two)) < len(two):
        raise ShapeError(f"tensordot: axes {axes} do not pair axes of equal sizes of shapes {shape_a} and {shape_b}")
    labels_a = tuple(range(count_a))
    partner = dict(zip(two, one, strict=True))
    labels_b = tuple(partner.get(axis, count_a + axis) for axis in range(count_b))
    out = tuple(label for label in labels_a + labels_b if (label in labels_a) != (label in labels_b))
    sizes = dict(zip(labels_a + labels_b, shape_a + shape_b, strict=True))
    return pair((labels_a, labels_b, out), (shape_a, shape_b, tuple(sizes[label] for label in out)))


@implements(np.einsum)
def _numpy_einsum(*operands, out=None, optimize=False, dtype=None, order="K", casting="safe"):
    if out is not None:
        raise ArgumentError("einsum(..., out=...) would write a recorded value into an array: write y = einsum(...)")
    if dtype is not None or order not in ("K", "C", "A") or casting != "safe":
        raise ArgumentError("einsum on a Tensor takes no dtype, order or casting: convert with .astype")
    return _contracted(operands[0], operands[1:], optimize)


implements(np.tensordot)(tensordot)
