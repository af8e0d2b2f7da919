"""Recordings of a function: the result of each call, and the program that repeats the call where one can.

The programs of one signature are a tree of branches, of which each run takes the one whose guards hold.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from types import BuiltinFunctionType, FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.errors import ArgumentError
from qad.core.freeze_hook import RECORDINGS
from qad.core.tape.tensor import Tensor, value_of
from qad.core.transforms.arguments import run as call
from qad.core.trees import ONE_LEAF, flatten, unflatten
from qad.frozen.program.program import GuardFailed
from qad.frozen.record.captures import ATOMS, short
from qad.frozen.record.recorder import Recorder
from qad.frozen.record.traced import Traced
from qad.frozen.run.executable import executable

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from qad.frozen.program.program import Program
    from qad.frozen.record.captures import Captures
    from qad.frozen.record.signature import Key

MOST = 32  # programs of one signature
NOT_FOUND, RAISED = object(), object()
UNCHANGING = (*ATOMS, type, FunctionType, BuiltinFunctionType, np.ufunc)


@dataclass
class Stats:
    """How often a frozen function was recorded and replayed.

    Attributes
    ----------
    recordings, replays, guard_failures : int
    eager : int
        Calls that the function itself answered: inside of a transform, where a replay raised, and where recordings give
        no program.
    reasons : list of str
        Why each recording after the first was made, and why one was not kept.
    """

    recordings: int = 0
    replays: int = 0
    guard_failures: int = 0
    eager: int = 0
    reasons: list[str] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Branch:
    """One recorded path through the function.

    Attributes
    ----------
    path : list
        Outcomes of its guards.
    places : list of str
        Where in the source they were taken.
    program : Program
        As it was recorded, from the first replay on as it is run.
    captured : Captures
        What the function read beyond its arguments, as it was.
    plan : callable
        From the recorded program to an improved one and `run`.
    run : callable or None
        From the values of the inputs to what the function returns; None before the first replay, for many a branch is
        never taken again.
    """

    path: Sequence[Any]
    places: Sequence[str]
    program: Program
    captured: Captures
    plan: Callable[[Program], tuple[Program, Callable[[Any], Any]]]
    run: Callable[[Any], Any] | None = None

    def planned(self) -> Callable[[Any], Any]:
        """`run`; threads that come at once make one each."""
        self.program, self.run = self.plan(self.program)
        return self.run


@dataclass(slots=True, eq=False)
class Branches:
    """The branches of one signature, the one that was taken last first.

    Attributes
    ----------
    failures : int
        Recordings in a row that gave no program.
    """

    stats: Stats
    reason: str
    branches: list[Branch] = field(default_factory=list)
    failures: int = 0

    def replay(self, values: Any) -> Any:
        """The result of a branch whose guards hold; NOT_FOUND where there is none, RAISED where one raised an error."""
        branch = self.branches[0] if self.branches else None
        while branch is not None:
            if not branch.captured.hold():
                branch = self._drop(branch)
                continue
            run = branch.run or branch.planned()
            try:
                result = run(values)
                self.stats.replays += 1
                return result
            except GuardFailed as failed:
                branch = self._other(branch, failed)
            except Exception:  # whatever it is, the function itself says what becomes of it
                return RAISED
        return NOT_FOUND

    def _drop(self, branch):
        """Forget a branch that was recorded with something else; the next one to try."""
        self.reason = f"what the function captured has changed: {branch.captured.changed()}"
        self.branches = [b for b in self.branches if b is not branch]
        return self.branches[0] if self.branches else None

    def _other(self, branch, failed):
        """A branch that agrees with the outcomes so far, the failed one corrected; it moves to the front."""
        self.stats.guard_failures += 1
        k, actual = failed.args
        prefix = [*branch.path[:k], actual]
        for other in self.branches:
            if other.path[: k + 1] == prefix:
                self.branches = [other, *(b for b in self.branches if b is not other)]
                return other
        self.reason = (
            f"a {actual[0]} decided upon at {branch.places[k]} came out as "
            f"{short(actual[1])} instead of {short(branch.path[k][1])}"
        )
        return None

    def add(self, branch: Branch) -> None:
        """Take up a new branch; where there are too many, the one that was not taken for longest goes."""
        self.branches = [branch, *self.branches[: MOST - 1]]
        self.failures = 0


# -- one recording ----------------------------------------------------------------------------------------------------


def record(
    f: Callable[..., Any], key: Key, leaves: Sequence[Any], captured: Captures, passes: Collection[str]
) -> tuple[Any, Branch | str]:
    """Run `f` once, recording it, on arguments of this signature and these leaves.

    Returns
    -------
    result
        What the function returned, with arrays of its own.
    branch : Branch or str
        In words, why there is no program that would serve another call like this one.
    """
    recorder, (spec, kinds, _) = Recorder(captured.copies), key
    outputs, build = _run(f, spec, leaves, kinds, recorder, captured)
    if captured.generators_moved():
        raise ArgumentError(
            "qad.freeze: the function drew random numbers, which a replay would repeat: draw them outside and pass the "
            "arrays as arguments, or make the generator inside of a fixed seed, np.random.default_rng(0)"
        )
    values = [x.value if type(x) is Traced else x for x in outputs]
    result = build([x.copy() if isinstance(x, np.ndarray) else x for x in values])
    if recorder.failure is None and not captured.hold():
        recorder.failure = f"it changes what it captures: {captured.changed()}"
    program = recorder.program(outputs)
    captured.meet(recorder.arrays)
    if recorder.failure is not None:
        return result, recorder.failure
    plan = partial(executable, passes=passes, build=build, silent=recorder.silent)
    return result, Branch(recorder.path, recorder.places, program, captured, plan)


def _run(f, spec, leaves, kinds, recorder, captured):
    """The leaves of the result, and what rebuilds it."""
    failed, pairs = None, zip(leaves, kinds, strict=True)
    given = [x if kind[0] == "static" else recorder.input(x) for x, kind in pairs]
    args, kwargs = unflatten(spec, given)
    RECORDINGS.add(recorder)
    try:
        out = call(f, args, kwargs)
        _unchanged(given, spec, args, kwargs, recorder)
        outputs, form = flatten(out)
        tensors = {i for i, x in enumerate(outputs) if type(x) is Tensor}
        outputs = [plain(x, recorder) for x in outputs]
    except Exception as error:  # which may be what a refusal led to
        failed = error
    finally:
        recorder.running = False  # traced arrays are of no use any more
        RECORDINGS.discard(recorder)
    if not captured.arrays_hold():
        raise ArgumentError(
            "qad.freeze: the function writes into an array from outside of it (a global, a closure's, an attribute's), "
            "which a replay would not repeat: return the result instead, or write into a copy"
        ) from failed
    if failed or recorder.refusal:
        raise recorder.refusal or failed
    return outputs, builder(form, len(outputs), tensors)


def _unchanged(given, spec, args, kwargs, recorder):
    """Raise where the function has changed a container among its arguments."""
    leaves, now = flatten((args, kwargs))
    if now != spec or any(x is not y for x, y in zip(leaves, given, strict=True)):
        recorder.refuse(
            "the function changes a list or dict among its arguments, which a replay would not do to the caller's: "
            "change a copy, and return it"
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


def builder(spec: Any, count: int, tensors: Collection[int]) -> Callable[[Any], Any]:
    """From leaves to the result; the structures that transforms return are built without the help of optree."""
    if tensors:
        return lambda leaves: unflatten(spec, [Tensor(x) if i in tensors else x for i, x in enumerate(leaves)])
    if spec is ONE_LEAF or spec == ONE_LEAF:
        return lambda leaves: leaves[0]
    pattern = unflatten(spec, list(range(count)))
    if type(pattern) is tuple and pattern == tuple(range(count)):
        return tuple
    if pattern == (0, tuple(range(1, count))) and type(pattern) is type(pattern[1]) is tuple:
        return lambda leaves: (leaves[0], tuple(leaves[1:]))
    return lambda leaves: unflatten(spec, leaves)
