"""Searches by steps of a given rate, for functions of any pytree: descent by the natural gradient."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.errors import ArgumentError, ConvergenceError, RejectedPoint, ShapeError
from qad.extend import as_array, like
from qad.keywords import keywords_told
from qad.linalg.krylov.gmres import solve
from qad.optimize.packing import Parameters
from qad.optimize.search import Minimisation
from qad.showing.progress import bar_for

if TYPE_CHECKING:
    from collections.abc import Callable

    from qad.optimize.result import OptimizeResult
    from qad.typing import ArrayLike, Progress, Tree, Vector

FATAL = RejectedPoint, ConvergenceError  # there is no smaller step to turn back to


@keywords_told
def natural_descent(
    fun: Callable[[Any], Any],
    params: Tree,
    metric: Callable[[Any], ArrayLike | Callable[[Vector], ArrayLike]],
    rate: float | Callable[[int], float] = 0.05,
    callback: Callable[[Any, Any], object] | None = None,
    progress: Progress = None,
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
        circuits it is the quantum metric, a quarter of the Fisher information; of a Hermitian matrix, such as the
        quantum geometric tensor, the real part is the metric.  Or the matrix as its product: a function from a vector
        (P,) to ``G @ vector``, or a SciPy LinearOperator, for equations that are solved by conjugate gradients.
    rate : float or callable
        Length of the steps in units of the natural gradient, or a function from the number of a step (from 0) to it.
    callback : callable, optional
        ``callback(params, value)`` after every step; raising StopIteration in it ends the search.
    progress : bool or tqdm, optional
        None for a bar after two seconds, where someone looks: loss, gain and time, in a terminal or a notebook.  True
        for one at once that stays, False for none; or a bar that is moved.
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
    ConvergenceError
        If conjugate gradients do not come to rest, as for a product that is not linear.

    Notes
    -----
    S. Amari, Neural Computation 10, 251 (1998); for circuits J. Stokes et al., Quantum 4, 269 (2020).

    No step is refused for a higher loss, so the loss may have noise, as energies of samples (`qad.vmc.expect`) do; the
    best parameters then are those of the lowest value that was drawn.

    Examples
    --------
    >>> import numpy as np, qad
    >>> stretched = np.diag([1.0, 100.0])
    >>> result = qad.optimize.natural_descent(
    ...     lambda x: x @ stretched @ x, np.ones(2), lambda x: stretched, rate=0.5, maxiter=3, damping=0.0)
    >>> result.params.round(12) + 0.0, result.nit
    (array([0., 0.]), 1)

    The metric of least squares by products with the Jacobian of the residuals:

    >>> residuals = lambda x: x**2 - np.arange(1.0, 4.0)
    >>> def products(x):
    ...     return lambda v: qad.vjp(residuals, x)[1](qad.jvp(residuals, (x,), (v,))[1])[0]
    >>> result = qad.optimize.natural_descent(
    ...     lambda x: (residuals(x) ** 2).sum() / 2, np.ones(3), products, rate=1.0, damping=0.0)
    >>> result.params.round(6), result.nit
    (array([1.      , 1.414214, 1.732051]), 4)
    """
    if not damping >= 0:
        raise ArgumentError(f"natural_descent: damping must not be negative, but got {damping!r}")
    packing = Parameters(params)

    def direction(step, vector, gradient):
        return natural(metric(packing.unpack(vector)), damping, gradient)

    search = Minimisation(packing, packing.pack(params), fun, callback, jac=jac, fatal=FATAL)
    return descend(search, direction, rate, maxiter, gtol, progress)


def natural(metric: Any, damping: float, gradient: Vector) -> Vector:
    """``(G + damping)^-1`` times a gradient, of a metric that is a matrix or a product with vectors."""
    product = getattr(metric, "matvec", metric)
    if callable(product):

        def damped(vectors):
            image = as_array(product(vectors[0])).real
            if image.shape != gradient.shape:
                raise ShapeError(
                    f"a metric whose products have shape {image.shape} does not fit {gradient.size} real parameters"
                )
            return [image + damping * vectors[0]]

        return solve(damped, [gradient], name="natural_descent", positive=True)[0][0]
    matrix = as_array(metric).real
    if matrix.shape != (gradient.size,) * 2:
        raise ShapeError(f"a metric of shape {matrix.shape} does not fit {gradient.size} real parameters")
    try:
        return np.linalg.solve(matrix + damping * like(matrix).eye(gradient.size), gradient)
    except np.linalg.LinAlgError:
        raise ArgumentError("the metric is singular: give natural_descent a damping above 0") from None


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
