"""Algebra that pays: identities that make steps superfluous, whatever the numbers are."""

import operator

import numpy as np

from qad.frozen.functions import RESHAPE, TRANSPOSE
from qad.frozen.passes.canonical import REAL
from qad.frozen.passes.rewriting import add_view, derived, is_view, view_of
from qad.frozen.program import Step, Var
from qad.rules.structured_cotangents import scatter

__all__ = ["algebra"]

MOST = 1 << 16  # entries of a constant that are looked at


def algebra(program):
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


def _real(step, definitions, known):
    """``real(conj(x)) = real(x)``."""
    inner = _inner(step.args[0], definitions, np.conjugate)
    return [Step(REAL, inner.args, {}, step.out)] if inner else None


def _square(step, definitions, known):
    """``|z|^2 = real(z conj(z))``, without the root; and ``norm(z)^2`` is a product of vectors."""
    x = step.args[0]
    inner = _inner(x, definitions, np.absolute)
    if inner and inner.args[0].kind == "array":
        return _absolute_square(step, inner.args[0])
    inner = _inner(x, definitions, np.linalg.norm)
    if not inner or len(inner.args) > 1 or inner.kwargs or inner.args[0].dtype.kind not in "fc":
        return None
    flat = derived(RESHAPE, (inner.args[0], (inner.args[0].size,)), (inner.args[0].size,), inner.args[0].dtype)
    if flat.out.dtype.kind != "c":
        return [flat, Step(np.dot, (flat.out, flat.out), {}, step.out)]
    turned = derived(np.conjugate, (flat.out,), flat.out.shape, flat.out.dtype)
    product = Step(np.dot, (turned.out, flat.out), {}, Var((), flat.out.dtype, "scalar"))
    return [flat, turned, product, Step(REAL, (product.out,), {}, step.out)]


def _absolute_square(step, z):
    if z.dtype.kind != "c":
        return [Step(np.square, (z,), {}, step.out)]
    turned = derived(np.conjugate, (z,), z.shape, z.dtype)
    product = derived(np.multiply, (z, turned.out), z.shape, z.dtype)
    return [turned, product, Step(REAL, (product.out,), {}, step.out)]


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
        entries = known[x].flat if x in known and 0 < known[x].size <= MOST else None
        return entries[0] if entries is not None and (known[x] == entries[0]).all() else None
    return x if isinstance(x, (int, float, complex, np.number)) else None


def _dot(step, definitions, known):
    """A product with the identity."""
    for one, x in (step.args, step.args[::-1]):
        if one in known and x.dtype == step.out.dtype and x.shape == step.out.shape and _is_identity(known[one]):
            return x
    return None


def _is_identity(value):
    return value.ndim == 2 and value.shape[0] == value.shape[1] <= 64 and np.array_equal(value, np.eye(len(value)))


def _scatter(step, definitions, known):
    """The only entry of an array."""
    out = step.out
    if out.size != 1 or len(step.args) != 1 or step.args[0].size != 1 or step.args[0].dtype != out.dtype:
        return None
    return [Step(RESHAPE, (step.args[0], out.shape), {}, out)]


def _entry(step, definitions, known):
    """An entry of a slice or of an entry: ``x[2:][0] = x[2]`` and ``x[2][0] = x[2, 0]``."""
    inner = _inner(step.args[0], definitions, operator.getitem)
    if inner is None:
        return None
    (x, outer), index = inner.args, _tuple(step.args[1])
    if any(type(i) is not int for i in index):
        return None
    if type(outer) is slice and all(type(i) in (int, type(None)) for i in _ends(outer)):
        index = range(*outer.indices(x.shape[0]))[index[0]], *index[1:]
    elif all(type(i) is int for i in _tuple(outer)):
        index = *_tuple(outer), *index
    else:
        return None
    return [Step(operator.getitem, (x, index), {}, step.out)]


def _tuple(index):
    return index if type(index) is tuple else (index,)


def _ends(x):
    return x.start, x.stop, x.step


RULES = {
    np.conjugate: _conjugate,
    TRANSPOSE: _transpose,
    RESHAPE: _reshape,
    REAL: _real,
    np.square: _square,
    np.multiply: _multiply,
    np.dot: _dot,
    scatter: _scatter,
    operator.getitem: _entry,
}
