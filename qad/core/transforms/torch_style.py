"""The tape in PyTorch's style: `tensor`, `backward`, accumulated gradients; and `stop_gradient`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.buffers.stored import is_buffer
from qad.core.counterparts import not_copied
from qad.core.errors import ArgumentError, GradientTypeError
from qad.core.foreign import like
from qad.core.registry.attach import attach
from qad.core.tape import backward as sweeping
from qad.core.tape.levels import unrecorded
from qad.core.tape.node import GRAD, leaf
from qad.core.tape.reverse import TAPE
from qad.core.tape.tensor import CONSTANT, FIXED, Tensor, read_only, settled, value_of
from qad.core.tape.views import mark
from qad.core.transforms.arguments import match
from qad.core.transforms.leaves import to_public
from qad.core.transforms.linearized import SEEDS, scalar_roots
from qad.core.trees import check_arithmetic, tree_map

if TYPE_CHECKING:
    from qad.typing import ArrayLike, DTypeLike, Tree
    from qad.typing.words import Value


def tensor(data: ArrayLike, requires_grad: bool = False, dtype: DTypeLike | None = None) -> Tensor:
    """Make a Tensor from a copy of `data`.

    Parameters
    ----------
    data : array_like
        Numbers of any shape; copied, so that later changes of `data` cannot spoil a gradient.
    requires_grad : bool
        Whether operations are recorded; needs a float or complex dtype.
    dtype : dtype, optional
        As in `numpy.array`.

    Raises
    ------
    GradientTypeError
        If `requires_grad` is asked for integers, booleans or objects.
    RecordedTensorError
        If `data` is a recorded Tensor, which would be cut off from its gradient.

    Examples
    --------
    >>> import qad
    >>> x = qad.tensor([1.0 + 2.0j], requires_grad=True)
    >>> y = qad.abs2(x).sum()
    >>> y.backward()
    >>> x.grad
    array([2.+4.j])
    """
    check_arithmetic(data)
    if hasattr(data, "__qad_step__"):  # by qad.freeze: NumPy would make a plain array of it
        array = np.copy(data) if dtype is None else data.astype(dtype)
    else:
        array = like(data).array(data, dtype=dtype)
    if array.dtype.kind not in "fciub":
        raise GradientTypeError(f"a Tensor holds numbers, not dtype {array.dtype}: write np.asarray(data, dtype=float)")
    if not requires_grad:
        return Tensor(array)
    if array.dtype.kind not in "fc":
        raise GradientTypeError(
            f"a Tensor of dtype {array.dtype} cannot require a gradient: "
            "write qad.tensor(data, dtype=float, requires_grad=True)"
        )
    return Tensor(array, leaf(array), TAPE)


def backward(x: Tensor, gradient: ArrayLike | None = None, retain_graph: bool = False) -> None:
    """Add the gradient of this Tensor to ``leaf.grad`` of every leaf below it.

    Parameters
    ----------
    gradient : array_like, optional
        Cotangent of the shape of this Tensor, in the public convention; needed unless it is a real scalar.
    retain_graph : bool
        Keep the graph for another pass. Otherwise it is freed, and a second pass raises.

    Raises
    ------
    FreedGraphError
        If the graph was freed by an earlier pass.
    GradientTypeError, ShapeError
        If this is not a real scalar and no `gradient` is given.
    """
    x = settled(x)
    if x.level is not TAPE:
        raise ArgumentError(
            "backward() belongs to Tensors made by qad.tensor(..., requires_grad=True): this one is a constant or "
            "lives inside a transform, where qad.grad, qad.vjp and qad.hvp nest"
        )
    if gradient is None:
        seed = SEEDS.get(type(x.value))
        roots = scalar_roots(x, TAPE, "backward()")[0] if seed is None else [(x.node, seed)]
    else:
        roots = [(x.node, np.conj(match(gradient, x.value, "gradient")))]
    found = sweeping.sweep(roots, free=not retain_graph)
    for _, _, node in found.values():
        g = to_public(found, node)
        node[GRAD] = g if node[GRAD] is None else node[GRAD] + g


def zero_grad(x: Tensor) -> None:
    """Forget the accumulated gradient."""
    if x.grad is not None:
        x.node[GRAD] = None


def accumulated(x: Tensor) -> Any:
    """Accumulated gradient (ndarray, public convention), or None before any `backward`."""
    return x.node[GRAD] if x.level is TAPE and x.is_leaf else None


def set_accumulated(x: Tensor, gradient: ArrayLike | None) -> None:
    """Replace the accumulated gradient of a leaf by an array of its shape, or by None."""
    if x.level is not TAPE or not x.is_leaf:
        raise ArgumentError("only Tensors made by qad.tensor(..., requires_grad=True) have a gradient to be set")
    if gradient is not None:
        gradient = value_of(match(gradient, x.value, "gradient")).astype(x.dtype, copy=False)
    x.node[GRAD] = gradient


def detach(x: Tensor) -> Tensor:
    """A constant Tensor of the same values, which may not be written into; that of a buffer follows writes."""
    if is_buffer(x):
        return x.level.detached()
    out = _detached(x)
    mark(out, x, _detached, ())  # so that nobody writes into `x`, which it would not follow
    out.buffer = FIXED
    return out


def _detached(x: Value) -> Value:
    if type(x) is not Tensor:
        return read_only(x)
    value = unrecorded(x)
    return value if type(value) is Tensor else Tensor(read_only(value))


def reduced(x: Tensor) -> tuple[Any, ...]:
    """Values are copied and pickled, graphs are not."""
    x = settled(x)
    if x.level is CONSTANT or (x.level is TAPE and x.is_leaf):
        return restored, (x.value, x.level is TAPE)
    raise not_copied()


def restored(array: Value, requires_grad: bool) -> Tensor:
    """A Tensor of a copy of `array`, for copies and pickles: a leaf of the tape or a constant."""
    array = array.copy("K") if type(array) is np.ndarray else array.copy()
    return Tensor(array, leaf(array), TAPE) if requires_grad else Tensor(array)


attach("backward", backward)
attach("zero_grad", zero_grad)
attach("detach", detach)
attach("grad", property(accumulated, set_accumulated))
attach("__reduce__", reduced)


def stop_gradient(x: Tree) -> Tree:
    """`x` as a constant: derivatives of every level take it for a number.

    Parameters
    ----------
    x : pytree
        Tensors come back as constant Tensors of the same values, everything else as it is.

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.grad(lambda x: np.sum(x * qad.stop_gradient(x)))(np.array([3.0]))
    array([3.])
    """
    return tree_map(lambda leaf: leaf.detach() if type(leaf) is Tensor else leaf, x)
