"""``exp(t A) v`` without a matrix, by Taylor polynomials over short steps.

    exp(t A) v = (sum_k (t A / s)^k / k!)^s v

The number of steps s and the degree m follow from an estimate of the norm of tA only, so that the polynomial is as
good for derivatives as for the value; ending the series where a term happens to vanish would lose, at
``A v = 0``, the derivative with respect to A.  Every product is an ordinary recorded operation.  Therefore gradients
with respect to v, t and whatever A closes over are right, in both modes and to every order.

Reference: A. H. Al-Mohy and N. J. Higham, SIAM J. Sci. Comput. 33, 488 (2011).
"""

from __future__ import annotations

from math import ceil, lgamma, log
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError, ShapeError
from qad.core.trees import tree_map
from qad.extend import as_array, like, no_grad, value_of, vjp
from qad.linalg.krylov.eigenpair import FlatOperator, operator_of
from qad.linalg.krylov.gmres import plain_leaves
from qad.linalg.support import tolerances
from qad.linalg.support.lengths import length

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from qad.typing import LinearMap, Number, Tree

MOST_PRODUCTS = 100_000
RADIUS = 5.0  # largest norm of one step: terms grow to e^5 at most before they fall
MARGIN = 1.2  # the norm is estimated from below
ORDERS = 2  # orders of derivatives whose truncation error is below rounding too


def expm_multiply(a: LinearMap, v: Tree, t: Number = 1.0) -> Any:
    """The action of ``exp(t A)`` on `v`.

    Parameters
    ----------
    a : callable or array (n, n)
        A complex-linear function of a pytree that returns the same structure, or a matrix. A function may close over
        Tensors: their gradients are right.
    v : pytree of float or complex arrays
    t : scalar, real or complex
        ``-1j * time`` for evolution by a Hamiltonian.

    Returns
    -------
    pytree like `v`, complex where `a`, `v` or `t` is

    Raises
    ------
    ArgumentError
        If ``|t A|`` is so large that more than 100 000 products would be needed, or not finite.

    Notes
    -----
    About six products per unit of ``|t A|`` and at least twenty. Reverse mode keeps a vector per product: wrap the
    call in `qad.checkpoint`, or evolve in several calls, where memory matters.

    Examples
    --------
    >>> import numpy as np, qad
    >>> turn = lambda v: np.stack([-v[1], v[0]])
    >>> qad.linalg.expm_multiply(turn, np.array([1.0, 0.0]), np.pi / 2).round(12)
    array([0., 1.])
    >>> angle = lambda t: qad.linalg.expm_multiply(turn, np.array([1.0, 0.0]), t)[1]
    >>> print(round(float(qad.grad(angle)(np.pi / 3)), 12))
    0.5
    """
    if np.shape(value_of(t)) != ():
        raise ShapeError(f"expm_multiply: t is a scalar, not an array of shape {np.shape(value_of(t))}")
    apply = operator_of(a)
    plain_leaves(v)  # refuses entries that are not finite
    steps, degree = schedule(abs(value_of(t)) * MARGIN * _norm(apply, v))
    step = t * (1 / steps)
    for _ in range(steps):
        v = taylor(apply, v, step, degree)
    return v


def taylor(apply: Callable[[Any], Any], v: Any, step: Any, degree: int) -> Any:
    """``sum_k (step A)^k v / k!`` up to the degree."""
    term = total = v
    for k in range(1, degree + 1):
        factor = step * (1 / k)
        term = tree_map(lambda y, factor=factor: factor * y, apply(term))
        total = tree_map(lambda x, y: x + y, total, term)
    return total


def schedule(norm: float) -> tuple[int, int]:
    """Steps and degree of least work, by ``theta^(m+1-d) / (m+1-d)! < eps`` for ``theta = norm / steps``."""
    if not np.isfinite(norm):
        raise ArgumentError("expm_multiply: the norm of t A is not finite")
    if norm > MOST_PRODUCTS / 4:
        raise ArgumentError(f"expm_multiply: the norm of t A is {norm:.3g}, which takes too many products: divide t")
    least = max(1, ceil(norm / RADIUS))
    choices = ((s * _degree(norm / s), s) for s in range(least, least + 4))
    products, steps = min(choices)
    return steps, products // steps


def _degree(theta):
    """The least degree whose remainder, and those of derivatives, are below rounding."""
    m, limit = 1, log(tolerances.unit(float) / 4)
    while m < theta or (theta > 0 and m * log(theta) - lgamma(m + 1) > limit):
        m += 1
    return m + ORDERS


def _norm(apply, v, rounds=8):
    """The largest singular value of A, from below by power iteration with ``A^H A``."""
    operator = FlatOperator(apply, tree_map(_positive, v), "expm_multiply")
    rng = np.random.default_rng(0)
    x = operator.packing.pack(operator.start)
    x = like(x).asarray(rng.standard_normal(x.size).astype(x.dtype))
    with no_grad():
        _, pullback = vjp(apply, operator.tree(x))
    size = 0.0
    for _ in range(rounds):
        x = x / length(x)
        y = operator(x)
        size = max(size, length(y))
        with no_grad():
            back = pullback(operator.tree(y))[0]
        x = operator.packing.pack(plain_leaves(back)[0])
        if not length(x) > 0:
            break
    return size * operator.unit


def _positive(x):
    """Some array like `x` that is not zero."""
    return like(x).ones(np.shape(value_of(x)), as_array(value_of(x)).dtype)
