"""Solutions of equations ``F(x, p) = 0``, differentiated by the implicit function theorem.

    dx = -(dF/dx)^-1 (dF/dp) dp        G_p = -(dF/dp)^* u   with   (dF/dx)^* u = G_x

One primitive, `root`, does it for fixed points, linear equations and eigenvectors alike.  It holds the solution,
found outside of the tape, and F as a function of x and of the Tensors p that F closes over.  Its rule solves the
adjoint equation by GMRES with the vjp of F at the solution; that solve is a linear equation, therefore again
a `root` where its operands are Tensors.  So derivatives of every order and forward mode follow.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.core.trees import flatten, tree_map, unflatten
from qad.extend import as_array, defvjp, each_alone, like, primitive, stack_of, unrecorded, value_of, vjp
from qad.extend.batching import is_batched, under_vmap
from qad.keywords import keywords_told
from qad.linalg.implicit.closure import capture
from qad.linalg.krylov.gmres import Report, bare, plain_leaves, solve
from qad.linalg.support import tolerances

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from qad.typing import Array, Tree

ADJOINT = "adjoint equation"


@dataclass(eq=False)
class Equation:
    """What `root` knows besides its operands.

    Attributes
    ----------
    residual : callable
        ``residual(leaves of x, operands)`` returns the leaves of F, of the shapes of x.
    solution : list of arrays
        The leaves of x, for `operands`.
    resolve : callable
        ``resolve(F, solution)`` finds the solution again, for F as a function of leaves with other operands.
    guess : callable or None
        ``guess(cotangents, solution)`` starts the adjoint solve.
    options : dict
        Tolerance and limits of the adjoint solve, for `linear_solve`.
    starts : int
        How many operands, the first, are only where a search starts; then nothing is solved yet.
    """

    residual: Callable[..., list[Array]]
    operands: list[Any] | None
    solution: list[Any] | None
    resolve: Callable[..., list[Any]]
    guess: Callable[..., list[Any]] | None = None
    options: dict[str, Any] = field(default_factory=dict)
    starts: int = 0
    report: Report = field(default_factory=Report)


def attach(f: Callable[[Tree], Tree], x: Tree, resolve: Callable[..., list[Any]], **how: Any) -> Tree:
    """The solution `x` of ``f(x) = 0`` as a function of the Tensors that `f` closes over.

    Parameters
    ----------
    f : callable
        A function of a pytree, returning the same structure, whose derivative at `x` is invertible.
    x : pytree of plain arrays
    resolve, **how
        Fields of `Equation`.
    """
    leaves, spec = flatten(x)
    closure, captured = capture(f, x)
    if not captured:
        return x
    operands = [value_of(c) for c in captured]
    equation = Equation(closure, operands, leaves, resolve, **how)
    return unflatten(spec, list(root(*captured, equation=equation)))


def in_batches(f: Callable[[Tree], Tree], x0: Tree, resolve: Callable[..., list[Any]], **how: Any) -> Tree | None:
    """As `attach`, under `qad.vmap` where each example has a solution of its own, found from `x0`; else None.

    `f` is recorded where the first example starts, so that its branches are those taken there.
    """
    if not under_vmap():
        return None
    leaves, spec = flatten(x0)
    starts, stacked = [unrecorded(x) for x in leaves], [as_array(stack_of(x)) for x in leaves]
    firsts = plain_leaves([s[(0,) * (s.ndim - np.ndim(x))] for x, s in zip(leaves, stacked, strict=True)])[0]
    closure, captured = capture(f, unflatten(spec, firsts))
    if not any(is_batched(x) for x in (*starts, *captured)):
        return None
    starts = [x if is_batched(x) else y for x, y in zip(starts, firsts, strict=True)]
    n = len(starts)
    equation = Equation(lambda x, given: closure(x, given[n:]), None, None, resolve, starts=n, **how)
    return unflatten(spec, list(root(*starts, *captured, equation=equation)))


@primitive
def root(*operands: Array, equation: Equation) -> tuple[Array, ...]:
    """The solution of an `Equation`: the one that was found, or where operands have changed a new one."""
    if equation.operands is None:  # each example of a batch for itself: the first operands are where to start
        return tuple(equation.resolve(lambda leaves: equation.residual(leaves, operands), operands[: equation.starts]))
    if all(a is b for a, b in zip(operands, equation.operands, strict=True)):
        return tuple(equation.solution)
    return tuple(equation.resolve(lambda leaves: equation.residual(leaves, operands), equation.solution))


def _rule(needed, g, ans, *operands, equation):
    seeds = [
        like(x).zeros(x.shape, x.dtype) if c is None else c.conj().astype(x.dtype) for c, x in zip(g, ans, strict=True)
    ]
    plain = all(isinstance(x, (np.ndarray, np.generic)) for x in (*seeds, *ans, *operands))  # nothing is recorded

    def residual(x, moving):
        filled = dict(zip(needed, moving, strict=True))
        return equation.residual(x, [filled.get(i, a) for i, a in enumerate(operands)])

    _, pullback = vjp(residual, list(ans), [operands[i] for i in needed])
    start = equation.guess and equation.guess(*([value_of(x) for x in xs] for xs in (seeds, ans)))
    find = solution_of if plain else linear_solve
    u = find(lambda u: pullback(u, (0,))[0], seeds, start, report=equation.report, name=ADJOINT, **equation.options)
    return [-c.conj() for c in pullback(u, (1,))[0]]


defvjp(root, shared=each_alone(_rule))


@keywords_told
def linear_solve(
    matvec: Callable[[Tree], Tree],
    b: Tree,
    x0: Tree = None,
    *,
    tol: float = tolerances.SOLVED,
    restart: int = 60,
    maxiter: int = 2000,
    positive: bool = False,
    preconditioner: Callable[[Tree], Tree] | None = None,
    report: Report | None = None,
    name: str = "linear_solve",
) -> Tree:
    """Solve ``matvec(x) = b`` by GMRES or conjugate gradients, without a matrix.

    Parameters
    ----------
    matvec : callable
        A linear function of a pytree that returns the same structure; linear over the complex, or only over
        the real numbers (with conjugations inside). It may close over Tensors: their gradients are right.
    b : pytree of float or complex arrays
        The right-hand side.
    x0 : pytree like `b`, optional
        Where to start; has no influence on the solution or its derivatives.
    tol : float
        Of the relative residual ``|b - A x| / |b|``, for the solution and for the adjoint solves of derivatives.
    restart, maxiter : int
        Vectors kept by GMRES, and the largest number of products.
    positive : bool
        Whether `matvec` is Hermitian and positive: then conjugate gradients, which forget nothing when they restart.
    preconditioner : callable, optional
        For positive operators: a function of a pytree like `b`, near to the inverse of `matvec`, Hermitian and
        positive itself, to any factor. It speeds up the solution, and that of derivatives, and has no other influence.
    report : qad.linalg.Report, optional
        Is filled in with the numbers of products and residuals of this solve and of those in derivatives.
    name : str
        Begins error messages.

    Returns
    -------
    pytree like `b`

    Raises
    ------
    ConvergenceError
        If the tolerance is not reached: the operator is singular, not linear, or badly conditioned.
    ArgumentError
        If `matvec` changes structure, shapes, or real into complex numbers; if it or its preconditioner turns out not
        to be positive, or there is a preconditioner without ``positive=True``.

    Notes
    -----
    With ``A^H y = G_x``: ``G_b = y`` and ``G_p`` is the vjp of ``p -> A(p) x`` for the cotangent ``-y``.

    Examples
    --------
    >>> import numpy as np, qad
    >>> d = np.array([2.0, 4.0])
    >>> qad.linalg.linear_solve(lambda x: d * x, np.ones(2))
    array([0.5 , 0.25])
    >>> qad.grad(lambda d: qad.linalg.linear_solve(lambda x: d * x, np.ones(2)).sum())(d)
    array([-0.25  , -0.0625])
    """
    report = Report() if report is None else report
    if not callable(matvec):
        raise ArgumentError(
            "linear_solve takes a function, lambda x: a @ x, and then b; np.linalg.solve takes a matrix"
        )
    if preconditioner is not None and not positive:
        raise ArgumentError(
            "linear_solve: a preconditioner is for positive operators: write positive=True, if it is one"
        )
    limits = {"tol": tol, "restart": restart, "maxiter": maxiter, "positive": positive}
    if preconditioner is not None:
        plain, spec = plain_leaves(b)
        limits["preconditioner"] = bare(preconditioner, spec, plain, "the preconditioner of linear_solve")

    def again(f, start):
        """``f(x) = A x - b`` with other operands."""
        shift = f([np.zeros_like(s) for s in start])
        right = [-c for c in shift]
        return solve(lambda x: [y - c for y, c in zip(f(x), shift, strict=True)], right, start, **limits)[0]

    def residual_of(x):
        return tree_map(lambda y, c: y - c, matvec(x), b)

    how = {"options": limits, "report": report}
    batch = in_batches(residual_of, tree_map(_zeros, b), again, **how)
    if batch is not None:
        return batch
    return attach(residual_of, solution_of(matvec, b, x0, report, name, **limits), again, **how)


def _zeros(x):
    """A start of the shape of `x`, or of one example of it."""
    return like(value_of(x)).zeros(np.shape(x), np.result_type(getattr(x, "dtype", type(x)), np.float32))


def solution_of(matvec: Callable[[Tree], Tree], b: Tree, x0: Tree, report: Report, name: str, **limits: Any) -> Tree:
    """The solution of ``matvec(x) = b`` as plain arrays, noted in a report."""
    plain, spec = plain_leaves(b)
    start = None if x0 is None else plain_leaves(x0)[0]
    x, iterations, residual = solve(bare(matvec, spec, plain, name), plain, start, name=name, **limits)
    if name == ADJOINT:
        report.adjoint.append((iterations, residual))
    else:
        report.iterations, report.residual = iterations, residual
    return unflatten(spec, x)
