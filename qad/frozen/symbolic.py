"""Arrays on paper: the expressions of a contraction plan, called with these, give the steps of a program."""

import numpy as np

from qad.frozen.functions import RESHAPE, TRANSPOSE
from qad.frozen.passes.rewriting import derived
from qad.frozen.program import Step, Var

__all__ = ["Draft"]


class Draft:
    """A value that is not there: what is done with it is appended to `steps`.

    It knows what `qad.contract.lower` writes: views, ``dot``, ``@`` and ``*``.
    """

    __slots__ = ("var", "steps")

    def __init__(self, var, steps):
        self.var, self.steps = var, steps

    def reshape(self, shape):
        """A view of another shape; itself where it has that."""
        return self if shape == self.var.shape else self._view(RESHAPE, shape, shape)

    def transpose(self, axes):
        """A view with the axes in another order."""
        return self._view(TRANSPOSE, axes, tuple([self.var.shape[axis] for axis in axes]))

    def ravel(self):
        """A view without axes but one."""
        return self.reshape((self.var.size,))

    @property
    def T(self):
        """The transpose of a matrix."""
        return self.transpose((1, 0))

    @property
    def mT(self):
        """The transpose of the last two axes."""
        n = len(self.var.shape)
        return self.transpose((*range(n - 2), n - 1, n - 2))

    def dot(self, other):
        """The product of two matrices or vectors."""
        return self._product(np.dot, other, self.var.shape[:-1] + other.var.shape[1:])

    def __matmul__(self, other):
        loops = np.broadcast_shapes(self.var.shape[:-2], other.var.shape[:-2])
        return self._product(np.matmul, other, (*loops, self.var.shape[-2], other.var.shape[-1]))

    def __mul__(self, other):
        return self._product(np.multiply, other, np.broadcast_shapes(self.var.shape, other.var.shape))

    def _view(self, fn, argument, shape):
        self.steps.append(derived(fn, (self.var, argument), shape, self.var.dtype, self.var.root))
        return Draft(self.steps[-1].out, self.steps)

    def _product(self, fn, other, shape):
        out = Var(shape, self.var.dtype, "array" if shape else "scalar")
        self.steps.append(Step(fn, (self.var, other.var), {}, out))
        return Draft(out, self.steps)
