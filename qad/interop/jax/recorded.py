"""JAX's functions as one primitive of qad, whose rules are JAX's derivatives."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import jax
import numpy as np

from qad.extend import primitive as recordable
from qad.extend import rule
from qad.interop.arguments import Derivative, ForeignFunction, called_by

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    from numpy.typing import NDArray

    Arrays: TypeAlias = tuple[Any, ...]

__all__ = ["primitive"]


def primitive(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function of JAX as a function of arrays, recorded and differentiated by qad.

    Parameters
    ----------
    f : callable
        A function of arrays, each an argument, to an array or a tuple of arrays.  It is compiled.

    Returns
    -------
    callable
        Of arrays or Tensors, to a NumPy array or a tuple of them.  Its derivatives, of any order and in both modes, are
        JAX's, in qad's convention.

    Notes
    -----
    JAX rounds what it is given to single precision, unless ``jax_enable_x64`` is set; the result is in it then.

    Examples
    --------
    >>> import numpy as np, qad, jax.numpy as jnp
    >>> from qad.interop.jax import primitive
    >>> f = primitive(lambda z: jnp.sum((z.conj() * z).real))
    >>> qad.grad(lambda z: f(z) ** 2)(np.array([1 + 1j], "complex64"))
    array([8.+8.j], dtype=complex64)
    """
    return called_by(jax_call, f)


@partial(jax.jit, static_argnames="program")
def _compiled(*arrays, program):
    return program.flat(*arrays)


@recordable(name="jax")
def jax_call(*arrays: NDArray[Any], program: ForeignFunction | Derivative) -> Arrays:
    """What a function of JAX gives for plain arrays."""
    with jax.ensure_compile_time_eval():  # where JAX traces a program around this one, numbers remain numbers
        found = _compiled(*map(np.asarray, arrays), program=program)
    program.heard(found)
    return tuple(map(np.asarray, found))


def _vjp(needed, g, ans, *arrays, program):
    """JAX's cotangents are what those inside qad's tape are."""
    seeds = [np.zeros_like(y) if part is None else part for part, y in zip(g, ans, strict=True)]
    return jax_call(*arrays, *seeds, program=Derivative(jax, program, tuple(needed), False, len(seeds)))


def _jvp(tangents, ans, *arrays, program):
    by = tuple(i for i, t in enumerate(tangents) if t is not None)
    return jax_call(*arrays, *(tangents[i] for i in by), program=Derivative(jax, program, by, True))


rule(jax_call, shared=_vjp, forward_shared=_jvp)
