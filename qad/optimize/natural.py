"""Natural gradient descent: steepest descent in the metric of the states that the parameters describe."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError, ShapeError
from qad.core.keywords import keywords_told
from qad.extend import as_array, like
from qad.optimize.adam import FATAL, descend
from qad.optimize.packing import Parameters
from qad.optimize.search import Minimisation

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from qad.optimize.result import OptimizeResult
    from qad.typing import ArrayLike, Progress, Tree


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
