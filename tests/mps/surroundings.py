"""The environments of every site of a chain of arrays, for tests of effective operators."""

import numpy as np

from qad.extend import like
from qad.mps.kernels.dense import DenseKernel, grown_left, grown_right
from qad.mps.kernels.environments import past_left, past_right


class Environments(DenseKernel):
    """The environments of every site of an open chain, kept while a centre moves along it.

    ``left[i]`` is of the sites before i, ``right[i]`` of the sites after i; those on the far side of the
    centre are up to date, the others are written as it passes.  The tensors that are passed are isometries: effective
    operators take the environment of identities for 1.
    """

    def __init__(self, H, tensors, dtype):
        super().__init__(H, dtype)
        n = len(tensors)
        self.left = [like(*tensors).ones((1, 1, 1), dtype)] * n
        self.right = [like(*tensors).ones((1, 1, 1), dtype)] * n
        for site in reversed(range(1, n)):
            self.pass_left(site, tensors[site])

    def pass_right(self, site, tensor):
        """The centre moves from `site` to the next one, leaving the left isometry `tensor` behind."""
        self.left[site + 1] = past_left(self.left[site], tensor, operator=self.sites[site])

    def pass_left(self, site, tensor):
        """The centre moves from `site` to the previous one, leaving the right isometry `tensor` behind."""
        self.right[site - 1] = past_right(self.right[site], tensor, operator=self.sites[site])

    def before(self, site):
        """What stands left of the bond right of `site`, its operator included."""
        w = self.sites[site]
        return grown_left(self.left[site], w.transpose(0, 2, 1, 3).reshape(len(w), -1, w.shape[3]))

    def after(self, site):
        """What stands right of the bond left of `site`, its operator included."""
        w = self.sites[site]
        return grown_right(self.right[site], w.transpose(1, 2, 0, 3).reshape(w.shape[1], w.shape[2], -1))

    def one_site(self, site, shape):
        """The effective operator of the site tensor (a, s, b)."""
        return self.effective(site, 1, self.left[site], self.right[site], np.empty(shape))[0]

    def two_sites(self, site, shape):
        """The effective operator of `site` and the next one together, legs (a, s, t, b)."""
        return self.effective(site, 2, self.left[site], self.right[site + 1], np.empty(shape))[0]

    def bond(self, site, shape):
        """The effective operator of the matrix on the bond right of `site`, both neighbours passed."""
        return self.effective(site + 1, 0, self.left[site + 1], self.right[site], np.empty(shape))[0]
