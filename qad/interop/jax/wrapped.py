"""qad's functions as one primitive of JAX, with rules for all of its transforms."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING

import jax
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from qad.core.trees import flatten, unflatten
from qad.interop.jax.programs import ArrayFunction, BatchedProgram, Conjugated, ShapedDerivative

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["wrap"]


def wrap(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function of qad as one that JAX compiles, maps and differentiates.

    Parameters
    ----------
    f : callable
        A function of pytrees of arrays to an array, or a pytree of arrays, of floating-point numbers.  Shapes and
        dtypes of what it returns depend on those of its arguments only, and are found by a call at random numbers, once
        for each.

    Returns
    -------
    callable
        Of the same arguments, with JAX's arrays for NumPy's.  What is no array of JAX or NumPy is passed on as it is,
        and has to be hashable.

    Raises
    ------
    ArgumentError
        `f` returns what is no array of floating-point numbers.

    Notes
    -----
    It runs on the host, on any device's arrays; ``jit``, ``grad``, ``jvp``, ``vjp``, ``jacfwd``, ``jacrev``,
    ``hessian`` and ``vmap`` nest in any order.  Where JAX computes in single precision (as it does unless
    ``jax_enable_x64`` is set), results are rounded to it.

    Examples
    --------
    >>> import numpy as np, jax, jax.numpy as jnp
    >>> from qad.interop.jax import wrap
    >>> jax.hessian(wrap(lambda x: np.sum(x**3)))(jnp.array([2.0]))
    Array([[12.]], dtype=float32)
    """

    @wraps(f)
    def call(*args, **kwargs):
        leaves, spec = flatten((args, kwargs))
        places = tuple(i for i, x in enumerate(leaves) if isinstance(x, jax.Array | np.ndarray))
        arrays = [leaves[place] for place in places]
        program = ArrayFunction(f, tuple(None if i in places else x for i, x in enumerate(leaves)), places, spec)
        program = _programs.setdefault(program, program)
        structure = program.structure(*arrays)[1]
        return unflatten(structure, qad_call.bind(*arrays, program=program))

    _programs: dict[Any, ArrayFunction] = {}
    return call


qad_call: Any = Primitive("qad")
qad_call.multiple_results = True


@qad_call.def_impl
def _impl(*arrays, program):
    return _on_host(program, *map(jax.numpy.asarray, arrays))  # transforms pass Python's numbers on as they are


@qad_call.def_abstract_eval
def _abstract(*arrays, program):
    return [jax.core.ShapedArray(y.shape, y.dtype) for y in program.shapes(*arrays)]


def _on_host(program, *arrays):
    shapes = program.shapes(*arrays)

    def run(*arrays):
        out = program.flat(*map(np.asarray, arrays))
        return tuple(np.asarray(y).astype(like.dtype, copy=False) for y, like in zip(out, shapes, strict=True))

    return list(jax.pure_callback(run, shapes, *arrays))


def _forward(primals, tangents, *, program):
    out = qad_call.bind(*primals, program=program)
    by = tuple(i for i, t in enumerate(tangents) if type(t) is not ad.Zero)
    along = [tangents[i] for i in by]
    return out, qad_call.bind(*primals, *along, program=ShapedDerivative(Conjugated, program, by, True))


def _transpose(cotangents, *operands, program):
    """Derivatives are linear in their last operands: what goes along tangents is turned into what comes back."""
    by = tuple(i for i, x in enumerate(operands) if ad.is_undefined_primal(x))
    seeds = [jax.numpy.zeros(c.aval.shape, c.aval.dtype) if type(c) is ad.Zero else c for c in cotangents]
    of, at = program, by
    if type(program) is ShapedDerivative and program.forward and len(program.by) == len(by):
        given, of, at = operands[: -len(by)], program.program, program.by
    else:  # at zero, where a linear function has the derivative that it has everywhere
        given = [jax.numpy.zeros(x.aval.shape, x.aval.dtype) if i in by else x for i, x in enumerate(operands)]
    back = ShapedDerivative(Conjugated, of, at, False, len(seeds))
    found = dict(zip(by, qad_call.bind(*given, *seeds, program=back), strict=True))
    return [found.get(i) for i in range(len(operands))]


def _batched(arrays, dims, *, program):
    axes = tuple(d if isinstance(d, int) else None for d in dims)
    out = qad_call.bind(*arrays, program=BatchedProgram(program, axes))
    return out, [0] * len(out)


ad.primitive_jvps[qad_call] = _forward
ad.primitive_transposes[qad_call] = _transpose
batching.primitive_batchers[qad_call] = _batched
mlir.register_lowering(qad_call, mlir.lower_fun(lambda *arrays, program: _on_host(program, *arrays)))
