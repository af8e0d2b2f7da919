"""SciPy's optimisers for functions of any pytree, complex leaves included."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy  # loads scipy.optimize when it is first used, which takes longer than the rest of qad

from qad.core.errors import ArgumentError
from qad.core.transforms.jvp import hvp
from qad.keywords import keywords_told
from qad.optimize.packing import Parameters
from qad.optimize.search import Minimisation, NotFinite
from qad.showing.progress import bar_for

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from qad.optimize.result import OptimizeResult
    from qad.typing import Progress, Tree, Vector

NEWTON = ("trust-ncg", "trust-krylov")  # these are given Hessian-vector products
# method -> SciPy's names of our options; what a method does not know is not in its row
METHODS = {
    "L-BFGS-B": {"gtol": "gtol", "ftol": "ftol", "maxiter": "maxiter", "memory": "maxcor"},
    "TNC": {"gtol": "gtol", "ftol": "ftol", "maxiter": "maxfun"},
    **{name: {"gtol": "gtol", "maxiter": "maxiter"} for name in ("BFGS", "CG", *NEWTON)},
}
UNLIMITED = 10**9


@keywords_told
def minimize(
    fun: Callable[[Any], Any],
    params: Tree,
    method: str = "L-BFGS-B",
    callback: Callable[[Any, Any], object] | None = None,
    progress: Progress = None,
    *,
    gtol: float = 1e-6,
    ftol: float | None = None,
    maxiter: int = 1000,
    memory: int | None = None,
    accepted: Callable[[Any, float], object] | None = None,
    jac: bool = False,
) -> OptimizeResult:
    """Minimise a real function of a pytree of float and complex arrays.

    Parameters
    ----------
    fun : callable
        ``fun(params)`` returns a real scalar; it is differentiated by qad. Where it has no value it returns ``inf`` or
        raises `qad.errors.RejectedPoint` or `qad.errors.ConvergenceError`, and the search turns back to a smaller step.
    params : pytree
        Where to start; it is not changed.
    method : str
        "L-BFGS-B" (default), "BFGS", "CG", "TNC", or with Hessian-vector products "trust-ncg", "trust-krylov".
    callback : callable, optional
        ``callback(params, value)`` after every iteration; raising StopIteration in it ends the search.
    progress : bool or tqdm, optional
        None for a bar after two seconds, where someone looks: loss, gain and time, in a terminal or a notebook.  True
        for one at once that stays, False for none; or a bar that is moved.
    gtol : float
        Stop where the gradient is below this: its largest component for "L-BFGS-B", "BFGS" and "CG".
    ftol : float, optional
        Stop where an iteration gains less than ``ftol * max(|f|, 1)``; "L-BFGS-B" (default 1e-14) and "TNC".
    maxiter : int
        Most iterations.
    memory : int, optional
        How many steps "L-BFGS-B" remembers; default 20.
    accepted : callable, optional
        ``accepted(params, value)`` right after every evaluation of `fun` that is lower than all before, the first
        included: where to keep what the next evaluations start from.
    jac : bool
        Whether ``fun(params)`` returns the value and the gradient as `qad.value_and_grad` does, so that it is not
        differentiated: ``minimize(qad.freeze(qad.value_and_grad(loss)), params, jac=True)``.

    Returns
    -------
    OptimizeResult
        With the best parameters that were seen, also after Ctrl-C, StopIteration or a loss that is no longer
        finite; `success` is False then, and `message` says why.

    Raises
    ------
    ArgumentError
        For an unknown method, an option that the method has not, `jac` for a method with Hessian-vector products, or a
        loss that is not finite, or rejected, at the start.
    GradientTypeError
        If `params` holds anything but floats and complex numbers, or `fun` returns a complex number.

    Notes
    -----
    A complex number is optimised as its real and imaginary part; qad's gradient ``dL/dx + i dL/dy`` is
    exactly what that needs.

    Examples
    --------
    >>> import numpy as np, qad
    >>> target = np.array([1 + 2j, 3 - 1j])
    >>> result = qad.optimize.minimize(lambda p: qad.abs2(p["z"] - target).sum(), {"z": np.zeros(2, complex)})
    >>> result.params["z"].round(6)
    array([1.+2.j, 3.-1.j])
    """
    if not callable(fun):
        raise ArgumentError(f"{fun!r} is no function: write minimize(fun, params)")
    options = scipy_options(method, gtol=gtol, ftol=ftol, maxiter=maxiter, memory=memory)
    if jac and method in NEWTON:
        raise ArgumentError(f"{method} takes products with the Hessian: give the loss itself, without jac=True")
    packing = Parameters(params)
    search = ByScipy(packing, packing.pack(params), fun, callback, accepted, jac, fatal=(NotFinite,))
    with bar_for(progress) as search.bar:
        return search.guarded(lambda: search.run(method, options))


def scipy_options(method: str, **given: float | None) -> dict[str, Any]:
    """The options of `method` by SciPy's names, with our defaults."""
    if method not in METHODS:
        raise ArgumentError(f"unknown method {method!r}: choose one of {', '.join(METHODS)}")
    names = METHODS[method]
    for name, value in given.items():
        if value is not None and name not in names:
            raise ArgumentError(f"{method} has no option {name!r}, only {', '.join(names)}")
        if value is not None and not value >= 0:
            raise ArgumentError(f"{name} must not be negative, but got {value!r}")
    defaults = {"ftol": 1e-14, "memory": 20}
    chosen = {name: defaults.get(name) if given[name] is None else given[name] for name in names}
    options = {names[name]: value for name, value in chosen.items()}
    return options | ({"maxfun": UNLIMITED} if method == "L-BFGS-B" else {})


class ByScipy(Minimisation):
    """A search in which SciPy takes the steps, over packed parameters."""

    space: Parameters
    latest: Any  # the last EvaluatedPoint that has a loss

    def run(self, method: str, options: dict[str, Any]) -> tuple[bool, str]:
        """Success and message of SciPy's search."""
        hessp = self.curvature if method in NEWTON else None
        found = scipy.optimize.minimize(
            self.loss, self.start, jac=True, hessp=hessp, method=method, callback=self.iterated, options=options
        )
        return bool(found.success), str(found.message)

    def loss(self, vector: Vector) -> tuple[float | np.floating[Any], Vector]:
        """Loss and gradient for a line search, which is turned back from points without a loss.

        There it meets a bowl around the last iteration's point, above that point's value and with the right slope: no
        line search accepts it, and each takes a smaller step.
        """
        place = self.evaluate(vector.copy())
        if place.gradient is not None:
            self.latest = place
            return place.value, place.gradient
        away = vector - self.here.point
        distance = np.linalg.norm(away)
        return self.here.value + self.here.norm * distance, 2 * self.here.norm / distance * away

    def curvature(self, vector: Vector, direction: Vector) -> Vector:
        """Hessian at `vector` times `direction`, all packed."""
        return self.space.pack(hvp(self.fun, (self.space.unpack(vector),), (self.space.unpack(direction),))[0])

    def iterated(self, vector: Vector) -> None:
        """Note that an iteration ended at `vector`."""
        self.step(self.latest if np.array_equal(vector, self.latest.point) else self.best)
