"""Initial value problems by the pair of Dormand and Prince, and derivatives that the same tolerances bound.

Values choose the steps.  Of a solution that stays where it is that says nothing about the derivative: so where
anything is differentiated the steps are halved until they carry cotangents as well (`cotangent_steps.py`), and the
program that is recorded takes those, of sizes that are constants but for the last before a time, which is what is left.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError, BatchError
from qad.core.transforms.checkpoint import checkpoint
from qad.core.trees import flatten
from qad.extend import Tensor, as_array, unrecorded, value_of
from qad.extend.batching import is_batched
from qad.integrate.cotangent_steps import refined
from qad.integrate.dormand_prince import advanced
from qad.integrate.solver import Solver
from qad.keywords import keywords_told
from qad.linalg.support.derivative_order import orders
from qad.showing.progress import bar_for

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from qad.typing import Array, ArrayLike

__all__ = ["solve_ivp"]


@keywords_told
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
    GradientTypeError
        A derivative where `f` jumps in the state, or a second one where it has a kink; or one where the state rests on
        a kink.  The message names the time.

    Notes
    -----
    The 5(4) pair of Dormand and Prince (J. Comp. Appl. Math. 6, 19).  It is differentiated by the initial state, the
    parameters and the times, with errors of a step of a derivative, too, of at most `rtol` of it (in a generic
    direction, to second order), or `atol`, for a loss that is the final state.  That takes a pass back through the
    steps before they are recorded, and smaller ones where the derivative needs them; so a recorded value may differ
    from the plain one, within the tolerances.
    Each step is a `qad.checkpoint`: of a step only the state before it is kept, and it is computed again in the
    backward pass.  Stiff equations take very many steps.

    Where `f` has a kink in the state (``abs``), steps shrink around it and the gradient is right; its second derivative
    is refused.  Where the state rests on a kink, derivatives on its sides differ, and all are refused.  Where `f`
    jumps, a gradient would miss that the time of the jump moves, and is refused; a jump at a fixed time is none.  A
    time of switching that is itself differentiated has to be one of `times`, with a call of `solve_ivp` before and one
    after it.

    Under `qad.vmap` all examples take the same steps.

    Examples
    --------
    >>> import numpy as np, qad  # a phase that turns at the rate w, and how the state at time 2 changes with w
    >>> def overlap(w):
    ...     y = qad.integrate.solve_ivp(lambda t, y, w: 1j * w * y, [0.0, 2.0], np.array(1.0 + 0j), (w,))
    ...     return y[-1].real
    >>> round(float(qad.grad(overlap)(0.5)), 6), round(float(-2 * np.sin(1.0)), 6)
    (-1.682942, -1.682942)
    """
    if not callable(f) or callable(times) or callable(y0):
        raise ArgumentError("solve_ivp: the function comes first: solve_ivp(f, times, y0), with f(t, y)")
    if not hasattr(times, "__len__") or getattr(times, "ndim", 1) == 0:
        raise ArgumentError(f"solve_ivp takes the times between f and y0, solve_ivp(f, times, y0), but got {times!r}")
    times = [times[i] for i in range(len(times))]
    if any(map(is_batched, times)):
        raise BatchError("solve_ivp: the times are a batch of qad.vmap: scale them, y'(s) = T f(T s, y) over [0, 1]")
    bare = [float(value_of(t)) for t in times]
    sign = np.sign(bare[-1] - bare[0]) if len(bare) > 1 else 0
    if not sign or any(sign * (after - before) <= 0 for before, after in pairwise(bare)):
        raise ArgumentError(
            f"solve_ivp: the times {bare} are not two or more that rise or fall: solve_ivp(f, times, y0)"
        )
    y = y0 if type(y0) is Tensor else as_array(y0)
    y = y * 1.0 if y.dtype.kind not in "fc" else y
    if not (rtol >= 0 and atol >= 0 and rtol + atol > 0):
        raise ArgumentError(f"solve_ivp: rtol={rtol} and atol={atol} are not positive numbers, or one of them 0")
    solver = Solver(f, args, rtol, atol, max_steps)
    states = [unrecorded(y)]
    taken = []
    with bar_for(label="times", total=len(bare) - 1) as bar:
        for begin, end in pairwise(bare):
            end_state, steps = solver.between(begin, end, states[-1])
            states.append(end_state)
            taken.append(steps)
            bar.update()
    order = max([solver.order, *(orders(x) for x in (y, *times, *flatten(args)[0]))])
    if order:
        fine = refined(solver, taken, states[1:], order, any(orders(t) for t in times))
        states = [y]
        for (begin, end), starts in zip(pairwise(times), fine, strict=True):
            states.append(_along(solver, begin, end, starts, states[-1]))
    return np.stack(states)


def _along(solver, begin, end, starts, y):
    """The solution at `end`, by steps that begin at given times."""
    advance = checkpoint(advanced)
    places = [begin + (start - starts[0]) for start in starts]
    for here, (start, following) in zip(places, pairwise(starts), strict=False):
        y = advance(solver.f, here, y, following - start, solver.args)
    return advance(solver.f, places[-1], y, end - places[-1], solver.args)
