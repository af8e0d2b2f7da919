"""What a frozen function returns: leaves of a result, and the structure around them.

Results belong to the caller: every array is memory of its own, in every call.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import BuiltinFunctionType, FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.errors import ArgumentError
from qad.core.tape.tensor import Tensor, value_of
from qad.core.transforms.leaves import own
from qad.core.trees import LEAF, flatten, unflatten
from qad.frozen.record.contents import ATOMS
from qad.frozen.record.traced import Traced

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from qad.frozen.record.recorder import Recorder

UNCHANGING = (*ATOMS, type, FunctionType, BuiltinFunctionType, np.ufunc)


def plain(x: Any, recorder: Recorder) -> Any:
    """A leaf of the result of a recorded function; constant Tensors are their values, arrays are traced constants."""
    if type(x) is Tensor and x.requires_grad:
        raise ArgumentError("qad.freeze: the function returned a recorded Tensor: return x.numpy(), or use qad.grad")
    x = value_of(x)
    if type(x) is Traced:
        if x.recorder is not recorder:
            raise ArgumentError("qad.freeze: the function returned a traced array of another recording")
    elif isinstance(x, np.ndarray) and x.dtype.kind in "biufc":
        return recorder.constant(np.asarray(x))
    elif isinstance(x, Iterator):
        raise ArgumentError(f"qad.freeze: the function returned a {type(x).__name__}, which runs once: return a list")
    elif not isinstance(x, UNCHANGING):
        raise ArgumentError(
            f"qad.freeze: the function returned an object of type {type(x).__name__}, which every call would share: "
            "return arrays, in tuples, lists, dicts or dataclasses"
        )
    return x


def owned(x: Any) -> Any:
    """A copy of an array; anything else as it is."""
    return x.copy() if isinstance(x, np.ndarray) else x


def with_own_arrays(out: Any) -> Any:
    """The result of a plain call, its arrays copied, recorded ones too: they may be arguments, captured, or one."""
    leaves, spec = flatten(out)
    return unflatten(spec, [own(x) for x in leaves])


def builder(spec: Any, count: int, tensors: Collection[int]) -> Callable[[Any], Any]:
    """From leaves to the result; the structures that transforms return are built without the help of optree."""
    if tensors:
        return lambda leaves: unflatten(spec, [Tensor(x) if i in tensors else x for i, x in enumerate(leaves)])
    if spec is LEAF or spec == LEAF:
        return lambda leaves: leaves[0]
    pattern = unflatten(spec, list(range(count)))
    if type(pattern) is tuple and pattern == tuple(range(count)):
        return tuple
    if pattern == (0, tuple(range(1, count))) and type(pattern) is type(pattern[1]) is tuple:
        return lambda leaves: (leaves[0], tuple(leaves[1:]))
    return lambda leaves: unflatten(spec, leaves)
