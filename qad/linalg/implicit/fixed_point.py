"""Fixed points ``x = f(x, p)`` and their implicit derivatives.

    G_p = (df/dp)^* u   with   u = G_x + (df/dx)^* u

The forward iteration is plain, or mixed (`qad.linalg.implicit.mixing`).  The equation for u is solved by GMRES, which
needs no contraction.

A small step c = f(x) - x says little where f contracts slowly: the distance to the fixed point is ``(1 - f')^-1 c``.
That is estimated before an iteration counts as converged, by a few products with f' from differences.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError, ConvergenceError
from qad.core.trees import flatten, tree_map, unflatten
from qad.keywords import keywords_told
from qad.linalg.implicit.mixing import Mixing
from qad.linalg.implicit.packing import Packing
from qad.linalg.implicit.root import attach, in_batches
from qad.linalg.krylov.gmres import Report, bare, correction, plain_leaves
from qad.linalg.support import tolerances
from qad.linalg.support.lengths import length

if TYPE_CHECKING:
    from collections.abc import Callable

    from qad.typing import Function, Tree

METHODS = ("anderson", "plain", "given")
PRODUCTS = 8  # with the derivative, at most, in an estimate of the error
FLOOR = 128  # units of rounding below which no distance to a fixed point is asked for


@keywords_told
def fixed_point(
    f: Function,
    x0: Tree,
    *params: Tree,
    method: str = "anderson",
    tol: float = tolerances.SOLVED,
    maxiter: int = 1000,
    history: int = 5,
    adjoint_tol: float = tolerances.SOLVED,
    adjoint_restart: int = 60,
    norm: Callable[[Tree, Tree], float] | None = None,
    report: Report | None = None,
) -> Tree:
    """Iterate ``x <- f(x, *params)`` to its fixed point, and differentiate that implicitly.

    Memory does not grow with the number of iterations, and derivatives do not depend on the path.

    Parameters
    ----------
    f : callable
        ``f(x, *params)`` returns a pytree like x. It may close over Tensors: they count as parameters.
    x0 : pytree of float or complex arrays
        Where to start; the fixed point does not depend on it, so its gradient is zero.
    *params : pytrees
    method : "anderson", "plain" or "given"
        How the forward iteration runs. With "given" it does not: `x0` is the fixed point, found elsewhere, which one
        call of `f` has to confirm.
    tol : float
        Of ``|f(x) - x|``, and of the distance to the fixed point as the derivative of `f` tells it, relative to ``|x|``
        (to ``|x0|`` if that is larger). The estimate takes up to nine more calls of `f`; a given solution has none.
    maxiter : int
        Largest number of calls of `f` in the forward iteration.
    history : int
        Earlier steps that Anderson's mixing uses.
    adjoint_tol : float
        Relative tolerance of the linear solves in derivatives.
    adjoint_restart : int
        Their products between restarts of GMRES: more where `f` contracts slowly, at the cost of as many vectors.
    norm : callable, optional
        ``norm(change, x)``, what `tol` is compared with in place of ``|change| / |x|``: for solutions in which some
        directions matter less than others. Both are trees of plain arrays.
    report : qad.linalg.Report, optional
        Is filled in: ``iterations`` and ``residual`` of the forward iteration, and ``adjoint``, a list with those of
        each linear solve in the backward pass.

    Returns
    -------
    pytree like `x0`

    Raises
    ------
    ConvergenceError
        If the iteration diverges or `maxiter` is reached; if a given solution is none; if the steps are small but `f`
        contracts so slowly that the fixed point is far; in the backward pass, if ``1 - df/dx`` is singular: the fixed
        point is not isolated, as where a gauge is left free.
    ArgumentError
        If `f` changes structure, shapes, or real into complex numbers.

    Examples
    --------
    >>> import numpy as np, qad
    >>> root = lambda a: qad.fixed_point(lambda x, a: 0.5 * (x + a / x), np.array(1.0), a)
    >>> print(round(float(root(2.0)), 12), round(float(qad.grad(root)(2.0)), 12))
    1.414213562373 0.353553390593

    A solution that is known by other means:

    >>> known = lambda a: qad.fixed_point(lambda x, a: 0.5 * (x + a / x), np.array(2.0), a, method="given")
    >>> print(float(known(4.0)), float(qad.grad(known)(4.0)))
    2.0 0.25
    """
    if method not in METHODS:
        raise ArgumentError(f"method is {method!r}: choose one of {', '.join(METHODS)}")
    if not callable(f):
        raise ArgumentError("the function comes first: fixed_point(f, x0, *params), with f(x, *params)")
    report = Report() if report is None else report

    spec = flatten(x0)[1]
    own = norm and (lambda change, x: float(norm(unflatten(spec, change), unflatten(spec, x))))

    def iterate(step, start):
        iteration = _Iteration(step, start, tol, maxiter, report, own)
        return iteration.found((lambda y, *_: y) if method == "plain" else Mixing(history, worse=np.inf).propose)

    def residual_of(x):
        return tree_map(_difference, x, f(x, *params))

    def again(residual, start):
        return iterate(lambda x: [a - b for a, b in zip(x, residual(x), strict=True)], start)

    how = {"options": {"tol": adjoint_tol, "restart": adjoint_restart}, "report": report}
    batch = in_batches(residual_of, x0, again, **how)
    if batch is not None:
        return batch
    start, _ = plain_leaves(x0)
    step = bare(lambda x: f(x, *params), spec, start, "the function of fixed_point")
    x = _Iteration(step, start, tol, maxiter, report, own).given() if method == "given" else iterate(step, start)
    return attach(residual_of, unflatten(spec, x), again, **how)


def _difference(x, y):
    if np.shape(x) != np.shape(y):
        raise ArgumentError(f"the function of fixed_point returns shape {np.shape(y)} for an argument {np.shape(x)}")
    return x - y


class _Iteration:
    """One forward iteration over lists of plain arrays, as real vectors."""

    def __init__(self, step, start, tol, maxiter, report, norm=None):
        self.packing = Packing(start, real=True)
        self.step = step
        self.x = self.packing.pack(start)
        self.scale = length(self.x)
        self.tol = max(tol, tolerances.places(self.packing.dtype) / 2)
        self.distant = self.tol
        self.maxiter = maxiter
        self.report = report
        self.norm = norm
        self.first = None

    def call(self, n, near=True):
        """``f(x)`` and ``f(x) - x``; whether that is small enough, and x near; raises where there is no hope."""
        y = self.packing.pack(self.step(self.packing.unpack(self.x)))
        change = y - self.x
        error = length(change)
        size = max(length(y), length(self.x), self.scale)
        self.first = error if self.first is None else self.first
        self.report.iterations, self.report.residual = n, self.relative(change, size)
        if not np.isfinite(error) or error > 1e8 * max(self.first, self.scale):
            raise ConvergenceError(
                f"fixed_point diverges: after {n} iterations |f(x) - x| is {error:.3g}, at the start {self.first:.3g}"
            )
        done = near and self.report.residual <= self.tol and (not size or self.is_near(y, change, size))
        if not done and n >= self.maxiter:
            raise ConvergenceError(
                f"fixed_point: after {n} iterations |f(x) - x| / |x| is {self.report.residual:.3g}, above "
                f"tol={self.tol:.3g}: raise maxiter or tol, or fix what is left free (a gauge, a phase, a norm)"
            )
        return y, change, done

    def relative(self, change, size):
        """The size of a change of x, relative, in the norm that is asked for."""
        if self.norm is not None and np.isfinite(change).all():
            return self.norm(self.packing.unpack(change), self.packing.unpack(self.x))
        return length(change) / size if size else 0.0

    def is_near(self, y, change, size):
        """Whether the fixed point is near to `y`; if not, the step must become smaller, down to rounding."""
        eps = tolerances.unit(change.dtype)
        step, limit = self.report.residual, max(self.distant, FLOOR * eps)
        amplified = self.amplification(y, change, size)
        if amplified * max(step, eps) <= limit:
            return True
        self.tol = 0.9 * limit / amplified
        if self.tol < eps:
            raise ConvergenceError(
                f"fixed_point: |f(x) - x| / |x| is {step:.3g}, but f contracts so slowly, by its derivative, that the "
                f"fixed point may be {amplified:.3g} times as far, by rounding {amplified * eps:.3g} of |x|: more "
                f"than tol={limit:.3g}. Take larger steps in f (Newton's, say), or raise tol"
            )
        return False

    def amplification(self, y, change, size):
        """``|(1 - f')^-1 c| / |c|`` in the norm that is asked for, for the change c or, if that is zero, a vector.

        From differences of f at `y`.
        """
        c = change if change.any() else np.ones_like(change)
        at = self.packing.pack(self.step(self.packing.unpack(y)))
        span = tolerances.half(y.dtype) * max(length(y), self.scale, length(change))

        def product(v):
            h = (span or 1.0) / length(v)
            return v - (self.packing.pack(self.step(self.packing.unpack(y + h * v))) - at) / h

        found = correction(product, c, tolerances.near() * length(c), min(PRODUCTS, c.size))
        distance, step = self.relative(found, size), self.relative(c, size)
        return distance / step if step else float(np.inf if distance else 1.0)

    def found(self, propose):
        """Iterate ``x <- propose(f(x), f(x) - x, 1)`` until that is small enough."""
        for n in count(1):
            y, change, done = self.call(n)
            if done:
                break
            self.x = propose(y, change, 1.0)
        return self.packing.unpack(y)

    def given(self):
        """The start, if it is a fixed point."""
        self.maxiter, x = np.inf, self.x
        self.call(1, near=False)
        if not self.report.residual <= self.tol:
            raise ConvergenceError(
                f"fixed_point: the given solution is none: |f(x) - x| / |x| is {self.report.residual:.3g}, above "
                f"tol={self.tol:.3g}: iterate further, or raise tol"
            )
        return self.packing.unpack(x)
