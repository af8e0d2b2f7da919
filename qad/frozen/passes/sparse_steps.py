"""Arrays with few nonzero entries, and the steps that compute only these."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from qad.frozen.functions import IMAG, REAL, VIEWS, reduction
from qad.frozen.passes.rewriting import derived, reshaped
from qad.frozen.program import Step, Var, variables
from qad.frozen.sparse_arrays import placed

SHARE = 4  # an array of which more than one entry in so many is not zero is full
MOST = 1 << 20  # entries of an array that is looked at
FOLDED = reduction(np.add, "reduceat")


@dataclass(slots=True, eq=False)
class Few:
    """An array as a sum of terms, each given by flat indices and the vector of entries there, zero elsewhere.

    Attributes
    ----------
    shape, dtype
    terms : list of (array of int, Var)
        The places, in flat order and ascending, and the vector of the entries there.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    terms: list[tuple[np.ndarray, Any]]

    @property
    def is_sparse(self) -> bool:
        return sum(len(places) for places, _ in self.terms) * SHARE <= np.prod(self.shape)

    def numbers(self) -> np.ndarray:
        """An array of this shape that numbers its entries."""
        return np.arange(int(np.prod(self.shape))).reshape(self.shape)


def is_index(step: Step) -> bool:
    """Whether a step is a view or an index of its argument, with no index that depends on values."""
    return step.fn in VIEWS and step.fn not in (REAL, IMAG) and not variables((step.args[1:], step.kwargs))


class Writer:
    """Writes steps for the entries of arrays, and computes at once what is constant.

    Attributes
    ----------
    constants : dict of Var -> array
    steps : list of Step
    views : dict of Var -> Step
        Of the program: what shows entries of another array.
    """

    def __init__(self, constants: dict[Var, np.ndarray]):
        self.constants: dict[Var, np.ndarray] = constants
        self.steps: list[Step] = []
        self.views: dict[Var, Step] = {}
        self._picked = {}

    def constant(self, value: np.ndarray) -> Var:
        """The Var of a new constant."""
        var = Var.like(value)
        self.constants[var] = value
        return var

    def call(self, fn: Callable[..., Any], args: tuple[Any, ...], shape: Sequence[int], dtype: np.dtype[Any]) -> Var:
        """The array that `fn` makes of these."""
        if all(type(x) is not Var or x in self.constants for x in args):
            return self.constant(np.array(fn(*[self.constants[x] if type(x) is Var else x for x in args])))
        self.steps.append(derived(fn, args, shape, dtype))
        return self.steps[-1].out

    # -- entries of arrays -----------------------------------------------------------------------

    def picked(self, x: Any, numbers: np.ndarray) -> Any:
        """The entries of `x` of these numbers, as a vector; a number as it is."""
        if type(x) is not Var or x.kind != "array" or not x.shape:
            return x
        while x in self.views:
            step = self.views[x]
            x = step.args[0]
            numbers = step.fn(np.arange(x.size).reshape(x.shape), *step.args[1:], **step.kwargs).reshape(-1)[numbers]
        key = x, numbers.tobytes()
        if key not in self._picked:
            self._picked[key] = self._pick(x, numbers)
        return self._picked[key]

    def _pick(self, x, numbers):
        if x in self.constants:
            return self.constant(self.constants[x].reshape(-1)[numbers])
        if len(x.shape) > 1:
            self.steps.append(reshaped(x, (x.size,)))
            x = self.steps[-1].out
        where, shape = self.place(numbers), (len(numbers),)
        if where == slice(0, x.size, 1):
            return x
        if type(where) is slice:
            self.steps.append(derived(operator.getitem, (x, where), shape, x.dtype, x.root))
            return self.steps[-1].out
        return self.call(np.take, (x, where), shape, x.dtype)

    def place(self, numbers: np.ndarray) -> slice | Var:
        """Numbers as a slice where that is one, else as a constant."""
        step = int(numbers[1] - numbers[0]) if len(numbers) > 1 else 1
        if len(numbers) and step > 0 and (np.diff(numbers) == step).all():
            return slice(int(numbers[0]), int(numbers[-1]) + 1, step)
        return self.constant(numbers)

    def shown(self, few: Few, numbers: np.ndarray, shape: tuple[int, ...]) -> Few:
        """The array of this shape whose entries are those of `few` of these numbers."""
        terms = []
        for places, vector in few.terms:
            where = np.full(int(np.prod(few.shape)), -1)
            where[places] = np.arange(len(places))
            where = where[numbers.reshape(-1)]
            terms.append((np.flatnonzero(where >= 0), self.picked(vector, where[where >= 0])))
        return Few(shape, few.dtype, [term for term in terms if len(term[0])])

    # -- arithmetic ------------------------------------------------------------------------------

    def each(self, fn: Callable[..., Any], few: Few, dtype: np.dtype[Any]) -> Few:
        """A linear function of each entry."""
        return Few(few.shape, dtype, [(p, self.call(fn, (v,), (len(p),), dtype)) for p, v in few.terms])

    def scaled(self, fn: Callable[..., Any], few: Few, x: Any, out: Var) -> Few:
        """The product of `few` and another array or number, or their quotient."""
        if few.shape != out.shape:
            few = self.shown(few, np.broadcast_to(few.numbers(), out.shape), out.shape)
        full = type(x) is Var and x.kind == "array" and bool(x.shape)
        numbers = np.broadcast_to(np.arange(x.size).reshape(x.shape), out.shape).reshape(-1) if full else None
        terms = []
        for places, vector in few.terms:
            other = self.picked(x, numbers[places]) if full else x
            terms.append((places, self.product(fn, vector, other, (len(places),), out.dtype)))
        return Few(out.shape, out.dtype, terms)

    def product(
        self, fn: Callable[..., Any], vector: Var, other: Any, shape: tuple[int, ...], dtype: np.dtype[Any]
    ) -> Var:
        known = self.constants.get(vector)
        alike = type(other) is Var and other.shape == shape and other.dtype == dtype
        if fn is np.multiply and alike and known is not None and (known == 1).all():
            return other
        return self.call(fn, (vector, other), shape, dtype)

    def sum(self, fn: Callable[..., Any], one: Few, two: Few, out: Var) -> Few:
        """The sum or the difference of two arrays of one dtype."""
        if two.shape != out.shape:
            two = self.shown(two, np.broadcast_to(two.numbers(), out.shape), out.shape)
        if one.shape != out.shape:
            one = self.shown(one, np.broadcast_to(one.numbers(), out.shape), out.shape)
        terms = list(one.terms)
        for places, vector in two.terms:
            self._add(terms, fn, places, vector, out.dtype)
        return Few(out.shape, out.dtype, terms)

    def _add(self, terms, fn, places, vector, dtype):
        """Add a term, to one with the same indices if there is any."""
        for i, (there, before) in enumerate(terms):
            if np.array_equal(places, there):
                terms[i] = there, self.call(fn, (before, vector), (len(places),), dtype)
                return
        if fn is np.subtract:
            vector = self.call(np.negative, (vector,), (len(places),), dtype)
        terms.append((places, vector))

    def gathered(self, few: Few, targets: np.ndarray, shape: tuple[int, ...]) -> Few:
        """The array whose entry of number ``targets[i]`` is the sum of such entries i of `few`."""
        terms = []
        for places, vector in few.terms:
            order = np.argsort(targets[places], kind="stable")
            found, starts = np.unique(targets[places][order], return_index=True)
            vector = self.picked(vector, order)
            if len(found) < len(order):
                vector = self.call(FOLDED, (vector, self.constant(starts)), (len(found),), few.dtype)
            self._add(terms, np.add, found, vector, few.dtype)
        return Few(shape, few.dtype, terms)

    # -- back to an array ------------------------------------------------------------------------

    def formed(self, few: Few, out: Var) -> None:
        """Write the step that makes the array `out` of its entries."""
        start, seen, terms = np.zeros(few.shape, few.dtype), np.zeros(int(np.prod(few.shape)), bool), []
        for places, vector in few.terms:
            if vector in self.constants:
                start.reshape(-1)[places] += self.constants[vector]
                seen[places] = True
        for places, vector in few.terms:
            if vector not in self.constants:
                terms += vector, self.place(places), not seen[places].any()
                seen[places] = True
        self.steps.append(Step(placed, (self.constant(start), *terms), {}, out))
