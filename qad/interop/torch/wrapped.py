"""qad's functions of torch tensors: an ``autograd.Function`` whose derivatives are such functions again."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import wraps
from inspect import signature
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch.autograd.forward_ad import unpack_dual

from qad import extend
from qad.core.errors import ArgumentError
from qad.core.trees import ONE_LEAF, flatten, unflatten
from qad.extend import Tensor, vjp, vmap
from qad.interop.arguments import Derivative, with_arguments

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from numpy.typing import NDArray

    Arrays = tuple[Any, ...]

__all__ = ["wrap"]


def wrap(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function of qad as a function of torch tensors, differentiable by torch.

    Parameters
    ----------
    f : callable
        A function of pytrees of arrays to an array, or a pytree of arrays, of floating-point numbers.

    Returns
    -------
    callable
        Of the same arguments with torch tensors for arrays; what is no tensor is passed on as it is.

    Raises
    ------
    ArgumentError
        In a call: a tensor is not on the host, is sparse, or of a dtype that NumPy does not have; or `f` returns
        what is no array of floating-point numbers.

    Notes
    -----
    Gradients of any order, ``torch.func`` (grad, vjp, jvp, vmap, jacrev, jacfwd, hessian) and
    ``torch.autograd.forward_ad`` go through it.  A function that neither transforms nor is recorded runs once; a
    recorded one runs once forward, and its first derivative is the pullback of that run.

    Examples
    --------
    >>> import numpy as np, torch
    >>> from qad.interop.torch import wrap
    >>> cubes = wrap(lambda x: np.sum(x**3))
    >>> torch.func.jacrev(torch.func.grad(cubes))(torch.tensor([2.0]))
    tensor([[12.]])
    """

    @wraps(f)
    def call(*args, **kwargs):
        if not kwargs and all(isinstance(x, torch.Tensor) for x in args):
            return _called(f, args)
        leaves, spec = flatten((args, kwargs))
        places = [i for i, x in enumerate(leaves) if isinstance(x, torch.Tensor)]

        def of_tensors(*arrays):
            for place, x in zip(places, arrays, strict=True):
                leaves[place] = x
            positional, named = unflatten(spec, leaves)
            return f(*positional, **named)

        return _called(of_tensors, [leaves[place] for place in places])

    return call


def _called(f, tensors):
    """`f`, a function of arrays to a pytree, of tensors."""
    wanted = tuple([i for i, x in enumerate(tensors) if x.requires_grad]) if torch.is_grad_enabled() else ()
    whole = _Whole(f)
    out = _TorchCall.apply(_Step(whole.flat, wanted, whole=whole), *tensors)
    return out[0] if whole.structure is ONE_LEAF else unflatten(whole.structure, out)


class _Whole:
    """A function of arrays to a pytree, and the structure of what it gave in the last call."""

    __slots__ = ("f", "structure")

    def __init__(self, f):
        self.f, self.structure = f, None

    def leaves(self, out):
        """What it returned, as a tuple."""
        if isinstance(out, Tensor | np.ndarray | np.generic):  # as mostly
            self.structure = ONE_LEAF
            return (out,)
        leaves, self.structure = flatten(out)
        return tuple(leaves)

    def flat(self, *arrays):
        return self.leaves(self.f(*arrays))

    def pullback(self, wanted, arrays):
        """What it returns, as a tuple, and its pullback by the arguments `wanted`, of a tuple."""
        out, pull = vjp(with_arguments(self.f, wanted, arrays), *[arrays[i] for i in wanted])
        leaves, structure = self.leaves(out), self.structure
        return leaves, lambda given: pull(given[0] if structure is ONE_LEAF else unflatten(structure, given))


@dataclass
class _Step:
    """A function of arrays to a tuple of arrays that torch calls.

    `wanted` are the arguments by which it is about to be differentiated; where there are some, `pullback` is what
    `qad.vjp` gave for them in the last call.  `whole` is the function that was wrapped, where it is that.
    """

    flat: Callable[..., Arrays]
    wanted: tuple[int, ...] = ()
    whole: _Whole | None = None
    pullback: Callable[[Arrays], Arrays] | None = field(default=None, init=False)

    def run(self, arrays: Sequence[NDArray[Any]]) -> Arrays:
        if not self.wanted:
            return self.flat(*arrays)
        if self.whole is not None:
            out, self.pullback = self.whole.pullback(self.wanted, arrays)
            return out
        out, self.pullback = vjp(with_arguments(self.flat, self.wanted, arrays), *[arrays[i] for i in self.wanted])
        return out


class _TorchCall(torch.autograd.Function):
    """A `_Step` of torch tensors to a tuple of torch tensors."""

    @staticmethod
    def forward(step, *tensors):
        arrays = [_array(x) for x in tensors]
        return tuple(_tensor(y, arrays) for y in step.run(arrays))

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.step, *tensors = inputs
        ctx.save_for_backward(*tensors)
        ctx.save_for_forward(*tensors)

    @staticmethod
    def backward(ctx, *gradients):
        step, tensors = ctx.step, ctx.saved_tensors
        needed = tuple([i for i, needs in enumerate(ctx.needs_input_grad[1:]) if needs])
        count, known = len(tensors), step.pullback is not None and needed == step.wanted
        if known and (cotangents := _bare(gradients, tensors)) is not None:
            found = dict(zip(needed, step.pullback(cotangents), strict=True))
            return None, *[_tensor(found[i], ()) if i in found else None for i in range(count)]

        pulled = Derivative(extend, step, needed, False, len(gradients)).flat
        followed = enumerate((*tensors, *gradients)) if torch.is_grad_enabled() else ()
        wanted = tuple([i for i, x in followed if x.requires_grad])
        found = dict(zip(needed, _TorchCall.apply(_Step(pulled, wanted), *tensors, *gradients), strict=True))
        return None, *(found.get(i) for i in range(count))

    @staticmethod
    def jvp(ctx, _, *tangents):
        tensors = ctx.saved_tensors
        along = tuple(i for i, t in enumerate(tangents) if t is not None)
        pushed = Derivative(extend, ctx.step, along, True).flat
        return _TorchCall.apply(_Step(pushed), *tensors, *(tangents[i] for i in along))

    @staticmethod
    def vmap(info, in_dims, step, *tensors):
        out = _TorchCall.apply(_Step(vmap(step.flat, in_axes=tuple(in_dims[1:]))), *tensors)
        return out, (0,) * len(out)


# torch binds what `apply` is given to the signature, which takes it long to find
_TorchCall.forward.__signature__ = signature(_TorchCall.forward)


def _bare(gradients, tensors):
    """The arrays of cotangents, where nobody differentiates or transforms them or the inputs any more; else None."""
    if torch.is_grad_enabled() or any(unpack_dual(x).tangent is not None for x in (*gradients, *tensors)):
        return None
    try:
        return tuple(map(_array, gradients))
    except RuntimeError:  # a tensor of torch.func, which has no memory of its own
        return None


def _array(x):
    """The array that shares the memory of a tensor."""
    if x.device.type != "cpu" or x.layout != torch.strided:
        raise ArgumentError(
            f"wrap: qad computes on dense tensors on the host, not on one of {x.layout} on {x.device}: pass x.cpu(), "
            "or x.to_dense()"
        )
    try:
        return x.numpy(force=True)
    except TypeError as error:
        raise ArgumentError(f"wrap: NumPy has no {x.dtype}: pass x.to(torch.float32)") from error


def _tensor(y, arrays):
    """The tensor that shares the memory of an array, unless that is of `arrays` too, or read-only."""
    y = np.asarray(y)
    if y.dtype.kind not in "fc":
        raise ArgumentError(f"wrap: the function returned {y.dtype} numbers, which have no derivative: leave them out")
    shared = not y.flags.writeable or any(np.may_share_memory(y, x) for x in arrays)
    return torch.from_numpy(y.copy("K") if shared or min(y.strides, default=0) < 0 else y)
