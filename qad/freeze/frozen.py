"""`freeze`: the public function, and what it returns."""

import inspect
import warnings
from collections import OrderedDict
from dataclasses import dataclass, field
from functools import partial, update_wrapper

import numpy as np

from qad.core.arguments import run as call
from qad.core.errors import ArgumentError
from qad.core.tensor import Tensor, value_of
from qad.core.trees import flatten, unflatten
from qad.freeze import showing
from qad.freeze.branches import NOT_FOUND, Branch, Branches
from qad.freeze.chance import Chance
from qad.freeze.node import as_node
from qad.freeze.reach import reachable
from qad.freeze.recorder import Recorder
from qad.freeze.replay import executable
from qad.freeze.results import builder, owned, plain
from qad.freeze.signature import Signature, front, signature_of, typed
from qad.freeze.storing import read, store
from qad.freeze.traced import Traced
from qad.freeze.watch import Watch, untouched

__all__ = ["Frozen", "freeze", "Stats"]

MANY = 8  # recordings in a row, without a replay between them, before the user is told why
SIGNATURES = 64


@dataclass
class Stats:
    """How often a frozen function was recorded and replayed.

    Attributes
    ----------
    recordings, replays, guard_failures : int
    reasons : list of str
        Why each recording after the first was made.
    """

    recordings: int = 0
    replays: int = 0
    guard_failures: int = 0
    reasons: list = field(default_factory=list)


def freeze(f=None, *, static_argnames=(), passes=None):
    """Record a function once per signature, and replay it as a flat list of NumPy calls.

    Parameters
    ----------
    f : callable
        Any function of pytrees of arrays, written in NumPy or qad, transforms included:
        ``qad.freeze(qad.value_and_grad(energy))``.  Without it a decorator is returned.
    static_argnames : str or tuple of str
        Arguments that are no arrays, but hashable values that the program is made for.  Integers, strings, functions
        and other objects are static without being named.
    passes : collection of str, optional
        The passes that improve the program, see `qad.freeze.passes`; all of them by default.  ``()`` replays the very
        calls that were recorded.

    Returns
    -------
    Frozen
        Called like `f`, with equal results.

    Raises
    ------
    ArgumentError
        While recording: the function writes into its arguments or into outer arrays, draws random numbers, or forces an
        array out of NumPy's reach; a static argument cannot be hashed.

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
        return partial(freeze, static_argnames=static_argnames, passes=passes)
    if not callable(f):
        raise ArgumentError(f"qad.freeze takes a function, not {type(f).__name__}")
    return Frozen(f, static_argnames, passes)


class Frozen:
    """A frozen function; made by `freeze`.

    Attributes
    ----------
    stats : Stats
    """

    def __init__(self, f, static_argnames=(), passes=None):
        update_wrapper(self, f)
        self.f = f
        self.stats = Stats()
        self._names = (static_argnames,) if isinstance(static_argnames, str) else tuple(static_argnames)
        self._parameters = _parameters(f, self._names)
        self.passes = passes
        self.backward = {}  # frozen pullbacks, by structure; see qad.freeze.node
        self._entries = OrderedDict()
        self._plain = None, -1, None  # of the last signature of plain arrays: a test, their number, the branches
        self._parts = {}  # without the static arguments, by these
        self._streak = 0
        self._warned = False

    def __call__(self, *args, **kwargs):
        fits, count, branches = self._plain
        if len(args) == count and not kwargs and fits(*args):  # quickly
            result = branches.replay(args)
            if result is NOT_FOUND:
                return self._record(branches, args)
            self._streak = 0
            self.stats.replays += 1
            return result
        return self._general(args, kwargs)

    def _general(self, args, kwargs):
        """The way of all signatures."""
        static = ()
        if self._names:
            args, kwargs, static = self._without_static(args, kwargs)
        signature, leaves, spec = signature_of(args, kwargs, static)
        if signature is None:
            return self._recorded(leaves, spec, static)
        branches = self._entries.get(signature)
        if branches is None:
            branches = self._enter(signature)
        values, self._latest = signature.moving(leaves), branches
        if signature.is_plain(leaves, args):
            self._plain = front(signature.kinds), len(args), branches
        result = branches.replay(values)
        if result is NOT_FOUND:
            return self._record(branches, values)
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

    def _record(self, branches, values):
        """Run the function once, recording it; take up the program as a branch, and return the result."""
        signature = branches.signature
        chance = Chance(self.f)
        recorder = Recorder(chance)
        outer = [array for x in (self.f, *signature.statics()) for array in reachable(x, np.ndarray)]
        with recorder.recording(), untouched(outer):
            args, kwargs = signature.rebuilt([recorder.input(x) for x in values])
            out = call(self.f, args, {**kwargs, **dict(signature.static)})
            leaves, spec = flatten(out)
            chance.check()
            tensors = {i for i, x in enumerate(leaves) if type(x) is Tensor}
            leaves = [plain(x, recorder) for x in leaves]
            results = [owned(x.value if type(x) is Traced else x) for x in leaves]
        program = recorder.program(leaves)
        watch = Watch([*outer, *[array for array, _ in recorder.captured]])
        form = spec, len(leaves), tensors
        build = builder(*form)
        program, run = executable(program, self.passes, build)
        branches.add(Branch(recorder.path, recorder.places, program, run, watch, form))
        self._count(branches)
        return build(results)

    def _count(self, branches):
        stats = self.stats
        stats.recordings += 1
        self._streak += 1
        if stats.recordings > 1:
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

    def _recorded(self, leaves, spec, static):
        """Arguments that are recorded themselves: it is part of another recording, or a node of the tape."""
        bare = [value_of(x) for x in leaves]
        f = partial(self.f, **dict(static)) if static else self.f
        if any(type(x) is Traced for x in bare):
            args, kwargs = unflatten(spec, leaves)
            return f(*args, **kwargs)
        if not static:
            return as_node(self, leaves, spec)
        key = typed(static)
        if key not in self._parts:
            self._parts[key] = Frozen(f, (), self.passes)
        return as_node(self._parts[key], leaves, spec)

    def _without_static(self, args, kwargs):
        """Arguments by name, without the static ones, and those as pairs."""
        if self._parameters is None:  # of a file: arguments were bound to names when it was stored
            static = tuple((name, kwargs.pop(name)) for name in self._names if name in kwargs)
            return args, kwargs, static
        bound = self._parameters.bind(*args, **kwargs)
        static = tuple((name, bound.arguments.pop(name)) for name in self._names if name in bound.arguments)
        return (), dict(bound.arguments), static

    # -- seeing ----------------------------------------------------------------------------------

    @property
    def program(self):
        """The program that was run or recorded last; ``print(frozen.program)`` lists its steps."""
        if not self._entries:
            raise ArgumentError("nothing has been recorded yet: call the frozen function first")
        return self._latest.branches[0].program

    @property
    def source(self):
        """The program as Python, for reading: a replay runs a list of steps, and no text at all."""
        return showing.source(self.program)

    def profile(self, *args, **kwargs):
        """Where the time goes for these arguments: a table of calls, their number and microseconds."""
        self(*args, **kwargs)
        static = ()
        if self._names:
            args, kwargs, static = self._without_static(args, kwargs)
        signature, leaves, _ = signature_of(args, kwargs, static)
        return showing.profile(self._entries[signature].branches[0].program, signature.moving(leaves))

    def __reduce__(self):
        """Programs and constants as data; see `qad.freeze.storing`."""
        entries = [(key.spec, key.kinds, key.static, entry.branches) for key, entry in self._entries.items()]
        stored = [
            (spec, kinds, static, [(b.path, b.places, store(b.program), b.form) for b in branches])
            for spec, kinds, static, branches in entries
        ]
        return restored, (getattr(self, "__name__", "frozen"), self._names, self.passes, stored)

    def __repr__(self):
        return f"<frozen {getattr(self.f, '__name__', self.f)}: {self.stats}>"


def _parameters(f, names):
    """The signature of `f`, needed for static names alone."""
    if not names:
        return None
    parameters = inspect.signature(f)
    for name in names:
        if name not in parameters.parameters:
            raise ArgumentError(f"static_argnames: {name!r} is no argument of {getattr(f, '__name__', f)}")
    return parameters


def restored(name, names, passes, entries):
    """The frozen function of a file: it replays what was recorded, and has no function to record anything else."""

    def absent(*args, **kwargs):
        raise ArgumentError(
            f"{name} was read from a file, which holds programs but no function: it serves the structures, shapes, "
            "dtypes and branches that it was stored with. Freeze the function again for others"
        )

    absent.__name__ = name
    frozen = Frozen(absent, (), passes)
    frozen._names = names
    for spec, kinds, static, branches in entries:
        signature = Signature(spec, kinds, static)
        entry = frozen._entries[signature] = frozen._latest = Branches(signature, frozen.stats)
        for path, places, data, form in reversed(branches):
            program, run = executable(read(data), passes, builder(*form))
            entry.add(Branch(path, places, program, run, Watch([]), form))
    return frozen
