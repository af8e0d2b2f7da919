"""Minimisation on a manifold: L-BFGS and nonlinear conjugate gradients in tangent coordinates.

The optimisers know a manifold by the five methods of `Manifold`; tangent vectors are flat real vectors whose
Euclidean inner product is the manifold's, so that two-loop recursions stay plain linear algebra.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.keywords import keywords_told
from qad.optimize.directions import DIRECTIONS
from qad.optimize.search import Minimisation
from qad.showing.progress import bar_for

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    from qad.optimize.directions import Direction
    from qad.optimize.manifolds import Manifold
    from qad.optimize.result import OptimizeResult
    from qad.optimize.search import EvaluatedPoint
    from qad.typing import Progress, Tree, Vector

    Metric: TypeAlias = Callable[[Any, Vector, float], Vector]  # at a point, of a vector; with the gradient's norm

ARMIJO, WOLFE = 1e-4, 0.9
MOST_TRIALS = 20
ROUNDING = 4e-15  # of the loss, relative


@keywords_told
def minimize_on(
    fun: Callable[[Any], Any],
    params: Tree,
    method: str | Direction = "L-BFGS",
    callback: Callable[[Any, Any], object] | None = None,
    progress: Progress = None,
    *,
    manifold: Manifold,
    gtol: float = 1e-6,
    ftol: float = 1e-14,
    maxiter: int = 1000,
    memory: int = 20,
    longest: float = np.inf,
    metric: Metric | None = None,
    accepted: Callable[[Any, float], object] | None = None,
    evaluated: Callable[[float, float], object] | None = None,
    jac: bool = False,
) -> OptimizeResult:
    """Minimise a real function of parameters that are confined to a manifold.

    Parameters
    ----------
    fun : callable
        ``fun(params)`` returns a real scalar; it is differentiated by qad. Where it has no value it returns ``inf`` or
        raises `qad.errors.RejectedPoint` or `qad.errors.ConvergenceError`, and the search turns back to a smaller step.
    params : pytree
        Where to start, on the manifold.
    method : str or Direction
        "L-BFGS" (default), "CG" (nonlinear conjugate gradients, Hestenes-Stiefel with restarts) or "gradient". Or an
        object of `qad.optimize.directions` that knows the curvature from a descent which ended about here.
    callback : callable, optional
        ``callback(params, value)`` after every iteration; raising StopIteration in it ends the search.
    progress : bool or tqdm, optional
        None for a bar after two seconds, where someone looks: loss, gain and time, in a terminal or a notebook.  True
        for one at once that stays, False for none; or a bar that is moved.
    manifold : Manifold
        `Stiefel`, `Unitary`, `Grassmann`, `Sphere`, a `Product` of them, or your own.
    gtol : float
        Stop where the norm of the Riemannian gradient is below this.
    ftol : float
        Stop where an iteration gains less than ``ftol * max(|f|, 1)``.
    maxiter : int
        Most iterations.
    memory : int
        How many steps "L-BFGS" remembers.
    longest : float
        The largest norm of the first step that an iteration tries: where the loss is far from quadratic, longer ones
        lead astray.
    metric : callable, optional
        ``metric(point, vector, gradient_norm)`` returns the vector with the inverse of a metric applied: a
        preconditioner, such as the environment's metric of a tensor network.  Of a `Product` vectors hold the numbers
        of leaves kind by kind, not leaf by leaf.
    accepted : callable, optional
        As in `minimize`.
    evaluated : callable, optional
        ``evaluated(value, gradient_norm)`` after every evaluation; both are infinite where a point is rejected.
    jac : bool
        Whether ``fun(params)`` returns the value and the gradient as `qad.value_and_grad` does, so that it is not
        differentiated: ``minimize_on(qad.freeze(qad.value_and_grad(loss)), params, manifold=manifold, jac=True)``.

    Returns
    -------
    OptimizeResult

    Raises
    ------
    ArgumentError
        For an unknown method, options that make no sense, or a loss that is not finite at the start.

    Notes
    -----
    P.-A. Absil, R. Mahony and R. Sepulchre, "Optimization Algorithms on Matrix Manifolds" (2008); L-BFGS with
    transported pairs after W. Huang, K. Gallivan and P.-A. Absil, SIAM J. Optim. 25, 1660 (2015).

    Examples
    --------
    >>> import numpy as np, qad
    >>> A = np.diag([3.0, 2.0, 1.0])
    >>> start = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 2)))[0]
    >>> found = qad.optimize.minimize_on(lambda x: qad.tr(x.mT, A, x), start, manifold=qad.optimize.Stiefel())
    >>> round(found.fun, 9)
    3.0
    """
    if not callable(fun):
        raise ArgumentError(f"{fun!r} is no function: write minimize_on(fun, params, manifold=...)")
    if not hasattr(manifold, "point"):
        raise ArgumentError(f"{manifold!r} is no manifold: write manifold=qad.optimize.Sphere(), or another")
    if isinstance(method, str) and method not in DIRECTIONS:
        raise ArgumentError(f"unknown method {method!r}: choose one of {', '.join(DIRECTIONS)}")
    if maxiter < 1 or memory < 1:
        raise ArgumentError(f"maxiter and memory must be at least 1, but got {maxiter!r} and {memory!r}")
    if not longest > 0:
        raise ArgumentError(f"longest is the positive norm of a step, not {longest!r}")
    direction = DIRECTIONS[method](memory) if isinstance(method, str) else method
    descent = Descent(
        manifold, manifold.point(params), fun, callback, accepted, jac, direction=direction, longest=longest,
        evaluated=evaluated, metric=metric or (lambda point, vector, norm: vector),
    )  # fmt: skip
    with bar_for(progress) as descent.bar:
        return descent.guarded(lambda: descent.run(gtol, ftol, maxiter))


@dataclass(eq=False)
class Descent(Minimisation):
    """A search along the directions of `direction`, over the points of a manifold."""

    direction: Direction | Any = None
    longest: float = np.inf
    metric: Metric | None = None

    def run(self, gtol: float, ftol: float, maxiter: int) -> tuple[bool, str]:
        """Descend; returns whether a tolerance was reached, and why it ended."""
        self.evaluate(self.start)
        for _ in range(maxiter):
            if self.here.norm <= gtol:
                return True, f"the norm of the gradient is {self.here.norm:.1e}"
            before = self.here.value
            if not self.advance():
                return True, "no step lowers the loss any further"
            if before - self.here.value <= ftol * max(abs(before), 1.0):
                return True, f"the last iteration gained {before - self.here.value:.1e}"
        return False, "stopped at maxiter iterations"

    def advance(self) -> bool:
        """One iteration; returns whether it found a lower loss."""
        here = self.here
        scaled = self.metric(here.point, here.gradient, here.norm)
        for vector in self.direction.candidates(here, scaled, lambda v: self.metric(here.point, v, here.norm)):
            there, step, velocity = self.search(here, vector)
            if there is not None:
                carry = partial(self.space.transport, here.point, step, there.point)
                self.direction.moved(here, there, velocity, carry, getattr(self.space, "reach", 0.0))
                self.step(there)
                return True
            self.direction.forget()
        return False

    def search(self, here: EvaluatedPoint, vector: Vector) -> tuple[Any, Any, Any]:
        """Where a step along `vector` satisfies Wolfe's conditions (near rounding Hager and Zhang's); step, velocity.

        Bisection between a step that is too short and one that is too long; A. S. Lewis and M. L. Overton, Math.
        Program. 141, 135 (2013).  While none is too long it grows by 2, 4, 8, ..., for a flat start may ask for many
        orders of magnitude.
        """
        slope = here.gradient @ vector
        short, long, t = 0.0, np.inf, min(1.0, self.longest / np.linalg.norm(vector))
        best, growth = (None, None, None), 1.0
        for _ in range(MOST_TRIALS):
            point, velocity = self.space.retract(here.point, t * vector)
            there = self.evaluate(point)
            end = there.gradient @ velocity / t if np.isfinite(there.value) else np.inf
            enough = there.value <= here.value + ARMIJO * t * slope
            if not enough and there.value <= here.value + ROUNDING * abs(here.value):
                enough = end <= (2 * ARMIJO - 1) * slope
            if not enough:
                long = t
            else:
                best = there, t * vector, velocity
                if end >= WOLFE * slope:
                    break
                short = t
            growth *= 2
            t = secant(short, long, t, slope, end) if long < np.inf else growth * t
        return best


def secant(short: float, long: float, t: float, slope: float, end: float) -> float:
    """Where the slope would vanish by linear interpolation, kept inside of the middle of the bracket."""
    guess = t * slope / (slope - end) if np.isfinite(end) and end > slope else (short + long) / 2
    margin = 0.1 * (long - short)
    return min(max(guess, short + margin), long - margin)
