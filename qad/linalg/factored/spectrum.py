"""Functions of a matrix by its spectrum, for products of factors that are written by hand; see ``factors.py``.

A function of eigenvalues is known here as the elementwise operations that made it.  They are repeated at other points,
which gives the divided differences of `funm_herm` and `funm_svd`; so such a product is right at every gap.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from qad.extend import any_traced, as_array, stack_of
from qad.linalg.functions.certain import refuse_cancelled
from qad.linalg.functions.elementwise import ElementwiseFunction
from qad.linalg.functions.funm_herm import funm_herm
from qad.linalg.functions.funm_svd import funm_svd
from qad.linalg.support import tolerances
from qad.linalg.support.hermitian_parts import adjoint

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from qad.typing import Array

HIGHEST = 2  # order of derivatives of functions of matrices


def is_close(s: np.ndarray, order: int) -> bool:
    """Whether two of the bare values `s` (..., k), sorted, are so close that factors lose digits in this derivative."""
    if s.shape[-1] < 2 or not 0 < order <= HIGHEST:
        return False
    return bool(_near(s, order).any())


def is_near_null(s: np.ndarray, order: int, is_square: bool) -> bool:
    """Whether one of the singular values `s` (..., k) is so near to zero that its vectors are not determined alone.

    Those of a rectangular matrix are near to the zeros that it has beside; those of a square one only to their own
    negative, which matters where they are zero to rounding.
    """
    if not s.shape[-1] or not 0 < order <= HIGHEST:
        return False
    least, largest = s.min(axis=-1), s.max(axis=-1)
    limit = tolerances.zero(s.dtype, s.shape[-1]) if is_square else tolerances.followed(s.dtype, order)
    return bool((least <= np.maximum(limit * largest, tolerances.tiny(s.dtype))).any())


def _near(s, order):
    """Boolean (..., k - 1): which neighbours are close."""
    largest = np.maximum(np.abs(s[..., 0]), np.abs(s[..., -1]))[..., None]
    return np.abs(s[..., 1:] - s[..., :-1]) <= tolerances.followed(s.dtype, order) * largest


class Pointwise(NamedTuple):
    """An elementwise function of values: ``fn(x, at)`` of values `x` and of their indices `at` in the `tables`.

    The tables are constants that differ from value to value.
    """

    fn: Callable[[Any, np.ndarray], Any]
    tables: tuple[np.ndarray, ...] = ()


@dataclass(eq=False)
class Spectrum:
    """The spectrum of a recorded matrix `a`, of which two values are close.

    Parameters
    ----------
    a : array (n, n), or (m, n) for singular values
    values : bare array (..., k), with the axes of `qad.vmap` in front
    order : int
        Of the derivative.
    owner : "eigh" or "svd"
    is_sorted : bool
        Or else in an order of each example's own.
    """

    a: Array
    values: np.ndarray
    order: int
    owner: str
    is_sorted: bool = True

    @property
    def real(self) -> bool:
        """Whether its vectors are real."""
        return stack_of(self.a).dtype.kind == "f"

    def function(
        self, places: tuple[int, ...], functions: tuple[Pointwise, ...], sides: Sequence[tuple[str, bool]]
    ) -> Array | None:
        """``sum_j x_j f(w_j) y_j^*`` over `places` of vectors of both `sides`, pairs (name, whether conjugated).

        Without sides the sum of f.  None where it is no function of the matrix that is known to be smooth.
        """
        f = self._restricted(places, functions)
        step = self._restricted(places, ())
        if f is None or not _is_function(f, self.values, self.owner == "svd"):
            return None
        if self.owner == "eigh":
            return self._hermitian(f, sides)
        return self._singular(f, step, places, sides)

    def _hermitian(self, f, sides):
        if not sides:
            trace = np.trace(funm_herm(f, self.a))
            return trace if as_array(f(self.values.reshape(-1)[:1])).dtype.kind == "c" else trace.real
        if self.real or sides[0][1] < sides[1][1]:
            return funm_herm(f, self.a)
        return funm_herm(f, self.a).T if sides[0][1] > sides[1][1] else None

    def _singular(self, f, step, places, sides):
        if len({side for side, _ in sides}) == 2:
            flip = sides[0][1] > sides[1][1]
            if not self.real and sides[0][1] == sides[1][1]:
                return None
            if self._meets_zero(f, places):
                return None
            found = funm_svd(f, self.a)
            found = found if sides[0][0] == "u" else adjoint(found)
            return found.conj() if flip else found
        largest = self.values.max()
        if self.values[..., list(places)].min() <= max(tolerances.near() * largest, tolerances.tiny(self.values.dtype)):
            refuse_cancelled(ElementwiseFunction(f, odd=True), self.values, self.order)
            return None
        product, rotation = funm_svd(f, self.a), funm_svd(step, self.a)
        if not sides:
            return np.sum((product * rotation.conj()).real)
        if not self.real and sides[0][1] == sides[1][1]:
            return None
        found = product @ adjoint(rotation) if sides[0][0] == "u" else adjoint(rotation) @ product
        return found.conj() if sides[0][1] > sides[1][1] else found

    def _meets_zero(self, f, places):
        """Whether one of the values is zero to rounding where f is not, so that there is no derivative."""
        s = self.values[..., list(places)]
        lost = tolerances.zero(s.dtype, self.values.shape[-1]) * self.values.max()
        return bool(s.min() <= lost + tolerances.tiny(s.dtype)) and bool(np.any(f(np.zeros(1, s.dtype))))

    def _restricted(self, places, functions):
        """The product of `functions` as a function of a number, zero except at the values chosen by `places`.

        None where it would change between close values.
        """
        place = {p: k for k, p in enumerate(places)}
        tables = [t for f in functions for t in f.tables]

        def differ(p, q):
            if p not in place or q not in place:
                return (p in place) != (q in place)
            return any(t[place[p]] != t[place[q]] for t in tables)

        n = self.values.shape[-1]
        cuts = [p for p in range(n - 1) if differ(p, p + 1)]
        if not cuts:
            return lambda x: product(functions, x, 0)
        if not self.is_sorted or any_traced(self.values) or (_near(self.values, self.order)[..., cuts]).any():
            return None
        upper, lower = self.values[..., cuts], self.values[..., [p + 1 for p in cuts]]
        sign = 1.0 if self.owner == "eigh" else -1.0
        low, high = (sign * x.reshape(-1, len(cuts)) for x in (upper, lower))
        low, high = low.max(axis=0), high.min(axis=0)
        if not (low < high).all():  # no threshold is good for all examples
            return None
        thresholds = (low + high) / 2
        firsts = [0, *(p + 1 for p in cuts)]
        at = np.array([place.get(p, -1) for p in firsts])
        inside = float(self.values[..., places[0]].reshape(-1)[0])

        def f(x):
            k = at[np.searchsorted(thresholds, sign * stack_of(x))]
            return np.where(k >= 0, product(functions, np.where(k >= 0, x, inside), np.maximum(k, 0)), 0.0)

        return f


def product(functions: Sequence[Pointwise], x: Any, at: Any) -> Any:
    """The product of functions of the values `x`, and of their indices `at` in the tables."""
    y = 1.0
    for function in functions:
        y = y * function.fn(x, at)
    return y


def _is_function(f, values, real):
    """Whether `f` is finite and not complex where it must be `real`: the factors do without."""
    with np.errstate(all="ignore"):
        y = as_array(f(values.reshape(-1)))
    return np.isfinite(y).all() and not (real and y.dtype.kind == "c")
