"""Fixed points ``x = f(x, p)`` and their implicit derivatives.

    G_p = (df/dp)^* u   with   u = G_x + (df/dx)^* u

The forward iteration is plain, or mixed by D. G. Anderson, J. ACM 12, 547 (1965); see H. F. Walker and P. Ni, SIAM J.
Numer. Anal. 49, 1715 (2011).  The equation for u is solved by GMRES, which needs no contraction.

A small step c = f(x) - x says little where f contracts slowly: the distance to the fixed point is ``(1 - f')^-1 c``.
That is estimated before an iteration counts as converged, by a few products with f' from differences.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError, ConvergenceError
from qad.core.trees import tree_map, unflatten
from qad.linalg.implicit.gmres import Report, bare, correction, plain_leaves
from qad.linalg.implicit.packing import Packing
from qad.linalg.implicit.root import attach, in_batches

if TYPE_CHECKING:
    from qad.typing import Function, Tree

METHODS = ("anderson", "plain")
PRODUCTS = 8  # with the derivative, at most, in an estimate of the error
FLOOR = 128  # units of rounding below which no distance to a fixed point is asked for


def fixed_point(
    f: Function,
    x0: Tree,
    *params: Tree,
    method: str = "anderson",
    tol: float = 1e-12,
    maxiter: int = 1000,
    history: int = 5,
    adjoint_tol: float = 1e-12,
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
    method : "anderson" or "plain"
        How the forward iteration runs.
    tol : float
        Of ``|f(x) - x|``, and of the distance to the fixed point as the derivative of `f` tells it, relative to ``|x|``
        (to ``|x0|`` if that is larger). The estimate takes up to nine more calls of `f`.
    maxiter : int
        Largest number of calls of `f` in the forward iteration.
    history : int
        Earlier steps that Anderson's mixing uses.
    adjoint_tol : float
        Relative tolerance of the linear solves in derivatives.
    report : qad.linalg.Report, optional
        Is filled in: ``iterations`` and ``residual`` of the forward iteration, and ``adjoint``, a list with those of
        each linear solve in the backward pass.

    Returns
    -------
    pytree like `x0`

    Raises
    ------
    ConvergenceError
        If the iteration diverges or `maxiter` is reached; if the steps are small but `f` contracts so slowly that the
        fixed point is far; in the backward pass, if ``1 - df/dx`` is singular: the fixed point is not isolated, as
        where a gauge is left free.
    ArgumentError
        If `f` changes structure, shapes, or real into complex numbers.

    Examples
    --------
    >>> import numpy as np, qad
    >>> root = lambda a: qad.fixed_point(lambda x, a: 0.5 * (x + a / x), np.array(1.0), a)
    >>> print(round(float(root(2.0)), 12), round(float(qad.grad(root)(2.0)), 12))
    1.414213562373 0.353553390593
    """
    if method not in METHODS:
        raise ArgumentError(f"method is {method!r}: choose one of {', '.join(METHODS)}")
    report = Report() if report is None else report

    def iterate(step, start):
        iteration = _Iteration(step, start, tol, maxiter, report)
        return iteration.anderson(history) if method == "anderson" else iteration.plain()

    def residual_of(x):
        return tree_map(_difference, x, f(x, *params))

    def again(residual, start):
        return iterate(lambda x: [a - b for a, b in zip(x, residual(x), strict=True)], start)

    how = {"options": {"tol": adjoint_tol}, "report": report}
    batch = in_batches(residual_of, x0, again, **how)
    if batch is not None:
        return batch
    start, spec = plain_leaves(x0)
    x = iterate(bare(lambda x: f(x, *params), spec, start, "the function of fixed_point"), start)
    return attach(residual_of, unflatten(spec, x), again, **how)


def _difference(x, y):
    if np.shape(x) != np.shape(y):
        raise ArgumentError(f"the function of fixed_point returns shape {np.shape(y)} for an argument {np.shape(x)}")
    return x - y


class _Iteration:
    """One forward iteration over lists of plain arrays, as real vectors."""

    def __init__(self, step, start, tol, maxiter, report):
        self.packing = Packing(start, real=True)
        self.step = step
        self.x = self.packing.pack(start)
        self.scale = np.linalg.norm(self.x)
        self.tol = max(tol, 4 * np.finfo(self.packing.dtype).eps)
        self.distant = self.tol
        self.maxiter = maxiter
        self.report = report
        self.first = None

    def call(self, n):
        """``f(x)`` and ``f(x) - x``; whether that is small enough; raises where there is no hope."""
        y = self.packing.pack(self.step(self.packing.unpack(self.x)))
        change = y - self.x
        error = np.linalg.norm(change)
        size = max(np.linalg.norm(y), np.linalg.norm(self.x), self.scale)
        self.first = error if self.first is None else self.first
        self.report.iterations, self.report.residual = n, float(error / size) if size else 0.0
        if not np.isfinite(error) or error > 1e8 * max(self.first, self.scale):
            raise ConvergenceError(
                f"fixed_point diverges: after {n} iterations |f(x) - x| is {error:.3g}, at the start {self.first:.3g}"
            )
        done = error <= self.tol * size and (not size or self.is_near(y, change, size))
        if not done and n >= self.maxiter:
            raise ConvergenceError(
                f"fixed_point: after {n} iterations |f(x) - x| / |x| is {self.report.residual:.3g}, above "
                f"tol={self.tol:.3g}: raise maxiter or tol, or fix what is left free (a gauge, a phase, a norm)"
            )
        return y, change, done

    def is_near(self, y, change, size):
        """Whether the fixed point is near to `y`; if not, the step must become smaller, down to rounding."""
        eps = np.finfo(change.dtype).eps
        step, limit = float(np.linalg.norm(change) / size), max(self.distant, FLOOR * eps)
        amplified = self.amplification(y, change)
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

    def amplification(self, y, change):
        """``|(1 - f')^-1 c| / |c|``, from differences of f at `y`, for the change c or, if that is zero, a vector."""
        c = change if change.any() else np.ones_like(change)
        at = self.packing.pack(self.step(self.packing.unpack(y)))
        span = np.sqrt(np.finfo(y.dtype).eps) * max(np.linalg.norm(y), self.scale, np.linalg.norm(change))

        def product(v):
            h = (span or 1.0) / np.linalg.norm(v)
            return v - (self.packing.pack(self.step(self.packing.unpack(y + h * v))) - at) / h

        found = correction(product, c, 0.01, min(PRODUCTS, c.size))
        return float(np.linalg.norm(found) / np.linalg.norm(c))

    def steps(self):
        """Yield ``f(x)`` and ``f(x) - x`` at each x until that is small enough."""
        for n in count(1):
            y, change, done = self.call(n)
            if done:
                self.x = y
                return
            yield y, change

    def plain(self):
        """Iterate ``x <- f(x)``."""
        for y, _ in self.steps():
            self.x = y
        return self.packing.unpack(self.x)

    def anderson(self, history):
        """Mix earlier steps so that their combined change is least."""
        ys, changes = [], []
        for y, change in self.steps():
            ys, changes = [*ys[-history:], y], [*changes[-history:], change]
            self.x = _mixed(ys, changes)
        return self.packing.unpack(self.x)


def _mixed(ys, changes):
    """``y - sum g_i dy_i``, the g_i minimising ``|c - sum g_i dc_i|``, for differences d of earlier steps."""
    if len(ys) == 1:
        return ys[0]
    rows = np.diff(np.stack(changes), axis=0)
    weights = np.linalg.lstsq(rows.T, changes[-1], rcond=1e-10)[0]
    return ys[-1] - weights @ np.diff(np.stack(ys), axis=0)
