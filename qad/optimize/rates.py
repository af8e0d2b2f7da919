"""Searches by steps of a given rate, for functions of any pytree: Adam, and descent by the natural gradient."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError, ConvergenceError, RejectedPoint, ShapeError
from qad.extend import as_array, like
from qad.keywords import keywords_told
from qad.optimize.packing import Parameters
from qad.optimize.progress import bar_for
from qad.optimize.search import Minimisation

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from qad.optimize.result import OptimizeResult
    from qad.typing import ArrayLike, Progress, Tree, Vector

FATAL = RejectedPoint, ConvergenceError  # there is no smaller step to turn back to


@keywords_told
def adam(
    fun: Callable[[Any], Any],
    params: Tree,
    rate: float | Callable[[int], float] = 0.01,
    callback: Callable[[Any, Any], object] | None = None,
    progress: Progress = False,
    *,
    maxiter: int = 1000,
    gtol: float = 1e-6,
    decay: tuple[float, float] = (0.9, 0.999),
    epsilon: float = 1e-8,
    jac: bool = False,
) -> OptimizeResult:
    """Minimise a real function of a pytree of float and complex arrays by Adam.

    Parameters
    ----------
    fun : callable
        ``fun(params)`` returns a real scalar; it is differentiated by qad.  It may be random, as an estimate from a
        few shots is.
    params : pytree
        Where to start; it is not changed.
    rate : float or callable
        Size of the steps, or a function from the number of a step (from 0) to it.
    callback : callable, optional
        ``callback(params, value)`` after every step; raising StopIteration in it ends the search.
    progress : bool or tqdm
        Show loss, gain and time, where someone looks: in a terminal or a notebook. Or move the bar that is given.
    maxiter : int
        Number of steps.
    gtol : float
        Stop where the Euclidean norm of the gradient is below this.
    decay : pair of float
        How much of the mean gradient, and of the mean squared gradient, a step keeps.
    epsilon : float
        Added to the root of the mean square.
    jac : bool
        Whether ``fun(params)`` returns the value and the gradient as `qad.value_and_grad` does, so that it is not
        differentiated: ``adam(qad.freeze(qad.value_and_grad(loss)), params, jac=True)``.

    Returns
    -------
    OptimizeResult
        With the best parameters that were seen.

    Raises
    ------
    ArgumentError
        If an option is out of range, or the loss is not finite at the start.
    GradientTypeError
        If `params` holds anything but floats and complex numbers, or `fun` returns a complex number.

    Notes
    -----
    With mean gradient m and mean square v, each divided by one minus its decay to the power of the step,
    ``x -= rate * m / (sqrt(v) + epsilon)``.  D. P. Kingma and J. Ba, arXiv:1412.6980, algorithm 1.  A complex number
    has one mean square, of its modulus: steps do not depend on the phase in which a problem is written.

    Examples
    --------
    >>> import numpy as np, qad
    >>> result = qad.optimize.adam(lambda z: qad.abs2(z - (1 + 2j)).sum(), np.zeros(2, complex), rate=0.1)
    >>> result.params.round(4), result.success
    (array([1.+2.j, 1.+2.j]), True)
    """
    beta, gamma = decay
    for name, value, most in (("decay", beta, 1), ("decay", gamma, 1), ("gtol", gtol, np.inf), ("rate", rate, np.inf)):
        if not callable(value) and not 0 <= value < most:
            raise ArgumentError(f"adam: {name} lies between 0 and {most}, but got {value!r}")
    packing = Parameters(params)
    start = packing.pack(params)
    mean, square = np.zeros_like(start), np.zeros_like(start)

    def direction(step, vector, gradient):
        nonlocal mean, square
        mean = beta * mean + (1 - beta) * gradient
        square = gamma * square + (1 - gamma) * packing.squares(gradient)
        size = np.sqrt(square / (1 - gamma ** (step + 1)))
        return mean / (1 - beta ** (step + 1)) / (size + epsilon)

    search = Minimisation(packing, start, fun, callback, jac=jac, fatal=FATAL)
    return descend(search, direction, rate, maxiter, gtol, progress)


@keywords_told
def natural_descent(
    fun: Callable[[Any], Any],
    params: Tree,
    metric: Callable[[Any], ArrayLike],
    rate: float | Callable[[int], float] = 0.05,
    callback: Callable[[Any, Any], object] | None = None,
    progress: Progress = False,
    *,
    maxiter: int = 1000,
    gtol: float = 1e-6,
    damping: float = 1e-4,
    jac: bool = False,
) -> OptimizeResult:
    """Minimise a real function of a pytree by steps ``x -= rate * (G + damping)^-1 g``.

    Parameters
    ----------
    fun : callable
        ``fun(params)`` returns a real scalar; it is differentiated by qad.
    params : pytree
        Where to start; it is not changed.
    metric : callable
        ``metric(params)`` returns the symmetric positive semidefinite matrix (P, P) of a step's squared length, in the
        order of all flattened parameters, a complex number being the pair of its real and imaginary part.  For
        circuits it is the quantum metric, a quarter of the Fisher information.
    rate : float or callable
        Length of the steps in units of the natural gradient, or a function from the number of a step (from 0) to it.
    callback : callable, optional
        ``callback(params, value)`` after every step; raising StopIteration in it ends the search.
    progress : bool or tqdm
        Show loss, gain and time, where someone looks: in a terminal or a notebook. Or move the bar that is given.
    maxiter : int
        Number of steps.
    gtol : float
        Stop where the Euclidean norm of the gradient is below this.
    damping : float
        Added to the diagonal: directions that hardly change anything are not followed far.
    jac : bool
        Whether ``fun(params)`` returns the value and the gradient as `qad.value_and_grad` does, so that it is not
        differentiated: ``natural_descent(qad.freeze(qad.value_and_grad(loss)), params, metric, jac=True)``.

    Returns
    -------
    OptimizeResult
        With the best parameters that were seen.

    Raises
    ------
    ArgumentError
        If the damping is negative, the damped metric is singular, or the loss is not finite at the start.
    ShapeError
        If the metric does not fit the parameters.

    Notes
    -----
    S. Amari, Neural Computation 10, 251 (1998); for circuits J. Stokes et al., Quantum 4, 269 (2020).

    Examples
    --------
    >>> import numpy as np, qad
    >>> stretched = np.diag([1.0, 100.0])
    >>> result = qad.optimize.natural_descent(
    ...     lambda x: x @ stretched @ x, np.ones(2), lambda x: stretched, rate=0.5, maxiter=3, damping=0.0)
    >>> result.params.round(12) + 0.0, result.nit
    (array([0., 0.]), 1)
    """
    if not damping >= 0:
        raise ArgumentError(f"natural_descent: damping must not be negative, but got {damping!r}")
    packing = Parameters(params)

    def direction(step, vector, gradient):
        matrix = as_array(metric(packing.unpack(vector)))
        if matrix.shape != (vector.size,) * 2:
            raise ShapeError(f"a metric of shape {matrix.shape} does not fit {vector.size} real parameters")
        try:
            return np.linalg.solve(matrix + damping * like(matrix).eye(vector.size), gradient)
        except np.linalg.LinAlgError:
            raise ArgumentError("the metric is singular: give natural_descent a damping above 0") from None

    search = Minimisation(packing, packing.pack(params), fun, callback, jac=jac, fatal=FATAL)
    return descend(search, direction, rate, maxiter, gtol, progress)


def descend(
    search: Minimisation, direction: Callable[[int, Vector, Vector], Vector], rate: float | Callable[[int], float],
    maxiter: int, gtol: float, progress: Progress,
) -> OptimizeResult:  # fmt: skip
    """Steps ``x -= rate * direction(step, x, gradient)`` until the gradient is small."""
    if not maxiter >= 0:
        raise ArgumentError(f"maxiter must not be negative, but got {maxiter!r}")
    sizes = rate if callable(rate) else lambda step: rate

    def steps():
        place = search.evaluate(search.start)
        for step in range(maxiter):
            if place.norm < gtol:
                return True, "the gradient is smaller than gtol"
            move = direction(step, place.point, place.gradient)
            place = search.evaluate(place.point - sizes(step) * move)
            search.step(place)
        return place.norm < gtol, f"all {maxiter} steps were taken"

    with bar_for(progress, total=None if gtol else maxiter) as search.bar:
        return search.guarded(steps)
