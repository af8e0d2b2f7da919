"""One recording of a function: its result, and the program that repeats it, unless none does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from qad.core.errors import ArgumentError, QadError
from qad.core.tape.tensor import Tensor
from qad.core.transforms.arguments import run as call
from qad.core.trees import flatten
from qad.frozen.capture.array_contents import while_they_live
from qad.frozen.memory_questions import COPIED
from qad.frozen.recorder import Recorder
from qad.frozen.results import builder, owned, plain
from qad.frozen.rng_guard import RandomGuard
from qad.frozen.signature import orders
from qad.frozen.traced import Traced

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qad.frozen.capture.captured import Captured
    from qad.frozen.program import Program
    from qad.frozen.signature import Signature

TRIES = 4  # where another thread draws random numbers meanwhile


@dataclass
class Recorded:
    """What came of a recording.

    Attributes
    ----------
    result : what the function returned, with arrays of its own
    failure : str or None
        In words, why there is no program that would serve another call like this one.
    program, path, places, form : see `qad.frozen.branches.Branch`
    met : list of bindings
        Of arrays that the function met and that are not known to be captured.
    silent : bool
        Whether a replay says nothing of floating-point errors.
    """

    result: Any
    failure: str | None
    program: Program | None = None
    path: Sequence[Any] = ()
    places: Sequence[str] = ()
    form: tuple[Any, ...] = ()
    met: Sequence[Any] = ()
    silent: bool = False


def record(
    f: Callable[..., Any], signature: Signature, values: Sequence[Any], captured: Captured, copied: bool = False
) -> Recorded:
    """Run `f` once, recording it, on these values of the leaves that are no static ones, which may be copies."""
    for _ in range(TRIES):
        random_guard = RandomGuard(captured.generators)
        recorder = Recorder(random_guard, captured.copies)
        leaves, form = _run(f, signature, values, recorder, random_guard, captured)
        if not random_guard.moved():
            break
    else:
        random_guard.refuse()
    result = builder(*form)([owned(x.value if type(x) is Traced else x) for x in leaves])
    failure = COPIED if copied and recorder.memory.by_user else recorder.failure
    if failure is None and not captured.bindings.hold():
        failure = f"it changes what it captures: {', '.join(captured.bindings.broken()[:3])}"
    if failure is not None:
        return Recorded(result, failure)
    program = recorder.program(leaves)
    met = [array for array in recorder.constants.arrays if not captured.covers(array)]
    return Recorded(result, None, program, recorder.path, recorder.places, form, _met(recorder, met), recorder.silent)


def _run(f, signature, values, recorder, random_guard, captured):
    """The leaves of the result, and what rebuilds it."""
    try:
        with recorder.recording(), random_guard.watching():
            args, kwargs = signature.rebuilt([recorder.input(x) for x in values])
            given = _content(args, kwargs)
            out = call(f, args, {**kwargs, **dict(signature.static)})
            _unchanged(given, _content(args, kwargs), recorder)
            leaves, spec = flatten(out)
            tensors = {i for i, x in enumerate(leaves) if type(x) is Tensor}
            leaves = [plain(x, recorder) for x in leaves]
    except Exception as error:
        refuse_writes(captured)
        if recorder.refusal is not None and error is not recorder.refusal and not isinstance(error, QadError):
            raise recorder.refusal from error
        raise
    refuse_writes(captured)
    if recorder.refusal is not None:
        raise recorder.refusal
    return leaves, (spec, len(leaves), tensors)


def _content(args, kwargs):
    """Leaves and structure of the arguments, and what their containers hold beside fields."""
    return *flatten((args, kwargs)), [dict(rest.attributes) for rest in orders((args, kwargs))[1]]


def _unchanged(before, after, recorder):
    """Raise where the function has changed a container among its arguments; it may fill in cached properties."""
    same = before[1] == after[1] and all(x is y for x, y in zip(before[0], after[0], strict=True))
    if same and len(before[2]) == len(after[2]):
        pairs = zip(before[2], after[2], strict=True)
        same = all(name in new and new[name] is x for old, new in pairs for name, x in old.items())
    if not same:
        recorder.refuse(
            "the function changes a list or dict among its arguments, or an attribute of one, which a replay would not "
            "do to the caller's: change a copy, and return it"
        )


def refuse_writes(captured: Captured) -> None:
    """Raise where the function has changed an array that it captured."""
    if captured.arrays and captured.arrays_changed():
        raise ArgumentError(
            "qad.freeze: the function writes into an array from outside of it (a global, a closure's, an attribute's), "
            "which a replay would not repeat: return the result instead, or write into a copy"
        )


def _met(recorder, arrays):
    """Bindings of arrays that are there still, when the recording has let go of them."""
    bindings = while_they_live(arrays)
    recorder.constants.arrays.clear()
    arrays.clear()
    return [binding for binding in bindings if binding[3].alive() is not None]
