"""What counts as zero, as equal and as lost: every threshold of linear algebra, derived from one promise.

Promised is that a result is right to ``u`` times the condition number of what was asked for, u being `SUMS` units of
rounding, or else refused: it is refused where less than a quarter of its digits would be left, that is, where
``u * condition`` is above ``eps**KEPT``.  A division by a gap g of a spectrum has condition ``size / g`` at first order
and its k-th power at order k, size being that of the largest value.  So gaps are lost below

    tau_k = (SUMS eps^(1 - KEPT))^(1/k) size,

which is 5e-11 at first and 7e-6 at second order in double precision; values that are closer than tau_1 are used alike
or not at all.  No other file of linear algebra has a small number of its own.

The functions take a dtype; eps is that of its real and imaginary parts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from qad.typing import DTypeLike

KEPT = 0.25  # the part of its digits that a result has to keep: more than eps**KEPT of it, 1e-4, may not be rounding
SUMS = 30  # units of rounding in a sum over the entries of a matrix of ordinary size, some of which cancel
PLACES = 8  # units of rounding that a sum of few terms, such as a column of a product, leaves of zero
ROUNDED = 4  # times n units: how far values of n by n matrices are off; zeros were by 0.8 at most, n being 2 to 300
TRUNCATED = 10  # times n units: the same for truncations, which rather leave out a value too many than keep rounding
FAR = 0.2  # at gaps above eps**FAR, 7e-4, eps / gap**3 is still below eps**KEPT: nothing can be lost, none is checked
FOLLOWED = 0.3  # at gaps below eps**FOLLOWED, 2e-5, factors lose a third of their digits: products of them are followed
MARK = 1.5  # eps**MARK stands for a zero: as far below rounding as half of the digits, so that it is told from that
WEIGHTLESS = 1e-14  # part of the weight of a state that hardly counts: some fifty units of rounding of all of it
SOLVED = 1e-12  # relative residual of iterations: what a well-conditioned problem of 1000 unknowns can reach


def unit(dtype: DTypeLike) -> float:
    """The unit of rounding, eps."""
    return float(np.finfo(dtype).eps)


def tiny(dtype: DTypeLike) -> float:
    """The smallest number of full precision: what stands for a size that is zero."""
    return float(np.finfo(dtype).tiny)


def quarter(dtype: DTypeLike) -> float:
    """The relative error of a number of which a quarter of the digits are right."""
    return unit(dtype) ** KEPT


def half(dtype: DTypeLike) -> float:
    """The relative error of a number of which half of the digits are right: of what is equal by intention."""
    return unit(dtype) ** (2 * KEPT)


def near(order: int = 1) -> float:
    """The gap, relative to the largest value, up to which differences of order k are integrated.

    Beyond it k divisions by gaps leave SUMS units of rounding.  Five of Gauss's nodes leave near**10 / 10^12 of the
    tenth derivative over such a gap: at second order 1e-20 of a function like exp, 1e-14 of a logarithm, whose
    derivatives grow by factorials.
    """
    return SUMS ** (-1 / order)


def lost(dtype: DTypeLike, order: int = 1) -> float:
    """tau_k: the relative gap below which derivatives of this order are refused."""
    return (SUMS * unit(dtype) ** (1 - KEPT)) ** (1 / order)


def sums(dtype: DTypeLike) -> float:
    """u: the relative rounding of sums over the entries of a matrix."""
    return SUMS * unit(dtype)


def places(dtype: DTypeLike) -> float:
    """The relative rounding of a sum of few terms."""
    return PLACES * unit(dtype)


def zero(dtype: DTypeLike, n: int) -> float:
    """What LAPACK leaves of a value that is zero, of a matrix of n rows, relative to the largest value."""
    return ROUNDED * max(n, 1) * unit(dtype)


def empty(dtype: DTypeLike, n: int) -> float:
    """What a truncation takes for zero, of a matrix of at most n rows and columns, relative to the largest value."""
    return TRUNCATED * max(n, 1) * unit(dtype)


def multiplet(dtype: DTypeLike) -> float:
    """The relative difference up to which a truncation keeps or drops neighbouring values together.

    Three eighths of their digits coincide, 1.5 times what a result has to keep.
    """
    return unit(dtype) ** (1.5 * KEPT)


def noise(dtype: DTypeLike, n: int) -> float:
    """What it leaves of an entry that is zero of a product of n terms with its vectors."""
    return SUMS * max(n, 1) * unit(dtype)


def gauge(dtype: DTypeLike) -> float:
    """The slope of a loss along a gauge, relative to the loss, that counts as rounding.

    Five eighths of its digits are right: between half of them and all but those that a result has to keep.
    """
    return unit(dtype) ** (2.5 * KEPT)


def far(dtype: DTypeLike) -> float:
    """The relative gap above which nothing is checked."""
    return unit(dtype) ** FAR


def followed(dtype: DTypeLike, order: int) -> float:
    """The relative gap below which products of factors are followed, for derivatives of this order."""
    return unit(dtype) ** (FOLLOWED / order)


def mark(dtype: DTypeLike) -> float:
    """What stands for a singular value that is zero, relative to the largest."""
    return unit(dtype) ** MARK
