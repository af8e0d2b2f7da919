"""The environments of every site of a chain of arrays, for tests of effective operators."""

from qad.extend import like
from qad.mps.kernels.dense import Rows, edge, past_left, past_right
from qad.mps.kernels.dense_terms import left_block, right_block


class Environments(Rows):
    """The environments of every site of an open chain, kept while a centre moves along it.

    ``left[i]`` is of the sites before i, ``right[i]`` of the sites after i; those on the far side of the
    centre are up to date, the others are written as it passes.  The tensors that are passed are isometries: effective
    operators take the environment of identities for 1.
    """

    def __init__(self, H, tensors, dtype):
        super().__init__(H, dtype)
        n = len(tensors)
        self.left = [edge(dtype, like(*tensors))] * n
        self.right = [edge(dtype, like(*tensors))] * n
        for site in reversed(range(1, n)):
            self.pass_left(site, tensors[site])

    def pass_right(self, site, tensor):
        """The centre moves from `site` to the next one, leaving the left isometry `tensor` behind."""
        self.left[site + 1] = past_left(self.left[site], tensor, operator=self.H[site])

    def pass_left(self, site, tensor):
        """The centre moves from `site` to the previous one, leaving the right isometry `tensor` behind."""
        self.right[site - 1] = past_right(self.right[site], tensor, operator=self.H[site])

    def before(self, site):
        """What stands left of the bond right of `site`, its operator included."""
        return left_block(self.left[site], self.H[site])

    def after(self, site):
        """What stands right of the bond left of `site`, its operator included."""
        return right_block(self.H[site], self.right[site])

    def one_site(self, site, shape):
        """The effective operator of the site tensor (a, s, b)."""
        a, s, b = shape
        return self.row(site, 1).operator(self.left[site], self.right[site], (a, s, 1, b))

    def two_sites(self, site, shape):
        """The effective operator of `site` and the next one together, legs (a, s, t, b)."""
        return self.row(site, 2).operator(self.left[site], self.right[site + 1], shape)

    def bond(self, site, shape):
        """The effective operator of the matrix on the bond right of `site`, both neighbours passed."""
        a, b = shape
        return self.row(site + 1, 0).operator(self.left[site + 1], self.right[site], (a, 1, 1, b))
