"""What a frozen function returns: leaves of a result, and the structure around them."""

from collections.abc import Iterator

import numpy as np

from qad.core.errors import ArgumentError
from qad.core.tensor import Tensor, value_of
from qad.core.trees import LEAF, unflatten
from qad.freeze.traced import Traced

__all__ = ["builder", "owned", "plain"]


def plain(x, recorder):
    """A leaf of the result of a recorded function; constant Tensors are their values."""
    if type(x) is Tensor and x.requires_grad:
        raise ArgumentError("qad.freeze: the function returned a recorded Tensor: return x.numpy(), or use qad.grad")
    x = value_of(x)
    if isinstance(x, Iterator):
        raise ArgumentError(f"qad.freeze: the function returned a {type(x).__name__}, which runs once: return a list")
    if any(type(y) is Traced for y in getattr(x, "__dict__", {}).values()):
        raise ArgumentError(
            f"qad.freeze: the function returned an object of type {type(x).__name__} that holds traced arrays: return "
            "arrays, in tuples, lists, dicts or dataclasses"
        )
    if type(x) is Traced and x.recorder is not recorder:
        raise ArgumentError("qad.freeze: the function returned a traced array of another recording")
    return x


def owned(x):
    """A copy of an array; anything else as it is."""
    return x.copy() if isinstance(x, np.ndarray) else x


def builder(spec, count, tensors):
    """From leaves to the result; the structures that transforms return are built without the help of optree."""
    if tensors:
        return lambda leaves: unflatten(spec, [Tensor(x) if i in tensors else x for i, x in enumerate(leaves)])
    if spec is LEAF or spec == LEAF:
        return lambda leaves: leaves[0]
    pattern = unflatten(spec, list(range(count)))
    if pattern == tuple(range(count)):
        return tuple
    if pattern == (0, tuple(range(1, count))):
        return lambda leaves: (leaves[0], tuple(leaves[1:]))
    return lambda leaves: unflatten(spec, leaves)
