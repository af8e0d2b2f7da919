"""qad's functions in programs of PyTorch, and PyTorch's in programs of qad.

`wrap` makes a function of qad one of torch tensors: an ``autograd.Function`` whose derivatives are such functions
again, so that gradients of every order, forward mode and ``torch.func`` go through it.  `primitive` is the other way.
Both count the gradient of a real loss as ``dL/dx + i dL/dy``, so that nothing is conjugated on the way.  Memory on the
host is shared, not copied.

Examples
--------
>>> import numpy as np, qad, torch
>>> from qad.interop.torch import primitive, wrap
>>> energy = wrap(lambda z: qad.einsum("i,i->", z, z.conj()).real)
>>> z = torch.tensor([1 + 2j], requires_grad=True)
>>> energy(z).backward()
>>> z.grad
tensor([2.+4.j])
>>> qad.grad(primitive(lambda x: torch.sin(x).sum()))(np.array([0.0]))
array([1.])
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import wraps
from typing import TYPE_CHECKING

import numpy as np

try:
    import torch
except ModuleNotFoundError as _error:
    raise ModuleNotFoundError("qad.interop.torch needs PyTorch: pip install 'qad[torch]'") from _error

from qad.core.errors import ArgumentError
from qad.core.trees import flatten, unflatten
from qad.extend import defjvp, defvjp, jvp, vjp, vmap
from qad.extend import primitive as recordable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from numpy.typing import NDArray

    Arrays = tuple[Any, ...]

__all__ = ["primitive", "wrap"]

if not hasattr(torch, "func"):
    raise ImportError(f"qad.interop.torch needs PyTorch 2.0 or newer, not {torch.__version__}: pip install -U torch")


# -- qad in torch ----------------------------------------------------------------------------------------------------


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
    >>> torch.func.hessian(wrap(lambda x: np.sum(x**3)))(torch.tensor([2.0]))
    tensor([[12.]])
    """

    @wraps(f)
    def call(*args, **kwargs):
        leaves, spec = flatten((args, kwargs))
        places = [i for i, x in enumerate(leaves) if isinstance(x, torch.Tensor)]
        returned = []

        def flat(*arrays):
            for place, x in zip(places, arrays, strict=True):
                leaves[place] = x
            positional, named = unflatten(spec, leaves)
            out, structure = flatten(f(*positional, **named))
            returned.append(structure)
            return tuple(out)

        tensors = [leaves[place] for place in places]
        wanted = tuple(i for i, x in enumerate(tensors) if x.requires_grad) if torch.is_grad_enabled() else ()
        out = _Call.apply(_Step(flat, wanted), *tensors)
        return unflatten(returned[0], out)

    return call


@dataclass
class _Step:
    """A function of arrays to a tuple of arrays that torch calls.

    `wanted` are the arguments by which it is about to be differentiated; where there are some, `pullback` is what
    `qad.vjp` gave for them in the last call.  `ready` gives the same as `function` where the values are those of a
    call before.
    """

    function: Callable[..., Arrays]
    wanted: tuple[int, ...] = ()
    ready: Callable[..., Arrays] | None = None
    pullback: Callable[[Arrays], Arrays] | None = field(default=None, init=False)

    def run(self, arrays: Sequence[NDArray[Any]]) -> Arrays:
        if self.ready is not None:
            return self.ready(*arrays)
        if not self.wanted:
            return self.function(*arrays)
        out, self.pullback = vjp(_of(self.function, self.wanted, arrays), *[arrays[i] for i in self.wanted])
        return out


class _Call(torch.autograd.Function):
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
        needed = tuple(i for i in range(len(tensors)) if ctx.needs_input_grad[1 + i])
        count = len(tensors)

        def pulled(*arrays):
            primals, w = arrays[:count], arrays[count:]
            return vjp(_of(step.function, needed, primals), *[primals[i] for i in needed])[1](tuple(w))

        ready = None
        if step.pullback is not None and needed == step.wanted:
            ready = lambda *arrays: step.pullback(arrays[count:])
        wanted = ()
        if torch.is_grad_enabled():
            ready, wanted = None, tuple(i for i, x in enumerate((*tensors, *gradients)) if x.requires_grad)
        found = dict(zip(needed, _Call.apply(_Step(pulled, wanted, ready), *tensors, *gradients), strict=True))
        return None, *(found.get(i) for i in range(count))

    @staticmethod
    def jvp(ctx, _, *tangents):
        tensors = ctx.saved_tensors
        along = tuple(i for i, t in enumerate(tangents) if t is not None)
        count = len(tensors)

        def pushed(*arrays):
            primals = tuple(arrays[i] for i in along)
            return jvp(_of(ctx.step.function, along, arrays[:count]), primals, tuple(arrays[count:]))[1]

        return _Call.apply(_Step(pushed), *tensors, *(tangents[i] for i in along))

    @staticmethod
    def vmap(info, in_dims, step, *tensors):
        out = _Call.apply(_Step(vmap(step.function, in_axes=tuple(in_dims[1:]))), *tensors)
        return out, (0,) * len(out)


def _of(function, numbers, arrays):
    """`function` as one of the arguments `numbers`, the others being as in `arrays`."""

    def chosen(*some):
        all_of_them = list(arrays)
        for number, x in zip(numbers, some, strict=True):
            all_of_them[number] = x
        return function(*all_of_them)

    return chosen


def _array(x):
    """The array that shares the memory of a tensor."""
    if x.device.type != "cpu" or x.layout != torch.strided:
        raise ArgumentError(
            f"wrap: qad computes on dense tensors on the host, not on one of {x.layout} on {x.device}: pass x.cpu(), "
            "or x.to_dense()"
        )
    try:
        return x.detach().resolve_conj().resolve_neg().numpy()
    except TypeError as error:
        raise ArgumentError(f"wrap: NumPy has no {x.dtype}: pass x.to(torch.float32)") from error


def _tensor(y, arrays):
    """The tensor that shares the memory of an array, unless that is somebody else's."""
    y = np.asarray(y)
    if y.dtype.kind not in "fc":
        raise ArgumentError(f"wrap: the function returned {y.dtype} numbers, which have no derivative: leave them out")
    shared = not y.flags.writeable or any(np.may_share_memory(y, x) for x in arrays)
    return torch.from_numpy(y.copy() if shared or min(y.strides, default=0) < 0 else y)


# -- torch in qad ----------------------------------------------------------------------------------------------------


def primitive(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function of torch tensors as a function of arrays, recorded and differentiated by qad.

    Parameters
    ----------
    f : callable
        A function of tensors, each an argument, to a tensor or a tuple of tensors, that ``torch.func`` can transform.
        It depends on its arguments only: parameters of a module are arguments, as in ``torch.func.functional_call``.

    Returns
    -------
    callable
        Of arrays or Tensors, to an array or a tuple of them.  Its derivatives, of any order and in both modes, are
        torch's.

    Examples
    --------
    >>> import numpy as np, qad, torch
    >>> from qad.interop.torch import primitive
    >>> f = primitive(lambda z: (z.conj() * z).real.sum())
    >>> qad.grad(lambda z: f(z) ** 2)(np.array([1 + 1j]))
    array([8.+8.j])
    """
    plain = _Torch(f)

    @wraps(f)
    def call(*arrays):
        out = _torch_call(*arrays, program=plain)
        return out if plain.several else out[0]

    return call


@dataclass(eq=False)
class _Torch:
    """A function of tensors to a tensor or, if `several`, which is known after a call, a tuple of tensors."""

    f: Callable[..., Any]
    several: bool = True

    def flat(self, *tensors: Any) -> tuple[Any, ...]:
        out = self.f(*tensors)
        self.several = isinstance(out, tuple | list)
        return tuple(out) if self.several else (out,)


@dataclass(frozen=True)
class _Derivative:
    """The derivative of a function by its arguments `by`: along tangents, or back from cotangents, which come last."""

    program: _Torch | _Derivative
    by: tuple[int, ...]
    forward: bool
    outputs: int = 0  # of the program, where cotangents are given

    def flat(self, *tensors: Any) -> tuple[Any, ...]:
        count = len(tensors) - (len(self.by) if self.forward else self.outputs)
        primals, rest = tensors[:count], tensors[count:]
        function, chosen = _of(self.program.flat, self.by, primals), tuple(primals[i] for i in self.by)
        if self.forward:
            return torch.func.jvp(function, chosen, rest)[1]
        return torch.func.vjp(function, *chosen)[1](rest)


@recordable(name="torch")
def _torch_call(*arrays: NDArray[Any], program: _Torch | _Derivative) -> tuple[Any, ...]:
    """What a function of torch gives for plain arrays."""
    return tuple(y.detach().resolve_conj().resolve_neg().numpy() for y in program.flat(*map(_given, arrays)))


def _given(x):
    x = np.asarray(x)
    return torch.from_numpy(x if x.flags.writeable and min(x.strides, default=0) >= 0 else x.copy())


def _vjp(needed, g, ans, *arrays, program):
    """Torch's cotangents are the conjugates of those inside qad's tape."""
    seeds = [np.zeros_like(y) if part is None else part.conj() for part, y in zip(g, ans, strict=True)]
    derivative = _Derivative(program, tuple(needed), False, len(seeds))
    return [c.conj() for c in _torch_call(*arrays, *seeds, program=derivative)]


def _jvp(tangents, ans, *arrays, program):
    by = tuple(i for i, t in enumerate(tangents) if t is not None)
    derivative = _Derivative(program, by, True)
    return _torch_call(*arrays, *(tangents[i] for i in by), program=derivative)


defvjp(_torch_call, shared=_vjp)
defjvp(_torch_call, shared=_jvp)
