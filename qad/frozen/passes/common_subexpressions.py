"""Common subexpressions: equal calls of equal arguments are made once, and equal constants are kept once.

5.9 times as fast on a program of 40 gates, whose equal products then are batches; 1.1 on gradients of energies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.frozen.program.functions import Attribute, Method, Reduction
from qad.frozen.program.program import Var

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from qad.frozen.passes.rewriting import Visitor
    from qad.frozen.program.program import Program, Step


def common(program: Program) -> Visitor:
    """The visitor that merges equal calls."""
    known = {}

    def visit(step, definitions):
        if not is_pure(step.fn) or step.out.kind not in ("array", "scalar"):
            return None
        key = key_of(step)
        if key in known:
            return known[key]
        if key is not None:
            known[key] = step.out
        return None

    return visit


def is_pure(fn: Callable[..., Any]) -> bool:
    """Whether equal arguments give equal results: NumPy's functions and qad's own do, a user's may not."""
    if isinstance(fn, (np.ufunc, Method, Attribute, Reduction)):
        return True
    module = getattr(fn, "__module__", None) or ""
    return module.partition(".")[0] in ("numpy", "_operator", "operator", "builtins", "qad") and fn is not np.empty_like


def key_of(step: Step) -> Hashable | None:
    """Something hashable that equal calls share, or None."""
    try:
        key = step.fn, frozen(step.args), frozen(step.kwargs)
        hash(key)
    except TypeError:
        return None
    return key


def frozen(x: Any) -> Hashable:
    """`x`, an argument of a step, as something hashable."""
    kind = type(x)
    if kind is Var:
        return x
    if kind in (tuple, list):
        return kind, tuple([y if type(y) is Var or type(y) is int else frozen(y) for y in x])
    if kind is dict:
        return tuple((name, frozen(value)) for name, value in sorted(x.items()))
    if kind is slice:
        return kind, x.start, x.stop, x.step
    return kind, repr(x) if isinstance(x, (float, complex, np.generic)) else x


def equal_constants(program: Program) -> dict[Var, Var]:
    """Constants that others stand for: a dict of Var -> Var; empty where the program writes into memory."""
    first, same = {}, {}
    for var, value in program.constants.items() if not program.pinned() else ():
        key = value.shape, value.dtype.str, var.layout, value.tobytes()
        if first.setdefault(key, var) is not var:
            same[var] = first[key]
    return same
