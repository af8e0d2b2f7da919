"""Frozen functions that belong to one version of what a function captures: the function itself, and its derivatives.

Each is one node of the tape when it is called on Tensors.  Programs of the derivatives, of every order that the Tensors
ask for, are recorded at the call where they are missing, because what is captured may be different when they run.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, ClassVar

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
from qad.frozen.memory_questions import COPIED
from qad.frozen.results import numbers_of, with_own_arrays
from qad.frozen.traced import Traced
from qad.frozen.versions import Changed, Version

NOTHING = Bindings([])


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

    copied: ClassVar[bool] = True

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
        self.version.stepwise |= failure == COPIED
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
