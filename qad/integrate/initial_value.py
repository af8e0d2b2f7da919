"""Initial value problems by the pair of Dormand and Prince, and gradients through the steps that were taken.

Step sizes are chosen by values alone and are constants, but for those at which a time is met: they are what is left.
So the gradient is that of the numerical solution, to every order, and as close to that of the true one as its error.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError, ConvergenceError, ShapeError
from qad.core.transforms.checkpoint import checkpoint
from qad.extend import Tensor, as_array, value_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from qad.typing import Array, ArrayLike

__all__ = ["solve_ivp"]

NODES = (0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0)
STAGES = (
    (),
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
)
FIFTH = (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84)
ERROR = (-71 / 57600, 0.0, 71 / 16695, -71 / 1920, 17253 / 339200, -22 / 525, 1 / 40)  # of the fifth order, by the 4th
SAFETY, LEAST, MOST = 0.9, 0.2, 10.0  # how a step may change from one to the next


def solve_ivp(
    f: Callable[..., Array], times: Sequence[float] | ArrayLike, y0: ArrayLike, args: tuple[Any, ...] = (), *,
    rtol: float = 1e-8, atol: float = 1e-10, max_steps: int = 100_000,
) -> Array:  # fmt: skip
    """Solve ``dy/dt = f(t, y, *args)`` with ``y(times[0]) = y0``.

    Parameters
    ----------
    f : callable
        ``f(t, y, *args)`` returns an array of the shape of y.
    times : sequence of float, or array (m,)
        Where the solution begins, and where it is wanted: rising, or falling.
    y0 : array, of any shape
        Real or complex.
    args : tuple of pytrees
        Parameters.  What `f` closes over is differentiated as well, but then all steps are kept in memory.
    rtol, atol : float
        The error of a step is at most ``atol + rtol |y|``, by the root of its mean square.
    max_steps : int
        How many steps may be tried, from the first time to the last.

    Returns
    -------
    array (m, ...)
        The solution at all times, the first included.

    Raises
    ------
    ArgumentError, ShapeError
        The times are fewer than two or do not go one way; a tolerance is negative, or both are 0; `f` returns another
        shape than that of y.
    ConvergenceError
        More than `max_steps` steps, or a step that is too small to change the time: the solution may be singular.

    Notes
    -----
    The 5(4) pair of Dormand and Prince (J. Comp. Appl. Math. 6, 19).  It is differentiated by the initial state, the
    parameters and the times.  Each step is a `qad.checkpoint`: of a step only the state before it is kept, and it is
    computed again in the backward pass.  Stiff equations take very many steps.

    Examples
    --------
    >>> import numpy as np, qad  # a phase that turns at the rate w, and how the state at time 2 changes with w
    >>> def overlap(w):
    ...     y = qad.integrate.solve_ivp(lambda t, y, w: 1j * w * y, [0.0, 2.0], np.array(1.0 + 0j), (w,))
    ...     return y[-1].real
    >>> round(float(qad.grad(overlap)(0.5)), 6), round(float(-2 * np.sin(1.0)), 6)
    (-1.682942, -1.682942)
    """
    times = [times[i] for i in range(len(times))]
    bare = [float(value_of(t)) for t in times]
    sign = np.sign(bare[-1] - bare[0]) if len(bare) > 1 else 0
    if not sign or any(sign * (after - before) <= 0 for before, after in pairwise(bare)):
        raise ArgumentError(f"solve_ivp: the times {bare} are not two or more that rise or fall")
    y = y0 if type(y0) is Tensor else as_array(y0)
    y = y * 1.0 if y.dtype.kind not in "fc" else y
    if not (rtol >= 0 and atol >= 0 and rtol + atol > 0):
        raise ArgumentError(f"solve_ivp: rtol={rtol} and atol={atol} are not positive numbers, or one of them 0")
    solver = _Solver(f, args, rtol, atol, max_steps)
    states = [y]
    for begin, end in pairwise(times):
        states.append(solver.between(begin, end, states[-1]))
    return np.stack(np.broadcast_arrays(*states) if states[0].dtype == states[-1].dtype else _one_dtype(states))


def _one_dtype(states):
    """A real initial state whose solution is complex."""
    dtype = np.result_type(*[y.dtype for y in states])
    return [y.astype(dtype) for y in states]


class _Solver:
    """Steps of one problem, with the size that the last one suggested."""

    def __init__(self, f, args, rtol, atol, max_steps):
        self.f, self.args, self.rtol, self.atol, self.left = f, args, rtol, atol, max_steps
        self.size = None
        self.step = checkpoint(_step)

    def between(self, begin: Any, end: Any, y: Array) -> Array:
        """The solution at `end` of that which is `y` at `begin`."""
        t, here, there = begin, float(value_of(begin)), float(value_of(end))
        sign = 1.0 if there > here else -1.0
        if self.size is None:
            self.size = min(self._first(here, y), abs(there - here))
        while here != there:
            last = self.size >= abs(there - here) * (1 - 1e-12)
            size = end - t if last else sign * self.size
            found, error = self.step(self.f, t, y, size, self.args)
            ratio = self._ratio(value_of(error), value_of(y), value_of(found))
            self._next(ratio, abs(float(value_of(size))), here)
            if ratio <= 1:
                t, y = (end if last else t + size), found
                here = there if last else float(value_of(t))
        return y

    def _first(self, t, y):
        """A step in which the state changes by about a hundredth (Hairer, Norsett and Wanner, II.4)."""
        bare = value_of(y)
        slope = value_of(_checked(self.f(t, bare, *self.args), bare.shape))
        scale = self.atol + self.rtol * np.abs(bare)
        size, speed = _mean(bare / scale), _mean(slope / scale)
        return 1e-6 if min(size, speed) < 1e-5 else 0.01 * size / speed

    def _ratio(self, error, before, after):
        """The error of a step as a multiple of what is allowed."""
        return _mean(error / (self.atol + self.rtol * np.maximum(np.abs(before), np.abs(after))))

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


def _mean(x):
    return float(np.sqrt(np.mean(np.abs(x) ** 2))) if np.size(x) else 0.0


def _checked(slope, shape):
    if np.ndim(slope) and not hasattr(slope, "shape"):
        raise ShapeError("solve_ivp: the function returns a list: write np.stack([...]), an array of the shape of y")
    if np.shape(slope) != shape:
        raise ShapeError(f"solve_ivp: the function returns shape {np.shape(slope)} for a state of shape {shape}")
    return slope


def _step(f, t, y, size, args):
    """The state after a step, and the estimate of its error."""
    slopes = []
    for node, weights in zip(NODES, STAGES, strict=True):
        now = y + size * _sum(weights, slopes) if slopes else y
        slopes.append(_checked(f(t + node * size, now, *args), y.shape))
    found = y + size * _sum(FIFTH, slopes)
    slopes.append(f(t + size, found, *args))
    return found, size * _sum(ERROR, slopes)


def _sum(weights, slopes):
    return sum(w * k for w, k in zip(weights, slopes, strict=True) if w)
