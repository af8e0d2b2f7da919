"""Programs in a finite field, where arithmetic is exact: values that agree there are the same polynomial of the inputs.

Inputs are random residues modulo the prime P, constants the residues of what they are to the last bit (binary
fractions have one).  Different polynomials of degree d agree at a random point with a probability of d / P at
most (Schwartz and Zippel).  As P = 3 modulo 4, pairs of residues multiply like complex numbers, and NumPy's
products of them in floating point are exact up to `LONGEST` terms.
"""

import operator
from math import prod

import numpy as np

from qad.frozen.cancelling import cancels
from qad.frozen.functions import VIEWS, method
from qad.frozen.guards import is_guard
from qad.frozen.index_notation import notation, sizes_of
from qad.frozen.passes.canonical import SUM
from qad.frozen.passes.rewriting import is_view, touches
from qad.frozen.program import Var, rebuilt

__all__ = ["LONGEST", "P", "reduced", "residue", "residues"]

P = 2**21 - 9
LONGEST = 4000  # terms of a sum of products of residues that stays below 2**53
MOST_INVERSES = 256
ELEMENTWISE = frozenset((np.add, np.subtract, np.multiply, np.negative, np.conjugate, np.square))
CAST = method("astype")


def residues(program, seed):
    """Pairs (step, residues of its result) for random inputs, of all steps that give arrays or numbers."""
    rng, pinned, left = np.random.default_rng(seed), program.pinned(), program.uses()
    definitions = program.definitions()
    values = {var: _random(var, rng) for var in program.inputs}
    for var, x in program.constants.items():
        values[var] = residue(x) if _is_exact(var.dtype) and np.isfinite(x).all() else _random(var, rng)
    for step in program.steps:
        if step.out.kind in ("array", "scalar") and not is_guard(step):
            known = all(var in values for var in step.reads())
            known = known and not touches(step, pinned) and not cancels(step, definitions, program.constants)
            made = _evaluated(step, values) if known else None
            if made is None or made.shape != step.out.shape:
                made = _random(step.out, rng)  # of other calls, and of mere rounding, nothing is known
            values[step.out] = made
            yield step, made
        for var in step.reads():
            left[var] -= 1
            if not left[var]:
                values.pop(var, None)


def _random(var, rng):
    x = rng.integers(-(P // 2), P // 2 + 1, (2, *var.shape)).astype(float)
    return x[0] + 1j * x[1] if var.dtype.kind == "c" else x[0]


def _evaluated(step, values):
    """The residues of a sum, product, quotient or view; None for other calls, and where exactness ends."""
    fn = step.fn
    if is_view(step):
        return getattr(values[step.args[0]], fn.__name__)(step.args[1])
    if step.out.dtype.kind not in "fc":
        return None
    if fn is np.dot and len(step.args[0].shape) == len(step.args[1].shape) == 2:  # most of the products
        one, two = step.args
        return reduced(values[one].dot(values[two])) if one.shape[1] <= LONGEST else None
    if fn in ELEMENTWISE or fn is np.divide:
        args = [values[x] if type(x) is Var else _literal(x) for x in step.args]
        if step.kwargs or any(x is None for x in args):
            return None
        return _quotient(*args) if fn is np.divide else reduced(fn(*args))
    args = rebuilt(step.args, values.__getitem__)
    terms = notation(step)
    if terms is not None:
        summed = prod(size for label, size in sizes_of(step, terms).items() if label not in terms[-1])
        return reduced(fn(*args, **step.kwargs)) if len(terms) == 3 and summed <= LONGEST else None
    if fn is np.vdot:
        return reduced(fn(*args)) if args[0].size <= LONGEST else None
    if fn is SUM:
        return reduced(fn(*args, **step.kwargs)) if args[0].size <= LONGEST * step.out.size else None
    if fn is CAST:
        return _cast(args[0], step)
    return fn(*args, **step.kwargs) if fn in VIEWS and (fn is not operator.getitem or _is_fixed(step.args[1])) else None


def _literal(x):
    """The residue of a number; None of what is none."""
    if isinstance(x, int):
        return np.float64(x % P)
    return residue(x) if isinstance(x, (float, complex, np.number)) and np.isfinite(x) else None


def _quotient(x, y):
    """Multiplication by inverses, ``conj(z) / |z|^2``; None where there is none, or too many are asked for."""
    squares = reduced(reduced(y.real**2) + reduced(y.imag**2))
    if y.size > MOST_INVERSES or not squares.all():
        return None
    inverses = np.array([pow(int(n), -1, P) for n in squares.flat], float).reshape(y.shape)
    return reduced(x * reduced(y.conj() * reduced(inverses)))


def _cast(x, step):
    """A conversion that keeps all bits."""
    one, two = step.args[0].dtype, step.out.dtype
    return x.astype(complex if two.kind == "c" else float) if one.kind in "fc" and np.can_cast(one, two) else None


def _is_exact(dtype):
    """Whether numbers of a dtype have residues: integers, and what a double holds."""
    return dtype.kind in "iub" or (dtype.kind in "fc" and np.can_cast(dtype, complex))


def _is_fixed(index):
    """Whether an index is made of integers and slices."""
    kind = type(index)
    if kind is slice:
        return _is_fixed((index.start, index.stop, index.step))
    return all(map(_is_fixed, index)) if kind is tuple else kind in (int, type(None), type(...))


def reduced(x):
    """Residues of numbers below 2**53, between -P/2 and P/2; by one too large where a quotient was rounded.

    Of residues it gives the very ones between -P/2 and P/2.
    """
    x = np.array(x, order="C")
    flat = x.reshape(-1).view(float)
    quotient = flat / P
    np.rint(quotient, quotient)
    quotient *= P
    flat -= quotient
    return x


def residue(x):
    """The residues of finite numbers as they are, integers or binary fractions."""
    x = np.asarray(x)
    if x.dtype.kind == "c":
        return residue(x.real) + 1j * residue(x.imag)
    if x.dtype.kind in "iub":
        return reduced(x % P * 1.0)
    mantissa, exponent = np.frexp(x.astype(float))
    powers, places = np.unique(exponent, return_inverse=True)
    factors = np.array([pow(2, int(e) - 53, P) for e in powers], float)
    return reduced((mantissa * 2.0**53).astype(np.int64) % P * factors[places].reshape(x.shape))
