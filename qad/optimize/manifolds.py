"""The five methods by which a search knows a manifold, and the manifolds of isometries, subspaces and unit vectors.

All of these are embedded: a tangent vector is an array like the point, its length the Euclidean one, and it is
carried to another point by projection.  ``Re <a, b>`` is the inner product throughout, so real and complex arrays are
served alike.  P.-A. Absil, R. Mahony and R. Sepulchre, "Optimization Algorithms on Matrix Manifolds", 2008.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import as_array
from qad.linalg.implicit.packing import as_reals

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from qad.typing import Tree, Vector

TOLERANCE = 1e-6  # how far from the manifold a starting point may lie; it is moved onto it


class Manifold(Protocol):
    """What `minimize_on` asks of a manifold.

    A point is any object that the manifold likes; a tangent vector a flat float64 array. Where `transport`
    projects, and `retract` takes vectors that are nearly tangent, it may say how far a point can move before L-BFGS has
    to carry what it remembers, ``reach = 0.5``: what it errs by is of second order in this.
    """

    def point(self, params: Tree) -> Any:
        """The point at `params`; raises if they do not lie on the manifold."""

    def params(self, point: Any) -> Tree:
        """The parameters at a point, as the loss takes them."""

    def gradient(self, point: Any, gradient: Tree) -> Vector:
        """The tangent vector of a gradient by the parameters."""

    def retract(self, point: Any, vector: Vector) -> tuple[Any, Vector]:
        """The point that is reached along a tangent vector, and the velocity with which it is reached."""

    def transport(self, point: Any, vector: Vector, new: Any, vectors: Vector) -> Vector:
        """Tangent vectors (rows of an array) at `point` as such at ``new = retract(point, vector)``."""


class Embedded:
    """Arrays of a fixed shape; subclasses say how to project onto the tangent space and back onto the manifold."""

    what = "unconstrained arrays"
    reach: float = 0.5

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def point(self, params: Tree) -> NDArray[Any]:
        """`params` as an array on the manifold.

        Raises
        ------
        ArgumentError
            If `params` are farther from it than rounding explains.
        """
        array = as_array(params)
        if array.dtype.kind not in "fc":
            raise ArgumentError(f"{self.what} need a float or complex array, not {array.dtype}: write .astype(complex)")
        self.check(array)
        point = self.nearest(array)
        distance = np.abs(point - array).max(initial=0.0)
        if not distance <= TOLERANCE * max(1.0, np.abs(point).max(initial=0.0)):
            raise ArgumentError(
                f"the parameters are no {self.what}: they are {distance:.1e} away from the nearest; start from "
                f"{self!r}.nearest(x)"
            )
        return point

    def check(self, array: NDArray[Any]) -> None:
        """Raise for a shape that has no such points."""

    def params(self, point: NDArray[Any]) -> Tree:
        """The array itself."""
        return point

    def nearest(self, array: NDArray[Any]) -> NDArray[Any]:
        """The point of the manifold that is nearest to an array."""
        return array

    def project(self, point: NDArray[Any], array: NDArray[Any]) -> NDArray[Any]:
        """The tangent part of an array, or of each array of a stack."""
        return array

    def gradient(self, point: NDArray[Any], gradient: Tree) -> Vector:
        """The Riemannian gradient, flat."""
        return as_reals(self.project(point, gradient))

    def retract(self, point: NDArray[Any], vector: Vector) -> tuple[NDArray[Any], Vector]:
        """``nearest(point + vector)``, and the velocity projected there."""
        step = shaped(vector, point)
        new = self.nearest(point + step)
        return new, as_reals(self.project(new, step))

    def transport(self, point: NDArray[Any], vector: Vector, new: NDArray[Any], vectors: Vector) -> Vector:
        """Tangent vectors projected at the new point, all in one array."""
        return as_reals(self.project(new, shaped(vectors, new))).reshape(vectors.shape)


def shaped(vectors: Vector, point: NDArray[Any]) -> NDArray[Any]:
    """Flat vectors, one or rows, as arrays like `point`."""
    entries = vectors.view(complex) if point.dtype.kind == "c" else vectors
    return entries.astype(point.dtype, copy=False).reshape((*vectors.shape[:-1], *point.shape))


class Euclidean(Embedded):
    """Arrays without a constraint, as a factor of a `Product`."""


class Sphere(Embedded):
    """Arrays of Frobenius norm 1, such as normalised state vectors.

    Examples
    --------
    >>> import numpy as np, qad
    >>> H = np.diag([2.0, -1.0, 3.0])
    >>> start = np.array([0.6, 0.48, 0.64])
    >>> found = qad.optimize.minimize_on(lambda x: x @ H @ x, start, manifold=qad.optimize.Sphere())
    >>> round(found.fun, 6)
    -1.0
    """

    what = "array of norm 1"

    def nearest(self, array: NDArray[Any]) -> NDArray[Any]:
        return array / np.linalg.norm(array)

    def project(self, point: NDArray[Any], array: NDArray[Any]) -> NDArray[Any]:
        axes = tuple(range(-point.ndim, 0))
        return array - point * (point.conj() * array).real.sum(axis=axes, keepdims=True)


class Stiefel(Embedded):
    """Isometries: matrices ``x`` (..., n, p) with ``x^H x = 1``, n >= p; leading axes are batches.

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.optimize.Stiefel().nearest(np.array([[3.0], [4.0]])).round(12)
    array([[0.6],
           [0.8]])
    """

    what = "isometries"

    def check(self, array: NDArray[Any]) -> None:
        if array.ndim < 2 or array.shape[-2] < array.shape[-1]:
            raise ArgumentError(
                f"{self.what} have shape (..., n, p) with n >= p, but got {array.shape}: transpose, or reshape a "
                "tensor to a matrix first"
            )

    def nearest(self, array: NDArray[Any]) -> NDArray[Any]:
        """The polar factor: near isometries ``array (array^H array)^(-1/2)``, else by singular values."""
        squares, v = np.linalg.eigh(array.conj().mT @ array)
        if (squares[..., :1] > 0.1 * squares[..., -1:]).all():
            return array @ ((v / np.sqrt(squares)[..., None, :]) @ v.conj().mT)
        u, _, vh = np.linalg.svd(array, full_matrices=False)
        return u @ vh

    def project(self, point: NDArray[Any], array: NDArray[Any]) -> NDArray[Any]:
        inner = point.conj().mT @ array
        return array - point @ ((inner + inner.conj().mT) / 2)


class Unitary(Stiefel):
    """Unitary (real: orthogonal) matrices (..., n, n).

    Examples
    --------
    >>> import numpy as np, qad
    >>> target = np.linalg.qr(np.random.default_rng(0).standard_normal((4, 4, 2)) @ [1, 1j])[0]
    >>> found = qad.optimize.minimize_on(
    ...     lambda u: qad.abs2(u - target).sum(), np.eye(4, dtype=complex), manifold=qad.optimize.Unitary()
    ... )
    >>> bool(found.fun < 1e-10)
    True
    """

    what = "unitary matrices"

    def check(self, array: NDArray[Any]) -> None:
        if array.ndim < 2 or array.shape[-2] != array.shape[-1]:
            raise ArgumentError(
                f"{self.what} have shape (..., n, n), but got {array.shape}: isometries are on Stiefel()"
            )


class Grassmann(Stiefel):
    """Subspaces, as isometries of which only the range matters: the loss must not change under ``x -> x u``.

    Examples
    --------
    >>> import numpy as np, qad
    >>> A = np.diag([3.0, 1.0, 2.0, 5.0])
    >>> start = np.linalg.qr(np.random.default_rng(1).standard_normal((4, 2)))[0]
    >>> found = qad.optimize.minimize_on(lambda x: qad.tr(x.mT, A, x), start, manifold=qad.optimize.Grassmann())
    >>> round(found.fun, 9)
    3.0
    """

    what = "orthonormal bases"

    def project(self, point: NDArray[Any], array: NDArray[Any]) -> NDArray[Any]:
        return array - point @ (point.conj().mT @ array)
