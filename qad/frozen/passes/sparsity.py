"""Entries that are zero whatever the input are not computed.

Constants with few entries, the unit vectors along which a Hessian is taken above all, make arrays of the same kind:
their products with others, sums of those, what is shown of them and where they are put.  Such an array is kept as the
vector of its entries; where something else reads it, it is filled in then.  So ``(np.eye(n) * x) * y`` takes n
products, and fills the diagonal of zeros.

Zero times infinity is zero here, for the entry does not depend on the input.  7 times as fast on the Hessians of
Rosenbrock's function and of repelling particles.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.frozen.functions import IMAG, REAL, SUM, VIEWS
from qad.frozen.guards import is_guard
from qad.frozen.passes.rewriting import touches
from qad.frozen.passes.sparse_steps import FOLDED, MOST, Few, Writer, is_index
from qad.frozen.program import Var, variables
from qad.frozen.sparse_arrays import placed
from qad.rules.structured_cotangents import scatter

if TYPE_CHECKING:
    from collections.abc import Callable

    from qad.frozen.program import Program

FEWEST = 256  # entries of an array that is looked at
MARGIN = 0.9  # of the time before that the time afterwards must not exceed
LINEAR = (np.negative, np.conjugate, REAL, IMAG)


def zeros(program: Program) -> int:
    """Rewrite, where that saves time; the number of steps that went."""
    rewriting = _Rewriting(program)
    if not rewriting.few:
        return 0
    for step in program.steps:
        rewriting.visit(step)
    for x in program.outputs:
        rewriting.form(x)
    if not rewriting.gone or rewriting.cost > MARGIN * sum(map(_cost, rewriting.gone)):
        return 0
    program.steps, program.constants = rewriting.writer.steps, rewriting.writer.constants
    return len(rewriting.gone)


class _Rewriting:
    """A program that is rewritten step by step, by the nonzero entries of its arrays.

    Attributes
    ----------
    few : dict of Var -> Few
    gone : list of Step
        What is not called any more.
    """

    def __init__(self, program):
        self.pinned = program.pinned()
        self.writer = Writer(dict(program.constants))
        self.few = {var: few for var, value in program.constants.items() if (few := self._few(value)) is not None}
        self.made = set(self.few)  # what exists as an array
        self.gone, self.kept = [], set()

    def _few(self, value):
        """A constant by its entries, where they are few."""
        if not FEWEST <= value.size <= MOST or value.dtype.kind not in "fc":
            return None
        places = np.flatnonzero(value)
        few = Few(value.shape, value.dtype, [(places, None)])
        if not len(places) or not few.is_sparse:
            return None
        few.terms = [(places, self.writer.constant(value.reshape(-1)[places]))]
        return few

    @property
    def cost(self):
        return sum(_cost(step) for step in self.writer.steps if step not in self.kept)

    def visit(self, step):
        """Take a step over, or write steps for its entries in its place."""
        made = None
        if any(var in self.few for var in step.reads()) and self._is_free(step):
            made = RULES[step.fn](self, step) if step.fn in RULES else _view(self, step) if is_index(step) else None
        if made is not None:
            self.gone.append(step)
            self.few[step.out] = made
            if not made.is_sparse:
                self.form(step.out)
            return
        for var in step.reads():
            self.form(var)
        if is_index(step) and self._is_free(step) and step.args[0].kind == "array":
            self.writer.views[step.out] = step
        self.writer.steps.append(step)
        self.kept.add(step)

    def _is_free(self, step):
        small = step.out.kind == "array" and step.out.size <= MOST
        return small and not is_guard(step) and not touches(step, self.pinned)

    def sparse(self, x):
        """What is known of the entries of `x`, if that is an array of few of them."""
        few = self.few.get(x) if type(x) is Var else None
        return few if few is not None and few.is_sparse else None

    def form(self, x):
        """Make the array of something that is known by its entries, once."""
        if type(x) is Var and x in self.few and x not in self.made:
            self.made.add(x)
            self.writer.formed(self.few[x], x)


# -- rules: what a step makes of an array with few entries, or None ----------------------------------------------------


def _linear(rewriting, step):
    few = rewriting.sparse(step.args[0])
    return rewriting.writer.each(step.fn, few, step.out.dtype) if few and len(step.args) == 1 else None


def _multiply(rewriting, step):
    one, two = step.args
    few, other = rewriting.sparse(one), two
    if few is None or (rewriting.sparse(two) and one in rewriting.made):
        few, other = rewriting.sparse(two), one
    if few is None:
        return None
    rewriting.form(other)
    return rewriting.writer.scaled(np.multiply, few, other, step.out)


def _add(rewriting, step):
    few = [rewriting.sparse(x) for x in step.args]
    if None in few or any(each.dtype != step.out.dtype for each in few):
        return None
    return rewriting.writer.sum(step.fn, *few, step.out)


def _view(rewriting, step):
    few = rewriting.sparse(step.args[0])
    if few is None:
        return None
    numbers = step.fn(few.numbers(), *step.args[1:], **step.kwargs)
    return rewriting.writer.shown(few, numbers, step.out.shape)


def _added(rewriting, few, axis, out):
    """The sum over axes."""
    axes = tuple(range(len(few.shape))) if axis is None else axis
    kept = np.expand_dims(np.arange(out.size).reshape(np.sum(np.empty(few.shape, bool), axes).shape), axes)
    return rewriting.writer.gathered(few, np.broadcast_to(kept, few.shape).reshape(-1), out.shape)


def _product(rewriting, step):
    """The product of a vector and a matrix, or a stack of them, which are the ones with few entries."""
    a, b = step.args
    axis = None
    if rewriting.sparse(a) and len(a.shape) > 1 and (len(b.shape) == 1 or (len(b.shape) == 2 and b.shape[1] == 1)):
        few, vector, axis = rewriting.sparse(a), b, -1
    elif rewriting.sparse(b) and len(b.shape) > 1 and (len(a.shape) == 1 or (len(a.shape) == 2 and a.shape[0] == 1)):
        few, vector, axis = rewriting.sparse(b), a, -2
    if axis is None or vector.kind != "array" or rewriting.sparse(vector):
        return None
    writer, n = rewriting.writer, vector.size
    row = np.arange(n) if axis == -1 else np.arange(n)[:, None]
    row = np.broadcast_to(row, few.shape).reshape(-1)
    terms = [
        (places, writer.product(np.multiply, entries, writer.picked(vector, row[places]), places.shape, step.out.dtype))
        for places, entries in few.terms
    ]
    return _added(rewriting, Few(few.shape, step.out.dtype, terms), axis, step.out)


def _scatter(rewriting, step):
    indices, out = step.kwargs["indices"], step.out
    if variables(indices) or any(x.dtype != out.dtype for x in step.args):
        return None
    total, numbers = Few(out.shape, out.dtype, []), np.arange(out.size).reshape(out.shape)
    for part, index in zip(step.args, indices, strict=True):
        few, targets = rewriting.sparse(part) or _all(rewriting, part, out), numbers[index]
        if few is None or targets.shape != few.shape:
            return None
        moved = rewriting.writer.gathered(few, targets.reshape(-1), out.shape)
        total = rewriting.writer.sum(np.add, total, moved, out)
    return total


def _all(rewriting, x, out):
    """All entries of a small array."""
    if x.kind != "array" or not x.shape or x in rewriting.few or x.size * 8 > out.size:
        return None
    numbers = np.arange(x.size)
    return Few(x.shape, x.dtype, [(numbers, rewriting.writer.picked(x, numbers))])


RULES: dict[Callable[..., Any], Callable[..., Any]] = dict.fromkeys(LINEAR, _linear) | {
    np.multiply: _multiply,
    np.add: _add,
    np.subtract: _add,
    np.dot: _product,
    np.matmul: _product,
    scatter: _scatter,
}

# -- what it costs, in microseconds ------------------------------------------------------------------------------------


def _cost(step):
    out = step.out
    if step.fn in VIEWS:
        return 0
    if step.fn is placed:
        return 1.5 + 2e-4 * out.size + sum(0.4 + 1e-3 * x.size for x in step.args[1::3])
    if step.fn is scatter:
        return 5 + 2e-4 * out.size + sum(1 + 1e-3 * x.size for x in step.args)
    if step.fn in (SUM, FOLDED, np.dot, np.matmul):
        return 1.5 + 1e-3 * max(x.size for x in step.reads())
    if step.fn is np.take:
        return 0.8 + 2e-3 * out.size
    stretched = any(1 < x.size < out.size for x in step.reads())
    return 0.5 + (1e-3 if stretched else 5e-4) * out.size
