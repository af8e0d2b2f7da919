"""Singular value decomposition ``A = U diag(s) Vh``; its derivatives are in ``svd_rules.py``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.extend import core, implements, primitive, rule, stack_of
from qad.linalg.decompositions.svd_rules import full_vjp, thin_jvp, thin_vjp
from qad.linalg.factored.factors import factors
from qad.linalg.support.check import matrices
from qad.linalg.support.clusters import beside
from qad.linalg.support.degeneracy import check_policy
from qad.linalg.support.derivative_order import is_pushed_gradient, orders
from qad.linalg.support.drivers import SVDResult, singular_triples
from qad.linalg.support.null_space import marked

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Literal, overload

    from qad.typing import Array, ArrayLike
    from qad.typing import SVDResult as SVD

    @overload
    def svd(
        a: ArrayLike,
        full_matrices: bool = True,
        compute_uv: Literal[True] = True,
        hermitian: bool = False,
        *,
        degenerate: str = "raise",
    ) -> SVD: ...
    @overload
    def svd(
        a: ArrayLike,
        full_matrices: bool = True,
        *,
        compute_uv: Literal[False],
        hermitian: bool = False,
        degenerate: str = "raise",
    ) -> Array: ...


def svd(
    a: ArrayLike,
    full_matrices: bool = True,
    compute_uv: bool = True,
    hermitian: bool = False,
    *,
    degenerate: str = "raise",
) -> Any:
    """Singular value decomposition, with NumPy's signature and defaults.

    Parameters
    ----------
    a : array (..., m, n)
        Real or complex.
    full_matrices : bool
        Whether U and Vh are square, (m, m) and (n, n), or have k = min(m, n) columns and rows.
    compute_uv : bool
        False: only the singular values.
    hermitian : bool
        NumPy's shortcut for Hermitian matrices, on plain arrays; ignored where `a` is a Tensor.
    degenerate : "raise" or "warn"
        What the backward pass does where the factors do not determine the derivative; with "warn" the
        undetermined part contributes zero.

    Returns
    -------
    U, S, Vh : a named tuple of arrays (..., m, k), (..., k) in descending order, (..., k, n)
        Or only S.

    Raises
    ------
    ShapeError
        If `a` has fewer than two axes.
    ArgumentError
        If an entry is not finite.
        In the backward pass (or in forward mode), if the loss depends on the phases of singular vectors, or on
        vectors or values inside a degenerate block (by anything but products like ``(u * f(s)) @ vh``, which are
        followed and right), or on those of singular values that are zero. Then
        `qad.linalg.funm_svd` gives the exact derivative of U f(S) Vh.
    LinAlgError
        If the iteration does not converge.

    Notes
    -----
    A dependence on phases counts as zero below 1e-10 of the loss, or of one if the loss is smaller (in double
    precision), so that losses which are stationary in the vectors pass.

    On a Tensor, singular values that are zero to rounding are returned as ``eps**1.5`` of the largest (3e-24 of it),
    so that a loss of the product ``U @ diag(S) @ Vh``, which depends on the block of A between the null spaces, is told
    from one that leaves these vectors alone, and raises. ``funm_svd(lambda s: s, A)`` has its derivative.

    In forward mode a dependence on phases cannot be seen: tangents of vectors are those of the gauge in which
    U^H dU + V^H dV has no diagonal.

    Examples
    --------
    >>> import numpy as np, qad
    >>> def overlap(a):
    ...     u, s, vh = qad.linalg.svd(a, full_matrices=False)
    ...     return np.sum(u @ vh)
    >>> qad.grad(overlap)(np.array([[2.0, 1.0], [0.0, 1.0]])).round(6)
    array([[ 0.063246, -0.189737],
           [ 0.189737,  0.063246]])
    """
    check_policy(degenerate)
    a = matrices(a, "svd")
    if stack_of(a) is a:
        return np.linalg.svd(a, full_matrices, compute_uv, hermitian)
    if not compute_uv:
        return svdvals(a, degenerate=degenerate)
    if full_matrices and a.shape[-1] != a.shape[-2]:
        return _full(a, degenerate=degenerate, levels=orders(a))
    return SVDResult(*factored(a, degenerate=degenerate))


def svdvals(x: ArrayLike, *, degenerate: str = "raise") -> Array:
    """Singular values, in descending order.

    Parameters
    ----------
    x : array (..., m, n)
    degenerate : "raise" or "warn"
        As in `svd`.

    Returns
    -------
    real array (..., min(m, n))

    Raises
    ------
    ShapeError
        If `x` has fewer than two axes.
    ArgumentError
        If an entry is not finite.
        In the backward pass, where the loss weighs degenerate singular values differently, or has a nonzero
        derivative with respect to a vanishing one (a kink, like that of an absolute value).

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.grad(lambda a: qad.linalg.svdvals(a)[0])(np.diag([1.0, 3.0]))
    array([[0., 0.],
           [0., 1.]])
    """
    check_policy(degenerate)
    x = matrices(x, "svdvals")
    if stack_of(x) is x:
        return np.linalg.svdvals(x)
    return factored(x, degenerate=degenerate, vectors=False)[1]


implements(np.linalg.svd)(svd)
implements(np.linalg.svdvals)(svdvals)


def factored(a: Array, vectors: bool = True, **how: Any) -> Sequence[Array]:
    """The thin decomposition of a recorded matrix; keywords are those of `thin`."""
    how |= {"given": _plain(stack_of(a), vectors, orders(a)), "vectors": vectors}

    def record():
        return thin(a, frames=True, **how)[:3] if is_pushed_gradient(a) else thin(a, levels=orders(a), **how)

    return factors(a, how["given"], record, "svd")


@primitive(name="svd")
def thin(
    a: Array, *, given: tuple[Array, ...] | None = None, degenerate: str = "raise", kinks: bool = True,
    vectors: bool = True, levels: int = 1, frames: bool = False,
) -> tuple[Array, ...]:  # fmt: skip
    """The thin decomposition of all examples as a function of `a`: the one `given`, if it was computed before.

    Without `kinks` vanishing singular values have subgradient zero.  With `frames` vectors are smooth where values
    cluster, and N comes along; see ``clusters.py``.
    """
    found = given or _plain(a, vectors, levels)
    return (*found, beside(found[1], found[0], "svd")) if frames else found


def _plain(a, vectors, levels):
    u, s, vh = singular_triples(a, generic=levels and vectors)
    return u, marked(s) if vectors else s, vh


@primitive(name="svd")
def _full(a, *, degenerate="raise", levels=1):
    u, s, vh = singular_triples(a, full=True, generic=levels)
    return SVDResult(u, marked(s), vh)


rule(thin, shared=thin_vjp, forward_shared=thin_jvp, batch=core(2), scaled=True)
rule(_full, shared=full_vjp, batch=core(2), scaled=True)
