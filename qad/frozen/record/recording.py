"""One recording of a function: its result, and the program that repeats it, unless none does."""

from __future__ import annotations

from dataclasses import dataclass
from types import BuiltinFunctionType, FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.errors import ArgumentError, QadError
from qad.core.tape.tensor import Tensor, value_of
from qad.core.transforms.arguments import run as call
from qad.core.transforms.leaves import own
from qad.core.trees import LEAF, flatten, unflatten
from qad.frozen.record.contents import ATOMS
from qad.frozen.record.recorder import Recorder
from qad.frozen.record.traced import Traced

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from qad.frozen.program.program import Program
    from qad.frozen.record.captures import Captures

UNCHANGING = (*ATOMS, type, FunctionType, BuiltinFunctionType, np.ufunc)


@dataclass
class Recorded:
    """What came of a recording.

    Attributes
    ----------
    result : what the function returned, with arrays of its own
    failure : str or None
        In words, why there is no program that would serve another call like this one.
    program, path, places : see `qad.frozen.branches.Branch`
    form : tuple
        The structure of the result: its spec, the number of its leaves, the numbers of those that are Tensors.
    silent : bool
        Whether a replay says nothing of floating-point errors.
    """

    result: Any
    failure: str | None
    program: Program
    path: Sequence[Any]
    places: Sequence[str]
    form: tuple[Any, ...]
    silent: bool


def record(f: Callable[..., Any], spec: Any, leaves: Sequence[Any], moving: set[int], captured: Captures) -> Recorded:
    """Run `f` once, recording it, on arguments of these leaves, of which some are moving: arrays and numbers."""
    recorder = Recorder(captured.copies)
    outputs, form = _run(f, spec, leaves, moving, recorder, captured)
    if captured.generators_moved():
        raise ArgumentError(
            "qad.freeze: the function drew random numbers, which a replay would repeat: draw them outside and pass the "
            "arrays as arguments, or make the generator inside of a fixed seed, np.random.default_rng(0)"
        )
    result = builder(*form)([owned(x.value if type(x) is Traced else x) for x in outputs])
    failure = recorder.failure
    if failure is None and not captured.hold():
        failure = f"it changes what it captures: {captured.changed()}"
    program = recorder.program(outputs)
    captured.meet(recorder.constants.arrays)
    return Recorded(result, failure, program, recorder.path, recorder.places, form, recorder.silent)


def _run(f, spec, leaves, moving, recorder, captured):
    """The leaves of the result, and what rebuilds it."""
    try:
        with recorder.recording():
            given = [recorder.input(x) if i in moving else x for i, x in enumerate(leaves)]
            args, kwargs = unflatten(spec, given)
            out = call(f, args, kwargs)
            _unchanged(given, spec, args, kwargs, recorder)
            outputs, form = flatten(out)
            tensors = {i for i, x in enumerate(outputs) if type(x) is Tensor}
            outputs = [plain(x, recorder) for x in outputs]
    except Exception as error:
        _refuse_writes(captured)
        if recorder.refusal is not None and error is not recorder.refusal and not isinstance(error, QadError):
            raise recorder.refusal from error
        raise
    _refuse_writes(captured)
    if recorder.refusal is not None:
        raise recorder.refusal
    return outputs, (form, len(outputs), tensors)


def _unchanged(given, spec, args, kwargs, recorder):
    """Raise where the function has changed a container among its arguments."""
    leaves, now = flatten((args, kwargs))
    if now != spec or any(x is not y for x, y in zip(leaves, given, strict=True)):
        recorder.refuse(
            "the function changes a list or dict among its arguments, which a replay would not do to the caller's: "
            "change a copy, and return it"
        )


def _refuse_writes(captured):
    """Raise where the function has changed an array that it captured."""
    if not captured.arrays_hold():
        raise ArgumentError(
            "qad.freeze: the function writes into an array from outside of it (a global, a closure's, an attribute's), "
            "which a replay would not repeat: return the result instead, or write into a copy"
        )


# -- results ------------------------------------------------------------------------------------------------------
# They belong to the caller: every array is memory of its own, in every call.


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
