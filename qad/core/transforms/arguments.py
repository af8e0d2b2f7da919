"""Arguments of a transform, how a function is called with them, what it may return, and cotangents of that."""

from __future__ import annotations

from operator import index, is_
from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.counterparts import put_into_plain_array
from qad.core.errors import ArgumentError, GradientTypeError, QadError, ShapeError
from qad.core.foreign import as_array
from qad.core.tape.tensor import CONSTANT, Tensor, settled, value_of
from qad.core.transforms.leaves import number
from qad.core.trees import check_arithmetic, flatten, nesting, strip, unflatten

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from qad.typing import Function, Tree
    from qad.typing.words import Cotangent, Keywords, Spec, Value


def numbers_of(argnums: int | tuple[int, ...]) -> tuple[int, ...]:
    """`argnums` as a tuple; raises where it is neither an integer nor a tuple of different ones."""
    numbers = argnums if isinstance(argnums, tuple) else (argnums,)
    try:
        numbers = tuple(map(index, numbers))
    except TypeError:
        raise ArgumentError("argnums is an integer or a tuple of integers; arguments follow, qad.grad(f)(x)") from None
    if len(set(numbers)) < len(numbers):
        raise named_twice(numbers)
    return numbers


def check_argnums(numbers: Collection[int], args: Sequence[Any]) -> None:
    """Raise unless `numbers` name different ones of `args`."""
    count = len(args)
    for n in numbers:
        if not -count <= n < count:
            raise ArgumentError(
                f"argnums names argument {n}, but there are {count} positional arguments: what is differentiated is "
                "passed by position, as in qad.grad(f, argnums=1)(x, y)"
            )
    if len({n % count for n in numbers}) < len(numbers):
        raise named_twice(numbers)


def named_twice(numbers: Collection[int]) -> ArgumentError:
    return ArgumentError(f"argnums={numbers} names an argument twice: give each once")


def check_pair(out: object) -> None:
    """Raise unless `out` is what ``has_aux=True`` asks a function to return."""
    if not (isinstance(out, tuple) and len(out) == 2):
        raise ArgumentError(f"with has_aux=True the function returns a pair (value, aux), not {type(out).__name__}")


def output_dtype(value: Value, name: str) -> np.dtype[Any]:
    """The float or complex dtype of an output; raises where it is anything but one array or number of such a kind."""
    bare = value_of(value)
    dtype = np.dtype(type(bare)) if type(bare) in (float, complex) else getattr(bare, "dtype", None)
    if dtype is None or dtype.kind not in "fc":
        got = f"dtype {dtype}" if dtype is not None else type(bare).__name__
        raise GradientTypeError(
            f"{name} differentiates functions that return one array of float or complex dtype, but this one returned "
            f"{got}: return x.sum() or the like, and for a list, tuple or dict of arrays use qad.vjp or qad.jacobian"
        )
    return dtype


def seeds_like(w: Tree, values: Sequence[Value], spec: Spec) -> list[Cotangent]:
    """Public cotangents `w` as the tape's: conjugated, checked against the outputs `values`."""
    leaves, given = flatten(w)
    if given != spec:
        raise ArgumentError(
            f"the cotangent is nested like {nesting(given)}, the output like {nesting(spec)}: they must agree"
        )
    return [np.conj(match(c, value, "cotangent")) for c, value in zip(leaves, values, strict=True)]


def match(c: Any, value: Value, what: str) -> Value:
    """`c` as an array of the shape and kind of `value`; raises where it is complex for something real."""
    c = strip(c, CONSTANT)
    if type(c) is not Tensor:
        check_arithmetic(c)
        c = as_array(number(c))
    shape, dtype = np.shape(value_of(value)), np.result_type(value_of(value))
    if c.shape != shape:
        raise ShapeError(f"the {what} has shape {c.shape}, but its array has shape {shape}")
    if c.dtype.kind == "c" and dtype.kind == "f":
        raise GradientTypeError(f"the {what} is complex, but its array is real: write {what}.real")
    return c.astype(dtype) if c.dtype.kind not in "fc" or dtype.kind == "c" != c.dtype.kind else c


def run(f: Function, args: Sequence[Any], kwargs: Keywords) -> Tree:
    """Call `f` for a transform, while its level is open; an error of ours that another library wrapped is raised."""
    try:
        return without_structure(f(*args, **kwargs))
    except WRAPPERS as error:
        raise_ours(error)
        raise


def without_structure(tree: Tree) -> Tree:
    """`tree`, each of its leaves as it is recorded, and those that are buffers as what they hold now."""
    if type(tree) is Tensor:  # most often
        return settled(tree)
    if type(tree) is np.ndarray:
        return tree
    leaves, spec = flatten(tree)
    plain = list(map(settled, leaves))
    return tree if all(map(is_, plain, leaves)) else unflatten(spec, plain)


# NumPy raises an error of ours as the cause of a ValueError, SciPy of a RuntimeError.  Where C goes on although an
# error is set, as SciPy's brentq does, Python makes it the cause of a SystemError.
WRAPPERS = (ValueError, RuntimeError, SystemError)


def raise_ours(error: BaseException) -> None:
    """Raise the error of ours that another library wrapped in this one, if there is one, from the user's line."""
    ours = error.__cause__
    if not isinstance(ours, QadError):
        return
    if str(error).startswith("setting an array element"):
        ours = put_into_plain_array()
    raise ours.with_traceback(error.__traceback__) from ours.__cause__
