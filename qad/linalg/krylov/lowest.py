"""The lowest eigenvalue of a Hermitian operator and its eigenvector, without a matrix.

    dE = <x| dH |x>          (Hellmann and Feynman; no linear solve)
    dx = -(H - E)^+ dH x     (the projected solve, by GMRES with the bordered operator)

Lanczos is ARPACK's, LOBPCG with its preconditioner SciPy's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import like
from qad.keywords import keywords_told
from qad.linalg.krylov.eigenpair import FlatOperator, normalised, operator_of, pair
from qad.linalg.krylov.eigensearch import lowest, preconditioned
from qad.linalg.krylov.gmres import Report
from qad.linalg.support import tolerances
from qad.linalg.support.random import normal

if TYPE_CHECKING:
    from collections.abc import Callable

    from qad.typing import LinearMap, Real, Tree

METHODS = ("lanczos", "lobpcg")


@keywords_told
def lowest_eig(
    h: LinearMap,
    v0: Tree,
    *,
    method: str = "lanczos",
    preconditioner: Callable[[Tree], Tree] | None = None,
    tol: float = tolerances.SOLVED,
    restart: int = 200,
    maxiter: int = 1000,
    report: Report | None = None,
) -> tuple[Real, Tree]:
    """The lowest eigenvalue of `h` and its eigenvector; implicit derivatives.

    Parameters
    ----------
    h : callable or array (n, n)
        A Hermitian linear function of a pytree that returns the same structure, or a matrix. A function may
        close over Tensors: their gradients are right.
    v0 : pytree of real or of complex arrays
        Where Lanczos starts, and what fixes the phase: ``<v0, x>`` is positive.
    method : "lanczos" or "lobpcg"
    preconditioner : callable, optional
        For LOBPCG: a function of a pytree like `v0`, near to the inverse of ``H - E`` on its complement, Hermitian and
        positive. It speeds the search up, and has no influence on the result or its derivatives.
    tol, restart, maxiter
        Limits of the linear solves in derivatives, as in `linear_solve`; `maxiter` bounds ARPACK's restarts and
        LOBPCG's steps too.
    report : qad.linalg.Report, optional
        Is filled in with numbers of products and residuals.

    Returns
    -------
    energy : real scalar
    vector : pytree like `v0`, of unit norm

    Raises
    ------
    ArgumentError
        For another method, or a preconditioner without LOBPCG;
        if `h` is not Hermitian, tested with random vectors, or `v0` is orthogonal to the eigenvector;
        in derivatives, if the level is degenerate, or the next one too close to tell them apart.
    ConvergenceError
        If the search does not converge.

    Notes
    -----
    The search is repeated from a random vector (always the same) on the complement of what was found: a lower level
    that it finds is taken instead, and the distance of the next one decides about derivatives. It needs a part of that
    distance only, and takes between a third and nine tenths of the products of the search itself, most where the first
    search was short or the next level is close.

    Examples
    --------
    >>> import numpy as np, qad
    >>> x, z = np.array([[0.0, 1.0], [1.0, 0.0]]), np.diag([1.0, -1.0])
    >>> energy = lambda g: qad.linalg.lowest_eig(lambda v: -(z @ v) - g * (x @ v), np.ones(2))[0]
    >>> print(round(float(energy(0.75)), 12), round(float(qad.grad(energy)(0.75)), 12))
    -1.25 -0.6
    """
    find = _search(method, preconditioner, v0)
    report = Report() if report is None else report
    limits = {"tol": tol, "restart": restart, "maxiter": maxiter}
    operator = FlatOperator(operator_of(h), v0, "lowest_eig")
    _check_hermitian(operator)
    value, vector = pair(operator, True, limits, report, find)
    return value.real, normalised(vector, v0, operator.name)


def _search(method, preconditioner, v0):
    if method not in METHODS or (preconditioner is not None and method != "lobpcg"):
        raise ArgumentError(
            f'lowest_eig: method={method!r} with preconditioner={preconditioner}: write method="lanczos", or "lobpcg", '
            "which takes a preconditioner"
        )
    if method == "lanczos":
        return lowest
    return preconditioned(preconditioner and FlatOperator(preconditioner, v0, "lowest_eig (preconditioner)"))


def _check_hermitian(operator):
    """Compare ``<u, H v>`` with ``conj(<v, H u>)`` for random vectors."""
    rng = np.random.default_rng(0)
    n, kind = sum(x.size for x in operator.start), operator.packing.dtype
    u, v = (like(*operator.start).asarray(normal(rng, n, kind)) for _ in range(2))
    hu, hv = operator(u), operator(v)
    found = abs(np.vdot(u, hv) - np.vdot(hu, v))
    size = np.linalg.norm(hu) * np.linalg.norm(v)
    if found > tolerances.lost(kind) * size:
        raise ArgumentError(
            f"lowest_eig: the operator is not Hermitian: <u, H v> - <H u, v> is {found / size:.3g} of |H u| |v| for "
            "random u and v; use dominant_eig, or symmetrise it"
        )
