"""The eigenvalue of largest modulus of a linear operator, with its right and left eigenvectors, without a matrix.

    A r = lambda r,   A^H l = conj(lambda) l,   l^H r = 1

The adjoint of A, which left vectors and gradients need, is the vjp of the function that applies A.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError, ConvergenceError
from qad.core.trees import tree_map
from qad.extend import value_of, vjp
from qad.keywords import keywords_told
from qad.linalg.krylov.eigenpair import FlatOperator, inner, normalised, operator_of, pair
from qad.linalg.krylov.eigensearch import dominant
from qad.linalg.krylov.gmres import Report, plain_leaves
from qad.linalg.support import tolerances

SIDES = ("right", "left", "both")

if TYPE_CHECKING:
    from typing import Any, Literal, overload

    from qad.typing import LinearMap, Scalar, Tree

    @overload
    def dominant_eig(
        a: LinearMap, v0: Tree, side: Literal["right", "left"] = "right", **how: Any
    ) -> tuple[Scalar, Tree]: ...
    @overload
    def dominant_eig(a: LinearMap, v0: Tree, side: Literal["both"], **how: Any) -> tuple[Scalar, Tree, Tree]: ...


@keywords_told
def dominant_eig(
    a: LinearMap,
    v0: Tree,
    side: str = "right",
    *,
    tol: float = tolerances.SOLVED,
    restart: int = 60,
    maxiter: int = 1000,
    report: Report | None = None,
) -> Any:
    """The dominant eigenvalue of `a` and its eigenvectors; implicit derivatives.

    Parameters
    ----------
    a : callable or array (n, n)
        A complex-linear function of a pytree that returns the same structure, real or complex, Hermitian or not;
        or a matrix. A function may close over Tensors: their gradients are right.
    v0 : pytree of real or of complex arrays
        Where the search starts, and what fixes the phase of the eigenvectors: ``<v0, r>`` is positive.
        A real operator whose dominant eigenvalues are a complex pair needs a complex one.
    side : "right", "left" or "both"
        Which vectors to return.
    tol, restart, maxiter
        Limits of the linear solves in derivatives, as in `linear_solve`; `maxiter` bounds ARPACK's restarts too.
    report : qad.linalg.Report, optional
        Is filled in with numbers of products and residuals.

    Returns
    -------
    value : scalar of the dtype of the vectors
    right : pytree like `v0`, of unit norm ``sum |r|^2 = 1``
    left : pytree like `v0`, with ``sum conj(l) r = 1`` (of unit norm, and with the phase of v0, if only it is wanted)

    Raises
    ------
    ConvergenceError
        If ARPACK or a linear solve does not converge: there are several dominant eigenvalues.
    ArgumentError
        If a real `v0` meets a complex eigenvalue, or if `v0` is orthogonal to the eigenvector;
        in derivatives, if the eigenvalue is degenerate, or the next one too close to tell them apart.

    Notes
    -----
    The search runs to machine precision, and is repeated from a random vector (always the same) on the complement of
    what was found: a larger eigenvalue that it finds is taken instead, and the distance of the next one decides about
    derivatives. How many products that takes depends on the rest of the spectrum: between half and twice as many again
    where it is crowded near the largest, and several times as many where one eigenvalue, found in a few dozen
    products, stands above a crowded rest, like that of a positive random matrix.

    Of several eigenvalues of one modulus and different phase, such as 2 and -2, the search finds an arbitrary one, and
    derivatives are those of it, though another may be larger at the next point.

    A derivative costs one GMRES solve with the bordered operator, except that of the value only, with
    ``side="both"``: ``d lambda = l^H dA r``.

    Examples
    --------
    >>> import numpy as np, qad
    >>> a = np.array([[2.0, 1.0], [0.0, 1.0]])
    >>> value, right = qad.linalg.dominant_eig(a, np.ones(2))
    >>> print(round(float(value), 12), right.round(12))
    2.0 [1. 0.]
    >>> qad.grad(lambda a: qad.linalg.dominant_eig(lambda v: a @ v, np.ones(2))[0])(a).round(12)
    array([[1., 0.],
           [1., 0.]])
    """
    if side not in SIDES:
        raise ArgumentError(f"side is {side!r}: choose one of {', '.join(SIDES)}")
    limits = {"tol": tol, "restart": restart, "maxiter": maxiter}
    report = Report() if report is None else report
    operator = FlatOperator(operator_of(a), v0, "dominant_eig")
    if side == "right":
        value, right = pair(operator, False, limits, report, dominant)
        return value, normalised(right, v0, operator.name)
    start = operator.tree(operator.packing.pack(operator.start))
    _, pullback = vjp(operator.apply, start)
    adjoint = FlatOperator(lambda u: pullback(u)[0], start, operator.name)
    conjugate, left = pair(adjoint, False, limits, report, dominant)
    if side == "left":
        return conjugate.conj(), normalised(left, v0, operator.name)
    partner, _ = plain_leaves(left)
    value, right = pair(operator, False, limits, report, dominant, partner=partner)
    _check_same(value_of(value), np.conj(value_of(conjugate)))
    right = normalised(right, v0, operator.name)
    overlap = inner(right, left)
    return value, right, tree_map(lambda x: x / overlap, left)


def _check_same(value, other):
    if abs(value - other) > tolerances.half(value.dtype) * abs(value):
        raise ConvergenceError(
            f"dominant_eig: the right vector has eigenvalue {value:.8g}, the left one {other:.8g}: "
            "several eigenvalues have the largest modulus"
        )
