"""Steps that values choose, and no derivatives."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ConvergenceError
from qad.core.trees import tree_map
from qad.extend import stack_of, unrecorded
from qad.integrate.dormand_prince import advanced, checked, pair_of
from qad.linalg.support.derivative_order import orders
from qad.showing.progress import bar_for

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    from qad.typing import Array

    Start: TypeAlias = tuple[float, float, Array]  # time, size and state at the beginning of a step

SAFETY, LEAST, MOST = 0.9, 0.2, 10.0  # how a step may change from one to the next


@dataclass(eq=False)
class Solver:
    """Steps of one problem without derivatives, with the size that the last one suggested.

    `order` counts the derivatives that are taken of what `f` closes over.
    """

    f: Callable[..., Array]
    args: tuple[Any, ...]
    rtol: float
    atol: float
    left: int
    size: float | None = None
    order: int = 0
    bare: Any = field(init=False)

    def __post_init__(self) -> None:
        self.bare = tree_map(unrecorded, self.args)

    def between(self, begin: float, end: float, y: Array) -> tuple[Array, list[Start]]:
        """The solution at `end` of that which is `y` at `begin`, and the steps: time, size, and state before it."""
        here, steps, sign = begin, [], 1.0 if end > begin else -1.0
        if self.size is None:
            self.size = min(self._first(here, y), abs(end - here))
        with bar_for(label="steps") as bar:
            while here != end:
                last = self.size >= abs(end - here) * (1 - 1e-12)
                size = end - here if last else sign * self.size
                found, error = self._bare(*pair_of(self.f, here, y, size, self.bare))
                ratio = size_of(error / (self.atol + self.rtol * np.maximum(np.abs(y), np.abs(found))))
                self._next(ratio, abs(size), here)
                if ratio <= 1:
                    steps.append((here, size, y))
                    here, y = (end if last else here + size), found
                bar.update()
        return y, steps

    def advanced(self, t: float, y: Array, size: float) -> Array:
        """The state after a step."""
        return self._bare(advanced(self.f, t, y, size, self.bare))[0]

    def slope(self, t: float, y: Array) -> Array:
        """What `f` returns there."""
        return self._bare(checked(self.f(t, y, *self.bare), y.shape))[0]

    def _bare(self, *found):
        """What was found, without derivatives by what `f` closes over; those are counted."""
        self.order = max(self.order, *map(orders, found))
        return [unrecorded(x) for x in found]

    def _first(self, t, y):
        """A step in which the state changes by about a hundredth (Hairer, Norsett and Wanner, II.4)."""
        scale = self.atol + self.rtol * np.abs(y)
        size, speed = size_of(y / scale), size_of(self.slope(t, y) / scale)
        return 1e-6 if min(size, speed) < 1e-5 else 0.01 * size / speed

    def _next(self, ratio, size, t):
        """Set the next step, and see that there is one."""
        self.left -= 1
        change = MOST if ratio == 0 else SAFETY * ratio ** (-1 / 5) if np.isfinite(ratio) else LEAST
        self.size = size * min(MOST if ratio <= 1 else 1.0, max(LEAST, change))
        if self.left < 0 or self.size <= 4 * np.spacing(abs(t)):
            raise ConvergenceError(
                f"solve_ivp: stuck at t = {t:.6g} with steps of {self.size:.3g}: the solution may be singular there, "
                "or the equation stiff; max_steps= allows more of them, and larger rtol= and atol= make them longer"
            )


def size_of(x: Array) -> float:
    """The root of the mean square; of the examples of a batch the largest."""
    mean = np.sqrt(np.mean(np.abs(x) ** 2)) if np.size(x) else np.float64(0.0)
    return float(np.max(stack_of(mean)))
