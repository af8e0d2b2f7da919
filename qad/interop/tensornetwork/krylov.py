"""Eigenpairs and linear equations: solved on plain values, differentiated by the implicit function theorem."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse.linalg import LinearOperator
from scipy.sparse.linalg import gmres as scipy_gmres

from qad.core.errors import ArgumentError, ConvergenceError
from qad.extend import Tensor, no_grad, value_of
from qad.linalg.implicit.root import attach, linear_solve
from qad.linalg.krylov.gmres import solve

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from qad.typing import DTypeLike, Function, Value

__all__ = ["bare", "bind", "eigenpairs", "gmres", "is_recorded", "start"]

LIMITS: dict[str, Any] = {"tol": 1e-12, "restart": 60, "maxiter": 2000}  # of the linear solves in derivatives


def start(backend: Any, state: Value | None, shape: tuple[int, ...] | None, dtype: DTypeLike | None) -> Value:
    """The initial state, made at random where it is not given."""
    if state is None:
        if shape is None or dtype is None:
            raise ArgumentError("if no `initial_state` is passed, then `shape` and`dtype` have to be provided")
        return backend.randn(shape, dtype)
    if not isinstance(state, (np.ndarray, Tensor)):
        raise TypeError(f"Expected a `np.ndarray`. Got {type(state)}")
    return state


def bind(operator: Function, args: Sequence[Any] | None, kwargs: dict[str, Any] | None = None) -> Function:
    """The operator as a function of the vector alone."""
    return lambda vector: operator(vector, *(args or ()), **(kwargs or {}))


def bare(apply: Function, shape: tuple[int, ...]) -> Function:
    """`apply` between flat plain vectors; nothing is recorded."""

    return no_grad()(lambda flat: value_of(apply(flat.reshape(shape))).ravel())


def is_recorded(x: Value) -> bool:
    """Whether `x` depends on what is differentiated."""
    return type(x) is Tensor and x.requires_grad


def eigenpairs(apply: Function, values: Value, vectors: Sequence[Value]) -> tuple[Value, list[Value]]:
    """Each `eigenpair` of a linear operator."""
    pairs = [eigenpair(apply, value, vector) for value, vector in zip(values, vectors, strict=False)]
    return np.stack([value for value, _ in pairs]), [vector for _, vector in pairs]


def eigenpair(apply: Function, value: complex, vector: Value) -> tuple[Value, Value]:
    """An eigenpair of a linear operator as a function of the Tensors that `apply` closes over.

    Parameters
    ----------
    apply : callable
        Takes a vector, of any shape, to another of that shape.
    value : complex
    vector : array
        The pair, found on plain values. The eigenvalue has to be simple where it is differentiated.

    Returns
    -------
    value : scalar
    vector : array
        Of unit norm, with the phase of the one that was found. Plain where `apply` closes over no Tensors.

    Notes
    -----
    The pair solves the bordered equation ``A v / s = nu v``, ``<w, v> = 1`` with ``value = s nu``, the scale s and the
    reference w = v held fixed; see `qad.linalg.implicit.root`.
    """
    scale = max(abs(value), np.finfo(vector.dtype).tiny)
    found = vector / np.linalg.norm(vector), np.asarray(value / scale, vector.dtype)
    reference = found[0].conj()

    def equation(unknown):
        v, nu = unknown
        return apply(v) * (1 / scale) - nu * v, (reference * v).sum() - 1

    v, nu = attach(equation, found, newton, options=LIMITS)
    return nu * scale, v / np.linalg.norm(v)


def newton(equation: Function, unknown: Sequence[Value], steps: int = 20) -> Sequence[Value]:
    """Solve the bordered equation again, for another operator, from a solution nearby."""
    for _ in range(steps):
        residual, gap = equation(unknown)
        size = max(np.linalg.norm(residual), abs(gap))
        if size < 1e3 * np.finfo(residual.dtype).eps:
            return unknown
        v, nu = unknown

        def jacobian(step, v=v, nu=nu, residual=residual, gap=gap):
            moved, closed = equation([v + step[0], nu + step[1]])  # the equation is of second degree
            return [moved - residual + step[1] * step[0], closed - gap]

        step, _, _ = solve(jacobian, [-residual / size, -gap / size], **LIMITS)  # of size 1, so that nothing cancels
        unknown = [a + size * b for a, b in zip(unknown, step, strict=True)]
    raise ConvergenceError("eigs: no eigenpair of the changed operator was found near the former one")


def gmres(
    apply: Function, b: Value, x0: Value, tol: float, atol: float, restart: int, maxiter: int | None,
    preconditioner: Any,
) -> tuple[Value, int]:  # fmt: skip
    """Solve ``apply(x) = b``.

    Where the equation is recorded the solution is exact, up to rounding, whatever the tolerance and the limits of
    iteration: its derivative is that of the solution.  Otherwise SciPy's GMRES does as it is told.

    Returns
    -------
    x : array of the shape of `b`
    status : int
        0 for success.
    """
    residual = b - apply(x0.reshape(b.shape))
    if is_recorded(residual):
        return linear_solve(apply, b, x0.reshape(b.shape), restart=max(restart, LIMITS["restart"]), name="gmres"), 0
    b, x0 = value_of(b), value_of(x0)
    operator = LinearOperator((b.size, b.size), matvec=bare(apply, b.shape), dtype=b.dtype)
    x, status = scipy_gmres(
        operator, b.ravel(), x0, rtol=tol, atol=atol, restart=restart, maxiter=maxiter, M=preconditioner
    )
    if status < 0:
        raise ArgumentError("gmres broke down or received illegal input")
    return x.reshape(b.shape).astype(b.dtype), status
