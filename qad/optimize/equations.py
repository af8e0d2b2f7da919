"""Roots and least squares of SciPy, with the Jacobian of qad, over any structure of real and complex arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy  # loads scipy.optimize when it is first used

from qad.core.errors import ConvergenceError, GradientTypeError, ShapeError
from qad.core.trees import flatten, unflatten
from qad.extend import Tensor, jvp, value_of
from qad.keywords import keywords_told
from qad.linalg.implicit.packing import as_reals
from qad.linalg.implicit.root import attach, in_batches
from qad.linalg.krylov.gmres import plain_leaves
from qad.optimize.packing import Parameters
from qad.optimize.result import BY_USER, OptimizeResult
from qad.showing.progress import bar_for

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from qad.typing import Tree

__all__ = ["least_squares", "root"]

XTOL = 1.49012e-8  # SciPy's own


@keywords_told
def root(
    fun: Callable[[Tree], Tree], params: Tree, *, method: str = "hybr", tol: float | None = None, **options: Any
) -> Tree:
    """Solve ``f(x) = 0`` by `scipy.optimize.root`, and differentiate the solution by what `fun` closes over.

    Parameters
    ----------
    fun : callable
        Of a pytree of real or complex arrays, to the same structure; it may contain conjugations.
    params : pytree
        Where to start; it has no influence on the derivative.
    method : str
        Of `scipy.optimize.root`: "hybr" and "lm" are given the Jacobian, a matrix of the real and imaginary parts.
    tol : float, optional
    **options
        SciPy's, for the method.

    Returns
    -------
    pytree
        The solution: recorded where `fun` closes over Tensors, whose gradient is that of the implicit function theorem.

    Raises
    ------
    ConvergenceError
        No solution was found; the message is SciPy's. A point from which Newton's step is within `tol` (1.5e-8) of the
        solution is one, whatever SciPy says.
    ShapeError
        If there are not as many equations as unknowns; a complex one counts as two.

    See Also
    --------
    qad.fixed_point : for large x, without a matrix.

    Examples
    --------
    >>> import numpy as np, qad
    >>> cube_root = lambda a: qad.optimize.root(lambda z: z**3 - a, np.array(1.0 + 0.5j))
    >>> cube_root(-8.0).round(6)
    np.complex128(1+1.732051j)
    >>> round(float(qad.grad(lambda a: cube_root(a).real)(-8.0)), 6)  # of a^(1/3) on this branch
    -0.041667
    """
    start, _ = plain_leaves(params)
    spec = flatten(params)[1]

    shapes, found = [np.shape(x) for x in start], [np.shape(x) for x in flatten(fun(params))[0]]
    if found != shapes:
        raise ShapeError(
            f"root: the function returns arrays of shapes {found}, but its argument has {shapes}: return the structure "
            "of the argument, such as np.stack([first, second]) for a vector"
        )

    def again(residual, leaves):
        return _solved(residual, leaves, method, tol, options)

    batch = in_batches(fun, params, again)
    if batch is not None:
        return batch
    found = again(lambda leaves: flatten(fun(unflatten(spec, leaves)))[0], start)
    return attach(fun, unflatten(spec, found), again)


def _solved(residual, start, method, tol, options):
    """The leaves where the leaves of the residual are zero."""
    vectors = Parameters(start)
    first, equations = vectors.pack(start), len(_packed(residual(start)))
    if equations != len(first):
        raise ShapeError(f"root: {equations} equations for {len(first)} unknowns, where a complex number counts as two")
    if not equations:
        return start
    given = method in ("hybr", "lm")
    with_slopes = _with_jacobian(residual, vectors)
    found = scipy.optimize.root(with_slopes, first, (given,), method, given or None, tol, options=options)
    if not found.success and not _is_root(with_slopes, found.x, XTOL if tol is None else tol):
        residual = np.abs(found.fun).max()
        raise ConvergenceError(f"root: {' '.join(found.message.split())} (method {method!r}, residual {residual:.3g})")
    return vectors.unpack(found.x)


def _is_root(with_slopes, x, tol):
    """Whether Newton's step is within the tolerance of x: SciPy gives up where rounding is all that is left."""
    value, slopes = with_slopes(x)
    try:
        step = np.linalg.solve(slopes, value)
    except np.linalg.LinAlgError:
        return False
    return bool(np.abs(step).max() <= tol * np.abs(x).max())


def _with_jacobian(residual, vectors):
    """The residual and its Jacobian as functions of a real vector, column by column in forward mode."""

    def evaluated(vector, slopes=True):
        x = vectors.unpack(vector)
        if not slopes:
            return _packed(residual(x))
        directions = [vectors.unpack(direction) for direction in np.eye(len(vector))]
        pairs = [jvp(lambda x: list(residual(x)), (x,), (direction,)) for direction in directions]
        return _packed(pairs[0][0]), np.array([_packed(column) for _, column in pairs]).T

    return evaluated


def _packed(leaves):
    """Bare leaves as a real vector: a complex entry is two."""
    return np.concatenate([as_reals(np.asarray(value_of(leaf))) for leaf in leaves])


@keywords_told
def least_squares(fun: Callable[[Tree], Tree], params: Tree, **options: Any) -> OptimizeResult:
    """Minimise ``sum |f(x)|^2 / 2`` by `scipy.optimize.least_squares`, with the Jacobian of qad.

    Parameters
    ----------
    fun : callable
        Of a pytree of real or complex arrays, to a pytree of real or complex arrays.
    params : pytree
        Where to start.
    **options
        SciPy's: `method`, `ftol`, `xtol`, `gtol`, `loss`, `max_nfev`; `bounds` are for the vector of real parts, in the
        order of the leaves, a complex entry being two.

    Returns
    -------
    OptimizeResult
        Its `fun` is half the sum of squares, or what `loss` makes of it; plain numbers, without derivatives. After
        Ctrl-C the smallest sum of squares so far, whose `gradient_norm` is nan.

    Raises
    ------
    GradientTypeError
        If `fun` closes over recorded numbers.

    Examples
    --------
    >>> import numpy as np, qad  # a phase and an amplitude from samples
    >>> t = np.linspace(0.0, 1.0, 5)
    >>> data = (2 - 1j) * np.exp(3j * t)
    >>> fit = qad.optimize.least_squares(lambda p: p["a"] * np.exp(1j * p["w"] * t) - data, {"a": 1 + 0j, "w": 2.5})
    >>> fit.params["a"].round(6), fit.params["w"].round(6)
    (np.complex128(2-1j), np.float64(3.0))
    """
    vectors = Parameters(params)
    start = flatten(fun(vectors.unpack(vectors.pack(params))))[0]
    if any(type(leaf) is Tensor for leaf in start):
        raise GradientTypeError(
            "least_squares has no derivative by what its function closes over: qad.optimize.root of the gradient of "
            "the sum of squares has one"
        )
    evaluated, start = _with_jacobian(lambda x: flatten(fun(x))[0], vectors), _packed(start)
    best = scipy.optimize.OptimizeResult(
        x=vectors.pack(params), cost=start @ start / 2, grad=np.nan, success=False, message=BY_USER, njev=0, nfev=0
    )

    def residual(v):
        values = evaluated(v, False)
        best.nfev += 1
        bar.update()
        if values @ values / 2 < best.cost:
            best.update(x=np.array(v), cost=values @ values / 2)
        return values

    def slopes(v):
        return evaluated(v)[1]

    with bar_for(label="residuals") as bar:
        try:
            found = scipy.optimize.least_squares(residual, vectors.pack(params), jac=slopes, **options)
        except KeyboardInterrupt:
            found = best
    return OptimizeResult(
        params=vectors.unpack(found.x), fun=float(found.cost), history=np.array([start @ start / 2, found.cost]),
        gradient_norm=float(np.linalg.norm(found.grad)), success=bool(found.success),
        interrupted=found.message == BY_USER, message=found.message, nit=int(found.njev or 0), nfev=int(found.nfev),
    )  # fmt: skip
