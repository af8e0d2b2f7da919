"""qad's functions in programs of JAX, and JAX's in programs of qad.

`wrap` makes a function of qad one that JAX can compile, map and differentiate to any order in both modes: one JAX
primitive that calls back to the host, and whose derivatives are such primitives again.  `primitive` is the other way.
The gradients of JAX are the complex conjugates of qad's: ``dL/dx - i dL/dy``; what passes here is converted.

Examples
--------
>>> import numpy as np, qad, jax, jax.numpy as jnp
>>> from qad.interop.jax import primitive, wrap
>>> energy = wrap(lambda z: qad.einsum("i,i->", z, z.conj()).real)
>>> jax.jit(jax.grad(energy))(jnp.array([1 + 2j]))
Array([2.-4.j], dtype=complex64)
>>> qad.grad(primitive(lambda z: jnp.sum(jnp.abs(z) ** 2)))(np.array([1 + 2j], "complex64"))
array([2.+4.j], dtype=complex64)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial, wraps
from typing import TYPE_CHECKING

import numpy as np

try:
    import jax
    from jax.extend.core import Primitive
    from jax.interpreters import ad, batching, mlir
except ModuleNotFoundError as _error:
    raise ModuleNotFoundError("qad.interop.jax needs JAX 0.4.36 or newer: pip install -U 'qad[jax]'") from _error

from qad.core.errors import ArgumentError
from qad.core.trees import flatten, unflatten
from qad.extend import defjvp, defvjp, jvp, vjp, vmap
from qad.extend import primitive as recordable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, TypeAlias

    from numpy.typing import NDArray

    Shapes: TypeAlias = tuple[jax.ShapeDtypeStruct, ...]
    Arrays: TypeAlias = tuple[Any, ...]

__all__ = ["primitive", "wrap"]


# -- what is called --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Function:
    """A function of arrays, made of `f` by putting them in the places of the tensors among its arguments.

    ``flat(*arrays)`` returns a tuple of arrays, and ``shapes(*like)`` says of which shapes and dtypes; other programs
    have the same two methods.
    """

    f: Callable[..., Any]
    leaves: tuple[Any, ...]  # of its arguments; those of arrays do not matter
    places: tuple[int, ...]
    spec: Any
    returned: dict[Any, Any] = field(compare=False, default_factory=dict)  # shapes and structure, by what was given

    def flat(self, *arrays: Any) -> Arrays:
        return tuple(self.call(arrays)[0])

    def call(self, arrays: Sequence[Any]) -> tuple[list[Any], Any]:
        """What `f` returns, as leaves and the structure that they had."""
        leaves = list(self.leaves)
        for place, x in zip(self.places, arrays, strict=True):
            leaves[place] = x
        positional, named = unflatten(self.spec, leaves)
        return flatten(self.f(*positional, **named))

    def shapes(self, *like: Any) -> Shapes:
        return self.structure(*like)[0]

    def structure(self, *like: Any) -> tuple[Shapes, Any]:
        """The shapes and the structure of what is returned, found by a call at a generic point."""
        key = tuple((tuple(x.shape), np.dtype(x.dtype)) for x in like)
        if key not in self.returned:
            out, spec = self.call([_generic(*each) for each in key])
            self.returned[key] = tuple(_shape(np.asarray(y)) for y in out), spec
        return self.returned[key]


@dataclass(frozen=True)
class Tangents:
    """The derivative of a program along tangents of its arguments `by`, which come last."""

    program: Any
    by: tuple[int, ...]

    def flat(self, *arrays: Any) -> Arrays:
        count = len(arrays) - len(self.by)
        chosen = tuple(arrays[i] for i in self.by)
        return tuple(jvp(of(self.program.flat, self.by, arrays[:count]), chosen, tuple(arrays[count:]))[1])

    def shapes(self, *like: Any) -> Shapes:
        return self.program.shapes(*like[: len(like) - len(self.by)])


@dataclass(frozen=True)
class Cotangents:
    """The cotangents of a program's arguments `by`, from those of its `outputs` results, which come last."""

    program: Any
    by: tuple[int, ...]
    outputs: int

    def flat(self, *arrays: Any) -> Arrays:
        count = len(arrays) - self.outputs
        pullback = vjp(of(self.program.flat, self.by, arrays[:count]), *[arrays[i] for i in self.by])[1]
        return tuple(g.conj() for g in pullback(tuple(c.conj() for c in arrays[count:])))

    def shapes(self, *like: Any) -> Shapes:
        return tuple(jax.ShapeDtypeStruct(like[i].shape, like[i].dtype) for i in self.by)


@dataclass(frozen=True)
class Batch:
    """A program for every example of a batch; the examples lie along `axes` of the arguments."""

    program: Any
    axes: tuple[int | None, ...]

    def flat(self, *arrays: Any) -> Arrays:
        return tuple(vmap(self.program.flat, in_axes=self.axes)(*arrays))

    def shapes(self, *like: Any) -> Shapes:
        size = next(x.shape[axis] for x, axis in zip(like, self.axes, strict=True) if axis is not None)
        one = [x if axis is None else _without(x, axis) for x, axis in zip(like, self.axes, strict=True)]
        return tuple(jax.ShapeDtypeStruct((size, *y.shape), y.dtype) for y in self.program.shapes(*one))


def of(function: Callable[..., Any], numbers: Sequence[int], arrays: Sequence[Any]) -> Callable[..., Any]:
    """`function` as one of the arguments `numbers`, the others being as in `arrays`."""

    def chosen(*some):
        all_of_them = list(arrays)
        for number, x in zip(numbers, some, strict=True):
            all_of_them[number] = x
        return function(*all_of_them)

    return chosen


def _without(x, axis):
    return jax.ShapeDtypeStruct((*x.shape[:axis], *x.shape[axis + 1 :]), x.dtype)


def _shape(y):
    if y.dtype.kind not in "fc":
        raise ArgumentError(f"wrap: the function returned {y.dtype} numbers, which have no derivative: leave them out")
    return jax.ShapeDtypeStruct(y.shape, jax.dtypes.canonicalize_dtype(y.dtype))


def _generic(shape, dtype):
    """Random numbers, the same for a shape and a dtype every time."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=shape)
    return np.asarray(x + 1j * rng.normal(size=shape) if dtype.kind == "c" else x).astype(dtype)


# -- qad in JAX ------------------------------------------------------------------------------------------------------


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
    It runs on the host, on any device's arrays; ``jit``, ``grad``, ``jvp``, ``vjp``, ``jacfwd``, ``jacrev``, ``hessian``
    and ``vmap`` nest in any order.  Where JAX computes in single precision (as it does unless ``jax_enable_x64`` is
    set), results are rounded to it.

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
        program = Function(f, tuple(None if i in places else x for i, x in enumerate(leaves)), places, spec)
        program = _programs.setdefault(program, program)
        structure = program.structure(*arrays)[1]
        return unflatten(structure, qad_call.bind(*arrays, program=program))

    _programs: dict[Any, Function] = {}
    return call


qad_call = Primitive("qad")
qad_call.multiple_results = True


@qad_call.def_impl
def _impl(*arrays, program):
    return _on_host(program, *arrays)


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
    return out, qad_call.bind(*primals, *along, program=Tangents(program, by))


def _transpose(cotangents, *operands, program):
    """Derivatives are linear in their last operands: what goes along tangents is turned into what comes back."""
    by = tuple(i for i, x in enumerate(operands) if ad.is_undefined_primal(x))
    seeds = [jax.numpy.zeros(c.aval.shape, c.aval.dtype) if type(c) is ad.Zero else c for c in cotangents]
    if type(program) is Tangents and len(program.by) == len(by):
        given, back = operands[: -len(by)], Cotangents(program.program, program.by, len(seeds))
    else:  # at zero, where a linear function has the derivative that it has everywhere
        given = [jax.numpy.zeros(x.aval.shape, x.aval.dtype) if i in by else x for i, x in enumerate(operands)]
        back = Cotangents(program, by, len(seeds))
    found = dict(zip(by, qad_call.bind(*given, *seeds, program=back), strict=True))
    return [found.get(i) for i in range(len(operands))]


def _batched(arrays, dims, *, program):
    axes = tuple(d if isinstance(d, int) else None for d in dims)
    out = qad_call.bind(*arrays, program=Batch(program, axes))
    return out, [0] * len(out)


ad.primitive_jvps[qad_call] = _forward
ad.primitive_transposes[qad_call] = _transpose
batching.primitive_batchers[qad_call] = _batched
mlir.register_lowering(qad_call, mlir.lower_fun(lambda *arrays, program: _on_host(program, *arrays)))


# -- JAX in qad ------------------------------------------------------------------------------------------------------


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

    Examples
    --------
    >>> import numpy as np, qad, jax.numpy as jnp
    >>> from qad.interop.jax import primitive
    >>> f = primitive(lambda z: jnp.sum((z.conj() * z).real))
    >>> qad.grad(lambda z: f(z) ** 2)(np.array([1 + 1j], "complex64"))
    array([8.+8.j], dtype=complex64)
    """
    plain = Jitted(f)

    @wraps(f)
    def call(*arrays):
        out = jax_call(*arrays, program=plain)
        return out if plain.several else out[0]

    return call


@dataclass(eq=False)
class Jitted:
    """A function of JAX's arrays to an array or, if `several`, which is known after a call, a tuple of arrays."""

    f: Callable[..., Any]
    several: bool = True

    def flat(self, *arrays: Any) -> Arrays:
        out = self.f(*arrays)
        self.several = isinstance(out, tuple | list)
        return tuple(out) if self.several else (out,)


@dataclass(frozen=True)
class Derivative:
    """The derivative of a program by its arguments `by`: along tangents, or back from cotangents, which come last."""

    program: Jitted | Derivative
    by: tuple[int, ...]
    forward: bool
    outputs: int = 0  # of the program, where cotangents are given

    def flat(self, *arrays: Any) -> Arrays:
        count = len(arrays) - (len(self.by) if self.forward else self.outputs)
        primals, rest = arrays[:count], arrays[count:]
        function, chosen = of(self.program.flat, self.by, primals), tuple(primals[i] for i in self.by)
        if self.forward:
            return jax.jvp(function, chosen, rest)[1]
        return jax.vjp(function, *chosen)[1](rest)


@partial(jax.jit, static_argnames="program")
def _compiled(*arrays, program):
    return program.flat(*arrays)


@recordable(name="jax")
def jax_call(*arrays: NDArray[Any], program: Jitted | Derivative) -> Arrays:
    """What a function of JAX gives for plain arrays."""
    return tuple(np.asarray(y) for y in _compiled(*map(np.asarray, arrays), program=program))


def _vjp(needed, g, ans, *arrays, program):
    """JAX's cotangents are what those inside qad's tape are."""
    seeds = [np.zeros_like(y) if part is None else part for part, y in zip(g, ans, strict=True)]
    return jax_call(*arrays, *seeds, program=Derivative(program, tuple(needed), False, len(seeds)))


def _jvp(tangents, ans, *arrays, program):
    by = tuple(i for i, t in enumerate(tangents) if t is not None)
    return jax_call(*arrays, *(tangents[i] for i in by), program=Derivative(program, by, True))


defvjp(jax_call, shared=_vjp)
defjvp(jax_call, shared=_jvp)
