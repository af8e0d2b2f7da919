"""`freeze`: the public function, and what it returns."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from functools import partial, update_wrapper
from types import MethodType
from typing import TYPE_CHECKING, ClassVar, Generic, ParamSpec, TypeVar

from qad.core.errors import ArgumentError
from qad.core.tape.tensor import value_of
from qad.core.transforms.arguments import run as call
from qad.extend import is_foreign, stack_of
from qad.frozen.branches import NOT_FOUND, RAISED, Branch, Branches
from qad.frozen.capture.bindings import Bindings
from qad.frozen.capture.captured import Captured
from qad.frozen.executable import executable
from qad.frozen.files import Absent, read_entries, stored
from qad.frozen.floating_point_errors import current, is_quiet, silenced
from qad.frozen.inspection import Inspection
from qad.frozen.passes import PASSES, chosen
from qad.frozen.recording import record
from qad.frozen.results import builder, with_own_arrays
from qad.frozen.signature import front, signature_of
from qad.frozen.static_arguments import StaticArguments, names_of
from qad.frozen.static_values import typed, unhashable
from qad.frozen.stats import Stats
from qad.frozen.traced import Traced

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from typing import Any, Literal, overload


MANY = 8  # recordings in a row, without a replay between them, before the user is told why
SIGNATURES = 64
OBJECTS = 64  # whose method a frozen one is
P = ParamSpec("P")  # what the function takes
R = TypeVar("R")  # what it returns

if TYPE_CHECKING:

    @overload
    def freeze(
        f: Callable[P, R],
        *,
        constant: str | tuple[str, ...] | Literal[True] | None = None,
        static_argnames: str | tuple[str, ...] = (),
        passes: Collection[str] | None = None,
    ) -> Frozen[P, R]: ...
    @overload
    def freeze(
        f: None = None,
        *,
        constant: str | tuple[str, ...] | Literal[True] | None = None,
        static_argnames: str | tuple[str, ...] = (),
        passes: Collection[str] | None = None,
    ) -> Callable[[Callable[P, R]], Frozen[P, R]]: ...


def freeze(
    f: Any = None,
    *,
    constant: str | tuple[str, ...] | Literal[True] | None = None,
    static_argnames: str | tuple[str, ...] = (),
    passes: Collection[str] | None = None,
) -> Any:
    """Record a function once per signature, and replay it as a flat list of NumPy calls.

    Parameters
    ----------
    f : callable
        Any function of pytrees of arrays, written in NumPy or qad, transforms included:
        ``qad.freeze(qad.value_and_grad(energy))``.  Without it a decorator is returned, for functions and methods.
    constant : str, tuple of str or True, optional
        Names of captured variables and attributes that never change, so that they need not be compared before each
        call; True for all that is captured.  Changes of what is named go unnoticed.
    static_argnames : str or tuple of str
        Arguments that are no arrays, but hashable values that the program is made for.  Integers, strings, functions
        and other objects are static without being named.
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
        While recording: the function writes into its arguments or into outer arrays, draws random numbers, reads a
        clock or a file, makes text or an array of objects of a traced value, forces one out of NumPy's reach, or
        captures what cannot be compared from call to call; a static argument cannot be hashed.

    Warns
    -----
    RuntimeWarning
        Where a traced value becomes a Python float, and where recordings outnumber replays; the reasons are named.

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
        return partial(freeze, constant=constant, static_argnames=static_argnames, passes=passes)
    if not callable(f):
        raise ArgumentError(f"qad.freeze takes a function, not {type(f).__name__}")
    return Frozen(f, static_argnames, passes, constant)


class Frozen(Inspection, Generic[P, R]):
    """A frozen function; made by `freeze`.

    Attributes
    ----------
    stats : Stats
    as_node : method
        The answer to Tensors; `qad.frozen.tape_node` puts it here.
    copied : bool
        Whether what it is called with may be copies of what the caller gave.
    """

    as_node: Callable[..., Any]
    copied: ClassVar[bool] = False

    def __init__(
        self, f: Callable[P, R], static_argnames: str | tuple[str, ...] = (), passes: Any = None, constant: Any = None
    ):
        update_wrapper(self, f)
        self.f: Callable[P, R] = f
        self.stats: Stats = Stats()
        self.static: StaticArguments = StaticArguments(f, static_argnames)
        self.passes: tuple[str, ...] = chosen(passes)
        self.constant: Any = constant if constant is True else names_of(constant or ())
        self.versions: dict[Any, Any] = {}  # for calls on Tensors, by structure; see qad.frozen.versions
        self._entries = OrderedDict()
        self._plain = None, -1, None  # of the last signature of plain arrays: a test, their number, the branches
        self._quiet = None  # a state of NumPy's error handling under which programs are replayed
        self._captured = None  # what the function reads beyond its arguments
        self._parts = {}  # without the static arguments, by these
        self._bound = OrderedDict()  # as a method of these objects, by their ids
        self._streak = 0
        self._warned = False

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        fits, count, branches = self._plain
        if len(args) == count and not kwargs and current() is self._quiet and fits(*args):  # the common case
            result = branches.replay(args)
            if result is NOT_FOUND or result is RAISED:
                return self._answer(result, branches, args, args, kwargs)
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
            names = [name for name in self.static.names if name != "self"]
            bound = Frozen(MethodType(self.f, owner), names, self.passes, self.constant or None)
            self._bound[id(owner)] = bound
            if len(self._bound) > OBJECTS:
                self._bound.popitem(last=False)
        return bound

    def __qad_reached__(self) -> Any:
        """What it reads is what its function reads."""
        return self.f

    def _general(self, args, kwargs):
        """Find the branches of this signature, and replay one of them or record."""
        state = current()
        if state is not self._quiet and not is_quiet():
            return self._eagerly(args, kwargs)
        self._quiet = state
        given = args, kwargs
        args, kwargs, static = self.static.taken_out(args, kwargs)
        signature, leaves, spec = signature_of(args, kwargs, static)
        if signature is None:
            return self._recorded(leaves, spec, static, given)
        branches = self._entries.get(signature)
        if branches is None:
            branches = self._enter(signature)
        values, self._latest = signature.moving(leaves), branches
        if signature.is_plain(leaves, args):
            self._plain = front(signature.kinds), len(args), branches
        result = branches.replay(values)
        if result is NOT_FOUND or result is RAISED:
            branches.signature = signature  # equal, but of the objects of this call, which are what is recorded
            return self._answer(result, branches, values, *given)
        self._streak = 0
        self.stats.replays += 1
        return result

    def _enter(self, signature):
        branches = self._entries[signature] = Branches(signature, self.stats)
        others = list(self._entries)
        if len(others) > 1:
            branches.reason = signature.difference(others[-2])
        if len(others) > SIGNATURES:
            self._entries.popitem(last=False)
        return branches

    def _answer(self, result, branches, values, args, kwargs):
        """The result of the function itself; it is recorded, unless a replay has just raised."""
        if result is RAISED and isinstance(self.f, Absent):
            return branches.branches[0].run(values)  # which raises again
        captured = self._look(branches.signature.statics())
        if result is RAISED or captured.live:
            return self._eagerly(args, kwargs)
        recorded = record(self.f, branches.signature, values, captured, self.copied)
        if recorded.failure is None:
            build = builder(*recorded.form)
            program, run = executable(recorded.program, self.passes, build)
            run = silenced(run) if recorded.silent else run
            kept = self._kept(captured, recorded.met)
            branches.add(Branch(recorded.path, recorded.places, program, run, kept, recorded.form))
        else:
            branches.reason = recorded.failure
            self._captured = None
        self._count(branches, recorded.failure)
        return recorded.result

    def _look(self, statics):
        """What the function reads beyond its arguments, as it is now."""
        captured = self._captured  # which another thread may replace, or forget
        if captured is None or not captured.serves(statics):
            captured = self._captured = Captured(self.f, statics, self.constant)
        return captured

    def _kept(self, captured, met):
        """What a program is compared with before each replay."""
        return Bindings([*captured.bindings.listed, *met]) if met else captured.bindings

    def _eagerly(self, args, kwargs):
        """The result of the function itself, not recorded."""
        self.stats.eager += 1
        return with_own_arrays(call(self.f, args, kwargs))

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

    def _recorded(self, leaves, spec, static, given):
        """Called with Tensors or traced arrays: one node of the tape, or a part of another recording."""
        args, kwargs = given
        if any(is_foreign(stack_of(x)) for x in leaves):
            return self._eagerly(args, kwargs)
        if any(type(value_of(x)) is Traced for x in leaves):
            return with_own_arrays(self.f(*args, **kwargs))
        return self._part(static).as_node(leaves, spec) if static else self.as_node(leaves, spec)

    def _part(self, static):
        """The function without its static arguments; another one where an object has changed that one was made of."""
        try:
            key = typed(static)
            if key not in self._parts or typed(tuple(self._parts[key].f.keywords.items())) != key:
                self._parts[key] = Frozen(partial(self.f, **dict(static)), (), self.passes, self.constant or None)
        except TypeError as error:
            raise unhashable(error) from None
        return self._parts[key]

    def __reduce__(self) -> tuple[Any, ...]:
        """Programs and constants as data; see `qad.frozen.files`."""
        return restored, (getattr(self, "__name__", "frozen"), self.static.names, self.passes, stored(self._entries))

    def __repr__(self) -> str:
        return f"<frozen {getattr(self.f, '__name__', self.f)}: {self.stats}>"


def restored(name: str, names: tuple[str, ...], passes: Collection[str], entries: Any) -> Frozen[..., Any]:
    """The frozen function of a file; names of passes that this version does not have are left out."""
    frozen = Frozen(Absent(name), (), [each for each in passes if each in PASSES])
    frozen.static = StaticArguments(None, names)
    frozen._entries = read_entries(entries, frozen.passes, frozen.stats)
    frozen._latest = next(reversed(frozen._entries.values()), None)
    return frozen
