"""`vmap`: a function of one example as a function of all of them, without a Python loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import optree

from qad.core.errors import ArgumentError, ShapeError
from qad.core.foreign import as_array
from qad.core.tape.record import leaked
from qad.core.tape.tensor import CONSTANT, Tensor, argument
from qad.core.transforms.arguments import run
from qad.core.transforms.leaves import own
from qad.core.transforms.transformed import transformed
from qad.core.trees import NAMESPACE, flatten, leaf_path, strip, unflatten
from qad.core.vmap.batched import Batched
from qad.core.vmap.rules import Batch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qad.core.tape.levels import Level
    from qad.typing import Function, P, Tree
    from qad.typing.words import Value


def vmap(f: Callable[P, Any], in_axes: Any = 0, out_axes: Any = 0) -> Callable[P, Any]:
    """Make the function that applies `f` to every example of a batch at once.

    Parameters
    ----------
    f : callable
        A function of arrays or pytrees to an array or a pytree of them. It sees one example, and runs once.
    in_axes : int, None, or tuple of them, or of pytrees of them
        The axis of each array argument along which the examples lie; None for what all of them share. One entry
        serves all arguments, an entry of the tuple a whole argument, an entry of a pytree in it a whole subtree.
    out_axes : int, None, or pytree of them
        Where the axis of the examples goes in what `f` returns; None for what does not depend on them.

    Returns
    -------
    callable
        Of the signature of `f`. Keyword arguments are shared by all examples.

    Raises
    ------
    ShapeError
        If the batches differ in size, or an array lacks the axis.
    BatchError
        If `f` asks for what differs between examples: ``if x > 0``, ``float(x)``. The message says what to write.

    Notes
    -----
    NumPy's functions, the transforms and derivative rules run on whole stacks; functions of `qad.extend.primitive`
    without a rule from `qad.extend.defbatch` run once per example. The transforms nest in any order.

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.vmap(np.dot)(np.ones((4, 3)), np.ones((4, 3)))
    array([3., 3., 3., 3.])
    >>> a = np.diag([1.0, 2.0])
    >>> qad.vmap(lambda a, x: a @ x, in_axes=(None, 1))(a, np.ones((2, 3)))
    array([[1., 2.],
           [1., 2.],
           [1., 2.]])
    >>> qad.vmap(qad.grad(lambda x: np.sum(x**3)))(np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([[ 3., 12.],
           [27., 48.]])
    """

    return transformed(mapped, f, in_axes, out_axes, name="qad.vmap")


def mapped(f: Function, in_axes: Any, out_axes: Any, /, *args: Any, **kwargs: Any) -> Tree:
    """What `vmap` makes."""
    entries = _entries(in_axes, args)
    leaves, spec = flatten(args)
    size = _size(leaves, entries, args)
    with Batch(size) as level:
        call = [x if a is None else _example(x, a, level) for x, a in zip(leaves, entries, strict=True)]
        out = run(f, unflatten(spec, call), kwargs)
    results, spec = flatten(out)
    axes = _spread_axes(out_axes, out, "out_axes")
    known = {id(x) for x in leaves}
    return unflatten(spec, [_handed_out(x, a, size, level, known) for x, a in zip(results, axes, strict=True)])


def _entries(in_axes: Any, args: Sequence[Tree]) -> list[int | None]:
    """The axis of each leaf of `args`."""
    if isinstance(in_axes, list):
        in_axes = tuple(in_axes)
    if isinstance(in_axes, tuple) and len(in_axes) != len(args):
        raise ArgumentError(
            f"vmap: in_axes has {len(in_axes)} entries for {len(args)} positional arguments: give one each, or one "
            "axis for all; keyword arguments are shared by all examples"
        )
    return _spread_axes(in_axes, args, "in_axes")


def _spread_axes(axes: Any, tree: Tree, name: str) -> list[int | None]:
    """The entry of `axes`, a prefix of `tree`, for each leaf of `tree`."""
    if axes is None or type(axes) is int:
        return [axes] * len(flatten(tree)[0])
    entries, spec = optree.tree_flatten(axes, none_is_leaf=True, namespace=NAMESPACE)
    if any(a is not None and type(a) is not int for a in entries):
        raise ArgumentError(f"vmap: {name} holds integers and None, not {axes!r}")
    try:
        parts = spec.flatten_up_to(tree)
    except ValueError as error:
        raise ArgumentError(f"vmap: {name}={axes!r} is not nested like what it describes: {error}") from None
    return [a for a, part in zip(entries, parts, strict=True) for _ in flatten(part)[0]]


def _size(leaves: Sequence[Value], entries: Sequence[int | None], args: Sequence[Tree]) -> int:
    """The number of examples."""
    sizes = {}
    for i, (x, axis) in enumerate(zip(leaves, entries, strict=True)):
        if axis is None:
            continue
        shape = np.shape(strip(x, CONSTANT))
        if not -len(shape) <= axis < len(shape):
            raise ShapeError(
                f"vmap: argument {leaf_path(args, i)} of shape {shape} has no axis {axis}: write None in in_axes for "
                "what all examples share"
            )
        sizes.setdefault(shape[axis], i)
    if not sizes:
        raise ArgumentError("vmap: no argument has an axis of examples: give an axis in in_axes")
    if len(sizes) > 1:
        found = " and ".join(f"{n} in argument {leaf_path(args, i)}" for n, i in sizes.items())
        raise ShapeError(f"vmap: the numbers of examples differ: {found}: write in_axes=(0, None) for what is shared")
    return next(iter(sizes))


def _example(x: Value, axis: int, level: Level) -> Tensor:
    x = strip(x, CONSTANT)
    x = x if type(x) is Tensor else as_array(x)
    return argument(Batched(np.moveaxis(x, axis, 0) if axis % x.ndim else x, level).tensor())


def _handed_out(x: Value, axis: int | None, size: int, level: Level, known: set[int]) -> Value:
    """Leaf `x` of the output with its examples along `axis`, in memory of its own."""
    if type(x) is Tensor and not x.level.open and x.level is not level:
        raise leaked("the output of qad.vmap")
    inside = type(x) is Tensor and x.level is level
    x = x.value.array if inside else strip(x, level)
    if axis is None:
        if inside:
            raise ArgumentError("vmap: out_axes=None is for what is equal for all examples, but this output is not")
        return own(x)
    if not inside:
        x = np.broadcast_to(x, (size, *np.shape(x)))
    new = type(x) is np.ndarray and x.flags.owndata and x.flags.carray and id(x) not in known
    x = x if new else own(x)
    known.add(id(x))
    return np.moveaxis(x, 0, axis) if axis else x
