"""`freeze`: the public function, and what it returns."""

from __future__ import annotations

import sys
import warnings
from collections import OrderedDict
from functools import partial, update_wrapper
from types import MethodType
from typing import TYPE_CHECKING, Generic, ParamSpec, TypeVar

import numpy as np

from qad.core.errors import ArgumentError
from qad.core.transforms.leaves import own
from qad.core.trees import flatten, leaf_path, unflatten
from qad.frozen.passes import chosen
from qad.frozen.record.captures import Captures
from qad.frozen.record.recording import NOT_FOUND, RAISED, Branches, Stats, record
from qad.frozen.record.signature import difference, front, signature_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from typing import Any, Literal, TypeAlias, overload

    from qad.frozen.program.program import Program


KEPT = 64  # signatures, and objects whose method a frozen one is
FAILURES, AGAIN = 4, 32  # recordings that give no program, after which one call in so many is recorded
TOLERANCE = 0.75  # power of the precision, relative to the largest entry, by which a replay may differ
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
        Where the function asks for an attribute by a name that it computes.

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
        raise ArgumentError(f"qad.freeze takes a function, not {type(f).__name__}: write qad.freeze(f)(x)")
    return Frozen(f, constant, passes)


class Frozen(Generic[P, R]):
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
        self._plain = (lambda args: False), None  # of the last signature of plain arrays: a test, and the branches
        self._bound = OrderedDict()  # as a method of these objects, by their ids
        self._latest = Branches(self.stats, "nothing has been recorded yet: call the frozen function first")

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        fits, branches = self._plain
        if not kwargs and fits(args):  # the common case
            result = branches.replay(args)
            known = result is not NOT_FOUND and result is not RAISED
            return result if known else self._answer(result, branches, args, kwargs)
        return self._general(args, kwargs)

    def __get__(self, owner: Any, kind: Any = None) -> Any:
        """As a method: a frozen function for each object, which is captured; those of the last 64 are kept."""
        if owner is None:
            return self
        bound = self._bound.get(id(owner))
        if bound is None:
            bound = self._bound[id(owner)] = Frozen(MethodType(self.f, owner), self.constant, self.passes)
            if len(self._bound) > KEPT:
                self._bound.popitem(last=False)
        return bound

    def _general(self, args, kwargs):
        """Find the branches of this signature, and replay one of them or record."""
        key, leaves, _ = signature_of(args, kwargs)
        if key is None:  # inside of a transform or of another recording, or in the memory of a device
            return self._eagerly(args, kwargs)
        _, kinds, _ = key
        self._latest = branches = self._entries.get(key) or self._enter(key)
        values = [x for x, kind in zip(leaves, kinds, strict=True) if kind[0] != "static"]
        flat = len(args) == len(leaves) and all(x is y for x, y in zip(args, leaves, strict=True))
        if flat and all(type(x) is np.ndarray for x in leaves):
            self._plain = front(kinds), branches
        return self._answer(branches.replay(values), branches, args, kwargs)

    def _enter(self, key):
        other = next(reversed(self._entries), None)
        branches = self._entries[key] = Branches(self.stats, difference(key, other) if other else "it is new")
        if len(self._entries) > KEPT:
            self._entries.popitem(last=False)
        return branches

    def _answer(self, result, branches, args, kwargs):
        """The result of a replay, else of the function itself; it is recorded, unless a replay has just raised."""
        if result is not NOT_FOUND and result is not RAISED:
            return result
        key, leaves, objects = signature_of(args, kwargs)
        if result is RAISED or (branches.failures > FAILURES and branches.failures % AGAIN):
            branches.failures += branches.failures > FAILURES
            return self._eagerly(args, kwargs)
        captured = Captures(self.f, objects, self.constant)
        if captured.live:
            return self._eagerly(args, kwargs)
        self._warn(captured.computed)
        result, found = record(self.f, key, leaves, captured, self.passes)
        self.stats.recordings += 1
        if self.stats.recordings > 1 or type(found) is str:
            self.stats.reasons.append(found if type(found) is str else branches.reason)
        if type(found) is str:
            branches.reason = found
            branches.failures += 1
        else:
            branches.add(found)
        return result

    def _eagerly(self, args, kwargs):
        """The result of the function itself, not recorded."""
        self.stats.eager += 1
        leaves, spec = flatten(self.f(*args, **kwargs))
        return unflatten(spec, [own(x) for x in leaves])  # which may be arguments, captured, or one

    def _warn(self, computed):
        """Say once that attributes by computed names are not followed."""
        if computed and not self.stats.recordings:
            warnings.warn(
                f"qad.freeze: {', '.join(sorted(computed))}: a change of what it finds there goes unnoticed; "
                "write the name of the attribute, or pass its value as an argument",
                RuntimeWarning,
                stacklevel=5,
            )

    @property
    def program(self) -> Program:
        """The program that was run or recorded last; ``print(frozen.program)`` lists its steps."""
        if not self._latest.branches:
            raise ArgumentError(f"there is no program: {self._latest.reason}")
        branch = self._latest.branches[0]
        branch.run = branch.run or branch.planned()
        return branch.program

    def check(self, *args: Any, **kwargs: Any) -> None:
        """Call the function itself, record or replay it and replay it again, and compare the results.

        Raises
        ------
        ArgumentError
            Where they differ: in structure, type, shape, dtype, or in a value by more than rounding.

        Examples
        --------
        >>> import numpy as np, qad
        >>> frozen = qad.freeze(lambda x: np.sum(np.sin(x) ** 2))
        >>> frozen.check(np.arange(3.0))
        """
        expected = self.f(*args, **kwargs)
        for found in (self(*args, **kwargs), self(*args, **kwargs)):
            if words := _difference(found, expected):
                raise ArgumentError(
                    f"qad.freeze: the frozen function gives {words}: if it reads what is not followed, a file, a clock "
                    "or an attribute by a computed name, pass that as an argument"
                )

    def __repr__(self) -> str:
        return f"<frozen {getattr(self.f, '__name__', self.f)}: {self.stats}>"

    def __str__(self) -> str:
        followed = Captures(self.f, (), self.constant).listed()
        return "\n".join([repr(self), "follows:", *(f"    {words}" for *_, words in followed or [("nothing",)])])

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


def _difference(found, expected):
    """What differs between two results, in words; None where nothing does."""
    (leaves, spec), (others, other) = flatten(found), flatten(expected)
    if spec != other:
        return f"the structure {spec} instead of {other}"
    for i, (x, y) in enumerate(zip(leaves, others, strict=True)):
        a, b = np.asarray(x), np.asarray(y)
        if type(x) is not type(y) or a.shape != b.shape or a.dtype != b.dtype:
            return f"{a.dtype} {a.shape} instead of {b.dtype} {b.shape} at result{leaf_path(found, i)}"
        if a.dtype.kind not in "fc":
            equal = x is y or np.array_equal(a, b)
        else:
            bound = np.finfo(a.dtype).eps ** TOLERANCE * np.abs(b[np.isfinite(b)]).max(initial=0)
            equal = np.allclose(a, b, rtol=0, atol=bound, equal_nan=True)
        if not equal:
            return f"{x!r} instead of {y!r} at result{leaf_path(found, i)}"
    return None
