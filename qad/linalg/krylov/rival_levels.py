"""Whether an eigenpair that a search has found is the lowest level, and simple: a second search from a random vector.

A Krylov space knows no more of the spectrum than its first vector holds: from a vector in an invariant subspace it
finds that subspace's level, and of a degenerate level one vector, whatever its multiplicity.  So the operator is
searched once more, from a random vector, on the complement of what was found: without x the spectrum is the same, but
for its eigenvalue.  A better level there refutes the one that was found, and takes its place; the distance to the next
one tells whether its derivative exists.  That search needs a part of the distance only, and is shorter than the first.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ConvergenceError
from qad.extend import like
from qad.linalg.krylov.eigensearch import dominant
from qad.linalg.support import tolerances
from qad.linalg.support.random import normal

if TYPE_CHECKING:
    from typing import Any

    from qad.linalg.krylov.eigensearch import Search, VectorOperator

ROUNDS = 5  # of searches, each of which refutes the level before
PART = 0.3  # of its distance is the largest error


def unrefuted(
    operator: VectorOperator, start: np.ndarray, find: Search, maxiter: int, hermitian: bool
) -> tuple[Any, np.ndarray, float]:
    """The eigenpair that `find` finds and no random vector refutes, and the distance to the next level.

    Parameters
    ----------
    operator : Operator
    start : vector
    find : callable
        ``find(operator, start, maxiter, error)``, see ``eigensearch.py``.
    hermitian : bool
        Whether levels compete to be lowest, or else to be largest in modulus.

    Returns
    -------
    value, vector, distance to the competing eigenvalue
    """
    for _ in range(ROUNDS):
        value, x = find(operator, start, maxiter)
        if start.size == 1:
            return value, x, np.inf
        unit = x / np.linalg.norm(x)
        if hermitian:
            rival, vector = _lowest_rival(operator, value, unit, find, maxiter)
        else:
            rival, vector = _dominant_rival(operator, value, unit, maxiter)
        better = value - rival if hermitian else abs(rival) - abs(value)
        if not better > tolerances.lost(start.dtype) * max(abs(value), abs(rival)):
            return value, x, abs(rival - value)
        start = _fitting(vector, start.dtype)
    raise ConvergenceError(
        f"{operator.name}: after {ROUNDS} searches a random vector still finds a better level, {rival:.8g}, than "
        f"{value:.8g}: start from another v0"
    )


def _fitting(vector, dtype):
    """`vector` in `dtype`; of a complex one that should be real the larger part."""
    if np.dtype(dtype).kind != "c" and np.iscomplexobj(vector):
        vector = max(vector.real, vector.imag, key=np.linalg.norm)
    return like(vector).ascontiguousarray(vector, dtype=dtype)


class _Complement:
    """An operator, less a shift, on the complement of the vector x, whose eigenvalue is `lift` now."""

    def __init__(self, operator, shift, x, lift=0.0, turn=1.0):
        self.operator, self.shift, self.x, self.lift, self.turn = operator, shift, x, lift, turn
        self.name, self.start = operator.name, operator.start
        self.packing = copy.copy(operator.packing)
        self.packing.dtype = np.result_type(operator.packing.dtype, x.dtype)

    calls = property(lambda self: self.operator.calls)
    linear_operator = property(lambda self: type(self.operator).linear_operator.__get__(self))

    def within(self, v):
        return v - np.vdot(self.x, v) * self.x

    def __call__(self, v):
        along = np.vdot(self.x, v)
        v = v - along * self.x
        return (self.within(self.product(v) - self.shift * v) + self.lift * along * self.x) * self.turn

    def product(self, v):
        """That of the operator, of a complex vector also where the operator is real."""
        if self.operator.packing.dtype.kind == "c" or not np.iscomplexobj(v):
            return self.operator(v)
        return self.operator(v.real) + 1j * self.operator(v.imag)

    def random(self):
        """A vector of the complement, always the same."""
        x = normal(np.random.default_rng(0), self.x.size, self.packing.dtype)
        return self.within(like(self.x).asarray(x))


def _lowest_rival(operator, value, x, find, maxiter):
    """The lowest eigenvalue on the complement of `x`, and its vector."""
    rest = _Complement(operator, value, x)
    vector = rest.random()
    size = np.linalg.norm(rest.product(vector)) / np.linalg.norm(vector)
    rest.lift = size or 1.0
    for error in _errors(vector.dtype):
        found, vector = find(rest, vector, maxiter, error * size)
        vector = rest.within(vector)
        residual = np.linalg.norm(rest(vector) - found * vector) / np.linalg.norm(vector)
        if residual <= PART * abs(found):
            break
    return found + value, vector


def _errors(dtype):
    """Of a competing level, relative to the norm: an eighth, a quarter, half of the digits, and all that there are."""
    quarter = tolerances.quarter(dtype)
    return quarter**0.5, quarter, quarter**2, 0.0


def _dominant_rival(operator, value, x, maxiter):
    """An eigenvalue on the complement that is larger than `value`, or else the one next to it if that is as large."""
    rest = _Complement(operator, 0.0, x)
    start = rest.random()
    if not np.linalg.norm(rest(start)) > tolerances.noise(start.dtype, 1) * abs(value) * np.linalg.norm(start):
        return 0.0, start  # nothing is left
    for tol in _errors(start.dtype):
        found, vector = dominant(rest, start, maxiter, tol)
        if abs(found) < abs(value) * (1 - max(10 * tol, tolerances.lost(start.dtype))):
            return found, vector
    if abs(found) > abs(value) * (1 + tolerances.lost(start.dtype)):
        return found, vector
    rest.turn = np.conj(value) / abs(value) if np.iscomplexobj(start) else np.sign(value.real)
    near, other = dominant(rest, start, maxiter, which="LR")  # what has another phase may hide it
    return min((near / rest.turn, other), (found, vector), key=lambda pair: abs(pair[0] - value))
