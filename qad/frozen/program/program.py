"""What a recording becomes: a list of steps over numbered values, and the plain way to run it.

A step is a call of a function; where an argument is the result of an earlier step there stands its `Var`, also
inside of lists, tuples, slices and dicts.  `Program.run` is the reference: it makes the very calls that were
recorded, in their order.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from itertools import count
from math import prod
from typing import Any, TypeAlias

from numpy import dtype as dtype_of
from numpy import generic, ndarray

from qad.core.tape.tensor import rebuild as named_tuple

Outcome: TypeAlias = tuple[str, Hashable]
PLAIN = frozenset((int, float, complex, bool, str, type(None)))
_number = count().__next__


@dataclass(slots=True, eq=False, repr=False)
class Var:
    """A value of a program: the place that an array or number takes in every run.

    Attributes
    ----------
    shape, dtype : as an array's
    kind : "array", "scalar" (NumPy's), "number" (Python's) or "other" (a tuple of arrays)
    """

    shape: tuple[int, ...] | None = None
    dtype: dtype_of[Any] | None = None
    kind: str = "array"
    number: int = field(init=False, default_factory=_number)

    @classmethod
    def like(cls, value: Any) -> Var:
        """The Var of a value that was met while recording."""
        if type(value) is ndarray:
            return cls(value.shape, value.dtype)
        if isinstance(value, generic):
            return cls((), value.dtype, "scalar")
        if type(value) in (float, complex):
            return cls((), dtype_of(type(value)), "number")
        return cls(kind="other")

    @property
    def size(self) -> int:
        return prod(self.shape)

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    def __repr__(self) -> str:
        return f"v{self.number}"


@dataclass(slots=True, eq=False, repr=False)
class Step:
    """One call: ``out = fn(*args, **kwargs)``.  Immutable."""

    fn: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    out: Var
    _reads: tuple[Var, ...] | None = field(init=False, default=None)

    def reads(self) -> tuple[Var, ...]:
        """The Vars among its arguments, in order, repeated ones too."""
        if self._reads is None:
            self._reads = tuple(variables((self.args, self.kwargs) if self.kwargs else self.args))
        return self._reads

    def __repr__(self) -> str:
        return f"{self.out} = {getattr(self.fn, '__name__', self.fn)}{self.args}{self.kwargs or ''}"


class Program:
    """A straight list of steps.

    Attributes
    ----------
    inputs : list of Var
    constants : dict of Var -> array
    steps : list of Step
    outputs : list
        Leaves of the result: a Var, or a constant as it is.
    kinds : list of str
        What each leaf was when it was recorded, whatever the passes make of it.
    counts : dict
        What each pass has changed, for display.
    writes : bool
        Whether a step writes into an array that another one made.  Such a program is run as it was recorded.
    """

    def __init__(self, inputs: list[Var], constants: dict[Var, ndarray], steps: list[Step], outputs: list[Any]):
        self.inputs: list[Var] = inputs
        self.constants: dict[Var, ndarray] = constants
        self.steps: list[Step] = steps
        self.outputs: list[Any] = outputs
        self.kinds: list[str] = [x.kind if type(x) is Var else "constant" for x in outputs]
        self.counts: dict[str, int] = {}
        self.writes: bool = False

    def run(self, values: Any) -> list[Any]:
        """Values of the outputs for these values of the inputs, by the recorded calls."""
        known = dict(self.constants)
        known.update(zip(self.inputs, values, strict=True))
        for step in self.steps:
            args = rebuilt(step.args, known.__getitem__)
            kwargs = rebuilt(step.kwargs, known.__getitem__) if step.kwargs else {}
            known[step.out] = step.fn(*args, **kwargs)
        return [known[x] if type(x) is Var else x for x in self.outputs]

    def __str__(self) -> str:
        """The steps, one a line, their values numbered in the order in which they stand, and what the passes did."""
        done = ", ".join(f"{name} {n}" for name, n in self.counts.items() if n)
        steps = [f"{step!s:70} # {step.out.shape} {step.out.dtype}" for step in self.steps]
        ends = f"return {self.outputs}", f"{len(steps)} steps; changed by passes: {done or 'none'}"
        numbers = defaultdict(count().__next__)
        return re.sub(r"\bv(\d+)\b", lambda x: f"v{numbers[x[1]]}", "\n".join([f"of {self.inputs}", *steps, *ends]))

    def uses(self) -> Counter[Var]:
        """How often steps and outputs read each Var."""
        read = Counter(var for step in self.steps for var in step.reads())
        read.update(x for x in self.outputs if type(x) is Var)
        return read


def rebuilt(x: Any, replace: Callable[[Any], Any], kinds: tuple[type, ...] = (Var,)) -> Any:
    """`x` with each Var in it, or object of other `kinds`, at any depth, given to `replace`."""
    found = type(x)
    if found in PLAIN:
        return x
    if found in kinds:
        return replace(x)
    if found is tuple or found is list:
        return found([
            x if (kind := type(x)) in PLAIN else replace(x) if kind in kinds else rebuilt(x, replace, kinds) for x in x
        ])  # fmt: skip
    if found is dict:
        return {key: rebuilt(each, replace, kinds) for key, each in x.items()} if x else x
    if found is slice:
        return slice(*[rebuilt(each, replace, kinds) for each in (x.start, x.stop, x.step)])
    if issubclass(found, kinds):
        return replace(x)
    return named_tuple(x, [rebuilt(each, replace, kinds) for each in x]) if isinstance(x, tuple) else x


def variables(x: Any) -> list[Var]:
    """Every Var in `x`, at any depth, as a list."""
    kind = type(x)
    if kind is Var:
        return [x]
    parts = x.values() if kind is dict else (x.start, x.stop, x.step) if kind is slice else x
    found = []
    for each in parts if kind in (dict, slice) or issubclass(kind, (tuple, list)) else ():
        if type(each) is Var:
            found.append(each)
        elif type(each) not in PLAIN:
            found += variables(each)
    return found


# -- guards: what a recording took for granted about values, checked again in every run ------------------------------
# A program holds only while each decision that Python made on a traced value (a branch, a loop's length, an index, a
# shape) comes out as it did.  Guards are numbered in the order in which they were met; the outcomes of a recording are
# its path, and the programs of one signature form a tree of paths.


class GuardFailed(Exception):
    """A guard came out otherwise: its arguments are the number and the outcome; it is caught by `Branches.replay`."""


def check_value(x: Any, *, expected: Outcome, number: int) -> None:
    """Raise unless the outcome of `x` is the expected one."""
    actual = outcome(x, expected[0])
    if actual != expected:
        raise GuardFailed(number, actual)


def outcome(x: Any, kind: str) -> Outcome:
    """What a decision of this kind sees of `x`, as something hashable: pairs (kind, content).

    Decisions are truths, integers, numbers and arrays of them; "layout" is the kind, shape and dtype of what a function
    gives.
    """
    if kind == "bool":
        return "bool", bool(x)
    if kind == "int":
        return "int", int(x)
    if kind == "float":
        return "float", repr(complex(x))  # nan equals itself, and -0.0 is not 0.0
    if kind == "array":
        return "array", x.tobytes()
    return "layout", _structure(x)


def _structure(x):
    if isinstance(x, (ndarray, generic)):
        return x.shape, x.dtype.str
    if isinstance(x, (tuple, list)):
        return type(x).__name__, *map(_structure, x)
    return type(x).__name__
