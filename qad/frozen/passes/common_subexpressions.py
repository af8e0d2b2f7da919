"""Common subexpressions: equal calls of equal arguments are made once, and equal constants are kept once.

Conjugates are found again behind transposes and reshapes: ``conj(view(x))`` is a view of ``conj(x)`` where that
is known.
"""

import numpy as np

from qad.frozen.functions import RESHAPE, Attribute, Method, Reduction
from qad.frozen.passes.rewriting import add_view, view_of
from qad.frozen.program import Var

__all__ = ["common", "equal_constants", "frozen", "is_pure", "key_of"]


def common(program):
    """The visitor that merges equal calls."""
    known, conjugates = {}, {}

    def visit(step, definitions):
        if not is_pure(step.fn) or step.out.kind not in ("array", "scalar"):
            return None
        key = key_of(step)
        if key in known:
            return known[key]
        if step.fn is np.conjugate and step.out.kind == "array":
            found = _conjugate(step, definitions, conjugates)
            if found is not None:
                return found
        if key is not None:
            known[key] = step.out
        return None

    return visit


def is_pure(fn):
    """Whether equal arguments give equal results: NumPy's functions and qad's own do, a user's may not."""
    if isinstance(fn, (np.ufunc, Method, Attribute, Reduction)):
        return True
    module = getattr(fn, "__module__", None) or ""
    return module.partition(".")[0] in ("numpy", "_operator", "operator", "builtins", "qad") and fn is not np.empty_like


def key_of(step):
    """Something hashable that equal calls share, or None."""
    try:
        key = step.fn, frozen(step.args), frozen(step.kwargs)
        hash(key)
    except TypeError:
        return None
    return key


def frozen(x):
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


def equal_constants(program):
    """Constants that others stand for: a dict of Var -> Var; empty where the program writes into memory."""
    first, same = {}, {}
    for var, value in program.constants.items() if not program.pinned() else ():
        key = value.shape, value.dtype.str, var.layout, value.tobytes()
        if first.setdefault(key, var) is not var:
            same[var] = first[key]
    return same


def _conjugate(step, definitions, conjugates):
    """The conjugate of a view, as a view of a conjugate that is known; else it becomes known."""
    base, chain = view_of(step.args[0], definitions)
    if base not in conjugates:
        conjugates[base] = step.out, chain
        return None
    found, made = conjugates[base]
    steps, x = [], found
    for fn, argument, before in reversed(made):  # back to the shape of the base
        undo = before if fn is RESHAPE else tuple(sorted(range(len(argument)), key=argument.__getitem__))
        x = add_view(steps, fn, x, undo)
    for fn, argument, _ in chain:
        x = add_view(steps, fn, x, argument)
    return steps or x
