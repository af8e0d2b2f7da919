"""Adam: steps by the means of gradients and of their squares, as a search and one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from qad.core.errors import ArgumentError
from qad.core.trees import flatten, tree_map, unflatten
from qad.keywords import keywords_told
from qad.optimize.packing import Parameters
from qad.optimize.rates import FATAL, descend
from qad.optimize.search import Minimisation
from qad.rules.elementwise.complex import abs2

if TYPE_CHECKING:
    from collections.abc import Callable

    from qad.optimize.result import OptimizeResult
    from qad.typing import Progress, Tree


@keywords_told
def adam(
    fun: Callable[[Any], Any],
    params: Tree,
    rate: float | Callable[[int], float] = 0.01,
    callback: Callable[[Any, Any], object] | None = None,
    progress: Progress = None,
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
    progress : bool or tqdm, optional
        None for a bar after two seconds, where someone looks: loss, gain and time, in a terminal or a notebook.  True
        for one at once that stays, False for none; or a bar that is moved.
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
    check_adam(rate, decay, gtol)
    packing = Parameters(params)
    start = packing.pack(params)
    moments = np.zeros_like(start), np.zeros_like(start)

    def direction(step, vector, gradient):
        nonlocal moments
        *moments, move = adam_step(step, *moments, gradient, packing.squares(gradient), decay, epsilon)
        return move

    search = Minimisation(packing, start, fun, callback, jac=jac, fatal=FATAL)
    return descend(search, direction, rate, maxiter, gtol, progress)


class AdamState(NamedTuple):
    """What `adam_steps` remembers: the number of steps, and the means of gradients and of their squared moduli."""

    step: int
    mean: Any
    square: Any


def adam_steps(
    rate: float | Callable[[int], float] = 0.01, *, decay: tuple[float, float] = (0.9, 0.999), epsilon: float = 1e-8
) -> tuple[Callable[[Tree], AdamState], Callable[[Tree, AdamState], tuple[Tree, AdamState]]]:
    """The steps of `adam` one by one, for loops of your own, such as those over minibatches.

    Parameters
    ----------
    rate : float or callable
        Size of the steps, or a function from the number of a step (from 0) to it.
    decay : pair of float
        How much of the mean gradient, and of the mean squared gradient, a step keeps.
    epsilon : float
        Added to the root of the mean square.

    Returns
    -------
    init : callable
        ``init(params)`` is the state before the first step, for a pytree of float and complex arrays.
    update : callable
        ``update(gradient, state)`` is what `qad.apply_updates` adds to the parameters, and the next state.  Both are
        functions without memory, of pytrees.

    Raises
    ------
    ArgumentError
        If an option is out of range, or a gradient has another structure than the parameters.

    Notes
    -----
    The rule is that of `adam`, in which a complex number has one mean square, of its modulus.

    Examples
    --------
    >>> import numpy as np, qad
    >>> init, update = qad.optimize.adam_steps(rate=0.1)
    >>> params = {"z": np.array([0j, 1.0])}
    >>> state = init(params)
    >>> for _ in range(2):
    ...     gradient = qad.grad(lambda p: qad.abs2(p["z"] - 1j).sum())(params)
    ...     updates, state = update(gradient, state)
    ...     params = qad.apply_updates(params, updates)
    >>> params["z"].round(3), state.step
    (array([0.   +0.2j  , 0.859+0.141j]), 2)
    """
    check_adam(rate, decay)

    def init(params):
        Parameters(params)  # which raises unless they are floats and complex numbers
        return AdamState(0, tree_map(np.zeros_like, params), tree_map(lambda x: np.zeros_like(np.real(x)), params))

    def update(gradient, state):
        step, size = state.step, rate(state.step) if callable(rate) else rate
        tree_map(lambda g, mean: None, gradient, state.mean)  # which raises unless they have one structure
        (gradients, spec), means, squares = flatten(gradient), flatten(state.mean)[0], flatten(state.square)[0]
        rows = [
            adam_step(step, mean, square, g, abs2(g), decay, epsilon)
            for g, mean, square in zip(gradients, means, squares, strict=True)
        ]
        mean, square, move = (unflatten(spec, column) for column in zip(*rows, strict=True))
        return tree_map(lambda x: -size * x, move), AdamState(step + 1, mean, square)

    return init, update


def check_adam(rate: float | Callable[[int], float], decay: tuple[float, float], gtol: float = 0.0) -> None:
    """Raise unless all options are in range."""
    for name, value, most in (("decay", decay[0], 1), ("decay", decay[1], 1), ("gtol", gtol, np.inf),
                              ("rate", rate, np.inf)):  # fmt: skip
        if not callable(value) and not 0 <= value < most:
            raise ArgumentError(f"adam: {name} lies between 0 and {most}, but got {value!r}")


def adam_step(
    step: int, mean: Any, square: Any, gradient: Any, modulus2: Any, decay: tuple[float, float], epsilon: float
) -> tuple[Any, Any, Any]:
    """The next means of gradients and of their squared moduli, and the direction of a step, of rate 1."""
    beta, gamma = decay
    mean = beta * mean + (1 - beta) * gradient
    square = gamma * square + (1 - gamma) * modulus2
    size = np.sqrt(square / (1 - gamma ** (step + 1)))
    return mean, square, mean / (1 - beta ** (step + 1)) / (size + epsilon)
