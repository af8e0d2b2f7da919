"""`freeze`: the public function, and what it returns."""

from __future__ import annotations

import sys
import warnings
from collections import OrderedDict
from functools import partial, update_wrapper
from types import MethodType
from typing import TYPE_CHECKING, Generic, ParamSpec, TypeVar

from qad.core.errors import ArgumentError
from qad.frozen.branches import NOT_FOUND, RAISED, Branch, Branches, Stats
from qad.frozen.inspection import Inspection
from qad.frozen.passes import chosen
from qad.frozen.record.captures import Captures
from qad.frozen.record.recording import builder, record, with_own_arrays
from qad.frozen.record.signature import difference, front, signature_of
from qad.frozen.run.executable import executable

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from typing import Any, Literal, TypeAlias, overload


MANY = 8  # recordings in a row, without a replay between them, before the user is told why
SIGNATURES = 64
OBJECTS = 64  # whose method a frozen one is
FAILURES, AGAIN = 4, 32  # recordings that give no program, after which one call in so many is recorded
P = ParamSpec("P")  # what the function takes
R = TypeVar("R")  # what it returns

if TYPE_CHECKING:
    Constant: TypeAlias = str | tuple[str, ...] | Literal[True] | None
    Passes: TypeAlias = Collection[str] | None

    @overload
    def freeze(f: Callable[P, R], *, constant: Constant = None, passes: Passes = None) -> Frozen[P, R]: ...
    @overload
    def freeze(
        f: None = None, *, constant: Constant = None, passes: Passes = None
    ) -> Callable[[Callable[P, R]], Frozen[P, R]]: ...


def freeze(f: Any = None, *, constant: Constant = None, passes: Passes = None) -> Any:
    """Record a function once per signature, and replay it as a flat list of NumPy calls.

    Parameters
    ----------
    f : callable
        A pure function of pytrees of arrays, written in NumPy or qad, transforms included:
        ``qad.freeze(qad.value_and_grad(energy))``.  Shapes, dtypes, structure, and Python's integers, strings and
        objects are the signature; arrays, floats and complex numbers are values.  Without it a decorator is returned,
        for functions and methods.
    constant : str, tuple of str or True, optional
        Names of captured variables and attributes that never change, so that they need not be compared before each
        call; True for all that is captured.  Changes of what is named go unnoticed.
    passes : collection of str, optional
        The passes that improve the program, see `qad.frozen.passes`; by default all.  ``()`` replays the very calls
        that were recorded.

    Returns
    -------
    Frozen
        Called like `f`, with equal results.

    Raises
    ------
    ArgumentError
        While recording: the function writes into its arguments or into outer arrays, draws from a generator of random
        numbers that it names, makes text or an array of objects of a traced value, or forces one out of NumPy's reach;
        an argument cannot be hashed; `constant` names nothing that the function reads.

    Warns
    -----
    RuntimeWarning
        Where a traced value becomes a Python float, where the function asks for an attribute by a name that it
        computes, and where recordings outnumber replays; the reasons are named.

    Examples
    --------
    >>> import numpy as np, qad
    >>> step = qad.freeze(qad.value_and_grad(lambda x: np.sum(np.sin(x) ** 2)))
    >>> value, gradient = step(np.zeros(3))
    >>> value, gradient = step(np.ones(3))
    >>> step.stats.recordings, step.stats.replays
    (1, 1)
    """
    if f is None:
        return partial(freeze, constant=constant, passes=passes)
    if not callable(f):
        raise ArgumentError(f"qad.freeze takes a function, not {type(f).__name__}")
    return Frozen(f, constant, passes)


class Frozen(Inspection, Generic[P, R]):
    """A frozen function; made by `freeze`.

    Attributes
    ----------
    stats : Stats
    """

    def __init__(self, f: Callable[P, R], constant: Any = None, passes: Any = None):
        update_wrapper(self, f)
        self.f: Callable[P, R] = f
        self.stats: Stats = Stats()
        self.passes: tuple[str, ...] = chosen(passes)
        self.constant: Any = (constant,) if isinstance(constant, str) else constant or ()
        self._entries = OrderedDict()
        self._plain = None, -1, None  # of the last signature of plain arrays: a test, their number, the branches
        self._captured = None  # what the function reads beyond its arguments
        self._bound = OrderedDict()  # as a method of these objects, by their ids
        self._streak = 0
        self._warned = self._told = False

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        fits, count, branches = self._plain
        if len(args) == count and not kwargs and fits(*args):  # the common case
            result = branches.replay(args)
            if result is NOT_FOUND or result is RAISED:
                return self._answer(result, branches, args, kwargs)
            self._streak = 0
            self.stats.replays += 1
            return result
        return self._general(args, kwargs)

    def __get__(self, owner: Any, kind: Any = None) -> Any:
        """As a method: a frozen function for each object, which is captured; those of the last 64 are kept."""
        if owner is None:
            return self
        bound = self._bound.get(id(owner))
        if bound is None:
            bound = self._bound[id(owner)] = Frozen(MethodType(self.f, owner), self.constant, self.passes)
            if len(self._bound) > OBJECTS:
                self._bound.popitem(last=False)
        return bound

    def _general(self, args, kwargs):
        """Find the branches of this signature, and replay one of them or record."""
        key, leaves, _ = signature_of(args, kwargs)
        if key is None:  # inside of a transform or of another recording, or in the memory of a device
            return self._eagerly(args, kwargs)
        branches, kinds = self._entries.get(key), key[1]
        if branches is None:
            branches = self._enter(key)
        self._latest = branches
        values = [x for x, kind in zip(leaves, kinds, strict=True) if kind[0] != "static"]
        if len(args) == len(leaves) and all(
            x is leaf and kind[0] == "array" for x, leaf, kind in zip(args, leaves, kinds, strict=True)
        ):
            self._plain = front(kinds), len(args), branches
        result = branches.replay(values)
        if result is NOT_FOUND or result is RAISED:
            return self._answer(result, branches, args, kwargs)
        self._streak = 0
        self.stats.replays += 1
        return result

    def _enter(self, key):
        branches, others = Branches(self.stats), list(self._entries)
        if others:
            branches.reason = difference(key, others[-1])
        self._entries[key] = branches
        if len(self._entries) > SIGNATURES:
            self._entries.popitem(last=False)
        return branches

    def _answer(self, result, branches, args, kwargs):
        """The result of the function itself; it is recorded, unless a replay has just raised."""
        key, leaves, objects = signature_of(args, kwargs)
        moving = {i for i, kind in enumerate(key[1]) if kind[0] != "static"}
        captured = self._look(objects)
        if result is RAISED or captured.live or (branches.failures > FAILURES and branches.failures % AGAIN):
            branches.failures += branches.failures > FAILURES
            return self._eagerly(args, kwargs)
        recorded = record(self.f, key[0], leaves, moving, captured)
        if recorded.failure is None:
            program, run = executable(recorded.program, self.passes, builder(*recorded.form), recorded.silent)
            branches.add(Branch(recorded.path, recorded.places, program, run, captured))
        else:
            branches.reason = recorded.failure
            branches.failures += 1
            self._captured = None
        self._count(branches, recorded.failure)
        return recorded.result

    def _eagerly(self, args, kwargs):
        """The result of the function itself, not recorded."""
        self.stats.eager += 1
        return with_own_arrays(self.f(*args, **kwargs))

    def _look(self, objects):
        """What the function reads beyond its arguments, as it is now."""
        captured = self._captured  # which another thread may replace, or forget
        if captured is None or not captured.serves(objects):
            captured = self._captured = Captures(self.f, objects, self.constant)
        if captured.computed and not self._told:
            self._told = True
            warnings.warn(
                f"qad.freeze: {', '.join(sorted(captured.computed))}: a change of what it finds there goes unnoticed; "
                "write the name of the attribute, or pass its value as an argument",
                RuntimeWarning,
                stacklevel=5,
            )
        return captured

    def _count(self, branches, failure):
        stats = self.stats
        stats.recordings += 1
        self._streak += 1
        if stats.recordings > 1 or failure:
            stats.reasons.append(branches.reason)
        if self._streak == MANY and not self._warned:
            self._warned = True
            warnings.warn(
                f"qad.freeze: {getattr(self.f, '__name__', 'the function')} was recorded {MANY} times in a row; the "
                f"last time because: {branches.reason}. Pass changing numbers as arrays or floats, give arrays one "
                "shape, and keep what varies from call to call out of Python's decisions (np.where)",
                RuntimeWarning,
                stacklevel=4,
            )

    def __copy__(self) -> Frozen[P, R]:
        """Frozen anew: of the same function, and nothing recorded."""
        return Frozen(self.f, self.constant, self.passes)

    def __deepcopy__(self, memo: dict[int, Any]) -> Frozen[P, R]:
        return self.__copy__()

    def __reduce__(self) -> Any:
        """A pickle holds the function, which is frozen anew; of a decorated one the name."""
        name = getattr(self, "__qualname__", "")
        if getattr(sys.modules.get(self.__module__), name, None) is self:
            return name
        return Frozen, (self.f, self.constant, self.passes)
