"""Any pytree of float and complex arrays as one real vector, and back."""

import numpy as np

from qad.core.errors import ArgumentError
from qad.core.transforms.leaves import number
from qad.core.trees import check_leaf, flatten, leaf_path, unflatten


class Packing:
    """The bijection between trees like `params` and float64 vectors.

    A complex number becomes the pair (real part, imaginary part).  Packed that way a public gradient
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
    >>> packing = Packing({"z": np.array([1 + 2j]), "x": 3.0})
    >>> packing.pack({"z": np.array([1 + 2j]), "x": 3.0})
    array([3., 1., 2.])
    >>> packing.unpack(np.array([5.0, 6.0, 7.0]))
    {'z': array([6.+7.j]), 'x': np.float64(5.0)}
    """

    def __init__(self, params):
        leaves, self.spec = flatten(params)
        if not leaves:
            raise ArgumentError("there is nothing to optimise: params holds no arrays")
        for i, leaf in enumerate(leaves):
            check_leaf(leaf, lambda i=i: "params" + leaf_path(params, i))
        self.templates = [number(leaf) for leaf in leaves]
        sizes = [leaf.size * (2 if leaf.dtype.kind == "c" else 1) for leaf in self.templates]
        self.ends = np.cumsum(sizes)

    def pack(self, tree):
        """A new float64 vector of the numbers in `tree`."""
        return np.concatenate([as_reals(leaf) for leaf in flatten(tree)[0]])

    def unpack(self, vector):
        """The tree of the numbers in `vector`, in memory of its own."""
        parts = np.split(vector, self.ends[:-1])
        return unflatten(self.spec, [as_leaf(*pair) for pair in zip(parts, self.templates, strict=True)])

    def squares(self, vector):
        """Squared moduli of the numbers in `vector`, one for the real and the imaginary part of a complex one."""
        squares, start = vector**2, 0
        for template, end in zip(self.templates, self.ends, strict=True):
            if template.dtype.kind == "c":
                pairs = squares[start:end].reshape(-1, 2)
                pairs[...] = pairs.sum(-1, keepdims=True)
            start = end
        return squares


def as_reals(leaf):
    """The numbers of one leaf as a float64 vector."""
    wide = np.ascontiguousarray(leaf, np.complex128 if np.iscomplexobj(leaf) else np.float64)
    return wide.reshape(-1).view(np.float64)


def as_leaf(part, template):
    """The numbers `part` as an array like `template`, or a NumPy scalar."""
    wide = part.view(np.complex128) if template.dtype.kind == "c" else part
    array = wide.astype(template.dtype).reshape(template.shape)
    return array if isinstance(template, np.ndarray) else array[()]
