"""A frozen function called on Tensors: one node of the tape, whose backward pass is a frozen function too.

Both belong to the version of what the function captures that was found at the call.  Programs of the backward pass, of
every order that the Tensors ask for, are recorded at the call where they are missing, because what is captured may be
different when that pass runs.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from qad.core.tape.node import Primitive
from qad.core.tape.operands import highest
from qad.core.tape.record import record
from qad.core.tape.reverse import Reverse
from qad.core.tape.tensor import CONSTANT, Tensor, value_of
from qad.core.transforms.grad import vjp
from qad.core.transforms.jvp import jvp
from qad.core.transforms.leaves import zeros_of
from qad.core.trees import joined, unflatten
from qad.extend import is_foreign, stack_of
from qad.frozen.capture.bindings import Bindings
from qad.frozen.freeze import Frozen
from qad.frozen.results import numbers_of, with_own_arrays
from qad.frozen.signature import kind_of, orders
from qad.frozen.static_values import held, typed
from qad.frozen.traced import Traced
from qad.frozen.versions import Changed, Version, current

NOTHING = Bindings([])


def as_node(frozen: Frozen[..., Any], leaves: Sequence[Any], spec: Any) -> Any:
    """Call `frozen` on ``(args, kwargs)``, given as leaves of which some are Tensors, as one recorded operation.

    A function that changes what it captures, or is not to be recorded, runs step by step.
    """
    numbers = [i for i, x in enumerate(leaves) if hasattr(x, "dtype") or kind_of(x)[0] != "static"]
    recorded = frozenset(k for k, i in enumerate(numbers) if type(leaves[i]) is Tensor)
    form = _Form(frozen.f, spec, [None if i in numbers else x for i, x in enumerate(leaves)], numbers, recorded)
    kept = frozen.versions.setdefault(form.key, [])

    def made(version, old):
        return Part(form.on_tensors, frozen, version, len(numbers), recorded, old)

    root = current(kept, frozen.f, [*form.static, *form.rests], frozen.constant, made)
    xs = [leaves[i] for i in numbers]
    return with_own_arrays(form.call(xs)) if (out := _recorded(root, xs)) is None else out[0]


def _recorded(root, xs):
    """The result of a root alone in a tuple; None where the function is to run step by step."""
    version = root.version
    if version.captured.live:
        return None
    recordings, failures = version.recordings, version.failures
    try:
        out = root.node(xs)
    except Changed:  # by the function itself
        return None
    steady = version.recordings == recordings or version.holds()
    return (out,) if steady and version.failures == failures else None


class _Form:
    """The function of arrays that a frozen function is for one structure of arguments.

    What is given as a Tensor is one inside, in both passes: functions may ask for types.
    """

    def __init__(self, f, spec, static, numbers, recorded):
        self.f, self.spec, self.static, self.numbers, self.recorded = f, spec, static, numbers, recorded
        keys, self.rests = orders(self.given([None] * len(numbers)))
        self.key = spec, keys, held([x.attributes for x in self.rests]), typed(tuple(static)), recorded

    def on_tensors(self, *xs):
        """The function of arrays, which are given to it as constant Tensors where Tensors were given."""
        return self.call([Tensor(x) if i in self.recorded and type(x) is not Tensor else x for i, x in enumerate(xs)])

    def given(self, xs):
        """``(args, kwargs)`` with these arrays in their places."""
        leaves = list(self.static)
        for i, x in zip(self.numbers, xs, strict=True):
            leaves[i] = x
        return unflatten(self.spec, leaves)

    def call(self, xs):
        """The function itself."""
        args, kwargs = self.given(xs)
        return self.f(*args, **kwargs)


class Part(Frozen[..., Any]):
    """A frozen function of arrays one by one that belongs to a version: the function itself, or a backward pass.

    Attributes
    ----------
    arguments : int
        Their number.
    tied : numbers
        Of those that were Tensors, and of cotangents: each becomes an object of its own.
    backward : dict of tuple of int -> Part
        The pullbacks, by the arguments for which they give cotangents.
    pushing : dict of tuple of int -> Part
        The pushforwards, by the arguments that have tangents.
    """

    def __init__(
        self, f: Any, frozen: Frozen[..., Any], version: Version, given: int, tied: Collection[int],
        old: Part | None = None
    ):  # fmt: skip
        super().__init__(f, (), frozen.passes, frozen.constant or None)
        self.__name__: str = getattr(frozen, "__name__", "frozen")
        self.version: Version = version
        self.arguments: int = given
        self.tied: Collection[int] = tied
        self.backward: dict[tuple[int, ...], Part] = {}
        self.pushing: dict[tuple[int, ...], Part] = {}
        self._prepared = set()
        if old is not None:
            self._streak, self._warned = old._streak, old._warned

    def __qad_reached__(self) -> Any:
        """Nothing that may change: what it reads is settled."""
        return ()

    def node(self, xs: Sequence[Any]) -> Any:
        """The result for arguments of which some are Tensors, recorded as one operation."""
        level, spec, still = highest(xs), None, ()
        mine = [i for i, x in enumerate(xs) if type(x) is Tensor and x.level is level]
        needed = tuple(mine) if isinstance(level, Reverse) else ()

        def run(*values, captured):
            nonlocal spec, still
            before = self.version.recordings
            out, spec, still = numbers_of(self(*values))
            out = tuple([x.value if type(x) is Tensor and x.level is CONSTANT else x for x in out])
            if needed:
                self._prepare(needed, values, out, self.version.recordings != before)
            return out

        def rule(needed, g, ans, *values, captured):
            return [np.conj(c) for c in self._pulled(needed, [*map(_cotangent, g, ans), *values])]

        def forward(tangents, ans, *values, captured):
            return list(self._pushed(tangents, values))

        p = Primitive(run, self.__name__, shared=rule)
        p.forward = forward
        out = record(p, tuple(xs), {"captured": self.version.number})
        return unflatten(spec, joined(out, still))

    def _prepare(self, needed, values, out, new):
        """Run the pullback once if it may be missing, so that it is recorded; what it raises matters to nobody yet."""
        key = needed, _levels(values)
        if key in self._prepared and not new:
            return
        self._prepared.add(key)
        try:
            with np.errstate(all="ignore"):
                self._pullback(needed, len(out))(*map(_sample, out), *values)
        except Exception:  # the backward pass says so, if there is one
            return

    def _pulled(self, needed, given):
        """Cotangents by the program for `needed`; by one for more arguments where it is too late to record that."""
        try:
            return self._pullback(needed, len(given) - self.arguments)(*given)
        except Changed:
            for more in [key for key in list(self.backward) if set(key) > set(needed)]:
                try:
                    found = self.backward[more](*given)
                except Changed:
                    continue
                return [found[more.index(i)] for i in needed]
            raise

    def _pullback(self, needed, outputs):
        """The frozen pullback for the arguments `needed`: of cotangents and arguments, one by one."""
        if needed in self.backward:
            return self.backward[needed]

        f, count = self.f, self.arguments  # and not `self`, which would be a cycle

        def pull(*given):
            xs = given[-count:]

            def moving(*changed):
                full = list(xs)
                for i, x in zip(needed, changed, strict=True):
                    full[i] = x
                return tuple(numbers_of(f(*full))[0])

            return vjp(moving, *(xs[i] for i in needed))[1](tuple(given[:-count]))

        tied = {*range(outputs), *(outputs + i for i in self.tied)}
        return self.backward.setdefault(needed, Part(pull, self, self.version, outputs + count, tied))

    def _pushed(self, tangents, values):
        """Tangents by the program for those that are there; by one for more where it is too late to record that."""
        moving = tuple([i for i, t in enumerate(tangents) if t is not None])
        try:
            return self._pushforward(moving)(*[tangents[i] for i in moving], *values)
        except Changed:
            for more in [key for key in list(self.pushing) if set(key) > set(moving)]:
                full = [zeros_of(values[i]) if tangents[i] is None else tangents[i] for i in more]
                try:
                    return self.pushing[more](*full, *values)
                except Changed:
                    continue
            raise

    def _pushforward(self, moving):
        """The frozen pushforward of the arguments `moving`: of their tangents and all arguments, one by one.

        Rules of forward mode see tangents, where those of the pullback would see cotangents that nobody gave.
        """
        if moving in self.pushing:
            return self.pushing[moving]

        f, count = self.f, len(moving)

        def push(*given):
            xs = given[count:]

            def moved(*changed):
                full = list(xs)
                for i, x in zip(moving, changed, strict=True):
                    full[i] = x
                return tuple(numbers_of(f(*full))[0])

            return jvp(moved, tuple([xs[i] for i in moving]), tuple(given[:count]))[1]

        tied = {*range(count), *(count + i for i in self.tied)}
        return self.pushing.setdefault(moving, Part(push, self, self.version, count + self.arguments, tied))

    # -- what a frozen function does otherwise ---------------------------------------------------

    def _general(self, args, kwargs):
        """Arrays that happen to be one here, and were not at the call, are no reason for another program."""
        if len(set(map(id, args))) < len(args):
            args = tuple([x.view() if i in self.tied and type(x) is np.ndarray else x for i, x in enumerate(args)])
        return super()._general(args, kwargs)

    def _look(self, statics):
        return self.version.settled()

    def _kept(self, captured, met):
        self.version.meet(met)
        return NOTHING

    def _count(self, branches, failure):
        self.version.recordings += 1
        self.version.failures += failure is not None
        if self.version.reason and branches.reason == "it is new":
            branches.reason = self.version.reason
        super()._count(branches, failure)

    def _eagerly(self, args, kwargs):
        self.version.settled()
        return super()._eagerly(args, kwargs)

    def _recorded(self, leaves, spec, static, given):
        if any(is_foreign(stack_of(x)) for x in leaves):
            return self._eagerly(*given)
        if any(type(value_of(x)) is Traced for x in leaves):
            self.version.settled()
            return with_own_arrays(self.f(*leaves))
        return self.node(leaves)


def _cotangent(part, a):
    """The public cotangent of one output, of the kind for which the programs at the call were recorded."""
    w = zeros_of(a) if part is None else np.conj(part)
    if w.dtype.kind == "f" and getattr(a, "dtype", w.dtype).kind == "c":
        w = w.astype(np.result_type(w.dtype, a.dtype))
    return Tensor(w) if type(a) is Tensor and type(w) is not Tensor else w


def _sample(a):
    """A cotangent of ones, which depends on what the output depends on."""
    return np.conj(a) * 0 + 1 if hasattr(a, "dtype") and a.dtype.kind in "fc" else zeros_of(a)


def _levels(values):
    """Which of the values live on one level, the numbers of levels apart."""
    chains = []
    for x in values:
        chain = []
        while type(x) is Tensor:
            chain.append(x.level.number)
            x = x.value
        chains.append(tuple(chain))
    ranks = {number: rank for rank, number in enumerate(sorted({n for chain in chains for n in chain}))}
    return tuple([tuple([ranks[n] for n in chain]) for chain in chains])


Frozen.as_node = as_node  # which freeze.py, being imported here, does not import
