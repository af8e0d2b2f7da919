"""The elementwise function that a matrix function applies to a spectrum, with its derivatives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError, MissingRuleError
from qad.extend import Tensor, jvp
from qad.linalg.support import tolerances

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class ElementwiseFunction:
    """An elementwise function with its first three derivatives, from the tape.

    Parameters
    ----------
    f : callable
        Of an array of real numbers, elementwise, written in NumPy's functions.
    odd : bool
        Continue `f` from the positive numbers as an odd function, ``sign(x) f(|x|)``.

    Raises
    ------
    ArgumentError
        Where it is asked again after what `f` closes over has changed: derivatives are those of the function that it
        was at first.
    """

    f: Callable[[Any], Any]
    odd: bool
    through_zero: bool
    fixed: bool
    first_met: tuple[np.ndarray, np.ndarray] | None

    def __init__(self, f: Callable[[Any], Any], odd: bool = False):
        self.f = lambda x: f(x) + 0.0 * x  # constants become arrays
        self.odd = odd
        self.fixed, self.first_met = isinstance(f, np.ufunc), None
        self.through_zero = not odd or self._starts_at_zero()

    def _starts_at_zero(self):
        with np.errstate(all="ignore"):
            start, size = np.abs(self.f(np.arange(2.0)))
        return bool(start <= tolerances.unit(float) * size)

    def value(self, x: np.ndarray) -> np.ndarray:
        """``f(x)``, continued."""
        if not self.odd:
            return self.plain(x)
        with np.errstate(all="ignore"):
            return np.where(x == 0, 0.0, np.sign(x) * self.plain(np.abs(x)))

    def plain(self, x: np.ndarray) -> np.ndarray:
        """``f(x)``, as given."""
        y = self.f(x)
        if not self.fixed:
            self._recognise(x)
        if type(y) is Tensor:
            raise ArgumentError(
                "the function depends on a recorded Tensor, whose gradient would be lost: bring it into the "
                "matrix, as in funm_herm(np.exp, t * A), or multiply outside"
            )
        if self.odd and y.dtype.kind == "c":
            raise ArgumentError("funm_svd takes real functions: apply it to the real and the imaginary part")
        return y

    def _recognise(self, x):
        """Take note of what `f` gives beside the first points that it meets; raise where it gives something else."""
        with np.errstate(all="ignore"):
            if self.first_met is None:
                # at the point itself it may not show a change
                beside = x + tolerances.near() * (1 + np.abs(x))
                self.first_met = beside, self.f(beside)
                return
            beside, before = self.first_met
            now = self.f(beside)
        same = type(now) is not Tensor and (
            np.array_equal(now, before) or np.allclose(now, before, rtol=tolerances.SOLVED, atol=0, equal_nan=True)
        )
        if not same:
            raise ArgumentError(
                "the function of a matrix has changed since its value was computed: an array that it closes over was "
                "written into, or a name was given to something else. Bring what changes into the matrix, as in "
                "funm_herm(np.exp, t * A)"
            )

    def first(self, x: np.ndarray) -> np.ndarray:
        """``f'(x)``."""
        return self._slope(np.abs(x) if self.odd else x)

    def second(self, x: np.ndarray) -> np.ndarray:
        """``f''(x)``."""
        point = np.abs(x) if self.odd else x
        y = jvp(self._slope, (point,), (np.ones_like(point),))[1]
        return np.sign(x) * y if self.odd else y

    def third(self, x: np.ndarray) -> np.ndarray:
        """The third derivative; NaN if `f` has none."""
        point = np.abs(x) if self.odd else x
        try:
            return jvp(lambda x: jvp(self._slope, (x,), (x * 0.0 + 1.0,))[1], (point,), (np.ones_like(point),))[1]
        except MissingRuleError:
            return np.nan * point

    def _slope(self, x):
        return jvp(self.f, (x,), (x * 0.0 + 1.0,))[1]
