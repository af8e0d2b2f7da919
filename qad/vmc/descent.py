"""Natural gradients of wave functions: the derivatives of log psi at samples, and least squares with them.

With rows ``A = sqrt(w) (O - <O>)`` of the centred derivatives ``O_k = d log psi / d theta_k`` and right-hand sides
``b = sqrt(w) (E_loc - <E>)`` the directions are ``(A^T A + shift)^-1 A^T b`` (stochastic reconfiguration: S. Sorella,
PRL 80, 4558 (1998)), or the same as ``A^T (A A^T + shift)^-1 b`` (minSR: A. Chen and M. Heyl, Nature Physics 20, 1476
(2024)), with the last direction d as ``A^T (A A^T + shift)^-1 (b - mu A d) + mu d`` (SPRING: G. Goldshlager,
N. Abrahamsen and L. Lin, J. Comput. Phys. 516, 113351 (2024)).

All is real: a complex parameter is the pair of its real and imaginary part, and where psi is complex the real parts of
all rows are followed by the imaginary ones.  That is right for any function of the parameters, holomorphic or not, and
for holomorphic ones equal to the complex equations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.linalg

from qad.core.errors import ArgumentError
from qad.core.trees import flatten
from qad.extend import jvp, vjp, vmap
from qad.frozen.freeze import freeze
from qad.frozen.passes import OF_STEPS
from qad.optimize.packing import Parameters
from qad.vmc.amplitudes import as_whole, check_nonzero, pieces

if TYPE_CHECKING:
    from collections.abc import Callable

    from qad.typing import Matrix, Tree, Vector
    from qad.vmc.statistics import Samples

PIECE = 64  # samples whose derivatives are computed at once
CUTOFF = 1e-10  # of the smooth pseudo-inverse: eigenvalues relative to the largest
PASSES = *OF_STEPS, "dead"  # the compiled loop gains nothing on batches, and its kernels would have to be made
NODES = "derivatives of log psi are infinite there; leave the configuration out (totals), or sample"


class Slopes:
    """The matrix A of one wave function, at parameters and samples that `at` takes; it is never held whole.

    Parameters
    ----------
    log_psi : callable
    params : pytree
        Only its structure counts.
    memory_limit : int
        Bytes that rows of A may take at once.
    """

    def __init__(self, log_psi: Callable[[Any, Any], Any], params: Tree, memory_limit: float = 2**31):
        self.packing: Parameters = Parameters(params)
        self.size: int = len(self.packing.pack(params))
        self.limit: float = memory_limit
        each = [vmap(each_of(log_psi, parts), in_axes=(None, 0)) for parts in (1, 2)]
        self.of_each: Any = [freeze(gradients, passes=PASSES) for gradients in each]
        self.summed: Any = freeze(lambda p, rows, x: vjp(lambda p: log_psi(p, rows), p)[1](x)[0], passes=PASSES)
        self.along: Any = lambda p, rows, v: jvp(lambda p: log_psi(p, rows), (p,), (v,))[1]

    def at(self, params: Tree, samples: Samples) -> Slopes:
        """The same function elsewhere."""
        self.params: Tree = params
        self.rows: np.ndarray = samples.configurations
        check_nonzero(samples.log_psi, self.rows, NODES)
        self.parts: int = 1 + (samples.log_psi.dtype.kind == "c")
        count = len(self.rows)
        self.weights: Vector = np.full(count, 1 / count) if samples.weights is None else samples.weights
        self.roots: Vector = np.sqrt(self.weights)
        self.means: Matrix = np.array([self.pulled(unit * self.weights) for unit in (1.0, 1j)[: self.parts]])
        if not np.isfinite(self.means).all():
            raise ArgumentError("the derivatives of log_psi are not finite")
        return self

    @property
    def method(self) -> str:
        """That of the smaller equations: "sr" of the parameters, or "minsr" of the samples."""
        return "sr" if self.size <= self.parts * len(self.rows) else "minsr"

    def centred(self, values: np.ndarray) -> np.ndarray:
        """The right-hand side (samples,) of values (samples,): centred, times the roots of the weights."""
        b = self.roots * (values - self.weights @ values)
        return b.astype(complex) if self.parts > 1 else b.real

    def pulled(self, x: np.ndarray) -> Vector:
        """The sum of ``Re(x* d log psi)`` over samples."""
        return sum(
            self.packing.pack(self.summed(self.params, as_whole(self.rows[piece]), x[piece]))
            for piece in pieces(len(self.rows))
        )  # fmt: skip

    def transposed(self, b: np.ndarray) -> Vector:
        """``A^T b`` by one sweep through all samples."""
        x = self.roots * b
        return self.pulled(x - self.weights * x.sum())

    def times(self, vector: Vector) -> np.ndarray:
        """``A v`` (samples,) by one forward pass."""
        tangent = self.packing.unpack(vector)
        found = [self.along(self.params, as_whole(self.rows[piece]), tangent) for piece in pieces(len(self.rows))]
        return self.centred(np.concatenate(found))

    def block(self, chosen: slice) -> Matrix:
        """The rows of A of some samples, of each the real part and then the imaginary one."""
        out = np.empty((chosen.stop - chosen.start, self.parts, self.size))
        for piece in pieces(len(out), PIECE):
            part = slice(chosen.start + piece.start, chosen.start + piece.stop)
            found = self.of_each[self.parts - 1](self.params, as_whole(self.rows[part]))
            for k, tree in enumerate(found):
                np.concatenate([*map(as_columns, flatten(tree)[0])], axis=1, out=out[piece, k])
            out[piece] -= self.means
            out[piece] *= self.roots[part, None, None]
        return out.reshape(-1, self.size)

    def metric(self) -> Matrix:
        """``A^T A``."""
        total = np.zeros((self.size, self.size))
        for chosen in pieces(len(self.rows), self.most(1.0)):
            rows = self.block(chosen)
            total += rows.T @ rows
        return total

    def gram(self) -> Matrix:
        """``A A^T``, from pairs of blocks of rows, a large one that is held and a small one."""
        count = len(self.rows)
        out = np.empty((self.parts * count, self.parts * count))
        for held in pieces(count, self.most(0.8)):
            ones, end = self.block(held), self.parts * held.stop
            own = slice(end - len(ones), end)
            out[own, own] = ones @ ones.T
            for rest in pieces(count, self.most(0.2), held.stop):
                part = slice(self.parts * rest.start, self.parts * rest.stop)
                out[own, part] = ones @ self.block(rest).T
                out[part, own] = out[own, part].T
        return out

    def most(self, share: float) -> int:
        """How many samples' rows take that share of the memory."""
        return max(1, int(share * self.limit / (8 * self.parts * self.size)))

    def direction(
        self, b: np.ndarray, method: str, shift: float, start: Vector | None = None, cutoff: float = CUTOFF
    ) -> Vector:
        """The solution of ``A d = b`` by one of the methods, for "spring" the nearest one to a share of the last."""
        if method == "sr":
            return inverse(self.metric(), shift, self.transposed(b), cutoff)
        rest = b if start is None else b - self.times(start)
        found = self.transposed(inverse(self.gram(), shift, rest.view(float), cutoff).view(rest.dtype))
        return found if start is None else found + start


def as_columns(leaf: np.ndarray) -> Matrix:
    """Gradients (samples, ...) as real numbers (samples, parameters), the parts of complex ones beside each other."""
    parts = np.ascontiguousarray(leaf, np.result_type(leaf, float)).view(float)
    return parts.reshape(len(leaf), -1)


def each_of(log_psi: Callable[[Any, Any], Any], parts: int) -> Callable[[Any, Any], Any]:
    """The gradients of the real part of log psi, and of the imaginary one, of a single configuration."""

    def gradients(params, row):
        _, pull = vjp(lambda p: log_psi(p, row[None])[0], params)
        return [pull(unit)[0] for unit in (1.0, 1j)[:parts]]

    return gradients


def inverse(matrix: Matrix, shift: float, vector: Vector, cutoff: float = CUTOFF) -> Vector:
    """``(M + shift)^-1`` times a vector by Cholesky; where M is singular to rounding by a smooth pseudo-inverse.

    That is ``1 / (x (1 + (cutoff / x)^6))`` of the eigenvalues x, the cutoff relative to the largest.  M itself is
    shifted.
    """
    matrix.flat[:: len(matrix) + 1] += shift
    try:
        if shift > CUTOFF * np.trace(matrix) / len(matrix):
            return scipy.linalg.cho_solve(
                scipy.linalg.cho_factor(matrix, check_finite=False), vector, check_finite=False
            )
    except np.linalg.LinAlgError:
        pass
    values, vectors = np.linalg.eigh(matrix)
    largest = values[-1] if values[-1] > 0 else 1.0
    share = np.maximum(values / largest, 0)
    inverses = share**5 / (share**6 + cutoff**6) / largest
    return vectors @ (inverses * (vectors.T @ vector))
