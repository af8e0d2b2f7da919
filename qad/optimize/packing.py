"""Any pytree of float and complex arrays as one real vector, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.core.transforms.leaves import number
from qad.core.trees import check_leaf, flatten, leaf_path, unflatten
from qad.linalg.implicit.packing import Packing

if TYPE_CHECKING:
    from typing import Any

    from qad.typing import Tree, Vector


class Parameters:
    """The bijection between trees like `params` and float64 vectors.

    A complex entry becomes the pair (real part, imaginary part).  Packed that way a public gradient
    ``dL/dx + i dL/dy`` is the gradient of the loss by the vector, and ``Re <a, b>`` its inner product.

    Parameters
    ----------
    params : pytree of float or complex arrays or numbers

    Raises
    ------
    GradientTypeError
        If a leaf is neither float nor complex; the message says where it is.

    Examples
    --------
    >>> import numpy as np
    >>> vectors = Parameters({"z": np.array([1 + 2j]), "x": 3.0})
    >>> vectors.pack({"z": np.array([1 + 2j]), "x": 3.0})
    array([3., 1., 2.])
    >>> vectors.unpack(np.array([5.0, 6.0, 7.0]))
    {'z': array([6.+7.j]), 'x': np.float64(5.0)}
    """

    spec: Any

    def __init__(self, params: Tree):
        leaves, self.spec = flatten(params)
        if not leaves:
            raise ArgumentError("there is nothing to optimise: params holds no arrays")
        for i, leaf in enumerate(leaves):
            check_leaf(leaf, lambda i=i: "params" + leaf_path(params, i))
        self.leaves: Packing = Packing([number(leaf) for leaf in leaves], real=True, dtype=float)

    def pack(self, tree: Tree) -> Vector:
        """A new float64 vector of the entries of `tree`."""
        return self.leaves.pack(flatten(tree)[0])

    def unpack(self, vector: Vector) -> Tree:
        """The tree of the entries in `vector`, in memory of its own."""
        return unflatten(self.spec, self.leaves.unpack(vector))

    params = unpack  # as manifolds have it

    def gradient(self, vector: Vector, gradient: Tree) -> Vector:
        """A gradient by the parameters as one by the vector."""
        return self.pack(gradient)

    def squares(self, vector: Vector) -> Vector:
        """Squared moduli of the entries in `vector`, one for the real and the imaginary part of a complex one."""
        squares = vector**2
        parts = np.split(squares, self.leaves.ends[:-1].tolist())
        for part, is_complex in zip(parts, self.leaves.complex, strict=True):
            if is_complex:
                part.reshape(-1, 2)[:] = part.reshape(-1, 2).sum(-1, keepdims=True)
        return squares
