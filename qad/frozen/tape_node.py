"""A frozen function called on Tensors: one node of the tape, whose backward pass is a frozen function too.

Both belong to the version of what the function captures that was found at the call (`qad.frozen.parts`).  A function
may change what it captures, and only a run of it tells: so where a program is missing the function is run on the
Tensors first, and recorded only if that has changed nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from typing import Any

from qad.core.tape.tensor import Tensor
from qad.core.trees import unflatten
from qad.frozen.branches import RAISED
from qad.frozen.freeze import Frozen
from qad.frozen.parts import Part
from qad.frozen.recording import refuse_writes
from qad.frozen.results import with_own_arrays
from qad.frozen.signature import kind_of, orders
from qad.frozen.static_values import held, typed
from qad.frozen.versions import Changed, current

_RECORDED: ContextVar[Any] = ContextVar("_RECORDED", default=None)  # the root that may be recorded now


class Unserved(Exception):
    """No program serves this call; `recordable` says whether one may be recorded."""

    def __init__(self, recordable: bool):
        super().__init__(recordable)
        self.recordable: bool = recordable


class Root(Part):
    """The function itself of a version, which runs only where `_once` has found that it changes nothing."""

    def _answer(self, result, branches, values, args, kwargs):
        if _RECORDED.get() is not self:
            raise Unserved(result is not RAISED)
        return super()._answer(result, branches, values, args, kwargs)

    def _eagerly(self, args, kwargs):
        if _RECORDED.get() is not self:
            raise Unserved(False)
        return super()._eagerly(args, kwargs)


def as_node(frozen: Frozen[..., Any], leaves: Sequence[Any], spec: Any) -> Any:
    """Call `frozen` on ``(args, kwargs)``, given as leaves of which some are Tensors, as one recorded operation.

    A function that changes what it captures, or is not to be recorded, runs step by step.
    """
    numbers = [i for i, x in enumerate(leaves) if hasattr(x, "dtype") or kind_of(x)[0] != "static"]
    recorded = frozenset(k for k, i in enumerate(numbers) if type(leaves[i]) is Tensor)
    form = _Form(frozen.f, spec, [None if i in numbers else x for i, x in enumerate(leaves)], numbers, recorded)
    kept = frozen.versions.setdefault(form.key, [])

    def made(version, old):
        return Root(form.on_tensors, frozen, version, len(numbers), recorded, old)

    root = current(kept, frozen.f, [*form.static, *form.rests], frozen.constant, made)
    xs = [leaves[i] for i in numbers]
    if root.version.stepwise:
        return with_own_arrays(form.call(xs))
    try:
        found = _recorded(root, xs)
    except Unserved as unserved:
        recordable = unserved.recordable
    else:
        return with_own_arrays(form.call(xs)) if found is None else found[0]
    return _once(root, form, xs, recordable)


def _once(root, form, xs, recordable):
    """The result of the function, run on the Tensors; a root that may be recorded is, if this has changed nothing.

    What fails on Tensors may succeed on the arrays in them, as decisions on entries of a batch do.
    """
    version, found = root.version, None
    try:
        found = (with_own_arrays(form.call(xs)),)
    except Exception:
        refuse_writes(version.captured)
        if not version.holds():
            raise
    refuse_writes(version.captured)
    if (recordable or found is None) and version.holds():
        token = _RECORDED.set(root)
        try:
            found = _recorded(root, xs) or found
        finally:
            _RECORDED.reset(token)
    return with_own_arrays(form.call(xs)) if found is None else found[0]


def _recorded(root, xs):
    """The result of a root alone in a tuple; None where the function is to run step by step."""
    version = root.version
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


Frozen.as_node = as_node  # which freeze.py, being imported here, does not import
