"""Identities that make steps superfluous whatever the entries are.

On the gradient of a polynomial 1.6 times as fast where nothing is compiled; at most 1.1 where steps are.  Conjugates of
conjugates, factors 1 and -1, products with the identity, permutations of permutations, reshapes of reshapes, entries of
entries.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from qad.frozen.functions import RESHAPE, TRANSPOSE
from qad.frozen.passes.rewriting import add_view, is_view, view_of
from qad.frozen.program import Step, Var

if TYPE_CHECKING:
    from collections.abc import Callable

    from qad.frozen.passes.rewriting import Visitor
    from qad.frozen.program import Program

LARGEST = 1 << 12  # entries of an identity


def algebra(program: Program) -> Visitor:
    """The visitor that simplifies."""
    known = program.constants

    def visit(step, definitions):
        rule = RULES.get(step.fn)
        return rule(step, definitions, known) if rule is not None and step.out.kind in ("array", "scalar") else None

    return visit


def _inner(x, definitions, fn):
    """The step that makes `x`, if it calls `fn`."""
    step = definitions.get(x) if type(x) is Var else None
    return step if step is not None and step.fn is fn else None


def _conjugate(step, definitions, known):
    """``conj(conj(x)) = x``, and what is between them is done to x."""
    base, chain = view_of(step.args[0], definitions)
    inner = _inner(base, definitions, np.conjugate)
    if not inner:
        return None
    steps, x = [], inner.args[0]
    for fn, argument, _ in chain:
        x = add_view(steps, fn, x, argument)
    return steps or x


def _transpose(step, definitions, known):
    """Two permutations are one."""
    inner = _inner(step.args[0], definitions, TRANSPOSE)
    if inner is None or not is_view(step) or not is_view(inner):
        return None
    axes = step.args[1]
    source, first = inner.args
    both = tuple(first[axis] for axis in axes)
    if both == tuple(range(len(both))):
        return source
    return [Step(TRANSPOSE, (source, both), {}, step.out)]


def _reshape(step, definitions, known):
    """Of two reshapes the last one counts."""
    if not is_view(step):
        return None
    x, shape = step.args
    inner = _inner(x, definitions, RESHAPE)
    if inner is None or not is_view(inner):
        return x if x.shape == shape else None
    source = inner.args[0]
    return source if source.shape == shape else [Step(RESHAPE, (source, shape), {}, step.out)]


def _multiply(step, definitions, known):
    """A factor 1 goes, a factor -1 is a sign."""
    for one, x in (step.args, step.args[::-1]):
        if type(x) is not Var or x.kind == "number" or x.shape != step.out.shape or x.dtype != step.out.dtype:
            continue
        value = _number(one, known)
        if value == 1:
            return x
        if value == -1:
            return [Step(np.negative, (x,), {}, step.out)]
    return None


def _number(x, known):
    """The value of a literal, or of all entries of a constant."""
    if type(x) is Var:
        entries = known[x].flat if x in known and known[x].size else None
        same = entries is not None and entries[0] == entries[-1] and (known[x] == entries[0]).all()
        return entries[0] if same else None
    return x if isinstance(x, (int, float, complex, np.number)) else None


def _dot(step, definitions, known):
    """A product with the identity."""
    for one, x in (step.args, step.args[::-1]):
        value = known.get(one)
        same = value is not None and x.dtype == step.out.dtype and x.shape == step.out.shape
        if same and value.ndim == 2 and value.size <= LARGEST and np.array_equal(value, np.eye(len(value))):
            return x
    return None


def _entry(step, definitions, known):
    """An entry of a slice or of an entry: ``x[2:][0] = x[2]`` and ``x[2][0] = x[2, 0]``."""
    inner = _inner(step.args[0], definitions, operator.getitem)
    if inner is None:
        return None
    (x, outer), index = inner.args, _tuple(step.args[1])
    if any(type(i) is not int for i in index):
        return None
    if type(outer) is slice and all(type(i) in (int, type(None)) for i in (outer.start, outer.stop, outer.step)):
        index = range(*outer.indices(x.shape[0]))[index[0]], *index[1:]
    elif all(type(i) is int for i in _tuple(outer)):
        index = *_tuple(outer), *index
    else:
        return None
    return [Step(operator.getitem, (x, index), {}, step.out)]


def _tuple(index):
    return index if type(index) is tuple else (index,)


RULES: dict[Callable[..., Any], Callable[..., Any]] = {
    np.conjugate: _conjugate,
    TRANSPOSE: _transpose,
    RESHAPE: _reshape,
    np.multiply: _multiply,
    np.dot: _dot,
    operator.getitem: _entry,
}
