"""Minimisation on a manifold: L-BFGS and nonlinear conjugate gradients in tangent coordinates.

The optimisers know a manifold by the five methods of `Manifold`; tangent vectors are flat real vectors whose
Euclidean inner product is the manifold's, so that two-loop recursions stay plain linear algebra.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError, ConvergenceError, RejectedPoint
from qad.core.keywords import keywords_told
from qad.core.transforms.grad import value_and_grad
from qad.optimize.directions import DIRECTIONS
from qad.optimize.minimization import Stop
from qad.optimize.points import EvaluatedPoint
from qad.optimize.progress import bar_for, note
from qad.optimize.result import BY_USER, OptimizeResult

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from qad.optimize.directions import Direction
    from qad.optimize.points import Manifold, Metric
    from qad.typing import Function, Progress, Tree, Vector

ARMIJO, WOLFE = 1e-4, 0.9
MOST_TRIALS = 20
ROUNDING = 4e-15  # of the loss, relative


@keywords_told
def minimize_on(
    manifold: Manifold,
    fun: Callable[[Any], Any],
    params: Tree,
    method: str | Direction = "L-BFGS",
    callback: Callable[[Any, Any], object] | None = None,
    progress: Progress = False,
    *,
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
    manifold : Manifold
        `Stiefel`, `Unitary`, `Grassmann`, `Sphere`, a `Product` of them, or your own.
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
    progress : bool or tqdm
        Show loss, gain and time, where someone looks: in a terminal or a notebook. Or move the bar that is given.
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
        preconditioner, such as the environment's metric of a tensor network.
    accepted : callable, optional
        As in `minimize`.
    evaluated : callable, optional
        ``evaluated(value, gradient_norm)`` after every evaluation; both are infinite where a point is rejected.
    jac : bool
        Whether ``fun(params)`` returns the value and the gradient as `qad.value_and_grad` does, so that it is not
        differentiated: ``minimize_on(manifold, qad.freeze(qad.value_and_grad(loss)), params, jac=True)``.

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
    >>> found = qad.optimize.minimize_on(qad.optimize.Stiefel(), lambda x: qad.tr(x.mT, A, x), start)
    >>> round(found.fun, 9)
    3.0
    """
    if isinstance(method, str) and method not in DIRECTIONS:
        raise ArgumentError(f"unknown method {method!r}: choose one of {', '.join(DIRECTIONS)}")
    if maxiter < 1 or memory < 1:
        raise ArgumentError(f"maxiter and memory must be at least 1, but got {maxiter!r} and {memory!r}")
    if not longest > 0:
        raise ArgumentError(f"longest is the positive norm of a step, not {longest!r}")
    direction = DIRECTIONS[method](memory) if isinstance(method, str) else method
    descent = Descent(manifold, fun, params, direction, metric, callback, accepted, longest, evaluated, jac)
    with bar_for(progress) as descent.bar:
        message, success = descent.run(gtol, ftol, maxiter)
    return descent.result(message, success)


class Descent:
    """One minimisation."""

    manifold: Manifold
    direction: Direction
    callback: Callable[[Any, Any], object] | None
    accepted: Callable[[Any, float], object] | None
    evaluated: Callable[[float, float], object] | None
    metric: Metric
    value_and_grad: Function
    evaluations: int
    rejections: int
    lowest: EvaluatedPoint | None
    here: EvaluatedPoint
    history: list[float]
    longest: float
    bar: Any

    def __init__(
        self, manifold: Manifold, fun: Callable[[Any], Any], params: Tree, direction: Direction, metric: Metric | None,
        callback: Callable[[Any, Any], object] | None, accepted: Callable[[Any, float], object] | None = None,
        longest: float = np.inf, evaluated: Callable[[float, float], object] | None = None, jac: bool = False,
    ):  # fmt: skip
        self.manifold, self.direction, self.callback, self.accepted = manifold, direction, callback, accepted
        self.longest, self.evaluated, self.metric = longest, evaluated, metric or (lambda point, vector, norm: vector)
        self.value_and_grad = fun if jac else value_and_grad(fun)
        self.evaluations, self.rejections, self.lowest = 0, 0, None
        self.here = self.evaluate(manifold.point(params))
        if not np.isfinite([self.here.value, self.here.norm]).all():
            raise ArgumentError(
                f"the loss is {self.here.value}, or its gradient not finite, at the starting parameters"
            )
        self.history = [self.here.value]

    def evaluate(self, point: Any) -> EvaluatedPoint:
        """Loss and gradient at a point."""
        params = self.manifold.params(point)
        place = self.place_of(point, params)
        self.rejections += place.gradient is None
        if place.gradient is not None and (self.lowest is None or place.value < self.lowest.value):
            self.lowest = place
            if self.accepted is not None:
                self.accepted(params, place.value)
        if self.evaluated is not None:
            self.evaluated(place.value, place.norm)
        return place

    def place_of(self, point: Any, params: Any) -> EvaluatedPoint:
        """A point with loss and gradient, or where it is rejected without."""
        self.evaluations += 1
        try:
            value, gradient = self.value_and_grad(params)
        except (RejectedPoint, ConvergenceError) as rejection:
            if self.evaluations == 1 and isinstance(rejection, ConvergenceError):
                raise
            value = np.inf
        if float(value) == np.inf:
            return EvaluatedPoint(point, np.inf, None)
        return EvaluatedPoint(point, float(value), self.manifold.gradient(point, gradient))

    def run(self, gtol: float, ftol: float, maxiter: int) -> tuple[str, bool]:
        """Descend; returns why it ended, and whether a tolerance was reached."""
        try:
            for _ in range(maxiter):
                if self.here.norm <= gtol:
                    return f"the norm of the gradient is {self.here.norm:.1e}", True
                before = self.here.value
                if not self.advance():
                    return "no step lowers the loss any further", True
                self.report()
                if before - self.here.value <= ftol * max(abs(before), 1.0):
                    return f"the last iteration gained {before - self.here.value:.1e}", True
            return "stopped at maxiter iterations", False
        except Stop as stop:
            return str(stop), False
        except KeyboardInterrupt:
            return BY_USER, False

    def advance(self) -> bool:
        """One iteration; returns whether it found a lower loss."""
        here = self.here
        scaled = self.metric(here.point, here.gradient, here.norm)
        for vector in self.direction.candidates(here, scaled, lambda v: self.metric(here.point, v, here.norm)):
            found = self.search(here, vector)
            if found[0] is not None:
                there, step, velocity = found
                self.direction.moved(self.manifold, here, there, step, velocity)
                self.here = there
                return True
            self.direction.forget()
        return False

    def search(
        self, here: EvaluatedPoint, vector: Vector
    ) -> tuple[EvaluatedPoint, Vector, Vector] | tuple[None, None, None]:
        """A step along `vector` that satisfies Wolfe's conditions (or Hager and Zhang's, near rounding).

        Bisection between a step that is too short and one that is too long, doubled while none is too long;
        A. S. Lewis and M. L. Overton, Math. Program. 141, 135 (2013).
        """
        slope = here.gradient @ vector
        short, long, t = 0.0, np.inf, min(1.0, self.longest / np.linalg.norm(vector))
        best = None, None, None
        for _ in range(MOST_TRIALS):
            point, velocity = self.manifold.retract(here.point, t * vector)
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
            t = secant(short, long, t, slope, end) if long < np.inf else 2 * t
        return best

    def report(self) -> None:
        """Tell bar, history and callback of an iteration."""
        self.history.append(self.here.value)
        note(self.bar, self.history, self.here.norm)
        if self.callback is not None:
            try:
                self.callback(self.manifold.params(self.here.point), self.here.value)
            except StopIteration:
                raise Stop("stopped by the callback") from None

    def result(self, message: str, success: bool) -> OptimizeResult:
        """All that was found."""
        best, history = self.lowest or self.here, np.array(self.history)
        params, interrupted = self.manifold.params(best.point), message.startswith("stopped by")
        rejected = f" ({self.rejections} points were rejected)" if self.rejections else ""
        return OptimizeResult(
            params, best.value, history, best.norm, success, interrupted, message + rejected, len(history) - 1,
            self.evaluations,
        )  # fmt: skip


def secant(short: float, long: float, t: float, slope: float, end: float) -> float:
    """Where the slope would vanish by linear interpolation, kept inside of the middle of the bracket."""
    guess = t * slope / (slope - end) if np.isfinite(end) and end > slope else (short + long) / 2
    margin = 0.1 * (long - short)
    return min(max(guess, short + margin), long - margin)
