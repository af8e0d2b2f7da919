"""SciPy's optimisers for functions of any pytree, complex leaves included."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy  # loads scipy.optimize when it is first used, which takes longer than the rest of qad

from qad.core.errors import ArgumentError, ConvergenceError, RejectedPoint
from qad.core.keywords import keywords_told
from qad.core.transforms.grad import value_and_grad
from qad.core.transforms.jvp import hvp
from qad.optimize.packing import Parameters
from qad.optimize.progress import bar_for, note
from qad.optimize.result import BY_USER, OptimizeResult

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn, TypeAlias

    from qad.typing import Function, Progress, Tree, Vector

    Seen: TypeAlias = tuple[float, float, Vector]  # a loss, the norm of its gradient, and where

# method -> SciPy's names of our options; what a method does not know is not in its row
METHODS = {
    "L-BFGS-B": {"gtol": "gtol", "ftol": "ftol", "maxiter": "maxiter", "memory": "maxcor"},
    "BFGS": {"gtol": "gtol", "maxiter": "maxiter"},
    "CG": {"gtol": "gtol", "maxiter": "maxiter"},
    "TNC": {"gtol": "gtol", "ftol": "ftol", "maxiter": "maxfun"},
    "trust-ncg": {"gtol": "gtol", "maxiter": "maxiter"},
    "trust-krylov": {"gtol": "gtol", "maxiter": "maxiter"},
}
NEWTON = ("trust-ncg", "trust-krylov")  # these are given Hessian-vector products
UNLIMITED = 10**9


@keywords_told
def minimize(
    fun: Callable[[Any], Any],
    params: Tree,
    method: str = "L-BFGS-B",
    callback: Callable[[Any, Any], object] | None = None,
    progress: Progress = False,
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
    progress : bool or tqdm
        Show loss, gain and time, where someone looks: in a terminal or a notebook. Or move the bar that is given.
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
    options = scipy_options(method, gtol=gtol, ftol=ftol, maxiter=maxiter, memory=memory)
    if jac and method in NEWTON:
        raise ArgumentError(f"{method} takes products with the Hessian: give the loss itself, without jac=True")
    search = Minimisation(fun, params, callback, accepted, jac)
    with bar_for(progress) as search.bar:
        success, message = search.run(method, options)
    return search.result(success, message)


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


class Stop(Exception):
    """Ends the search from within an evaluation."""


class Minimisation:
    """One minimisation: evaluates, remembers the best, reports."""

    fun: Callable[[Any], Any]
    callback: Callable[[Any, Any], object] | None
    accepted: Callable[[Any, float], object] | None
    value_and_grad: Function
    packing: Parameters
    start: Vector
    best: Seen | None
    latest: Seen | None
    here: Seen | None
    history: list[float]
    evaluations: int
    rejections: int
    interrupted: bool
    bar: Any

    def __init__(
        self, fun: Callable[[Any], Any], params: Tree, callback: Callable[[Any, Any], object] | None,
        accepted: Callable[[Any, float], object] | None = None, jac: bool = False,
    ):  # fmt: skip
        self.fun, self.callback, self.accepted = fun, callback, accepted
        self.value_and_grad = fun if jac else value_and_grad(fun)
        self.packing = Parameters(params)
        self.start = self.packing.pack(params)
        self.best = self.latest = self.here = None  # (value, norm of the gradient, vector); here: of the iteration
        self.history, self.evaluations, self.rejections, self.interrupted = [], 0, 0, False

    def run(self, method: str, options: dict[str, Any]) -> tuple[bool, str]:
        """Search by SciPy; returns success and message."""
        hessp = self.curvature if method in NEWTON else None

        def search():
            found = scipy.optimize.minimize(
                self.trial, self.start, jac=True, hessp=hessp, method=method, callback=self.step, options=options
            )
            rejected = f" ({self.rejections} points were rejected)" if self.rejections else ""
            return bool(found.success), f"{found.message}{rejected}"

        return self.guarded(search)

    def guarded(self, search: Callable[[], tuple[bool, str]]) -> tuple[bool, str]:
        """Success and message of ``search()``, which the user or a value that is not finite may end too."""
        try:
            return search()
        except Stop as stop:
            message = str(stop)
        except KeyboardInterrupt:
            if self.best is None:
                raise
            message = BY_USER
        self.interrupted = True
        return False, message

    def evaluate(self, vector: Vector) -> tuple[float, Vector]:
        """Loss and packed gradient."""
        try:
            return self.known(vector)
        except RejectedPoint as rejection:
            self.refuse(str(rejection) or "the loss is rejected")

    def trial(self, vector: Vector) -> tuple[float | np.floating[Any], Vector]:
        """As `evaluate` for a line search, which is turned back from points without a value.

        There it meets a bowl around the last iteration's point, above that point's value and with the right slope: no
        line search accepts it, and each takes a smaller step.
        """
        try:
            return self.known(vector)
        except (RejectedPoint, ConvergenceError) as rejection:
            if self.best is None and isinstance(rejection, ConvergenceError):
                raise
            if self.best is None:
                self.refuse(str(rejection) or "the loss is rejected")
        self.rejections += 1
        value, slope, start = self.here
        away = vector - start
        return value + slope * np.linalg.norm(away), 2 * slope / np.linalg.norm(away) * away

    def known(self, vector: Vector) -> tuple[float, Vector]:
        """Loss and packed gradient; raises RejectedPoint where there is none."""
        self.evaluations += 1
        value, gradient = self.value_and_grad(self.packing.unpack(vector))
        value, gradient = float(value), self.packing.pack(gradient)
        if value == np.inf:
            raise RejectedPoint("the loss is inf")
        self.latest = value, float(np.linalg.norm(gradient)), vector.copy()
        if not np.isfinite(self.latest[:2]).all():
            self.refuse(f"the loss is {value}" if not np.isfinite(value) else "the gradient is not finite")
        if self.best is None:
            self.history.append(value)
            self.here = self.latest
        if self.best is None or value < self.best[0]:
            self.best = self.latest
            if self.accepted is not None:
                self.accepted(self.packing.unpack(vector), value)
        return value, gradient

    def refuse(self, what: str) -> NoReturn:
        """End the search at a loss or gradient that is not finite, or where there is none."""
        if self.best is None:
            raise ArgumentError(f"{what} at the starting parameters: start where it is finite")
        raise Stop(f"{what} in evaluation {self.evaluations}; the best parameters before it are returned")

    def curvature(self, vector: Vector, direction: Vector) -> Vector:
        """Hessian at `vector` times `direction`, all packed."""
        return self.packing.pack(hvp(self.fun, (self.packing.unpack(vector),), (self.packing.unpack(direction),))[0])

    def step(self, vector: Vector) -> None:
        """Note that an iteration ended at `vector`."""
        self.here = self.latest if np.array_equal(vector, self.latest[2]) else self.best
        value, norm, _ = self.here
        self.history.append(value)
        note(self.bar, self.history, norm)
        if self.callback is not None:
            try:
                self.callback(self.packing.unpack(vector), value)
            except StopIteration:
                raise Stop("stopped by the callback") from None

    def result(self, success: bool, message: str) -> OptimizeResult:
        """All that was found."""
        value, norm, vector = self.best
        params = self.packing.unpack(vector)
        history = np.array(self.history)
        return OptimizeResult(
            params, value, history, norm, success, self.interrupted, message, len(history) - 1, self.evaluations
        )
