"""What JAX calls on the host: functions of arrays and their derivatives, which know the shapes that they return."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import jax
import numpy as np

from qad.core.errors import ArgumentError
from qad.core.trees import flatten, unflatten
from qad.extend import jvp, vjp, vmap
from qad.interop.arguments import Derivative

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, TypeAlias

    Shapes: TypeAlias = tuple[jax.ShapeDtypeStruct, ...]
    Arrays: TypeAlias = tuple[Any, ...]

__all__ = ["ArrayFunction", "BatchedProgram", "Conjugated", "ShapedDerivative"]


@dataclass(frozen=True)
class ArrayFunction:
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


class Conjugated:
    """qad's derivatives in JAX's convention, whose cotangents are the conjugates."""

    @staticmethod
    def jvp(f: Callable[..., Any], primals: Arrays, tangents: Arrays) -> tuple[Any, Any]:
        return jvp(f, primals, tangents)

    @staticmethod
    def vjp(f: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
        out, pullback = vjp(f, *primals)
        return out, lambda seeds: tuple(g.conj() for g in pullback(tuple(c.conj() for c in seeds)))


@dataclass(frozen=True)
class ShapedDerivative(Derivative):
    """The derivative of a program, which knows its shapes."""

    def shapes(self, *like: Any) -> Shapes:
        if self.forward:
            return self.program.shapes(*like[: len(like) - len(self.by)])
        return tuple(jax.ShapeDtypeStruct(like[i].shape, like[i].dtype) for i in self.by)


@dataclass(frozen=True)
class BatchedProgram:
    """A program for every example of a batch; the examples lie along `axes` of the arguments."""

    program: Any
    axes: tuple[int | None, ...]

    def flat(self, *arrays: Any) -> Arrays:
        return tuple(vmap(self.program.flat, in_axes=self.axes)(*arrays))

    def shapes(self, *like: Any) -> Shapes:
        size = next(x.shape[axis] for x, axis in zip(like, self.axes, strict=True) if axis is not None)
        one = [x if axis is None else _without(x, axis) for x, axis in zip(like, self.axes, strict=True)]
        return tuple(jax.ShapeDtypeStruct((size, *y.shape), y.dtype) for y in self.program.shapes(*one))


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
