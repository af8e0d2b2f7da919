"""Torch's functions as one primitive of qad, whose rules are torch's derivatives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from qad.core.errors import ArgumentError
from qad.extend import primitive as recordable
from qad.extend import rule
from qad.interop.arguments import Derivative, ForeignFunction, called_by

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from numpy.typing import NDArray

__all__ = ["primitive"]


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

    Raises
    ------
    ArgumentError
        In a call: `f` wrote into its argument.

    Examples
    --------
    >>> import numpy as np, qad, torch
    >>> from qad.interop.torch import primitive
    >>> f = primitive(lambda z: (z.conj() * z).real.sum())
    >>> qad.grad(lambda z: f(z) ** 2)(np.array([1 + 1j]))
    array([8.+8.j])
    """
    return called_by(_torch_call, f)


@recordable(name="torch")
def _torch_call(*arrays: NDArray[Any], program: ForeignFunction | Derivative) -> tuple[Any, ...]:
    """What a function of torch gives for plain arrays."""
    tensors = [_given(x) for x in arrays]
    found = program.flat(*tensors)
    program.heard(found)
    if any(x._version for x in tensors):
        raise ArgumentError(
            "primitive: the function wrote into its argument, which is an array of its caller: write x.mul(2), not "
            "x.mul_(2), or begin with x = x.clone()"
        )
    return tuple(y.detach().resolve_conj().resolve_neg().numpy() for y in found)


def _given(x):
    x = np.asarray(x)
    return torch.from_numpy(x if x.flags.writeable and min(x.strides, default=0) >= 0 else x.copy("K"))


def _vjp(needed, g, ans, *arrays, program):
    """Torch's cotangents are the conjugates of those inside qad's tape."""
    seeds = [np.zeros_like(y) if part is None else part.conj() for part, y in zip(g, ans, strict=True)]
    derivative = Derivative(torch.func, program, tuple(needed), False, len(seeds))
    return [c.conj() for c in _torch_call(*arrays, *seeds, program=derivative)]


def _jvp(tangents, ans, *arrays, program):
    by = tuple(i for i, t in enumerate(tangents) if t is not None)
    derivative = Derivative(torch.func, program, by, True)
    return _torch_call(*arrays, *(tangents[i] for i in by), program=derivative)


rule(_torch_call, shared=_vjp, forward_shared=_jvp)
