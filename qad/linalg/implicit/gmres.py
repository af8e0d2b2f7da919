"""Krylov solvers on plain arrays: GMRES, and pytrees as vectors.

Reference: Y. Saad and M. H. Schultz, SIAM J. Sci. Stat. Comput. 7, 856 (1986).
"""

from dataclasses import dataclass, field

import numpy as np

from qad.core.errors import ArgumentError, ConvergenceError
from qad.core.trees import flatten, unflatten
from qad.extend import no_grad, value_of
from qad.linalg.support.check import finite


@dataclass
class Report:
    """How an iteration went.

    Attributes
    ----------
    iterations : int
        Calls of the function in the forward iteration.
    residual : float
        Of the solution, relative.
    adjoint : list of (iterations, residual)
        One entry for each linear solve of a derivative, in the order in which they ran.

    Examples
    --------
    >>> import numpy as np, qad
    >>> report = qad.linalg.Report()
    >>> x = qad.fixed_point(np.cos, np.array(1.0), method="plain", report=report)
    >>> report.iterations, report.residual < 1e-12
    (69, True)
    """

    iterations: int = 0
    residual: float = float("inf")
    adjoint: list[tuple[int, float]] = field(default_factory=list)


class Packing:
    """Lists of arrays as one vector: complex where all of them are complex and `real` is not asked for.

    A real vector holds the real parts of everything, then the imaginary parts of what is complex.
    """

    def __init__(self, leaves, real=False):
        self.shapes = [x.shape for x in leaves]
        self.dtypes = [x.dtype for x in leaves]
        self.complex = [d.kind == "c" for d in self.dtypes]
        self.real = real or not all(self.complex)
        self.dtype = np.result_type(*self.dtypes)
        if self.real:
            self.dtype = np.empty(0, self.dtype).real.dtype
        self.cuts = np.cumsum([int(np.prod(s)) for s in self.shapes])[:-1]

    def pack(self, leaves):
        """The vector that holds `leaves`."""
        if not self.real:
            return np.concatenate([np.ravel(x) for x in leaves])
        parts = [np.ravel(x.real) for x in leaves]
        parts += [np.ravel(x.imag) for x, is_complex in zip(leaves, self.complex, strict=True) if is_complex]
        return np.concatenate(parts)

    def unpack(self, vector):
        """The arrays that `vector` holds."""
        if not self.real or not any(self.complex):
            parts = np.split(vector, self.cuts)
        else:
            n = sum(int(np.prod(s)) for s in self.shapes)
            parts, imag = np.split(vector[:n], self.cuts), vector[n:]
            for k, is_complex in enumerate(self.complex):
                if is_complex:
                    size = parts[k].size
                    parts[k], imag = parts[k] + 1j * imag[:size], imag[size:]
        return [p.reshape(s).astype(d, copy=False) for p, s, d in zip(parts, self.shapes, self.dtypes, strict=True)]


def plain_leaves(tree):
    """Leaves of `tree` as plain arrays of float or complex numbers, and its spec."""
    leaves, spec = flatten(tree)
    arrays = [np.asarray(value_of(x)) for x in leaves]
    for x in arrays:
        finite(x, "an iteration starts from finite numbers")
    return [x if x.dtype.kind in "fc" else x.astype(float) for x in arrays], spec


def bare(f, spec, like, name):
    """`f` of a pytree as a function of lists of plain arrays, which checks what comes back.

    Nothing is recorded; the answer must have the structure `spec` and the shapes of the leaves `like`.
    """

    def on_leaves(leaves):
        with no_grad():
            out, given = flatten(f(unflatten(spec, leaves)))
        if given != spec:
            raise ArgumentError(f"{name} returns the structure {given} for an argument of structure {spec}")
        out = [np.asarray(value_of(x)) for x in out]
        for x, y in zip(like, out, strict=True):
            if x.shape != y.shape:
                raise ArgumentError(f"{name} returns shape {y.shape} for an argument of shape {x.shape}")
            if y.dtype.kind == "c" and x.dtype.kind != "c":
                raise ArgumentError(f"{name} returns {y.dtype} for {x.dtype}: start from a complex array")
        return out

    return on_leaves


def solve(operator, b, start=None, tol=1e-12, restart=60, maxiter=2000, name="linear_solve"):
    """Solve a linear equation over lists of plain arrays.

    Parameters
    ----------
    operator : callable
        List of arrays to list of arrays, linear over the complex or only over the real numbers; which
        one is found out by a call.
    b, start : lists of arrays

    Returns
    -------
    solution, iterations, relative residual
    """
    packing = Packing(b, real=not _is_complex_linear(operator, b))

    def matvec(v):
        product = packing.pack(operator(packing.unpack(v)))
        finite(product, f"{name}: the operator returns numbers that are not finite")
        return product

    x0 = None if start is None else packing.pack(start)
    x, iterations, residual = gmres(matvec, packing.pack(b), x0, tol, restart, maxiter, name)
    return packing.unpack(x), iterations, residual


def _is_complex_linear(operator, b):
    if not all(x.dtype.kind == "c" for x in b):
        return False
    straight, turned = operator(b), operator([1j * x for x in b])
    scale = max((np.abs(y).max(initial=0) for y in turned), default=0)
    return all(np.allclose(1j * x, y, rtol=0, atol=1e-5 * scale) for x, y in zip(straight, turned, strict=True))


def gmres(matvec, b, x0, tol, restart, maxiter, name):
    """Restarted GMRES for ``matvec(x) = b`` on plain vectors.

    Returns
    -------
    x, number of calls of matvec, ``|b - A x| / |b|``

    Raises
    ------
    ConvergenceError
        If the residual is above `tol`, and above what rounding allows, after `maxiter` calls.
    """
    size = np.linalg.norm(b)
    if size == 0:
        return np.zeros_like(b), 0, 0.0
    tol = max(tol, 20 * np.finfo(b.dtype).eps)
    x = np.zeros_like(b) if x0 is None else x0.copy()
    r = b - matvec(x) if x0 is not None else b
    calls, previous = int(x0 is not None), np.inf
    while (error := np.linalg.norm(r) / size) > tol:
        if calls >= maxiter or not np.isfinite(error) or error > 0.99 * previous:
            if error < 1e3 * tol:
                break  # what rounding leaves
            raise ConvergenceError(
                f"{name}: GMRES stopped after {calls} products at a relative residual of {error:.3g} (tol={tol:.3g}): "
                "the operator is singular, not linear or badly conditioned, or needs a larger maxiter or restart"
            )
        step, used = _cycle(matvec, r, tol * size, min(restart, maxiter - calls, b.size))
        x = x + step
        r, previous = b - matvec(x), error
        calls += used + 1
    return x, calls, float(error)


def correction(matvec, r, tol, m):
    """An approximate solution of ``matvec(x) = r`` from `m` products, or fewer for a relative residual `tol`."""
    return _cycle(matvec, r, tol * np.linalg.norm(r), m)[0]


def _cycle(matvec, r, target, m):
    """One cycle of Arnoldi's process from residual `r`: the correction and the number of products.

    The residual after step j is ``|r| / |n|``, n being the vector with ``n_0 = 1`` and ``n^T H = 0`` for the
    Hessenberg matrix H, (j + 2, j + 1), whose range it spans the complement of.
    """
    basis = np.empty((m + 1, r.size), r.dtype)
    h = np.zeros((m + 1, m), r.dtype)
    normal = np.zeros(m + 1, r.dtype)
    size = np.linalg.norm(r)
    basis[0], normal[0] = r / size, 1
    for j in range(m):
        h[: j + 2, j] = _orthogonalise(basis, matvec(basis[j]), j)
        below = h[j + 1, j]
        if below != 0:
            normal[j + 1] = -(normal[: j + 1] @ h[: j + 1, j]) / below
        if below == 0 or size <= target * np.linalg.norm(normal):
            break
    right = np.zeros(j + 2, r.dtype)
    right[0] = size
    y = np.linalg.lstsq(h[: j + 2, : j + 1], right, rcond=None)[0]
    return y @ basis[: j + 1], j + 1


def _orthogonalise(basis, w, j):
    """Make `w` the next basis vector by two passes of Gram-Schmidt; the column of Hessenberg's matrix."""
    known = basis[: j + 1]
    column = np.zeros(j + 2, basis.dtype)
    size = np.linalg.norm(w)
    for _ in range(2):
        overlap = (known @ w.conj()).conj()
        w = w - overlap @ known
        column[:-1] += overlap
    rest = np.linalg.norm(w)
    column[-1] = rest if rest > 10 * np.finfo(rest.dtype).eps * size else 0
    basis[j + 1] = w / (rest or 1)
    return column
